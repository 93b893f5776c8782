import type { Selectable, Transaction } from 'kysely';
import type { ResourceRef } from '../travel/ports.ts';
import { pick, prepared } from './prepared.ts';
import type { Tables } from './tables.ts';
import type { Row } from './travel-rows.ts';

/** True when another resource refers to it. */
export async function isReferredTo(tx: Transaction<Tables>, { type, id }: ResourceRef): Promise<boolean> {
  const referrer = await tx
    .selectFrom('travel_reference')
    .select('from_id')
    .where('to_type', '=', type)
    .where('to_id', '=', id)
    .where((row) => row.or([row('from_type', '<>', type), row('from_id', '<>', id)]))
    .limit(1)
    .executeTakeFirst();
  return referrer !== undefined;
}

/** Keeps the references of a resource that changed. */
export async function replaceReferences(
  tx: Transaction<Tables>,
  row: Row,
  wanted: ResourceRef[],
): Promise<void> {
  const { rows: held } = await referencesOf(tx, { type: row.type, id: row.id });
  const key = (type: string, id: string) => `${type} ${id}`;
  const now = new Set(wanted.map(({ type, id }) => key(type, id)));
  const before = new Set(held.map(({ to_type, to_id }) => key(to_type, to_id)));
  for (const { to_type, to_id } of held.filter((one) => !now.has(key(one.to_type, one.to_id)))) {
    await tx
      .deleteFrom('travel_reference')
      .where('from_type', '=', row.type)
      .where('from_id', '=', row.id)
      .where('to_type', '=', to_type)
      .where('to_id', '=', to_id)
      .execute();
  }
  await addReferences(
    tx,
    row,
    wanted.filter(({ type, id }) => !before.has(key(type, id))),
  );
}

const referencesOf = prepared<ResourceRef, Pick<Selectable<Tables['travel_reference']>, 'to_type' | 'to_id'>>(
  (db, { type, id }) =>
    db
      .selectFrom('travel_reference')
      .select(['to_type', 'to_id'])
      .where('from_type', '=', type)
      .where('from_id', '=', id),
);

/** Keeps references; one statement for each, as a document may refer to more than a statement takes parameters for. */
export async function addReferences(
  tx: Transaction<Tables>,
  { type, id }: Row,
  targets: ResourceRef[],
): Promise<void> {
  for (const to of targets) {
    await insertReference(tx, { from_type: type, from_id: id, to_type: to.type, to_id: to.id });
  }
}

const REFERENCE = ['from_type', 'from_id', 'to_type', 'to_id'] as const;

const insertReference = prepared<Selectable<Tables['travel_reference']>, unknown>((db, row) =>
  db
    .insertInto('travel_reference')
    .values(pick(row, REFERENCE))
    .onConflict((same) => same.doNothing()),
);
