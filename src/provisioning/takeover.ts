import { foldCase } from '../schema/case-fold.ts';
import { isAdministrator, isTakeoverApproved } from './guard.ts';
import type { Identity } from './identity.ts';
import type { ReconcileContext } from './reconcile-context.ts';

/**
 * True if a user is not the person whose user the tombstone was. Two externalIds of one connection decide; without them, two
 * users that existed at the same time are two people. `isNew` says that the user is just being created, so that a wall clock
 * that was set back does not matter.
 */
export function isDifferentPerson(
  tombstone: Tombstone,
  person: Person,
  { isNew }: { isNew: boolean } = { isNew: false },
): boolean {
  return haveDifferentExternalIds(tombstone, person) ?? (!isNew && wereActiveTogether(tombstone, person));
}

/**
 * True for a tombstone whose traveler another identity may take over. A traveler that is to give its address up stays with its
 * tombstone, unless it is an administrator, which never gets a parking address.
 */
export function canBeTakenOver({ deletedAt, observed, origin }: Identity): boolean {
  if (deletedAt === undefined) return false;
  return !origin.givesEmailUp || (observed !== undefined && isAdministrator(observed));
}

/** True if the identity must wait until the leaver's traveler gives the address up, as the two competed for it. */
export function mustWaitForLeaver(context: ReconcileContext, tombstone: Identity): boolean {
  if (givesNewTraveler(context) || isTakeoverApproved(context.identity)) return false;
  return areRivalsForEmail(tombstone, context.identity);
}

/**
 * True for two people who wanted one address at the same time. The second one never takes over the traveler of the first.
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

/** Undefined if an externalId is missing, or if the two come from different IdPs and cannot be compared. */
function haveDifferentExternalIds(
  tombstone: Tombstone,
  { connection, desired }: Person,
): boolean | undefined {
  const leaverId = tombstone.connection === connection ? leaverExternalId(tombstone) : undefined;
  const { externalId } = desired;
  return leaverId === undefined || typeof externalId !== 'string' ? undefined : leaverId !== externalId;
}

/** Compares wall-clock times. A user that waits for the leaver's address existed before, even if the clock was set back. */
function wereActiveTogether(
  { deletedAt = 0, observed }: Tombstone,
  { createdAt, waitingFor }: Person,
): boolean {
  const hasWaited = observed !== undefined && waitingFor === foldCase(observed.email);
  return hasWaited || createdAt < deletedAt;
}

/** True if `onReturn: separate` applies: another person gets a new traveler, and the leaver's gets a parking address. */
export function givesNewTraveler({ connection: { policies, parkingDomain } }: ReconcileContext): boolean {
  return policies.onReturn === 'separate' && parkingDomain !== undefined;
}

/** A user that may take over the traveler of a tombstone. */
type Person = Pick<Identity, 'desired' | 'createdAt' | 'connection' | 'waitingFor'>;

type Tombstone = Pick<Identity, 'desired' | 'origin' | 'deletedAt' | 'connection' | 'observed'>;
