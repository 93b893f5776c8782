import { type Announced, hasAll } from '../translator/announced.ts';
import type { TravelUser } from '../translator/travel-user.ts';
import { addressKey } from './address.ts';
import type { Reservation } from './identity.ts';
import type { Task } from './task.ts';

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
