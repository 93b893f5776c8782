import { isActive } from '../../schema/resource.ts';
import type { Connection } from '../connection.ts';
import type { Groups, MemberChange } from '../groups/group-ports.ts';
import type { Identity, Membership } from '../identity.ts';
import { ProvisioningError } from '../provisioning-error.ts';
import { markReferrersDirty } from '../reconcile/run/notify-dependents.ts';
import type { Runtime } from '../runtime-ports.ts';
import type { Identities, IdentityView, ReconcileQueue, References } from '../store-ports.ts';
import { withNextVersion } from './create-user.ts';
import type { OwnUsers } from './own-users.ts';

/** Dependencies of the answers to a deactivation or DELETE that is refused. */
export interface RefusalDeps {
  identities: Pick<Identities, 'findById' | 'commit'>;
  groups: Pick<Groups, 'findById' | 'change'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  references: Pick<References, 'findReferrers'>;
  ownUsers: Pick<OwnUsers, 'lastKnown'>;
  wake(): void;
  runtime: Runtime;
}

/**
 * Turns a DELETE that the travel API refuses into a deactivation and throws `refused`; a repeated DELETE tries again
 * (docs/architecture.md, Guarded people).
 */
export async function undoDelete(deps: RefusalDeps, connection: Connection, id: string): Promise<void> {
  const tombstone = await deps.identities.findById(connection.id, id);
  if (tombstone?.deletedAt === undefined) throw notFoundError();
  const { memberOf: memberships = [], ...origin } = tombstone.origin;
  const identity: Identity = {
    ...withNextVersion(tombstone, deps.runtime),
    // The person of the credential is never taken out of use, so the IdP must not read that the person is inactive.
    desired: { ...tombstone.desired, active: hasOwnCredential(tombstone) },
    deletedAt: undefined,
    state: tombstone.state,
    origin,
  };
  // Restore the groups first: if the process dies before the commit, the tombstone still lists them.
  await changeGroups(deps, connection.id, {
    memberships,
    change: ({ group: _, ...member }) => ({ kind: 'add', members: [{ value: id, ...member }] }),
  });
  const change = { kind: 'update', identity, expected: tombstone.version } as const;
  // If another user has taken the userName meanwhile, do not restore the user after the refused DELETE.
  if ((await deps.identities.commit(connection.id, [change])) === 'duplicate') {
    await changeGroups(deps, connection.id, {
      memberships,
      change: () => ({ kind: 'remove', values: [id] }),
    });
    throw notFoundError();
  }
  await markReferrersDirty(deps, identity, identity);
  throw refusedError(tombstone);
}

/** The findings about `archived` that are no refusal. */
const acceptedCodes = ['drift', 'keptActive', 'unconfirmed', 'notApplied'];

/** Throws `refused` if the attempt has refused to archive the traveler. */
export async function throwIfArchiveRefused(deps: RefusalDeps, identity: Identity): Promise<void> {
  if (hasOwnCredential(identity)) await refuseToEndOwnUser(deps, identity);
  const isArchiveRefused = identity.findings.some(
    ({ field, code }) => field === 'archived' && !acceptedCodes.includes(code),
  );
  if (isArchiveRefused) throw refusedError(identity);
}

function hasOwnCredential({ findings }: Identity): boolean {
  return findings.some(({ code }) => code === 'ownCredential');
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

function refusedError({ hold, findings }: Identity): ProvisioningError {
  if (hold?.cause === 'guarded')
    return new ProvisioningError(
      'refused',
      'This person administers the travel service and is not deactivated by an identity provider; an administrator of Jetbridge must approve it.',
    );
  if (findings.some(({ code }) => code === 'ownCredential'))
    return new ProvisioningError('refused', OWN_USER);
  return new ProvisioningError('refused', 'The travel service refuses to take this person out of use.');
}

/** Changes the members of each of these groups. Groups that no longer exist are skipped. */
async function changeGroups(
  { groups, runtime }: Pick<RefusalDeps, 'groups' | 'runtime'>,
  connection: string,
  { memberships, change }: { memberships: Membership[]; change: (membership: Membership) => MemberChange },
): Promise<void> {
  for (const membership of memberships) {
    for (let outcome = 'stale'; outcome === 'stale'; ) {
      const group = await groups.findById(connection, membership.group);
      if (!group) break;
      const after = { ...group, version: group.version + 1, lastModified: runtime.wallClock() };
      outcome = await groups.change(after, group.version, {
        attributes: group.attributes,
        members: [change(membership)],
      });
    }
  }
}
