import { type Kysely, sql } from 'kysely';
import type { StoreUnavailable } from '../../model/unavailable.ts';
import { readScopes } from '../connection-scopes.ts';
import type { Database, RunTransaction } from './database.ts';
import type { Dialect } from './dialect.ts';
import type { Tables } from './tables.ts';

interface DatabaseParts {
  db: Kysely<Tables>;
  dialect: Dialect;
  run: RunTransaction;
  /** Those whom the parts tell of disk faults. */
  listeners: ((error: StoreUnavailable) => void)[];
}

/**
 * Size of the probe write in bytes, larger than the write of a user: a full disk may still have room for a smaller
 * write.
 */
const PROBE_BYTES = 131_072;

/** Returns the members that an open database has whatever its kind. */
export async function commonDatabase({
  db,
  dialect,
  run,
  listeners,
}: DatabaseParts): Promise<Omit<Database, 'emptyLog' | 'close' | 'pool'>> {
  const scopes = await readScopes(db);
  const timeListeners: ((ms: number) => void)[] = [];
  return {
    ...{ db, dialect, scopes },
    transaction: async (work, options) => {
      const began = performance.now();
      try {
        return await run(work, options);
      } finally {
        for (const listener of timeListeners) listener(performance.now() - began);
      }
    },
    onTransaction: (listener) => void timeListeners.push(listener),
    scopeOf: (connection) => scopes.of(connection),
    isDuplicate: dialect.isDuplicate,
    onUnavailable: (listener) => void listeners.push(listener),
    probeWrite: async () => {
      const content = ' '.repeat(PROBE_BYTES);
      await sql`
        insert into write_probe (id, content) values (1, ${content})
        on conflict (id) do update set content = excluded.content`.execute(db);
    },
    ping: async () => {
      await db.selectFrom('connection').select('id').limit(1).execute();
    },
  };
}
