import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { ReferenceRow, References } from '../../model/store-ports.ts';
import { inScope, type Scope, type ScopedId, scopeColumns } from '../connection-scopes.ts';
import { lockConnection } from '../connections.ts';
import type { Database } from '../sql/database.ts';
import type { Dialect } from '../sql/dialect.ts';
import { batches, compiledQuery } from '../sql/queries.ts';
import { caseFoldedKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';

/** Returns the store of references between identities. */
export function references(database: Database): References {
  const { db, transaction, scopeOf, dialect } = database;
  return {
    findRows: (connection, id) => readReferences(db, { ...scopeOf(connection), id }),
    save: async (connection, id, rows) => {
      const owner = { ...scopeOf(connection), id };
      if (isDeepStrictEqual(await readReferences(db, owner), rows)) return;
      await transaction((tx) => saveReferences(tx, dialect, { owner, rows }), { durable: false });
    },
    update: (connection, id, decide) =>
      transaction(
        async (tx) => {
          // The decision depends on the references of others, which must not change meanwhile.
          const owner = { ...scopeOf(connection), id };
          await lockConnection(tx, dialect, owner);
          const rows = await decide((other) => readReferences(tx, { ...owner, id: other }));
          await saveReferences(tx, dialect, { owner, rows });
          return rows;
        },
        { durable: false },
      ),
    findReferrers: async (connection, target, values) => {
      const found = new Set<string>();
      // A raw value that is the id of the target refers to the target.
      const allKeys = new Set([target, ...values].map(caseFoldedKey));
      for (const keys of batches([...allKeys], KEY_NAMES.length)) {
        const { rows } = await selectReferrers(db, { ...scopeOf(connection), target, ...toKeys(keys) });
        for (const { identity_id } of rows) found.add(identity_id);
      }
      return [...found];
    },
  };
}

/** The keys of one statement: as many as most people have. */
const KEY_NAMES = ['key0', 'key1', 'key2', 'key3', 'key4', 'key5'] as const;

type Keys = Record<(typeof KEY_NAMES)[number], string>;

/** The first of fewer keys is repeated. */
function toKeys([
  key0 = '',
  key1 = key0,
  key2 = key0,
  key3 = key0,
  key4 = key0,
  key5 = key0,
]: string[]): Keys {
  return { key0, key1, key2, key3, key4, key5 };
}

const selectReferrers = compiledQuery((db, of: Scope & Keys & { target: string }) => {
  const referrers = db.selectFrom('identity_reference').select('identity_id').where(inScope(of));
  const keys = KEY_NAMES.map((name) => of[name]);
  return referrers.where('target', '=', of.target).unionAll(referrers.where('raw_key', 'in', keys));
});

async function readReferences(db: Kysely<Tables>, owner: ScopedId): Promise<ReferenceRow[]> {
  const rows = await db
    .selectFrom('identity_reference')
    .select(['raw', 'target', 'travel_id'])
    .where(inScope(owner))
    .where('identity_id', '=', owner.id)
    .orderBy('position')
    .execute();
  return rows.map(({ raw, target, travel_id }) => ({
    raw,
    target: target ?? undefined,
    travelId: travel_id ?? undefined,
  }));
}

/** Most reconciliations change no references; then nothing is written. If the identity was erased meanwhile, saves none. */
async function saveReferences(
  tx: Kysely<Tables>,
  dialect: Dialect,
  { owner, rows }: { owner: ScopedId; rows: ReferenceRow[] },
): Promise<void> {
  if (isDeepStrictEqual(await readReferences(tx, owner), rows)) return;
  const identity = tx.selectFrom('identity').select('id').where(inScope(owner)).where('id', '=', owner.id);
  if (!(await dialect.lockValues(identity).executeTakeFirst())) return;
  await tx
    .deleteFrom('identity_reference')
    .where(inScope(owner))
    .where('identity_id', '=', owner.id)
    .execute();
  if (rows.length === 0) return;
  await tx
    .insertInto('identity_reference')
    .values(
      rows.map(({ raw, target, travelId }, position) => ({
        ...scopeColumns(owner),
        identity_id: owner.id,
        position,
        raw,
        raw_key: caseFoldedKey(raw),
        target: target ?? null,
        travel_id: travelId ?? null,
      })),
    )
    .execute();
}
