import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { ReferenceRow, References } from '../../model/store-ports.ts';
import { inScope, type ScopedId, scopeColumns } from '../connection-scopes.ts';
import { lockConnection } from '../connections.ts';
import type { Database } from '../sql/database.ts';
import type { Dialect } from '../sql/dialect.ts';
import { batches } from '../sql/queries.ts';
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
      const referrers = db
        .selectFrom('identity_reference')
        .select('identity_id')
        .where(inScope(scopeOf(connection)));
      // A raw value that is the id of the target refers to the target.
      const allKeys = new Set([target, ...values].map(caseFoldedKey));
      for (const keys of batches([...allKeys])) {
        const rows = await referrers
          .where('target', '=', target)
          .unionAll(referrers.where('raw_key', 'in', keys))
          .execute();
        for (const { identity_id } of rows) found.add(identity_id);
      }
      return [...found];
    },
  };
}

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
