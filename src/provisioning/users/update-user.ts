import { isDeepStrictEqual } from 'node:util';
import { isActive, type ScimResource } from '../../schema/resource.ts';
import { countChangedParts } from '../../translator/values/reference-parts.ts';
import type { Connection } from '../connection.ts';
import {
  type Departure,
  type Identity,
  isDepartureCause,
  isInactive,
  type Origin,
  type Succession,
} from '../identity.ts';
import { isKeptActive, statedDepartureAfter } from '../reconcile/guard.ts';
import { isReturnHeld } from '../reconcile/ownership.ts';
import type { PendingWrite } from '../reconcile/run/commit.ts';
import type { Runtime } from '../runtime-ports.ts';
import { withNextVersion } from './create-user.ts';
import type { Judgement } from './evidence.ts';
import {
  canGiveEmailUp,
  departureOf,
  isNumberSharedBy,
  isReturnRecent,
  judgeReactivation,
  mustAskBeforeRevival,
  type NumberHolders,
  personalValuesOf,
  takeoverEffect,
  toSuccessor,
} from './takeover.ts';

/** A PUT (`replace`) or PATCH of an existing user. */
export interface UserWrite {
  before: Identity;
  after: ScimResource;
  kind: 'replace' | 'patch';
  /** True if the request itself states that the user is inactive; false if an earlier one did. */
  statesDeparture: boolean;
}

/** The changed identity, and the changes whose commit saves it. */
type UpdatedUser = Pick<PendingWrite, 'identity' | 'changes'>;

type UpdateRuntime = Pick<Runtime, 'now' | 'newId' | 'wallClock'>;

/**
 * True if the write activates a user who left, or changes names or externalId within a day after that: the user may be another person,
 * and what the user's traveler has must then not pass on.
 */
export function isReturn({ before, after }: UserWrite, now: number): boolean {
  const hasTraveler = before.travelId !== undefined || before.creating !== undefined;
  if (!before.claimed || !hasTraveler || !isActive(after)) return false;
  if (isInactive(before)) return true;
  return (
    isReturnRecent(before.origin, now) && !isDeepStrictEqual(identityOf(before.desired), identityOf(after))
  );
}

/** The values by which a user is recognized. */
function identityOf(desired: ScimResource) {
  const { externalId, employeeNumber, givenName, familyName } = personalValuesOf(desired, undefined);
  return { externalId, employeeNumber, givenName, familyName };
}

/**
 * Computes the claimed, dirty identity with the new desired state. A user who is activated again is judged by the table of evidence:
 * another person gets this traveler without the old values, gets another traveler, or waits for an admin, as the policy `onReturn` says.
 */
export function updateUser(
  runtime: UpdateRuntime,
  connection: Connection,
  { numberHolders, ...write }: UserWrite & { numberHolders: NumberHolders },
): UpdatedUser {
  const { before, after } = write;
  const now = runtime.wallClock();
  const next: Identity = { ...withNextVersion(before, runtime), desired: after };
  const origin = nextOrigin(write, now);
  if (!isReturn(write, now)) return updated(next, origin, before);
  const isNumberShared = isNumberSharedBy(numberHolders, before);
  const judgement = judgeReactivation(before, after, { now, isNumberShared });
  const effect = effectOf(connection, before, judgement);
  if (effect === 'passedOn') return updated(next, asSamePerson(write, origin, now), before);
  const predecessor: Succession = {
    ...{ ...judgement, effect, connection: connection.id },
    ...(before.travelId === undefined ? {} : { travelId: before.travelId }),
  };
  const { departure, returnedAt: _, returnAt: _before, leaverKeptActive, ...others } = origin;
  const marked = { ...others, predecessor };
  if (effect === 'revived') return updated(next, { ...marked, resetAt: next.version }, before);
  if (effect === 'held') {
    const wasKept = leaverKeptActive && isReturnHeld(before);
    const kept = wasKept || isKeptActive(before) ? { leaverKeptActive: true as const } : {};
    return updated(
      next,
      { ...marked, ...kept, ...withDeparture(write, now), returnAt: next.version },
      before,
    );
  }
  const tombstone = createTombstone(before, runtime, { connection, predecessor });
  const separated = { ...next, origin: { ...marked, predecessor: { ...predecessor, id: tombstone.id } } };
  return {
    identity: separated,
    changes: [
      { kind: 'update', identity: separated, expected: before.version },
      { kind: 'unlink', id: before.id },
      { kind: 'insert', identity: tombstone },
    ],
  };
}

function updated(next: Identity, origin: Origin, before: Identity): UpdatedUser {
  const identity = { ...next, origin };
  return { identity, changes: [{ kind: 'update', identity, expected: before.version }] };
}

/** The person is back. An earlier judgement that held the return is void. */
function asSamePerson(write: UserWrite, origin: Origin, now: number): Origin {
  const { returnAt: _, predecessor: _predecessor, leaverKeptActive: _kept, ...others } = origin;
  return { ...others, ...withDeparture(write, now) };
}

/** The departure stays known for a day after the reactivation. */
function withDeparture({ before }: UserWrite, now: number): Origin {
  const returnedAt = isInactive(before) ? now : (before.origin.returnedAt ?? now);
  return { departure: departureOf(before), returnedAt };
}

function effectOf(connection: Connection, before: Identity, judgement: Judgement) {
  const effect = takeoverEffect(connection, judgement, {
    mustAsk: mustAskBeforeRevival(before),
    canSeparate: before.travelId === undefined || canGiveEmailUp(before, connection),
  });
  // Without a known traveler, there is none to separate from.
  return effect === 'separate' && before.travelId === undefined ? 'revived' : effect;
}

/** Creates a tombstone that keeps the old traveler and makes it give up its email address. */
function createTombstone(
  leaver: Identity,
  { newId, now, wallClock }: UpdateRuntime,
  { connection: { lateMs }, predecessor }: { connection: Connection; predecessor: Succession },
): Identity {
  const { progress, origin } = leaver;
  const deletedAt = wallClock();
  const writtenAt = now();
  const sent = { ...progress.late?.sent, archived: [false] };
  // A departure that waits for an admin, or was discarded, stays so. Any other needs a version of its own: no decision has been made about it,
  // no attempt has archived its traveler, and an admin can discard it.
  const isUndecided = isDepartureCause(leaver.hold?.cause) || isKeptActive(leaver);
  const decided = isUndecided ? {} : { version: leaver.version + 1, hold: undefined, decision: undefined };
  return {
    ...leaver,
    ...decided,
    ...{ id: newId(), revision: 1, state: 'dirty', deletedAt, lastModified: deletedAt },
    ...{ leasedUntil: undefined, nextAttemptAt: undefined, attempts: 0, waitingFor: undefined },
    origin: {
      ...withoutReturn(origin),
      departure: departureOf(leaver),
      ...(isLeftActive(leaver) ? { statedDeparture: { version: 1, isRepeated: true } } : {}),
      successor: toSuccessor(predecessor, leaver),
    },
    // A call that was sent for the live user may still be in flight.
    ...{
      writtenAt,
      progress: { ...progress, late: { creates: [], ...progress.late, sent, checkAt: writtenAt + lateMs } },
    },
  };
}

function withoutReturn({
  returnedAt: _,
  returnAt: _returnAt,
  leaverKeptActive: _kept,
  ...origin
}: Origin): Origin {
  return origin;
}

/**
 * True for a user whose return is held, and whose traveler is active, because the departure before was held or discarded. A departure that
 * follows waits for an admin, too.
 */
export function isLeftActive(identity: Identity): boolean {
  const { applied, hold, origin, travelId } = identity;
  if (travelId === undefined || !isReturnHeld(identity)) return false;
  const isHeld = hold?.cause === 'return' || isDepartureCause(hold?.cause);
  return origin.leaverKeptActive === true || (isHeld && applied['archived']?.sent !== true);
}

/** Saves the values with the deactivation, because they may change before the user is reactivated. */
function nextOrigin({ before, after, kind, statesDeparture }: UserWrite, now: number): Origin {
  const { statedDeparture: _, departure, returnedAt, ...origin } = before.origin;
  const { baseline, successor, countedParts: counted, ...others } = origin;
  const countedParts = countChangedParts(before.desired, after, counted);
  const imported = kind === 'replace' ? undefined : before.claimed ? baseline : before.desired;
  const kept = {
    ...others,
    ...(imported === undefined ? {} : { baseline: imported }),
    ...(countedParts === undefined ? {} : { countedParts }),
  };
  if (!isActive(after))
    return {
      ...kept,
      departure: lastDeparture(before, after, now),
      statedDeparture: statedDepartureAfter(before, {
        isStated: statesDeparture,
        wasLeftActive: isLeftActive(before),
      }),
      ...(successor ? { successor } : {}),
    };
  // A user who is activated again is no leaver any more.
  const isRecent = !isInactive(before) && (isReturnRecent(before.origin, now) || isReturnHeld(before));
  return {
    ...(isPassedOn(successor) ? withoutPredecessor(kept) : kept),
    ...(isRecent && departure && returnedAt !== undefined ? { departure, returnedAt } : {}),
    ...(successor?.effect === 'bothActive' ? { successor } : {}),
  };
}

/** True for a leaver whose traveler another user has: activated again, it is a joiner. */
function isPassedOn(successor: Succession | undefined): boolean {
  return successor?.effect === 'passedOn' || successor?.effect === 'revived';
}

function withoutPredecessor({ predecessor: _, ...origin }: Origin): Origin {
  return origin;
}

/**
 * Returns the values of the person to whom the traveler belongs, when the user is inactive. While a return is held, that is the person who
 * left before, and not the one who has the user now.
 */
export function lastDeparture(before: Identity, after: ScimResource, now: number): Departure {
  const isKnown = isInactive(before) || (isReturnHeld(before) && before.origin.departure !== undefined);
  return isKnown ? departureOf(before) : presentDeparture(before, after, now);
}

/** Returns the values of a user who leaves now. A value that only the write has that ends the user's time counts, too. */
function presentDeparture(
  { desired, connection }: Pick<Identity, 'desired' | 'connection'>,
  after: ScimResource,
  at: number,
): Departure {
  const { connection: _, ...before } = personalValuesOf(desired, connection);
  const last = personalValuesOf(after, connection);
  return {
    ...before,
    externalId: before.externalId ?? last.externalId,
    employeeNumber: before.employeeNumber ?? last.employeeNumber,
    givenName: before.givenName ?? last.givenName,
    familyName: before.familyName ?? last.familyName,
    at,
  };
}
