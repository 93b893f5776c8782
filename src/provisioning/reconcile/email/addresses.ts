import { addressKey, isParkingAddress } from '../../../model/addresses.ts';
import type { ConnectionSettings } from '../../../model/connection.ts';
import { findings } from '../../../model/findings.ts';
import type { Identity } from '../../../model/identity.ts';
import type { Finding } from '../../../model/translation.ts';
import { isAdministrator, type TravelUser } from '../../../model/traveler.ts';
import { type OutcomeDraft, type ReconcileContext, withFinding } from '../context.ts';
import { isDepartureOpen } from '../departure/guard.ts';
import { type Program, perform } from '../effects.ts';
import { findPlannedHolder } from '../pilot.ts';

/**
 * True if the identity has waited for an address since an earlier attempt, and a traveler that the store does not know has this one: sent
 * again, it would be refused again. After a failed search, the address is sent: the travel API refuses it if it is taken.
 */
export function* isTakenByStranger(
  { identity }: ReconcileContext,
  { travelId }: OutcomeDraft,
  email: string,
): Program<boolean> {
  if (identity.waitingFor === undefined) return false;
  const found = yield* perform('findTravelers', [email]);
  return found.kind === 'ok' && found.value.some(({ id }) => id !== travelId);
}

/** Finds the claimed identity, other than this one, whose traveler has the address or is being created with it. */
export function* findEmailHolder(context: ReconcileContext, email: string): Program<Identity | undefined> {
  return (yield* findEmailHolders(context, email))[0];
}

/**
 * Finds the claimed identities, other than this one, whose traveler has the address, and is being created with it. In shadow mode the address
 * is left to an earlier user, too, who is planned and may stay so for long.
 */
export function* findEmailHolders(context: ReconcileContext, email: string): Program<Identity[]> {
  const holders = [
    yield* perform('findHolder', { travelEmail: email }),
    yield* perform('findHolder', { creating: email }),
    context.shadowSince === undefined ? undefined : yield* findPlannedHolder(context, email),
  ];
  return holders.filter((holder) => holder !== undefined).filter(({ id }) => id !== context.identity.id);
}

/**
 * Records in the draft that it waits for an address that another traveler has. If the draft already waits for one, that
 * wait stays.
 */
export function withEmailWait(
  draft: OutcomeDraft,
  email: string,
  finding: Finding = findings.emailTaken(email),
): OutcomeDraft {
  if (draft.waitingFor !== undefined) return draft;
  return { ...withFinding(draft, finding), waitingFor: addressKey(email) };
}

/**
 * Makes a new parking address; undefined if the connection has no parking domain, or the travel API refused such an
 * address.
 */
export function* newParkingAddress(
  context: ReconcileContext,
  { refused }: Pick<OutcomeDraft, 'refused'>,
): Program<string | undefined> {
  const { parkingDomain } = context.connection;
  const before = refused.email;
  const isRefused =
    before?.basis === context.rulesSnapshot.version &&
    isParkingAddress(context.connection, String(before.value));
  return parkingDomain === undefined || isRefused
    ? undefined
    : `parked-${yield* perform('newId')}@${parkingDomain}`;
}

/** True for a leaver whose traveler is in use, because the departure waits for an admin or was discarded. */
export function isStaying(identity: Identity, { archived }: TravelUser): boolean {
  return !archived && isDepartureOpen(identity);
}

/**
 * False if the traveler of a leaver keeps its address: there is no parking domain, the travel API has refused a parking address, or the
 * leaver administers the travel service.
 */
export function canGiveEmailUp(
  { observed, refused }: Pick<Identity, 'observed' | 'refused'>,
  connection: Pick<ConnectionSettings, 'parkingDomain'>,
): boolean {
  if (connection.parkingDomain === undefined || (observed && isAdministrator(observed))) return false;
  return !isParkingAddress(connection, String(refused.email?.value ?? ''));
}
