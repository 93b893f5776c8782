import { foldCase } from '../../schema/case-fold.ts';
import {
  employeeNumberKey,
  employeeNumberOf,
  isObject,
  type Json,
  type ScimResource,
} from '../../schema/resource.ts';
import type { TravelUser } from '../../translator/traveler.ts';
import type { ConnectionSettings } from '../connection.ts';
import { type Departure, type Identity, isInactive, type Succession } from '../identity.ts';
import { type Program, perform } from '../reconcile/effects.ts';
import { isAdministrator, isDepartureOpen } from '../reconcile/guard.ts';
import { emailsOf } from '../reconcile/run/notify-dependents.ts';
import { type Judgement, judgeReturn, type PersonalValues } from './evidence.ts';

/** Within this time after a reactivation, a change of names or externalId is judged as the reactivation was; in milliseconds. */
const RETURN_MS = 86_400_000;

/** The addresses of a user that are compared, so that a stored departure stays short. */
const MAX_ADDRESSES = 10;

type Leaver = Pick<Identity, 'connection' | 'desired' | 'origin' | 'deletedAt' | 'lastModified'>;

/** Returns the values of a user by which people are compared. */
export function personalValuesOf(desired: ScimResource, connection: string | undefined): PersonalValues {
  const name = isObject(desired.name) ? desired.name : {};
  return {
    connection,
    userName: textOf(desired.userName),
    emails: comparedEmails(desired),
    externalId: textOf(desired.externalId),
    employeeNumber: employeeNumberOf(desired),
    givenName: textOf(name.givenName),
    familyName: textOf(name.familyName),
    fullName: textOf(name.formatted) ?? textOf(desired.displayName),
  };
}

/** Returns the addresses of a user by which people are compared. */
export function comparedEmails(desired: ScimResource): string[] {
  return emailsOf(desired).slice(0, MAX_ADDRESSES);
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the values that a leaver had at its departure. For a user who leaves now these are the present ones. */
export function departureOf({ connection, desired, origin, deletedAt, lastModified }: Leaver): Departure {
  if (origin.departure) return origin.departure;
  const { connection: _, ...values } = personalValuesOf(desired, connection);
  return { ...values, at: deletedAt ?? lastModified };
}

/** True while a change of names or externalId still belongs to the last reactivation. */
export function isReturnRecent({ departure, returnedAt }: Identity['origin'], now: number): boolean {
  return departure !== undefined && returnedAt !== undefined && now < returnedAt + RETURN_MS;
}

/** True for a user whose traveler another user may take over: it is deleted or deactivated, and has a traveler. */
export function isLeaver(identity: Identity): boolean {
  const { claimed, travelId, creating, origin } = identity;
  const hasTraveler = travelId !== undefined || creating !== undefined;
  return claimed && isInactive(identity) && hasTraveler && origin.isReplaced !== true;
}

/**
 * False if the traveler of a leaver keeps its address: there is no parking domain, the travel API has refused a parking address, or the
 * leaver administers the travel service.
 */
export function canGiveEmailUp(
  { observed, refused }: Pick<Identity, 'observed' | 'refused'>,
  { parkingDomain }: Pick<ConnectionSettings, 'parkingDomain'>,
): boolean {
  if (parkingDomain === undefined || (observed !== undefined && isAdministrator(observed))) return false;
  return !String(refused.email?.value ?? '').endsWith(`@${parkingDomain}`);
}

/**
 * True if the policy `revive` does not hand the traveler of the leaver over without an admin: the leaver administers the travel service, or
 * the departure is held or was discarded.
 */
export function mustAskBeforeRevival(leaver: Identity): boolean {
  return isDepartureOpen(leaver) || (leaver.observed !== undefined && isAdministrator(leaver.observed));
}

/** What decides about the traveler of a leaver, besides the judgement and the policy. */
interface Takeover {
  /** True if the policy `revive` does not hand the traveler over without an admin. */
  mustAsk: boolean;
  /** True if both can have a traveler of their own. */
  canSeparate: boolean;
}

/** Says whether a newcomer gets the traveler of a leaver: with its values, without them, not, or only if an admin approves. */
export function takeoverEffect(
  { policies: { onReturn } }: Pick<ConnectionSettings, 'policies'>,
  { verdict }: Judgement,
  { mustAsk, canSeparate }: Takeover,
): Exclude<Succession['effect'], 'bothActive'> {
  if (verdict === 'same') return 'passedOn';
  if (verdict === 'other' && onReturn === 'revive') return mustAsk ? 'held' : 'revived';
  if (verdict === 'other' && onReturn === 'hold') return 'held';
  return canSeparate ? 'separate' : 'held';
}

/** A user who may be the leaver. */
type Newcomer = Pick<Identity, 'desired' | 'createdAt' | 'connection' | 'waitingFor'>;

interface JudgedReturn {
  newcomer: Newcomer;
  /** The present time by the wall clock. */
  now: number;
  isNumberShared: boolean;
  /** True for a user who is being created: it was never active together with a leaver, whatever the clocks say. */
  isNew?: boolean;
}

/** Judges whether a newcomer is the leaver whose traveler it may take over. */
export function judgeNewcomer(
  leaver: Identity,
  { newcomer, now, isNumberShared, isNew = false }: JudgedReturn,
): Judgement {
  const { at, ...values } = departureOf(leaver);
  return judgeReturn(
    { ...values, connection: leaver.connection },
    personalValuesOf(newcomer.desired, newcomer.connection),
    {
      sharedAddress: !isNew && sharedAddress(leaver, newcomer, at),
      isSameUser: false,
      isNumberShared,
      msSinceDeparture: now - at,
    },
  );
}

/**
 * The tolerated difference between the clocks by which two users were stored, in milliseconds: those of two processes, or of two servers
 * of the database, of which one took over from the other.
 */
const CLOCK_DIFFERENCE_MS = 15 * 60_000;

/**
 * Compares wall-clock times. A user that waits for the address of the leaver's traveler existed before the departure, as far as the clocks
 * may differ: an attempt that died has saved such a wait, too.
 */
function sharedAddress({ observed }: Identity, { waitingFor, createdAt }: Newcomer, leftAt: number): boolean {
  const hasWaited = observed !== undefined && waitingFor === foldCase(observed.email);
  if (hasWaited) return createdAt < leftAt + CLOCK_DIFFERENCE_MS;
  return createdAt < leftAt - CLOCK_DIFFERENCE_MS;
}

/** Judges whether a user who was activated again is still the person who left. */
export function judgeReactivation(
  leaver: Leaver,
  desired: ScimResource,
  { now, isNumberShared }: { now: number; isNumberShared: boolean },
): Judgement {
  const { at, ...values } = departureOf(leaver);
  const { connection } = leaver;
  return judgeReturn({ ...values, connection }, personalValuesOf(desired, connection), {
    sharedAddress: false,
    isSameUser: true,
    isNumberShared,
    msSinceDeparture: now - at,
  });
}

/**
 * Judges whether a newcomer is the person of an archived traveler without an identity. The time of the archiving is not known; it is
 * after the traveler was made.
 */
export function judgeTraveler(
  { firstName, lastName, createdAt }: TravelUser,
  { newcomer, now }: { newcomer: Pick<Identity, 'desired' | 'connection'>; now: number },
): Judgement {
  const made = Date.parse(createdAt);
  return judgeReturn(
    { givenName: firstName, familyName: lastName },
    personalValuesOf(newcomer.desired, newcomer.connection),
    {
      sharedAddress: false,
      isSameUser: false,
      isNumberShared: false,
      msSinceDeparture: Number.isNaN(made) ? undefined : now - made,
    },
  );
}

/** The identities that have the number of a newcomer; undefined if there are too many to list. */
export type NumberHolders = readonly Identity[] | undefined;

/** Reads the identities of the account that have the employee number of a user. */
export function* findNumberHolders(desired: ScimResource): Program<NumberHolders> {
  const number = employeeNumberKey(employeeNumberOf(desired));
  return number === undefined ? [] : yield* perform('findByEmployeeNumber', number);
}

/** True if an active person of the account other than these has the number. It then tells nothing. */
export function isNumberSharedBy(
  holders: NumberHolders,
  ...own: (Pick<Identity, 'connection' | 'id'> | undefined)[]
): boolean {
  if (holders === undefined) return true;
  return holders.some(
    (holder) =>
      !isInactive(holder) &&
      holder.claimed &&
      !own.some((one) => one?.id === holder.id && one.connection === holder.connection),
  );
}

/** Returns what the leaver keeps of a succession of which the newcomer keeps this. */
export function toSuccessor(
  { row, verdict, effect }: Succession,
  { connection, id }: Pick<Identity, 'connection' | 'id'>,
): Succession {
  return { row, verdict, effect, connection, id };
}
