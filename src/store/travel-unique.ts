import type { Transaction } from 'kysely';
import type { Keys } from '../travel/ports.ts';
import type { Tables } from './tables.ts';
import type { Row } from './travel-rows.ts';

/** Keeps the unique values of a resource that changed; answers the name of one that another has. */
export async function replaceUnique(
  tx: Transaction<Tables>,
  row: Row,
  wanted: Keys['unique'],
): Promise<{ taken: string } | undefined> {
  const { type, id } = row;
  const held = await tx
    .selectFrom('travel_unique')
    .select(['name', 'value'])
    .where('type', '=', type)
    .where('id', '=', id)
    .execute();
  const isHeld = (one: Keys['unique'][number]) =>
    held.some(({ name, value }) => name === one.name && value === one.value);
  const changed = wanted.filter((one) => !isHeld(one));
  for (const { name } of changed) {
    const mine = tx.deleteFrom('travel_unique').where('type', '=', type).where('id', '=', id);
    await mine.where('name', '=', name).execute();
  }
  return addUnique(tx, row, changed);
}

/** Keeps unique values; answers the name of one that another resource has. */
export async function addUnique(
  tx: Transaction<Tables>,
  { type, id }: Row,
  unique: Keys['unique'],
): Promise<{ taken: string } | undefined> {
  for (const { name, value } of unique) {
    const added = await tx
      .insertInto('travel_unique')
      .values({ type, name, value, id })
      .onConflict((same) => same.doNothing())
      .executeTakeFirst();
    if (added.numInsertedOrUpdatedRows !== 1n) return { taken: name };
  }
  return undefined;
}
