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
  type UserQuery,
  type UserView,
  viewsOf,
} from './list-users.ts';
import { markDirty, referenceValuesOf } from './notify-dependents.ts';
import { ProvisioningError } from './provisioning-error.ts';
import type { AttemptResult, Reconciler } from './reconcile.ts';
import type { RulesSnapshots } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Identities, IdentityChange, IdentityView, ReconcileQueue, References } from './store-ports.ts';
import { updateUser } from './update-user.ts';

/** The story of users, told to the front door. Every write is durable before it is answered; none waits for a slow travel API. */
export interface UserService {
  create(connection: string, desired: ScimResource): Promise<UserView>;
  read(connection: string, id: string): Promise<UserView>;
  list(connection: string, query: UserQuery): Promise<ListPage<ListedUser>>;
  /** Applies a pure change to the desired state at a version, which it may refuse by throwing; one that changes nothing leaves version and lastModified alone. */
  change(
    connection: string,
    id: string,
    change: (current: ScimResource, version: number) => ScimResource,
    kind: 'replace' | 'patch',
  ): Promise<UserView>;
  /** `check` may refuse, by throwing, what is at that version. */
  remove(connection: string, id: string, check?: (version: number) => void): Promise<void>;
}

/** What the story of users works with. */
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

/** How often a write is tried again when another writer was quicker. */
const TRIES = 20;

/** The users of all connections. */
export function userService(deps: UserServiceDeps): UserService {
  return {
    create: (connection, desired) => create(deps, deps.connectionOf(connection), desired),
    read: (connection, id) => viewOf(deps, connection, id),
    list: (connection, query) => listUsers(deps, deps.connectionOf(connection), query),
    change: (connection, id, change, kind) =>
      amendDesired(deps, deps.connectionOf(connection), { id, change, kind }),
    remove: (connection, id, check) => remove(deps, deps.connectionOf(connection), { id, check }),
  };
}

async function create(
  deps: UserServiceDeps,
  connection: Connection,
  desired: ScimResource,
): Promise<UserView> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { identity, changes } = await createUser(deps, connection, {
      ...desired,
      active: desired.active ?? true,
    });
    deps.runtime.checkpoint('beforeCommit');
    const outcome = await deps.identities.commit(connection.id, changes);
    if (outcome === 'duplicate') throw taken();
    if (outcome === 'stale') continue;
    deps.runtime.checkpoint('afterCommit');
    if (identity.travelId !== undefined) await touchReferrers(deps, identity, identity);
    // One whose time is set must wait for what is under way; the background loop sees to it.
    if (identity.nextAttemptAt === undefined)
      await deps.reconcileWithinBudget.reconcile(connection, identity.id);
    return viewOf(deps, connection.id, identity.id);
  }
  throw busy();
}

interface Amendment {
  id: string;
  change: (current: ScimResource, version: number) => ScimResource;
  kind: 'replace' | 'patch';
}

async function amendDesired(
  deps: UserServiceDeps,
  connection: Connection,
  amendment: Amendment,
): Promise<UserView> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const idle = await viewIfNothing(deps, connection.id, amendment);
    if (idle) return idle;
    const before = await live(deps, connection.id, amendment.id);
    const after = next(before.desired, amendment.change(before.desired, before.version));
    const changesNothing = before.claimed && isDeepStrictEqual(after, before.desired);
    if (changesNothing && before.state !== 'refused' && before.hold?.cause !== 'guarded')
      return viewOf(deps, connection.id, before.id);
    if (!changesNothing) {
      const write = { before, after, kind: amendment.kind };
      const { identity, changes } = updateUser(deps.runtime, connection, write);
      if ((await commitAll(deps, connection, changes)) === 'stale') continue;
      await touchReferrers(deps, before, identity);
    }
    const attempt = await deps.reconcileWithinBudget.reconcile(connection, before.id);
    if (attempt === 'refused' && after.active === false) await tellRefusal(deps, connection, before.id);
    return viewOf(deps, connection.id, before.id);
  }
  throw busy();
}

/** IdPs repeat themselves all day: what changes nothing is answered from what is read for an answer anyway. */
async function viewIfNothing(
  deps: UserServiceDeps,
  connection: string,
  { id, change }: Amendment,
): Promise<UserView | undefined> {
  const shown = await deps.identities.findView(connection, id);
  if (!shown?.canAnswerNoOp) return undefined;
  const current = JSON.parse(shown.desired) as ScimResource; // The store keeps nothing else.
  const isSame = isDeepStrictEqual(next(current, change(current, shown.version)), current);
  return isSame ? view(deps, connection, shown) : undefined;
}

/**
 * `active` is always stored: a change that leaves it out or clears it keeps it (docs/architecture.md, The rules of the
 * plan).
 */
function next(current: ScimResource, changed: ScimResource): ScimResource {
  return typeof changed.active === 'boolean' ? changed : { ...changed, active: current.active ?? true };
}

async function commitAll(
  deps: UserServiceDeps,
  connection: Connection,
  changes: IdentityChange[],
): Promise<'done' | 'stale'> {
  deps.runtime.checkpoint('beforeCommit');
  const outcome = await deps.identities.commit(connection.id, changes);
  if (outcome === 'duplicate') throw taken();
  deps.runtime.checkpoint('afterCommit');
  return outcome;
}

async function remove(
  deps: UserServiceDeps,
  connection: Connection,
  { id, check }: { id: string; check: ((version: number) => void) | undefined },
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await liveOrRefused(deps, connection, id);
    check?.(before.version);
    const { runtime } = deps;
    const memberOf = await deps.groups.membershipsOf(connection.id, id);
    const identity: Identity = {
      ...withNextVersion(before, runtime),
      deletedAt: runtime.wallClock(),
      origin: memberOf.length > 0 ? { ...before.origin, memberOf } : before.origin,
    };
    const change = { kind: 'update', identity, expected: before.version } as const;
    if ((await commitAll(deps, connection, [change])) === 'stale') continue;
    await touchReferrers(deps, before, identity);
    if ((await deps.reconcileWithinBudget.reconcile(connection, id)) === 'refused')
      await takeBack(deps, connection, id);
    return;
  }
  throw busy();
}

/**
 * The live identity. Of one whose DELETE was committed and not answered, as the process ended then, a repeated DELETE must
 * still tell that it is refused.
 */
async function liveOrRefused(deps: UserServiceDeps, connection: Connection, id: string): Promise<Identity> {
  const identity = await deps.identities.findById(connection.id, id);
  if (identity?.deletedAt === undefined) return live(deps, connection.id, id);
  const isOpen =
    identity.state === 'dirty' || identity.state === 'refused' || identity.hold?.cause === 'guarded';
  if (isOpen && (await deps.reconcileWithinBudget.reconcile(connection, id)) === 'refused')
    await takeBack(deps, connection, id);
  throw notFound();
}

/**
 * A DELETE that the travel API refuses outright is told, and becomes a deactivation that any repeat tries again
 * (docs/architecture.md, Guarded people).
 */
async function takeBack(deps: UserServiceDeps, connection: Connection, id: string): Promise<void> {
  const tombstone = await deps.identities.findById(connection.id, id);
  if (tombstone?.deletedAt === undefined) throw notFound();
  const { memberOf: memberships = [], ...origin } = tombstone.origin;
  const identity: Identity = {
    ...withNextVersion(tombstone, deps.runtime),
    desired: { ...tombstone.desired, active: false },
    deletedAt: undefined,
    state: tombstone.state,
    origin,
  };
  // Before the commit, so that a process that dies in between finds the groups in the tombstone.
  await changeGroups(deps, connection.id, {
    memberships,
    change: ({ group: _, ...member }) => ({ kind: 'add', members: [{ value: id, ...member }] }),
  });
  const change = { kind: 'update', identity, expected: tombstone.version } as const;
  // Somebody else may have the userName by now: then nobody is there any more.
  if ((await deps.identities.commit(connection.id, [change])) === 'duplicate') {
    await changeGroups(deps, connection.id, {
      memberships,
      change: () => ({ kind: 'remove', values: [id] }),
    });
    throw notFound();
  }
  await touchReferrers(deps, identity, identity);
  throw refused(tombstone);
}

async function tellRefusal(deps: UserServiceDeps, connection: Connection, id: string): Promise<void> {
  const identity = await deps.identities.findById(connection.id, id);
  const isArchiveRefused = identity?.findings.some(
    ({ field, code }) => (field === 'archived' && code !== 'drift') || code === 'ownCredential',
  );
  if (identity && isArchiveRefused) throw refused(identity);
}

/** Those who refer to somebody by a value that came or went look again. */
async function touchReferrers(deps: UserServiceDeps, before: Identity, after: Identity): Promise<void> {
  const [old, now] = [new Set(referenceValuesOf(before)), new Set(referenceValuesOf(after))];
  const moved = [...old]
    .filter((value) => !now.has(value))
    .concat([...now].filter((value) => !old.has(value)));
  const hasGone = after.deletedAt !== undefined;
  const isNew = before === after;
  if (moved.length === 0 && !hasGone && !isNew) return;
  const values = hasGone || isNew ? [...new Set([...old, ...now])] : moved;
  const referrers = await deps.references.findReferrers(after.connection, after.id, values);
  await markDirty(deps, after.connection, referrers);
}

async function live(deps: UserServiceDeps, connection: string, id: string): Promise<Identity> {
  const identity = await deps.identities.findById(connection, id);
  if (!identity || identity.deletedAt !== undefined) throw notFound();
  return identity;
}

async function viewOf(deps: UserServiceDeps, connection: string, id: string): Promise<UserView> {
  const shown = await deps.identities.findView(connection, id);
  if (!shown) throw notFound();
  return view(deps, connection, shown);
}

async function view(deps: UserServiceDeps, connection: string, shown: IdentityView): Promise<UserView> {
  const [only] = await viewsOf(deps, connection, { shown: [shown], withGroups: true });
  if (!only) throw notFound();
  return only;
}

function notFound(): ProvisioningError {
  return new ProvisioningError('notFound', 'There is no such user.');
}

function taken(): ProvisioningError {
  return new ProvisioningError('conflict', 'Another user has this userName.');
}

function refused({ hold, findings }: Identity): ProvisioningError {
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

function busy(): ProvisioningError {
  return new ProvisioningError('unavailable', 'Too many writers change this user at once; try again.');
}

/** Reconciles an identity right after a write, for as long as the IdP may wait for its answer. */
export interface ReconcileWithinBudget {
  /** Returns the result of the attempt, or `later` if the budget is used up first or the circuit breaker is open. */
  reconcile(connection: Connection, id: string): Promise<AttemptResult | 'later'>;
}

interface ReconcileWithinBudgetDeps {
  reconciler: Pick<Reconciler, 'reconcile'>;
  /** In milliseconds. An attempt that takes longer goes on in the background. */
  budgetMs: number;
  circuitBreakerOf(connection: Connection): CircuitBreaker;
  wake(): void;
  runtime: Pick<Runtime, 'wait'>;
}

/** Creates the function that writes use to reconcile; whatever it leaves undone is left to the background loop. */
export function reconcileWithinBudget(deps: ReconcileWithinBudgetDeps): ReconcileWithinBudget {
  const { reconciler, budgetMs, circuitBreakerOf, wake, runtime } = deps;
  return {
    reconcile: async (connection, id) => {
      if (circuitBreakerOf(connection).pauseReason() !== undefined) {
        // A write is never the probe of an open breaker: probes come from the queue, which takes leavers first.
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
        // A reason of our own saves the creation of an Error with a stack on every write.
        timer.abort('over');
      }
    },
  };
}

interface Deps {
  groups: Pick<Groups, 'findById' | 'change'>;
  runtime: Pick<Runtime, 'wallClock'>;
}

/** Changes the members of each of these groups that still exists; `change` says how. */
export async function changeGroups(
  { groups, runtime }: Deps,
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
