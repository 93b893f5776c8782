import { type Kysely, sql } from 'kysely';
import type { Agenda } from '../bridge/ports.ts';
import { batches } from './batches.ts';
import type { Database } from './database.ts';
import { keyOf } from './keys.ts';
import { stateCounts } from './state-counts.ts';
import type { Tables } from './tables.ts';

/** The agenda in a database. */
export function agenda({ db }: Database): Agenda {
  return {
    due: (now, limit, connections) => due(db, { now, limit, connections }),
    touch: async (connection, ids, now) => {
      for (const batch of batches(ids)) {
        await touching(db, now).where('connection_id', '=', connection).where('id', 'in', batch).execute();
      }
    },
    touchWaiting: async (account, email, now) => {
      await touching(db, now)
        .where('account', '=', account)
        .where('waiting_for', '=', keyOf(email))
        .execute();
    },
    touchOpen: async (connection, now) => {
      for (const batch of batches(await openOnes(db, connection))) {
        await touching(db, now).where('connection_id', '=', connection).where('id', 'in', batch).execute();
      }
    },
    touchStale: (connection, rulesVersion, limit, now) =>
      touchStale(db, { connection, rulesVersion, limit, now }),
    counts: () => stateCounts(db),
  };
}

/** Each connection's own queue, merged: one with a long queue that is not asked for costs the others nothing. */
async function due(
  db: Kysely<Tables>,
  { now, limit, connections }: { now: number; limit: number; connections: string[] },
): Promise<{ connection: string; id: string }[]> {
  const rows: { connection_id: string; id: string; next_attempt_at: number }[] = [];
  for (const connection of connections) {
    const queue = await free(db, connection, now)
      .where('state', '=', sql.lit('dirty'))
      .where('next_attempt_at', '<=', now)
      .orderBy('next_attempt_at')
      .limit(limit)
      .execute();
    // A dirty one is looked at in its own time, and for late calls then.
    const checks = await free(db, connection, now)
      .where('state', '<>', sql.lit('dirty'))
      .where('check_at', '>', sql.lit(0))
      .where('check_at', '<=', now)
      .orderBy('check_at')
      .limit(limit)
      .execute();
    rows.push(...queue, ...checks.map((row) => ({ ...row, next_attempt_at: row.check_at })));
  }
  return rows
    .sort((left, right) => left.next_attempt_at - right.next_attempt_at)
    .slice(0, limit)
    .map(({ connection_id, id }) => ({ connection: connection_id, id }));
}

/** The identities of a connection that no reconciler holds. */
function free(db: Kysely<Tables>, connection: string, now: number) {
  return db
    .selectFrom('identity')
    .select(['connection_id', 'id', 'next_attempt_at', 'check_at'])
    .where('connection_id', '=', connection)
    .where((row) => row.or([row('lease_until', 'is', null), row('lease_until', '<=', now)]));
}

/** Due now, unless it was due before: being touched again never costs an identity its place. */
function touching(db: Kysely<Tables>, now: number) {
  return db.updateTable('identity').set((row) => ({
    state: 'dirty',
    revision: row('revision', '+', 1),
    next_attempt_at: row
      .case()
      .when(row.and([row('state', '=', 'dirty'), row('next_attempt_at', '<=', now)]))
      .then(row.ref('next_attempt_at'))
      .else(now)
      .end(),
  }));
}

interface Stale {
  connection: string;
  rulesVersion: string;
  limit: number;
  now: number;
}

/** Who is dirty already will look anyway, in its own time. */
async function openOnes(db: Kysely<Tables>, connection: string): Promise<string[]> {
  const waiting = await db
    .selectFrom('identity')
    .select('id')
    .where('connection_id', '=', connection)
    .where('waiting_for', 'is not', null)
    .where('state', '<>', sql.lit('dirty'))
    .execute();
  const referring = await db
    .selectFrom('identity_reference as reference')
    .innerJoin('identity', (join) =>
      join
        .onRef('identity.connection_id', '=', 'reference.connection_id')
        .onRef('identity.id', '=', 'reference.identity_id'),
    )
    .leftJoin('identity as target', (join) =>
      join
        .onRef('target.connection_id', '=', 'reference.connection_id')
        .onRef('target.id', '=', 'reference.target')
        .onRef('target.travel_id', '=', 'reference.travel_id')
        .on('target.deleted_at', 'is', null),
    )
    .select('identity.id')
    .where('reference.connection_id', '=', connection)
    .where('target.id', 'is', null)
    .where('identity.state', '<>', sql.lit('dirty'))
    .execute();
  return [...new Set([...waiting, ...referring].map(({ id }) => id))];
}

/** Those that are dirty already are not touched again: they will be translated with the rules of the day. */
async function touchStale(
  db: Kysely<Tables>,
  { connection, rulesVersion, limit, now }: Stale,
): Promise<number> {
  const stale: string[] = [];
  // Two ranges, which an index answers, in place of "unequal", which none does.
  for (const side of ['<', '>'] as const) {
    const rows = await db
      .selectFrom('identity')
      .select('id')
      .where('connection_id', '=', connection)
      .where('claimed', '=', sql.lit(1))
      .where('state', '<>', sql.lit('dirty'))
      .where('rules_version', side, rulesVersion)
      .limit(limit - stale.length)
      .execute();
    stale.push(...rows.map(({ id }) => id));
  }
  for (const ids of batches(stale)) {
    await touching(db, now).where('connection_id', '=', connection).where('id', 'in', ids).execute();
  }
  return stale.length;
}
