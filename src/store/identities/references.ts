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
    save: (connection, id, rows) => saveReferences(database, { ...scopeOf(connection), id }, rows),
    update: (connection, id, decide) =>
      transaction(
        async (tx) => {
          // The decision depends on the references of others, which must not change meanwhile.
          const owner = { ...scopeOf(connection), id };
          await lockConnection(tx, dialect, owner);
          return updateReferences(tx, dialect, { owner, decide });
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

/** Saves references. Most reconciliations do not change them; then nothing is written. */
async function saveReferences(database: Database, owner: ScopedId, rows: ReferenceRow[]): Promise<void> {
  const { db, dialect, transaction } = database;
  if (isDeepStrictEqual(await readReferences(db, owner), rows)) return;
  await transaction((tx) => replaceReferenceRows(tx, dialect, { owner, rows }), { durable: false });
}

interface Decision {
  owner: ScopedId;
  decide: Parameters<References['update']>[2];
}

async function updateReferences(
  tx: Kysely<Tables>,
  dialect: Dialect,
  { owner, decide }: Decision,
): Promise<ReferenceRow[]> {
  const rows = await decide((id) => readReferences(tx, { ...owner, id }));
  if (!isDeepStrictEqual(await readReferences(tx, owner), rows))
    await replaceReferenceRows(tx, dialect, { owner, rows });
  return rows;
}

/** If the identity was erased meanwhile, saves no references. */
async function replaceReferenceRows(
  tx: Kysely<Tables>,
  dialect: Dialect,
  { owner, rows }: { owner: ScopedId; rows: ReferenceRow[] },
): Promise<void> {
  if (!(await lockIdentity(tx, dialect, owner))) return;
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

/** Lets the writers of what belongs to an identity queue. Returns false if there is no such identity. */
export async function lockIdentity(tx: Kysely<Tables>, dialect: Dialect, key: ScopedId): Promise<boolean> {
  const identity = tx.selectFrom('identity').select('id').where(inScope(key)).where('id', '=', key.id);
  return (await dialect.lockValues(identity).executeTakeFirst()) !== undefined;
}
