import { isDeepStrictEqual } from 'node:util';
import type { ScimResource } from '../schema/resource.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Connection } from './connection.ts';
import { createUser, withNextVersion } from './create-user.ts';
import type { ExistingUserFinder } from './find-existing.ts';
import type { Groups, MemberChange } from './group-ports.ts';
import type { Identity, Membership } from './identity.ts';
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
import type { AttemptResult, Reconciler } from './reconcile.ts';
import type { RulesSnapshots } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Identities, IdentityChange, IdentityView, ReconcileQueue, References } from './store-ports.ts';
import { updateUser } from './update-user.ts';

/**
 * The operations on SCIM users. Every write is durable before it returns. A write waits for the travel API no longer
 * than the write budget.
 */
export interface UserService {
  create(connection: string, desired: ScimResource): Promise<UserView>;
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
  ): Promise<UserView>;
  /**
   * Deletes the user: a tombstone remains, and the traveler is archived or deleted. `check` may throw to refuse the
   * version.
   */
  remove(connection: string, id: string, check?: (version: number) => void): Promise<void>;
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
    create: (connection, desired) => create(deps, deps.connectionOf(connection), desired),
    read: (connection, id) => readView(deps, connection, id),
    list: (connection, query) => listUsers(deps, deps.connectionOf(connection), query),
    change: (connection, id, change, kind) =>
      updateDesired(deps, deps.connectionOf(connection), { id, change, kind }),
    remove: (connection, id, check) => remove(deps, deps.connectionOf(connection), { id, check }),
  };
}

async function create(
  deps: UserServiceDeps,
  connection: Connection,
  desired: ScimResource,
): Promise<UserView> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { identity, changes } = await createUser(deps, connection, {
      ...desired,
      active: desired.active ?? true,
    });
    deps.runtime.checkpoint('beforeCommit');
    const outcome = await deps.identities.commit(connection.id, changes);
    if (outcome === 'duplicate') throw conflictError();
    if (outcome === 'stale') continue;
    deps.runtime.checkpoint('afterCommit');
    if (identity.travelId !== undefined) await markReferrersDirty(deps, identity, identity);
    // If a next attempt is scheduled, the identity must wait for a call in flight; the background loop reconciles it
    // then.
    if (identity.nextAttemptAt === undefined)
      await deps.reconcileWithinBudget.reconcile(connection, identity.id);
    return readView(deps, connection.id, identity.id);
  }
  throw busyError();
}

interface UserUpdate {
  id: string;
  change: (current: ScimResource, version: number) => ScimResource;
  kind: 'replace' | 'patch';
}

async function updateDesired(
  deps: UserServiceDeps,
  connection: Connection,
  update: UserUpdate,
): Promise<UserView> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const unchanged = await viewIfUnchanged(deps, connection.id, update);
    if (unchanged) return unchanged;
    const before = await findLive(deps, connection.id, update.id);
    const after = withStoredActive(before.desired, update.change(before.desired, before.version));
    const changesNothing = before.claimed && isDeepStrictEqual(after, before.desired);
    if (changesNothing && before.state !== 'refused' && before.hold?.cause !== 'guarded')
      return readView(deps, connection.id, before.id);
    if (!changesNothing) {
      const write = { before, after, kind: update.kind };
      const { identity, changes } = updateUser(deps.runtime, connection, write);
      if ((await commitChanges(deps, connection, changes)) === 'stale') continue;
      await markReferrersDirty(deps, before, identity);
    }
    const attempt = await deps.reconcileWithinBudget.reconcile(connection, before.id);
    if (attempt === 'refused' && after.active === false)
      await throwIfArchiveRefused(deps, connection, before.id);
    return readView(deps, connection.id, before.id);
  }
  throw busyError();
}

/**
 * Answers a write that changes nothing, which IdPs often repeat. Reads only the columns of the response instead of the
 * whole identity.
 */
async function viewIfUnchanged(
  deps: UserServiceDeps,
  connection: string,
  { id, change }: UserUpdate,
): Promise<UserView | undefined> {
  const stored = await deps.identities.findView(connection, id);
  if (!stored?.canAnswerNoOp) return undefined;
  const current = JSON.parse(stored.desired) as ScimResource; // The store writes only SCIM resources into this column.
  const isSame = isDeepStrictEqual(withStoredActive(current, change(current, stored.version)), current);
  return isSame ? toUserView(deps, connection, stored) : undefined;
}

/**
 * `active` is always stored: a change that omits or clears it keeps the stored value (docs/architecture.md, The rules of
 * the plan).
 */
function withStoredActive(current: ScimResource, changed: ScimResource): ScimResource {
  return typeof changed.active === 'boolean' ? changed : { ...changed, active: current.active ?? true };
}

async function commitChanges(
  deps: UserServiceDeps,
  connection: Connection,
  changes: IdentityChange[],
): Promise<'done' | 'stale'> {
  deps.runtime.checkpoint('beforeCommit');
  const outcome = await deps.identities.commit(connection.id, changes);
  if (outcome === 'duplicate') throw conflictError();
  deps.runtime.checkpoint('afterCommit');
  return outcome;
}

async function remove(
  deps: UserServiceDeps,
  connection: Connection,
  { id, check }: { id: string; check: ((version: number) => void) | undefined },
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const before = await findLiveForDelete(deps, connection, id);
    check?.(before.version);
    const { runtime } = deps;
    const memberOf = await deps.groups.membershipsOf(connection.id, id);
    const identity: Identity = {
      ...withNextVersion(before, runtime),
      deletedAt: runtime.wallClock(),
      origin: memberOf.length > 0 ? { ...before.origin, memberOf } : before.origin,
    };
    const change = { kind: 'update', identity, expected: before.version } as const;
    if ((await commitChanges(deps, connection, [change])) === 'stale') continue;
    await markReferrersDirty(deps, before, identity);
    if ((await deps.reconcileWithinBudget.reconcile(connection, id)) === 'refused')
      await undoDelete(deps, connection, id);
    return;
  }
  throw busyError();
}

/**
 * Returns the live identity. If an earlier DELETE was committed but the process ended before it was answered, the repeated
 * DELETE must still report a refusal.
 */
async function findLiveForDelete(
  deps: UserServiceDeps,
  connection: Connection,
  id: string,
): Promise<Identity> {
  const identity = await deps.identities.findById(connection.id, id);
  if (identity?.deletedAt === undefined) return findLive(deps, connection.id, id);
  const isOpen =
    identity.state === 'dirty' || identity.state === 'refused' || identity.hold?.cause === 'guarded';
  if (isOpen && (await deps.reconcileWithinBudget.reconcile(connection, id)) === 'refused')
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

async function throwIfArchiveRefused(
  deps: UserServiceDeps,
  connection: Connection,
  id: string,
): Promise<void> {
  const identity = await deps.identities.findById(connection.id, id);
  const isArchiveRefused = identity?.findings.some(
    ({ field, code }) => (field === 'archived' && code !== 'drift') || code === 'ownCredential',
  );
  if (identity && isArchiveRefused) throw refusedError(identity);
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

async function findLive(deps: UserServiceDeps, connection: string, id: string): Promise<Identity> {
  const identity = await deps.identities.findById(connection, id);
  if (!identity || identity.deletedAt !== undefined) throw notFoundError();
  return identity;
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

function conflictError(): ProvisioningError {
  return new ProvisioningError('conflict', 'Another user has this userName.');
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

/** Reconciles an identity right after a write, for as long as the IdP may wait for its answer. */
export interface ReconcileWithinBudget {
  /** Returns the result of the attempt, or `later` if the budget is used up first or the circuit breaker is open. */
  reconcile(connection: Connection, id: string): Promise<AttemptResult | 'later'>;
}

interface ReconcileWithinBudgetDeps {
  reconciler: Pick<Reconciler, 'reconcile'>;
  /** In milliseconds. An attempt that takes longer continues in the background. */
  budgetMs: number;
  circuitBreakerOf(connection: Connection): CircuitBreaker;
  wake(): void;
  runtime: Pick<Runtime, 'wait'>;
}

/**
 * Creates the function with which writes reconcile their user. If the attempt does not finish in time, the background
 * loop completes it.
 */
export function reconcileWithinBudget(deps: ReconcileWithinBudgetDeps): ReconcileWithinBudget {
  const { reconciler, budgetMs, circuitBreakerOf, wake, runtime } = deps;
  return {
    reconcile: async (connection, id) => {
      if (circuitBreakerOf(connection).pauseReason() !== undefined) {
        // A write never sends the probe of an open breaker. Probes come from the queue, which begins with people who
        // must lose access.
        wake();
        return 'later';
      }
      const timer = new AbortController();
      const attempt = reconciler.reconcile(connection, id).then((outcome) => {
        if (outcome !== 'reconciled' && outcome !== 'refused') wake();
        return outcome;
      });
      const late = runtime.wait(budgetMs, timer.signal).then((): 'later' => 'later');
      try {
        return await Promise.race([attempt, late]);
      } finally {
        // A string as the reason avoids an AbortError, whose stack trace would be created on every write.
        timer.abort('over');
      }
    },
  };
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
