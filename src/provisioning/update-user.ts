import type { ScimResource } from '../schema/resource.ts';
import type { Connection } from './connection.ts';
import { withNextVersion } from './create-user.ts';
import { isInactive } from './email-conflicts.ts';
import { isAdministrator } from './guard.ts';
import type { Identity, Origin } from './identity.ts';
import type { Runtime } from './runtime-ports.ts';
import type { IdentityChange } from './store-ports.ts';
import { leaverExternalId } from './takeover.ts';

/** A write of an IdP to a known identity. */
export interface UserWrite {
  before: Identity;
  after: ScimResource;
  kind: 'replace' | 'patch';
}

/** The identity as written, and the changes that keep it. */
export interface UpdatedUser {
  identity: Identity;
  changes: IdentityChange[];
}

/**
 * The identity with the new desired state, claimed and dirty. Somebody who is reactivated under another externalId than the
 * leaver's is somebody else: by the policy `onReturn` they get the traveler without what the leaver had, another traveler,
 * or wait for an admin.
 */
export function updateUser(
  runtime: Pick<Runtime, 'now' | 'newId' | 'wallClock'>,
  connection: Connection,
  write: UserWrite,
): UpdatedUser {
  const { before, after } = write;
  const next: Identity = { ...withNextVersion(before, runtime), desired: after };
  const origin = originOf(write);
  const update = (identity: Identity): IdentityChange => ({
    kind: 'update',
    identity,
    expected: before.version,
  });
  if (!isReplaced(write)) {
    const identity = { ...next, origin };
    return { identity, changes: [update(identity)] };
  }
  const { onReturn } = connection.policies;
  if (onReturn === 'revive' || before.travelId === undefined) {
    const identity = { ...next, origin: { ...origin, resetAt: next.version } };
    return { identity, changes: [update(identity)] };
  }
  // An administrator gets no parking address.
  const isAdmin = before.observed !== undefined && isAdministrator(before.observed);
  if (onReturn === 'hold' || connection.parkingDomain === undefined || isAdmin) {
    const identity = { ...next, origin: { ...origin, returnAt: next.version } };
    return { identity, changes: [update(identity)] };
  }
  const identity = { ...next, origin };
  const tombstone = tombstoneOf(before, runtime, connection.lateMs);
  return {
    identity,
    changes: [update(identity), { kind: 'unlink', id: before.id }, { kind: 'insert', identity: tombstone }],
  };
}

/** The leaver, who keeps the traveler, and whose traveler gives its address up. */
function tombstoneOf(
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
    // A call for the live person may still be under way.
    progress: { ...progress, late: { creates: [], ...progress.late, sent, checkAt: now() + lateMs } },
  };
}

function isReplaced({ before, after }: UserWrite): boolean {
  if (!before.claimed || !isInactive(before) || after.active === false) return false;
  const left = leaverExternalId(before);
  return left !== undefined && typeof after.externalId === 'string' && left !== after.externalId;
}

/** Who left is remembered from the deactivation on, as the externalId may change before somebody comes back. */
function originOf({ before, after, kind }: UserWrite): Origin {
  const { leftAs, baseline, ...others } = before.origin;
  const isLeaver = after.active === false;
  const left = isLeaver
    ? (leftAs ?? leaverExternalId(before) ?? leaverExternalId({ desired: after, origin: {} }))
    : undefined;
  const imported = kind === 'replace' ? undefined : before.claimed ? baseline : before.desired;
  return {
    ...others,
    ...(left === undefined ? {} : { leftAs: left }),
    ...(imported === undefined ? {} : { baseline: imported }),
  };
}
