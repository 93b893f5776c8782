import { foldCase } from '../schema/case-fold.ts';
import { isAdministrator, isTakeoverApproved } from './guard.ts';
import type { Identity } from './identity.ts';
import type { ReconcileContext } from './reconcile-context.ts';

/**
 * True when a person is not the one who left the tombstone. Two externalIds decide; without them, two who were live at
 * the same time are two people. `isNew`: the person is just being created, whatever the wall clock says.
 */
export function isDifferentPerson(
  tombstone: Tombstone,
  person: Person,
  { isNew }: { isNew: boolean } = { isNew: false },
): boolean {
  return haveDifferentExternalIds(tombstone, person) ?? (!isNew && wereActiveTogether(tombstone, person));
}

/**
 * A tombstone's traveler is there for whoever has the address now, unless it must give the address up instead, which an
 * administrator's never does.
 */
export function canBeTakenOver({ deletedAt, observed, origin }: Identity): boolean {
  if (deletedAt === undefined) return false;
  return !origin.givesEmailUp || (observed !== undefined && isAdministrator(observed));
}

/** True where two people had one address at the same time: the second waits until the leaver's traveler gives it up. */
export function mustWaitForLeaver(context: ReconcileContext, tombstone: Identity): boolean {
  if (givesNewTraveler(context) || isTakeoverApproved(context.identity)) return false;
  return areRivalsForEmail(tombstone, context.identity);
}

/** True for two people with one address, of whom the second never gets the traveler of the first. */
export function areRivalsForEmail(tombstone: Tombstone, person: Person): boolean {
  return haveDifferentExternalIds(tombstone, person) !== false && wereActiveTogether(tombstone, person);
}

/** The externalId that a leaver had when they left. */
export function leaverExternalId({
  desired,
  origin,
}: Pick<Identity, 'desired' | 'origin'>): string | undefined {
  if (origin.leftAs !== undefined) return origin.leftAs;
  return typeof desired.externalId === 'string' ? desired.externalId : undefined;
}

/** Undefined where the externalIds do not tell: one belongs to one IdP. */
function haveDifferentExternalIds(
  tombstone: Tombstone,
  { connection, desired }: Person,
): boolean | undefined {
  const left = tombstone.connection === connection ? leaverExternalId(tombstone) : undefined;
  const { externalId } = desired;
  return left === undefined || typeof externalId !== 'string' ? undefined : left !== externalId;
}

/** By the wall clock; it may have been set back, but nobody waits for an address before they are there. */
function wereActiveTogether(
  { deletedAt = 0, observed }: Tombstone,
  { createdAt, waitingFor }: Person,
): boolean {
  const hasWaited = observed !== undefined && waitingFor === foldCase(observed.email);
  return hasWaited || createdAt < deletedAt;
}

export function givesNewTraveler({ connection: { policies, parkingDomain } }: ReconcileContext): boolean {
  return policies.onReturn === 'separate' && parkingDomain !== undefined;
}

/** A person who may get the traveler of a tombstone. */
type Person = Pick<Identity, 'desired' | 'createdAt' | 'connection' | 'waitingFor'>;

type Tombstone = Pick<Identity, 'desired' | 'origin' | 'deletedAt' | 'connection' | 'observed'>;
