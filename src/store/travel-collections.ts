import type { Transaction } from 'kysely';
import type { Tables } from './tables.ts';
import { enterBlock, leaveBlock } from './travel-blocks.ts';
import { count } from './travel-count.ts';
import { creationList, creationValue } from './travel-places.ts';
import type { Row } from './travel-rows.ts';

/** Counts a resource into its collection, and into the blocks of that. */
export async function enterCollection(tx: Transaction<Tables>, row: Row): Promise<void> {
  const { type, parent_id, archived } = row;
  await count(tx, { type, list: parent_id, archived, by: 1 });
  await enterBlock(tx, { type, list: creationList(parent_id) }, placeOf(row));
}

/** Counts a resource out of its collection, and out of the blocks of that. */
export async function leaveCollection(tx: Transaction<Tables>, row: Row): Promise<void> {
  const { type, parent_id, archived } = row;
  await count(tx, { type, list: parent_id, archived, by: -1 });
  await leaveBlock(tx, { type, list: creationList(parent_id) }, placeOf(row));
}

function placeOf({ created_at, seq, archived }: Row) {
  return { value: creationValue(created_at), seq, archived };
}
