import { isActive, type ScimResource } from '../schema/resource.ts';
import { countChangedParts } from '../translator/reference-parts.ts';
import type { Connection } from './connection.ts';
import { withNextVersion } from './create-user.ts';
import { isAdministrator } from './guard.ts';
import type { Identity, Origin } from './identity.ts';
import { isInactive } from './identity.ts';
import { departureAfter } from './kept-active.ts';
import type { Runtime } from './runtime-ports.ts';
import type { IdentityChange } from './store-ports.ts';
import { leaverExternalId } from './takeover.ts';
import type { PendingWrite } from './write-attempt.ts';

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

/**
 * Computes the claimed, dirty identity with the new desired state. A user who is reactivated with another externalId is
 * a different person: depending on the policy `onReturn`, that person gets this traveler without the old values, gets
 * another traveler, or waits for an admin.
 */
export function updateUser(
  runtime: Pick<Runtime, 'now' | 'newId' | 'wallClock'>,
  connection: Connection,
  write: UserWrite,
): UpdatedUser {
  const { before, after } = write;
  const next: Identity = { ...withNextVersion(before, runtime), desired: after };
  const origin = nextOrigin(write);
  const update = (identity: Identity): IdentityChange => ({
    kind: 'update',
    identity,
    expected: before.version,
  });
  if (!isOtherPersonReturning(write)) {
    const identity = { ...next, origin };
    return { identity, changes: [update(identity)] };
  }
  const { onReturn } = connection.policies;
  if (onReturn === 'revive' || before.travelId === undefined) {
    const identity = { ...next, origin: { ...origin, resetAt: next.version } };
    return { identity, changes: [update(identity)] };
  }
  // An administrator never gets a parking address, so the new person cannot get a separate traveler: hold the return.
  const isAdmin = before.observed !== undefined && isAdministrator(before.observed);
  if (onReturn === 'hold' || connection.parkingDomain === undefined || isAdmin) {
    const identity = { ...next, origin: { ...origin, returnAt: next.version } };
    return { identity, changes: [update(identity)] };
  }
  const identity = { ...next, origin };
  const tombstone = createTombstone(before, runtime, connection.lateMs);
  return {
    identity,
    changes: [update(identity), { kind: 'unlink', id: before.id }, { kind: 'insert', identity: tombstone }],
  };
}

/** Creates a tombstone that keeps the old traveler and makes it give up its email address. */
function createTombstone(
  leaver: Identity,
  { newId, now, wallClock }: Pick<Runtime, 'now' | 'newId' | 'wallClock'>,
  lateMs: number,
): Identity {
  const { progress, origin } = leaver;
  const deletedAt = wallClock();
  const sent = { ...progress.late?.sent, archived: [false] };
  return {
    ...leaver,
    ...{ id: newId(), version: 1, revision: 1, state: 'dirty', deletedAt, lastModified: deletedAt },
    ...{
      leasedUntil: undefined,
      nextAttemptAt: undefined,
      attempts: 0,
      hold: undefined,
      decision: undefined,
    },
    waitingFor: undefined,
    origin: { ...origin, givesEmailUp: true },
    // A call that was sent for the live user may still be in flight.
    progress: { ...progress, late: { creates: [], ...progress.late, sent, checkAt: now() + lateMs } },
  };
}

function isOtherPersonReturning({ before, after }: UserWrite): boolean {
  if (!before.claimed || !isInactive(before) || !isActive(after)) return false;
  const left = leaverExternalId(before);
  return left !== undefined && typeof after.externalId === 'string' && left !== after.externalId;
}

/** Save the externalId with the deactivation, because it may change before the user is reactivated. */
function nextOrigin({ before, after, kind, statesDeparture }: UserWrite): Origin {
  const { leftAs, departure: _, found: _found, baseline, countedParts: counted, ...others } = before.origin;
  const isLeaver = !isActive(after);
  const left = isLeaver
    ? (leftAs ?? leaverExternalId(before) ?? leaverExternalId({ desired: after, origin: {} }))
    : undefined;
  const countedParts = countChangedParts(before.desired, after, counted);
  const imported = kind === 'replace' ? undefined : before.claimed ? baseline : before.desired;
  return {
    ...others,
    ...(left === undefined ? {} : { leftAs: left }),
    ...(isLeaver ? { departure: departureAfter(before, { isStated: statesDeparture }) } : {}),
    ...(imported === undefined ? {} : { baseline: imported }),
    ...(countedParts === undefined ? {} : { countedParts }),
  };
}
