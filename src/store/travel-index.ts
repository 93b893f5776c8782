import type { Transaction } from 'kysely';
import type { IndexedValue, ResourceRef } from '../travel/ports.ts';
import { prepared } from './prepared.ts';
import type { Tables } from './tables.ts';
import { count } from './travel-count.ts';
import type { Row } from './travel-rows.ts';

/** Keeps what a resource that changed is found by. */
export async function replaceIndex(
  tx: Transaction<Tables>,
  { before, row }: { before: Row; row: Row },
  wanted: IndexedValue[],
): Promise<void> {
  const old = await indexOf(tx, row);
  const key = ({ name, value }: IndexedValue) => JSON.stringify([name, value]);
  // The pages of the archived and of the others are entered by this table alone, so all of its rows tell who is what.
  const stays = new Set(before.archived === row.archived ? old.map(key) : []);
  const kept = new Set(wanted.map(key).filter((one) => stays.has(one)));
  const gone = old.filter((one) => !kept.has(key(one)));
  for (const { name, value } of gone) {
    await tx
      .deleteFrom('travel_index')
      .where('type', '=', row.type)
      .where('name', '=', name)
      .where('value', '=', value)
      .where('seq', '=', row.seq)
      .execute();
  }
  await countLists(tx, row, gone, -1);
  await addIndex(
    tx,
    row,
    wanted.filter((one) => !kept.has(key(one))),
  );
}

/** What a resource is found by. */
export async function indexOf(tx: Transaction<Tables>, { type, id }: ResourceRef): Promise<IndexedValue[]> {
  const { rows } = await indexRows(tx, { type, id });
  return rows.map(({ name, value, counted }) => ({ name, value, counted: counted === 1 }));
}

const indexRows = prepared<ResourceRef, { name: string; value: string; counted: number }>(
  (db, { type, id }) =>
    db
      .selectFrom('travel_index')
      .select(['name', 'value', 'counted'])
      .where('type', '=', type)
      .where('id', '=', id),
);

/** Keeps what a resource is found by, and counts the lists that it comes into. */
export async function addIndex(tx: Transaction<Tables>, row: Row, index: IndexedValue[]): Promise<void> {
  if (index.length === 0) return;
  const { type, id, archived, seq } = row;
  const rows = index.map(({ name, value, counted }) => ({
    ...{ type, id, name, value, archived, seq },
    counted: Number(counted === true),
  }));
  await tx.insertInto('travel_index').values(rows).execute();
  await countLists(tx, row, index, 1);
}

/** Counts those of the indexes up or down that are lists of their own. */
export async function countLists(
  tx: Transaction<Tables>,
  { type }: Row,
  index: IndexedValue[],
  by: number,
): Promise<void> {
  for (const { name, counted } of index) if (counted) await count(tx, { type, list: name, archived: 0, by });
}
