import type { Selectable, Transaction } from 'kysely';
import type { Keys, NamedValue, ResourceRef } from '../travel/ports.ts';
import { pick, prepared } from './prepared.ts';
import type { Tables } from './tables.ts';
import type { Row } from './travel-rows.ts';

/** Keeps the unique values of a resource that changed; answers the name of one that another has. */
export async function replaceUnique(
  tx: Transaction<Tables>,
  row: Row,
  wanted: Keys['unique'],
): Promise<{ taken: string } | undefined> {
  const { type, id } = row;
  const { rows: held } = await uniqueOf(tx, { type, id });
  const isHeld = (one: Keys['unique'][number]) =>
    held.some(({ name, value }) => name === one.name && value === one.value);
  const changed = wanted.filter((one) => !isHeld(one));
  for (const { name } of changed) {
    const mine = tx.deleteFrom('travel_unique').where('type', '=', type).where('id', '=', id);
    await mine.where('name', '=', name).execute();
  }
  return addUnique(tx, row, changed);
}

const uniqueOf = prepared<ResourceRef, NamedValue>((db, { type, id }) =>
  db.selectFrom('travel_unique').select(['name', 'value']).where('type', '=', type).where('id', '=', id),
);

/** Keeps unique values; answers the name of one that another resource has. */
export async function addUnique(
  tx: Transaction<Tables>,
  { type, id }: Row,
  unique: Keys['unique'],
): Promise<{ taken: string } | undefined> {
  for (const { name, value } of unique) {
    const { numAffectedRows } = await insertUnique(tx, { type, name, value, id });
    if (numAffectedRows !== 1n) return { taken: name };
  }
  return undefined;
}

const UNIQUE = ['type', 'name', 'value', 'id'] as const;

const insertUnique = prepared<Selectable<Tables['travel_unique']>, unknown>((db, row) =>
  db
    .insertInto('travel_unique')
    .values(pick(row, UNIQUE))
    .onConflict((same) => same.doNothing()),
);
