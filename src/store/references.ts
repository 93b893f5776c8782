import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { ReferenceRow, References } from '../provisioning/store-ports.ts';
import type { Database } from './database.ts';
import { keyOf } from './keys.ts';
import { batches, compiledQuery } from './statements.ts';
import type { Tables } from './tables.ts';

/** The references in a database. */
export function references({ db, withRelaxedDurability: lightly }: Database): References {
  return {
    findRows: (connection, id) => of(db, { connection, id }),
    save: (connection, id, rows) => lightly(db, (light) => save(light, { connection, id }, rows)),
    update: (connection, id, choose) => lightly(db, (light) => decide(light, { connection, id }, choose)),
    findReferrers: async (connection, target, values) => {
      const found = new Set(await referring(db, connection, { column: 'target', keys: [target] }));
      for (const keys of batches([...new Set(values.map(keyOf))])) {
        for (const id of await referring(db, connection, { column: 'raw_key', keys })) found.add(id);
      }
      return [...found];
    },
  };
}

interface Owner {
  connection: string;
  id: string;
}

const kept = compiledQuery((db, { connection, id }: Owner) =>
  db
    .selectFrom('identity_reference')
    .select(['raw', 'target', 'travel_id'])
    .where('connection_id', '=', connection)
    .where('identity_id', '=', id)
    .orderBy('position'),
);

async function of(db: Kysely<Tables>, owner: Owner): Promise<ReferenceRow[]> {
  const { rows } = await kept(db, owner);
  return rows.map(({ raw, target, travel_id }) => ({
    raw,
    target: target ?? undefined,
    travelId: travel_id ?? undefined,
  }));
}

/** Most reconciliations find the references as they were, and then nothing is written. */
async function save(db: Kysely<Tables>, owner: Owner, rows: ReferenceRow[]): Promise<void> {
  if (isDeepStrictEqual(await of(db, owner), rows)) return;
  await db.transaction().execute((tx) => replace(tx, owner, rows));
}

/** The transaction holds the write lock from its beginning. */
function decide(
  db: Kysely<Tables>,
  owner: Owner,
  choose: Parameters<References['update']>[2],
): Promise<ReferenceRow[]> {
  return db.transaction().execute(async (tx) => {
    const rows = await choose((id) => of(tx, { connection: owner.connection, id }));
    if (!isDeepStrictEqual(await of(tx, owner), rows)) await replace(tx, owner, rows);
    return rows;
  });
}

async function replace(tx: Kysely<Tables>, owner: Owner, rows: ReferenceRow[]): Promise<void> {
  await tx
    .deleteFrom('identity_reference')
    .where('connection_id', '=', owner.connection)
    .where('identity_id', '=', owner.id)
    .execute();
  // Who was erased meanwhile refers to nobody.
  if (rows.length === 0 || !(await isThere(tx, owner))) return;
  await tx
    .insertInto('identity_reference')
    .values(
      rows.map(({ raw, target, travelId }, position) => ({
        connection_id: owner.connection,
        identity_id: owner.id,
        position,
        raw,
        raw_key: keyOf(raw),
        target: target ?? null,
        travel_id: travelId ?? null,
      })),
    )
    .execute();
}

async function isThere(tx: Kysely<Tables>, { connection, id }: Owner): Promise<boolean> {
  const row = await tx
    .selectFrom('identity')
    .select('id')
    .where('connection_id', '=', connection)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

async function referring(
  db: Kysely<Tables>,
  connection: string,
  { column, keys }: { column: 'target' | 'raw_key'; keys: string[] },
): Promise<string[]> {
  const rows = await db
    .selectFrom('identity_reference')
    .select('identity_id')
    .where('connection_id', '=', connection)
    .where(column, 'in', keys)
    .execute();
  return rows.map((row) => row.identity_id);
}
