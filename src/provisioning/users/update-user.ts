import {
  type Departure,
  type Identity,
  isDepartureCause,
  isInactive,
  type Origin,
  type Succession,
} from '../../model/identity.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { IdentityChange } from '../../model/store-ports.ts';
import { isActive, type ScimResource } from '../../schema/resource.ts';
import type { StatedPath } from '../../schema/stated-attributes.ts';
import { countChangedParts } from '../../translator/values/reference-parts.ts';
import { departureOf, isLeaver, judgeNewcomer, toPredecessor, toSuccessor } from '../people/takeover.ts';
import { personalValuesOf } from '../people/who-is-who.ts';
import { isKeptActive, statedDepartureAfter } from '../reconcile/departure/guard.ts';
import { originAfterStatement } from '../reconcile/restored/statements.ts';
import type { PendingWrite } from '../reconcile/run/commit.ts';
import { withNextVersion } from './create-user.ts';

/** A PUT (`replace`) or PATCH of an existing user. */
export interface UserWrite {
  before: Identity;
  after: ScimResource;
  kind: 'replace' | 'patch';
  /** True if the request itself states that the user is inactive; false if an earlier one did. */
  statesDeparture: boolean;
  /** What the request states of a person from a restored backup. */
  stated: readonly StatedPath[];
}

/** The changed identity, and the changes whose commit saves it. */
type UpdatedUser = Pick<PendingWrite, 'identity' | 'changes'>;

type UpdateRuntime = Pick<Runtime, 'now' | 'newId' | 'wallClock'>;

/**
 * Computes the claimed, dirty identity with the new desired state. If a user who is activated again is another person, the user gets a
 * traveler of its own: a tombstone keeps that of the leaver.
 */
export function updateUser(runtime: UpdateRuntime, write: UserWrite): UpdatedUser {
  const { before, after } = write;
  const now = runtime.wallClock();
  const next: Identity = {
    ...withNextVersion(before, runtime),
    desired: after,
    origin: nextOrigin(write, now),
  };
  const update = { kind: 'update', identity: next, expected: before.version } as const;
  const isReturn = isInactive(before) && isActive(after);
  const isSame = !isReturn || judgeNewcomer(before, { ...before, desired: after }, { now }) !== 3;
  if (isSame) return { identity: next, changes: [update] };
  if (!isLeaver(before)) return withoutTravelerOwed(next, update);
  const tombstone = createTombstone(before, runtime);
  const predecessor = toPredecessor(3, tombstone);
  const identity: Identity = {
    ...next,
    ...{ travelId: undefined, applied: {}, observed: undefined, creating: undefined, waitingFor: undefined },
    progress: { predecessor },
  };
  return {
    identity,
    changes: [
      update,
      { kind: 'unlink', id: before.id, predecessor },
      { kind: 'insert', identity: tombstone },
    ],
  };
}

/** Another person who is activated does not get the traveler of a leaver, for which the user of before has waited. */
function withoutTravelerOwed(next: Identity, update: IdentityChange): UpdatedUser {
  const { predecessor: owed } = next.progress;
  if (owed === undefined || next.travelId !== undefined) return { identity: next, changes: [update] };
  const predecessor: Succession = { ...owed, row: 3 };
  return {
    identity: { ...next, progress: { predecessor } },
    changes: [update, { kind: 'unlink', id: next.id, predecessor }],
  };
}

/** Creates a tombstone that keeps the traveler of a leaver, whose SCIM user is that of another person now. */
function createTombstone(leaver: Identity, { newId, now, wallClock }: UpdateRuntime): Identity {
  const { origin } = leaver;
  const deletedAt = wallClock();
  // A departure that waits for an admin, or was discarded, stays so. Any other needs a version of its own: no decision has been made about it,
  // no attempt has archived its traveler, and an admin can discard it.
  const isUndecided = isDepartureCause(leaver.hold?.cause) || isKeptActive(leaver);
  const decided = isUndecided ? {} : { version: leaver.version + 1, hold: undefined, decision: undefined };
  return {
    ...leaver,
    ...decided,
    ...{ id: newId(), revision: 1, state: 'dirty', deletedAt, lastModified: deletedAt },
    ...{ leasedUntil: undefined, nextAttemptAt: undefined, attempts: 0 },
    ...{ writtenAt: now(), waitingFor: undefined },
    origin: { ...origin, departure: departureOf(leaver), successor: toSuccessor(3, leaver) },
  };
}

/** Saves the values with the deactivation, because they may change before the user is reactivated. */
function nextOrigin({ before, after, kind, statesDeparture, stated }: UserWrite, now: number): Origin {
  const { statedDeparture: _, departure: _departure, ...origin } = originAfterStatement(before, stated);
  const { baseline, successor, countedParts: counted, ...others } = origin;
  const countedParts = countChangedParts(before.desired, after, counted);
  const isImported = kind === 'patch' || origin.stated !== undefined;
  const imported = before.claimed ? baseline : before.desired;
  // A user who is activated again is no leaver any more.
  const keptSuccessor = isActive(after) && isInactive(before) ? undefined : successor;
  const kept = {
    ...others,
    ...(isImported && imported !== undefined ? { baseline: imported } : {}),
    ...(countedParts === undefined ? {} : { countedParts }),
    ...(keptSuccessor === undefined ? {} : { successor: keptSuccessor }),
  };
  if (isActive(after)) return kept;
  return {
    ...kept,
    departure: lastDeparture(before, now),
    statedDeparture: statedDepartureAfter(before, { isStated: statesDeparture }),
  };
}

/** Returns the values that the user had when it became inactive; the present ones of a user who leaves now. */
export function lastDeparture(before: Identity, now: number): Departure {
  return isInactive(before) ? departureOf(before) : { ...personalValuesOf(before.desired), at: now };
}
