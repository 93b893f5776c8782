import { type Announced, hasAll } from '../translator/announced.ts';
import type { TravelUser } from '../translator/snapshot.ts';
import { addressKey } from './email-conflicts.ts';
import type { Reservation } from './identity.ts';
import type { Draft, Task } from './task.ts';
import type { TravelFailure } from './travel-ports.ts';

/**
 * Takes travelers out of use that late creates have made beside the linked one: they are deleted, or archived where that is
 * refused. A failure when the travel API could not be used.
 */
export async function removeLateTravelers(task: Task, draft: Draft): Promise<TravelFailure | undefined> {
  const creates = draft.progress.late?.creates ?? [];
  const addresses = [...new Set(creates.map(({ reservation }) => reservation.email))];
  if (addresses.length === 0) return undefined;
  const found = await task.connection.travel.byEmail(addresses);
  if (found.kind !== 'ok') return found;
  for (const traveler of found.value) {
    if (traveler.id === draft.travelId || traveler.archived) continue;
    if (!creates.some((create) => isSurelyOwn(task, traveler, create))) continue;
    const failure = (await isLinked(task, traveler)) ? undefined : await remove(task, traveler);
    if (failure) return failure;
  }
  return undefined;
}

/** Stricter than for a link, as somebody may have made the traveler by hand since: it must have every value that was sent. */
function isSurelyOwn(task: Task, traveler: TravelUser, create: OpenCreate): boolean {
  return isOwnCreate(task, traveler, create) && hasAll(traveler, create.fields, task.basis.rules);
}

async function isLinked({ connection, store }: Task, { id, email }: TravelUser): Promise<boolean> {
  const { account } = connection;
  const holders = [
    await store.identities.holder(account, { travelId: id }),
    await store.identities.holder(account, { creating: email }),
  ];
  return holders.some((holder) => holder !== undefined);
}

async function remove(
  { connection: { travel } }: Task,
  { id }: TravelUser,
): Promise<TravelFailure | undefined> {
  const removed = await travel.remove(id);
  if (removed.kind === 'ok' || removed.kind === 'notFound') return undefined;
  if (removed.kind === 'unavailable' || removed.kind === 'unauthorized') return removed;
  const archived = await travel.patch(id, { archived: true });
  return archived.kind === 'unavailable' || archived.kind === 'unauthorized' ? archived : undefined;
}

/** How far the travel API's clock and its `createdAt` may differ, in milliseconds; its `Date` header has whole seconds. */
const TOLERANCE_MS = 2_000;

/** A create that was sent and whose outcome is not known. */
export interface OpenCreate {
  reservation: Reservation;
  fields: Announced;
}

/**
 * True when a traveler was made by our own create: the address was free when it was looked for before sending, or the
 * traveler has every value that was sent and is not older than the reservation. In doubt it is somebody else's.
 */
export function isOwnCreate(task: Task, traveler: TravelUser, { reservation, fields }: OpenCreate): boolean {
  const { email, wasFree, reservedAt } = reservation;
  if (addressKey(traveler.email) !== addressKey(email)) return false;
  if (wasFree) return true;
  const createdAt = Date.parse(traveler.createdAt);
  // NaN is not before nor after anything.
  const isNew = reservedAt !== undefined && createdAt >= reservedAt - TOLERANCE_MS;
  return isNew && hasAll(traveler, fields, task.basis.rules);
}
