import type { Kysely, Transaction } from 'kysely';
import { foldCase } from '../../schema/case-fold.ts';
import type { JsonObject } from '../../schema/resource.ts';
import { parseJson } from '../queries.ts';
import type { Tables, TravelRow } from '../tables.ts';
import { addIndexRows, readIndexRows, removeFromLists } from '../travel-keys.ts';
import { assignUniqueKeys, former, type RowWithNewKey } from './0010-unique-keys.ts';

const BATCH = 500;

/** Recomputes what the travel service's resources are found and sorted by, and the addresses that only one user has. */
export async function recomputeTravelKeys(db: Kysely<Tables>): Promise<void> {
  const tx = db as Transaction<Tables>; // A migration is one transaction.
  const addresses: User[] = [];
  const types = await db.selectFrom('travel_index').select('type').distinct().execute();
  for (const { type } of types) {
    for await (const { doc: text, ...row } of resources(db, type)) {
      if (!/[^ -~]/.test(text)) continue;
      const doc: JsonObject = parseJson(text);
      await recomputeIndex(tx, row, doc);
      const { email } = doc;
      if (type === USER && typeof email === 'string' && former(email) !== foldCase(email))
        addresses.push({ id: row.id, name: row.id, createdAt: row.created_at, key: foldCase(email) });
    }
  }
  await assignAddresses(db, addresses);
}

const USER = 'user';

interface User extends RowWithNewKey {
  id: string;
}

async function* resources(db: Kysely<Tables>, type: string): AsyncGenerator<TravelRow & { doc: string }> {
  let last = '';
  for (;;) {
    const rows = await db
      .selectFrom('travel_resource')
      .selectAll()
      .where('type', '=', type)
      .where('id', '>', last)
      .orderBy('id')
      .limit(BATCH)
      .execute();
    yield* rows;
    const end = rows.at(-1);
    if (!end) return;
    last = end.id;
  }
}

/** What is sorted by a field is named after it, or ends with its name; the value is the field's as it was compared. */
async function recomputeIndex(tx: Transaction<Tables>, row: TravelRow, doc: JsonObject): Promise<void> {
  const before = await readIndexRows(tx, row);
  const changed = before.flatMap((one) => {
    const text = doc[one.name.split('/').at(-1) ?? ''];
    if (typeof text !== 'string' || one.value !== former(text)) return [];
    const value = foldCase(text);
    return value === one.value ? [] : [{ before: one, now: { ...one, value } }];
  });
  for (const { before: one } of changed) {
    await tx
      .deleteFrom('travel_index')
      .where('type', '=', row.type)
      .where('name', '=', one.name)
      .where('value', '=', one.value)
      .where('seq', '=', row.seq)
      .execute();
  }
  await removeFromLists(
    tx,
    row,
    changed.map((one) => one.before),
  );
  await addIndexRows(
    tx,
    row,
    changed.map(({ now }) => now),
  );
}

function assignAddresses(db: Kysely<Tables>, users: User[]): Promise<void> {
  return assignUniqueKeys(users, {
    write: async ({ id }, value) => {
      await db
        .updateTable('travel_unique')
        .set({ value })
        .where('type', '=', USER)
        .where('name', '=', 'email')
        .where('id', '=', id)
        .execute();
    },
    isTaken: async ({ key }) => {
      const taken = await db
        .selectFrom('travel_unique')
        .select('id')
        .where('type', '=', USER)
        .where('name', '=', 'email')
        .where('value', '=', key)
        .executeTakeFirst();
      return taken !== undefined;
    },
  });
}
