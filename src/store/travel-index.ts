import type { Selectable, Transaction } from 'kysely';
import type { IndexedValue, ResourceRef } from '../travel/ports.ts';
import { compiledQuery, pick } from './statements.ts';
import type { Tables } from './tables.ts';
import { count, enterBlock, leaveBlock } from './travel-positions.ts';
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
  await leaveLists(tx, before, gone);
  await addIndex(
    tx,
    row,
    wanted.filter((one) => !kept.has(key(one))),
  );
}

/** What a resource is found by. */
export async function indexOf(tx: Transaction<Tables>, { type, id }: ResourceRef): Promise<IndexedValue[]> {
  const { rows } = await indexRows(tx, { type, id });
  return rows.map(({ name, value, list }) => ({ name, value, list: list ?? undefined }));
}

const indexRows = compiledQuery<
  ResourceRef,
  Pick<Selectable<Tables['travel_index']>, 'name' | 'value' | 'list'>
>((db, { type, id }) =>
  db
    .selectFrom('travel_index')
    .select(['name', 'value', 'list'])
    .where('type', '=', type)
    .where('id', '=', id),
);

/** Keeps what a resource is found by, in the lists that it comes into, too. */
export async function addIndex(tx: Transaction<Tables>, row: Row, index: IndexedValue[]): Promise<void> {
  const { type, id, archived, seq } = row;
  for (const { name, value, list = null } of index)
    await insertIndex(tx, { type, id, name, value, archived, seq, list });
  for (const { name, value, list } of index) {
    if (list === 'counted') await count(tx, { type, list: name, archived: 0, by: 1 });
    if (list) await enterBlock(tx, { type, list: name }, { value, seq, archived });
  }
}

const INDEX = ['type', 'id', 'name', 'value', 'archived', 'seq', 'list'] as const;

const insertIndex = compiledQuery<Selectable<Tables['travel_index']>, unknown>((db, row) =>
  db.insertInto('travel_index').values(pick(row, INDEX)),
);

/** Takes a resource out of the lists that it was in by these values. */
export async function leaveLists(
  tx: Transaction<Tables>,
  { type, archived, seq }: Row,
  index: IndexedValue[],
): Promise<void> {
  for (const { name, value, list } of index) {
    if (list === 'counted') await count(tx, { type, list: name, archived: 0, by: -1 });
    if (list) await leaveBlock(tx, { type, list: name }, { value, seq, archived });
  }
}
