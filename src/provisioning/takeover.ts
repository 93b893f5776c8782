import { foldCase } from '../schema/case-fold.ts';
import { isAdministrator, isTakeoverApproved } from './guard.ts';
import type { Identity } from './identity.ts';
import type { ReconcileContext } from './reconcile-context.ts';

/**
 * True if a user is not the person of the tombstone. Within a connection, two different externalIds mean two people.
 * Without externalIds, two users that existed at the same time are two people. `isNew` means that the user is being
 * created now; the wall clock, which may have been set back, is then not compared.
 */
export function isDifferentPerson(
  tombstone: Tombstone,
  person: Person,
  { isNew }: { isNew: boolean } = { isNew: false },
): boolean {
  return haveDifferentExternalIds(tombstone, person) ?? (!isNew && wereActiveTogether(tombstone, person));
}

/**
 * True for a tombstone whose traveler another identity may take over. If the traveler is about to give up its address,
 * it stays with the tombstone, unless it is an administrator, which never gets a parking address.
 */
export function canBeTakenOver({ deletedAt, observed, origin }: Identity): boolean {
  if (deletedAt === undefined) return false;
  return !origin.givesEmailUp || (observed !== undefined && isAdministrator(observed));
}

/**
 * True if the identity must wait until the tombstone's traveler gives up the address, because both users wanted it at
 * the same time.
 */
export function mustWaitForLeaver(context: ReconcileContext, tombstone: Identity): boolean {
  if (givesNewTraveler(context) || isTakeoverApproved(context.identity)) return false;
  return areRivalsForEmail(tombstone, context.identity);
}

/**
 * True for two people who wanted one address at the same time. The second person never gets the traveler of the first.
 */
export function areRivalsForEmail(tombstone: Tombstone, person: Person): boolean {
  return haveDifferentExternalIds(tombstone, person) !== false && wereActiveTogether(tombstone, person);
}

/** The externalId that a user had when it was deactivated or deleted. */
export function leaverExternalId({
  desired,
  origin,
}: Pick<Identity, 'desired' | 'origin'>): string | undefined {
  if (origin.leftAs !== undefined) return origin.leftAs;
  return typeof desired.externalId === 'string' ? desired.externalId : undefined;
}

/**
 * True if both externalIds are known and differ. Undefined if one is missing, or if the two come from different IdPs
 * and cannot be compared.
 */
function haveDifferentExternalIds(
  tombstone: Tombstone,
  { connection, desired }: Person,
): boolean | undefined {
  const leaverId = tombstone.connection === connection ? leaverExternalId(tombstone) : undefined;
  const { externalId } = desired;
  return leaverId === undefined || typeof externalId !== 'string' ? undefined : leaverId !== externalId;
}

/**
 * Compares wall-clock times. A user that waits for the address of the tombstone's traveler existed before the deletion,
 * even if the clock was set back.
 */
function wereActiveTogether(
  { deletedAt = 0, observed }: Tombstone,
  { createdAt, waitingFor }: Person,
): boolean {
  const hasWaited = observed !== undefined && waitingFor === foldCase(observed.email);
  return hasWaited || createdAt < deletedAt;
}

/**
 * True if the policy `onReturn: separate` applies: another person gets a new traveler, and the old traveler gets a
 * parking address.
 */
export function givesNewTraveler({ connection: { policies, parkingDomain } }: ReconcileContext): boolean {
  return policies.onReturn === 'separate' && parkingDomain !== undefined;
}

/** A user that may take over the traveler of a tombstone. */
type Person = Pick<Identity, 'desired' | 'createdAt' | 'connection' | 'waitingFor'>;

type Tombstone = Pick<Identity, 'desired' | 'origin' | 'deletedAt' | 'connection' | 'observed'>;
