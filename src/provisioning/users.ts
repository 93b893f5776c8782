import { isDeepStrictEqual } from 'node:util';
import { extensionsOf, isActive, type ScimResource } from '../schema/resource.ts';
import type { Connection } from './connection.ts';
import { createUser, withNextVersion } from './create-user.ts';
import type { ExistingUserFinder } from './find-existing.ts';
import type { Groups, MemberChange } from './group-ports.ts';
import { type Identity, isInactive, type Membership } from './identity.ts';
import type { ListPage } from './list-ports.ts';
import {
  type ListedUser,
  listUsers,
  type ScanQueue,
  toUserViews,
  type UserQuery,
  type UserView,
} from './list-users.ts';
import { markDirty, referenceValuesOf } from './notify-dependents.ts';
import { ProvisioningError } from './provisioning-error.ts';
import type { BudgetedAttempt, ReconcileWithinBudget } from './reconcile-within-budget.ts';
import type { RulesSnapshots } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Identities, IdentityChange, IdentityView, ReconcileQueue, References } from './store-ports.ts';
import { departureOf, findNumberHolders } from './takeover.ts';
import { isReturn, presentDeparture, updateUser } from './update-user.ts';
import type { PendingWrite } from './write-attempt.ts';

/**
 * The operations on SCIM users. Every write is durable before it returns. A write waits for the travel API no longer
 * than the write budget. `requestId` is that of the SCIM request, for the log of exchanges.
 */
export interface UserService {
  create(connection: string, desired: ScimResource, requestId?: string): Promise<UserView>;
  read(connection: string, id: string): Promise<UserView>;
  list(connection: string, query: UserQuery): Promise<ListPage<ListedUser>>;
  /**
   * Applies a pure change to the desired state. `change` may throw to refuse the version, and may be called several times.
   * A change without effect leaves version and lastModified alone.
   */
  change(
    connection: string,
    id: string,
    change: (current: ScimResource, version: number) => ScimResource,
    kind: 'replace' | 'patch',
    requestId?: string,
  ): Promise<UserView>;
  /**
   * Deletes the user: a tombstone remains, and the traveler is archived or deleted. `check` may throw to refuse the
   * version.
   */
  remove(
    connection: string,
    id: string,
    check?: (version: number) => void,
    requestId?: string,
  ): Promise<void>;
}

export interface UserServiceDeps {
  identities: Identities;
  groups: Pick<Groups, 'findById' | 'change' | 'groupsOf' | 'membershipsOf'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  references: Pick<References, 'findReferrers'>;
  rulesSnapshots: RulesSnapshots;
  existingUserFinder: ExistingUserFinder;
  reconcileWithinBudget: ReconcileWithinBudget;
  scanQueue: ScanQueue;
  connectionOf(id: string): Connection;
  wake(): void;
  runtime: Runtime;
}

/** The number of attempts at a write when other writers keep committing first. */
const MAX_TRIES = 20;

/** Creates the service for the users of all connections. */
export function userService(deps: UserServiceDeps): UserService {
  return {
    create: (connection, desired, requestId) =>
      create(deps, deps.connectionOf(connection), { desired, requestId }),
    read: (connection, id) => readView(deps, connection, id),
    list: (connection, query) => listUsers(deps, deps.connectionOf(connection), query),
    change: (connection, id, change, kind, requestId) =>
      updateDesired(deps, deps.connectionOf(connection), { id, change, kind, requestId }),
    remove: (connection, id, check, requestId) =>
      remove(deps, deps.connectionOf(connection), { id, check, requestId }),
  };
}

async function create(
  deps: UserServiceDeps,
  connection: Connection,
  { desired, requestId }: { desired: ScimResource; requestId: string | undefined },
): Promise<UserView> {
  const since = deps.runtime.now();
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const user = { ...desired, active: desired.active ?? true };
    // If the commit of a new user is refused, the matches are searched.
    const expectsNoMatch = tries === 0;
    const write = {
      ...(await createUser(deps, connection, { desired: user, expectsNoMatch })),
      requestId,
    };
    const { identity } = write;
    const attempt = await deps.reconcileWithinBudget.commit(connection, write, async () => {
      if (identity.travelId !== undefined) await markReferrersDirty(deps, identity, identity);
      await wakeLeavers(deps, write);
    });
    if (attempt === 'stale') continue;
    const leavers = leaversGivingEmailUp(connection, write);
    if (leavers.length > 0) {
      // With its own address free, the new user can have its traveler in the answer already.
      await deps.reconcileWithinBudget.reconcileInOrder(connection, [...leavers, identity.id], {
        since,
        requestId,
      });
      return readView(deps, connection.id, identity.id);
    }
    return viewAfter(deps, identity, { attempt, inGroups: write.before !== undefined });
  }
  throw busyError();
}

/** The leavers of this connection whose travelers give up their address for a new user. */
function leaversGivingEmailUp({ id: connection }: Connection, { changes }: PendingWrite): string[] {
  return changes.flatMap((change) =>
    change.kind === 'noteSuccessor' && change.givesEmailUp && change.connection === connection
      ? [change.id]
      : [],
  );
}

/**
 * Starts the attempts at the leavers that the write concerns. People who refer to a live leaver as their manager lose the traveler that
 * it passes on.
 */
async function wakeLeavers(deps: UserServiceDeps, { changes }: PendingWrite): Promise<void> {
  if (changes.some(({ kind }) => kind === 'noteSuccessor' || kind === 'giveUpTraveler')) deps.wake();
  for (const change of changes) {
    if (change.kind !== 'giveUpTraveler' || change.origin.successor === undefined) continue;
    const { connection, id } = change;
    const leaver = await deps.identities.findById(connection, id);
    const values = leaver ? referenceValuesOf(leaver) : [id];
    await markDirty(deps, connection, await deps.references.findReferrers(connection, id, values));
  }
}

interface UserUpdate {
  id: string;
  change: (current: ScimResource, version: number) => ScimResource;
  kind: 'replace' | 'patch';
  requestId: string | undefined;
}

async function updateDesired(
  deps: UserServiceDeps,
  connection: Connection,
  update: UserUpdate,
): Promise<UserView> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const stored = await deps.identities.findForWrite(connection.id, update.id);
    if (!stored || stored.isDeleted) throw notFoundError();
    const { view } = stored;
    const desired = JSON.parse(view.desired) as ScimResource; // The store writes only SCIM resources into this column.
    const after = withStoredActive(desired, update.change(desired, view.version));
    const isSame = isDeepStrictEqual(after, desired);
    if (isSame && stored.canAnswerNoOp) return toUserView(deps, connection.id, view);
    const before = stored.parse();
    if (isSame && before.claimed) return repeat(deps, connection, { before, requestId: update.requestId });
    const change = { before, after, kind: update.kind };
    const numberHolders = isReturn(change, deps.runtime.wallClock())
      ? await findNumberHolders(deps.identities, connection.account, after)
      : [];
    const { identity, changes } = updateUser(deps.runtime, connection, { ...change, numberHolders });
    const references = stored.hasReferences ? undefined : [];
    const { requestId } = update;
    const write = { identity, before, changes, references, generation: stored.generation, requestId };
    const attempt = await deps.reconcileWithinBudget.commit(connection, write, () =>
      markReferrersDirty(deps, before, identity),
    );
    if (attempt === 'stale') continue;
    // The tombstone of another person must give up its address.
    if (changes.some(({ kind }) => kind === 'insert')) deps.wake();
    if (attempt.result === 'refused' && !isActive(after))
      throwIfArchiveRefused({ ...identity, ...attempt.outcome });
    return viewAfter(deps, identity, { attempt, inGroups: view.inGroups });
  }
  throw busyError();
}

/** Answers a write that changes nothing, of an identity that is refused or held: any repeat tries again. */
async function repeat(
  deps: UserServiceDeps,
  connection: Connection,
  { before, requestId }: { before: Identity; requestId: string | undefined },
): Promise<UserView> {
  const isTriedAgain = before.state === 'refused' || before.hold?.cause === 'guarded';
  const attempt = isTriedAgain ? await tryAgain(deps, connection, { id: before.id, requestId }) : 'later';
  if (attempt === 'refused' && !isActive(before.desired)) {
    const identity = await deps.identities.findById(connection.id, before.id);
    if (identity) throwIfArchiveRefused(identity);
  }
  return readView(deps, connection.id, before.id);
}

/**
 * Makes another attempt for an identity that no queue contains. If it has not ended when the request is answered, or has not begun,
 * the identity becomes dirty, so that the attempt is made also after a pause and by another replica.
 */
async function tryAgain(
  deps: UserServiceDeps,
  connection: Connection,
  { id, requestId }: { id: string; requestId: string | undefined },
): Promise<BudgetedAttempt['result']> {
  const result = await deps.reconcileWithinBudget.reconcile(connection, id, requestId);
  if (result === 'later' || result === 'busy' || result === 'unsaved')
    await markDirty(deps, connection.id, [id]);
  return result;
}

/** Returns the user as the write and its attempt have left it, without reading it again. */
function viewAfter(
  deps: UserServiceDeps,
  identity: Identity,
  { attempt, inGroups }: { attempt: BudgetedAttempt; inGroups: boolean },
): Promise<UserView> {
  const { connection, id, desired, version, createdAt, lastModified } = identity;
  const { travelId } = attempt.outcome ?? identity;
  return toUserView(deps, connection, {
    id,
    version,
    createdAt,
    lastModified,
    inGroups,
    desired: JSON.stringify(desired),
    extensions: JSON.stringify(extensionsOf(desired)),
    travelUserId: travelId,
  });
}

/**
 * `active` is always stored: a change that omits or clears it keeps the stored value (docs/architecture.md, The rules of
 * the plan).
 */
function withStoredActive(current: ScimResource, changed: ScimResource): ScimResource {
  return typeof changed.active === 'boolean' ? changed : { ...changed, active: current.active ?? true };
}

interface UserRemoval {
  id: string;
  check: ((version: number) => void) | undefined;
  requestId: string | undefined;
}

async function remove(
  deps: UserServiceDeps,
  connection: Connection,
  { id, check, requestId }: UserRemoval,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const stored = await deps.identities.findForWrite(connection.id, id);
    if (!stored) throw notFoundError();
    const before = stored.parse();
    if (stored.isDeleted) await throwDeleted(deps, connection, { tombstone: before, requestId });
    check?.(before.version);
    const { runtime } = deps;
    const memberOf = stored.view.inGroups ? await deps.groups.membershipsOf(connection.id, id) : [];
    const now = runtime.wallClock();
    const departure = isInactive(before)
      ? departureOf(before)
      : presentDeparture(before, before.desired, now);
    const identity: Identity = {
      ...withNextVersion(before, runtime),
      deletedAt: now,
      origin: { ...before.origin, departure, ...(memberOf.length > 0 ? { memberOf } : {}) },
    };
    const changes: IdentityChange[] = [{ kind: 'update', identity, expected: before.version }];
    const references = stored.hasReferences ? undefined : [];
    const write = { identity, before, changes, references, generation: stored.generation, requestId };
    const attempt = await deps.reconcileWithinBudget.commit(connection, write, () =>
      markReferrersDirty(deps, before, identity),
    );
    if (attempt === 'stale') continue;
    if (attempt.result === 'refused') await undoDelete(deps, connection, id);
    return;
  }
  throw busyError();
}

/**
 * Answers the DELETE of a tombstone. If an earlier DELETE was committed but the process ended before it was answered, the
 * repeated DELETE must still report a refusal.
 */
async function throwDeleted(
  deps: UserServiceDeps,
  connection: Connection,
  { tombstone: { id, state, hold }, requestId }: { tombstone: Identity; requestId: string | undefined },
): Promise<never> {
  const isOpen = state === 'dirty' || state === 'refused' || hold?.cause === 'guarded';
  if (isOpen && (await tryAgain(deps, connection, { id, requestId })) === 'refused')
    await undoDelete(deps, connection, id);
  throw notFoundError();
}

/**
 * Turns a DELETE that the travel API refuses into a deactivation and throws `refused`; a repeated DELETE tries again
 * (docs/architecture.md, Guarded people).
 */
async function undoDelete(deps: UserServiceDeps, connection: Connection, id: string): Promise<void> {
  const tombstone = await deps.identities.findById(connection.id, id);
  if (tombstone?.deletedAt === undefined) throw notFoundError();
  const { memberOf: memberships = [], ...origin } = tombstone.origin;
  const identity: Identity = {
    ...withNextVersion(tombstone, deps.runtime),
    desired: { ...tombstone.desired, active: false },
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

function throwIfArchiveRefused(identity: Identity): void {
  const isArchiveRefused = identity.findings.some(
    ({ field, code }) => (field === 'archived' && code !== 'drift') || code === 'ownCredential',
  );
  if (isArchiveRefused) throw refusedError(identity);
}

/** Marks the identities dirty that refer to this user by a value that was added or removed. */
async function markReferrersDirty(deps: UserServiceDeps, before: Identity, after: Identity): Promise<void> {
  const [old, now] = [new Set(referenceValuesOf(before)), new Set(referenceValuesOf(after))];
  const changed = [...old]
    .filter((value) => !now.has(value))
    .concat([...now].filter((value) => !old.has(value)));
  const isDeleted = after.deletedAt !== undefined;
  const isNewOrRestored = before === after;
  if (changed.length === 0 && !isDeleted && !isNewOrRestored) return;
  const values = isDeleted || isNewOrRestored ? [...new Set([...old, ...now])] : changed;
  const referrers = await deps.references.findReferrers(after.connection, after.id, values);
  await markDirty(deps, after.connection, referrers);
}

async function readView(deps: UserServiceDeps, connection: string, id: string): Promise<UserView> {
  const stored = await deps.identities.findView(connection, id);
  if (!stored) throw notFoundError();
  return toUserView(deps, connection, stored);
}

async function toUserView(
  deps: UserServiceDeps,
  connection: string,
  stored: IdentityView,
): Promise<UserView> {
  const [user] = await toUserViews(deps, connection, { views: [stored], withGroups: true });
  if (!user) throw notFoundError();
  return user;
}

function notFoundError(): ProvisioningError {
  return new ProvisioningError('notFound', 'There is no such user.');
}

function refusedError({ hold, findings }: Identity): ProvisioningError {
  if (hold?.cause === 'guarded')
    return new ProvisioningError(
      'refused',
      'This person administers the travel service and is not deactivated by an identity provider; an administrator of Jetbridge must approve it.',
    );
  if (findings.some(({ code }) => code === 'ownCredential'))
    return new ProvisioningError(
      'refused',
      'Jetbridge itself uses the travel service as this person, who is never deactivated.',
    );
  return new ProvisioningError('refused', 'The travel service refuses to take this person out of use.');
}

function busyError(): ProvisioningError {
  return new ProvisioningError('unavailable', 'Too many writers change this user at once; try again.');
}

/** Changes the members of each of these groups. Groups that no longer exist are skipped. */
export async function changeGroups(
  { groups, runtime }: Pick<UserServiceDeps, 'groups' | 'runtime'>,
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
