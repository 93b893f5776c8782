import type { Connection } from '../../model/connection.ts';
import type { Identity } from '../../model/identity.ts';
import { ProvisioningError } from '../../model/provisioning-error.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { Identities, IdentityView, ReconcileQueue, References } from '../../model/store-ports.ts';
import { isActive } from '../../schema/resource.ts';
import type { OwnUsers } from '../calls/own-users.ts';
import { isKeptActive } from '../reconcile/departure/guard.ts';
import { markReferrersDirty } from '../reconcile/run/notify-dependents.ts';
import { withNextVersion } from './create-user.ts';
import { repeatWhileStale } from './write.ts';

/** Dependencies of the answers to a deactivation or DELETE that is refused. */
export interface RefusalDeps {
  identities: Pick<Identities, 'findById' | 'commit'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  references: Pick<References, 'findReferrers'>;
  ownUsers: Pick<OwnUsers, 'lastKnown'>;
  wake(): void;
  runtime: Runtime;
}

/**
 * Turns a DELETE that the travel API refuses into a deactivation and throws `refused`; a repeated DELETE tries again
 * (docs/architecture.md, Guarded people). The commit restores the memberships of the user, too.
 */
export async function undoDelete(deps: RefusalDeps, connection: Connection, id: string): Promise<void> {
  const refused = await repeatWhileStale(async () => {
    const stored = await deps.identities.findById(connection.id, id);
    if (stored?.deletedAt === undefined) throw notFoundError();
    const isOwn = await isOwnUser(deps, connection.id, { travelUserId: stored.travelId });
    const identity: Identity = {
      ...withNextVersion(stored, deps.runtime),
      // The person of the credential is never taken out of use, so the IdP must not read that the person is inactive.
      desired: { ...stored.desired, active: isOwn },
      deletedAt: undefined,
      state: stored.state,
    };
    const change = { kind: 'update', identity, expected: stored.version } as const;
    const committed = await deps.identities.commit(connection.id, [change]);
    if (committed === 'stale') return 'stale';
    // If another user has taken the userName meanwhile, do not restore the user after the refused DELETE.
    if (committed === 'duplicate') throw notFoundError();
    await markReferrersDirty(deps, identity, identity);
    return { hold: stored.hold, isOwn };
  });
  throw refusedError(refused);
}

/** Throws `refused` if the attempt has refused to archive the traveler. */
export async function throwIfArchiveRefused(deps: RefusalDeps, identity: Identity): Promise<void> {
  const { connection, travelId, observed, applied, hold } = identity;
  if (await isOwnUser(deps, connection, { travelUserId: travelId })) await refuseToEndOwnUser(deps, identity);
  // What the travel API has accepted without effect is not refused.
  const isInUse = observed?.archived === false && applied['archived']?.sent !== true;
  if (travelId !== undefined && isInUse && !isKeptActive(identity))
    throw refusedError({ hold, isOwn: false });
}

/** True if the user is linked to the traveler whose credential the bridge uses, as last known. */
export async function isOwnUser(
  { ownUsers }: Pick<RefusalDeps, 'ownUsers'>,
  connection: string,
  { travelUserId }: Pick<IdentityView, 'travelUserId'>,
): Promise<boolean> {
  return travelUserId !== undefined && travelUserId === (await ownUsers.lastKnown(connection));
}

/** Refuses to deactivate or delete the person of the credential, who stays active, or becomes so again. */
export async function refuseToEndOwnUser(deps: RefusalDeps, own: Identity): Promise<never> {
  if (!isActive(own.desired)) {
    const next = withNextVersion(own, deps.runtime);
    const { departure: _, ...origin } = own.origin;
    const identity = { ...next, origin, state: own.state, desired: { ...own.desired, active: true } };
    await deps.identities.commit(own.connection, [{ kind: 'update', identity, expected: own.version }]);
  }
  throw new ProvisioningError('refused', OWN_USER);
}

const OWN_USER = 'Jetbridge itself uses the travel service as this person, who is never deactivated.';

/** The error of a request about a user who does not exist. */
export function notFoundError(): ProvisioningError {
  return new ProvisioningError('notFound', 'There is no such user.');
}

function refusedError({ hold, isOwn }: Pick<Identity, 'hold'> & { isOwn: boolean }): ProvisioningError {
  if (hold?.cause === 'guarded')
    return new ProvisioningError(
      'refused',
      'This person administers the travel service and is not deactivated by an identity provider; an administrator of Jetbridge must approve it.',
    );
  if (isOwn) return new ProvisioningError('refused', OWN_USER);
  return new ProvisioningError('refused', 'The travel service refuses to take this person out of use.');
}
