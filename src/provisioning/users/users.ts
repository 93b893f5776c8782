import { isDeepStrictEqual } from 'node:util';
import type { LeftOutValue } from '../../schema/left-out.ts';
import { extensionsOf, isActive, type ScimResource } from '../../schema/resource.ts';
import type { ConnectionModes } from '../../store/connection-modes.ts';
import type { Connection } from '../connection.ts';
import type { Groups } from '../groups/group-ports.ts';
import type { Identity, Membership } from '../identity.ts';
import { ProvisioningError } from '../provisioning-error.ts';
import type { PendingWrite } from '../reconcile/commit.ts';
import { carriedOutBy, run } from '../reconcile/effects.ts';
import { isKeptActive, statedDepartureAfter } from '../reconcile/guard.ts';
import { markDirty, markReferrersDirty, referenceValuesOf } from '../reconcile/notify-dependents.ts';
import { statedPart } from '../reconcile/pause.ts';
import type { BudgetedAttempt, ReconcileWithinBudget } from '../reconcile/within-budget.ts';
import type { RulesSnapshots } from '../rules/rules-snapshot.ts';
import type { Runtime } from '../runtime-ports.ts';
import type { Identities, IdentityChange, IdentityView, ReconcileQueue, References } from '../store-ports.ts';
import { createUser, withNextVersion } from './create-user.ts';
import type { ExistingUserFinder } from './find-existing.ts';
import { hasSameLeftOut, leftOutAfter, withLeftOut } from './left-out-values.ts';
import { listUsers, type ScanQueue, toUserViews, type UserQuery, type UserView } from './list-users.ts';
import type { OwnUsers } from './own-users.ts';
import {
  isOwnUser,
  notFoundError,
  refuseToEndOwnUser,
  throwIfArchiveRefused,
  undoDelete,
} from './refused-departures.ts';
import { findNumberHolders } from './takeover.ts';
import { isLeftActive, isReturn, lastDeparture, type UserWrite, updateUser } from './update-user.ts';

/** Returns the new desired state of a user. `report` receives the values of the request that it does not have. */
export type UserChange = (
  current: ScimResource,
  version: number,
  report?: (leftOut: LeftOutValue[]) => void,
) => ScimResource;

export interface UserServiceDeps {
  identities: Identities;
  groups: Pick<Groups, 'findById' | 'change' | 'groupsOf' | 'membershipsOf'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  references: Pick<References, 'findReferrers'>;
  rulesSnapshots: RulesSnapshots;
  existingUserFinder: ExistingUserFinder;
  reconcileWithinBudget: ReconcileWithinBudget;
  scanQueue: ScanQueue;
  ownUsers: Pick<OwnUsers, 'lastKnown'>;
  modes: Pick<ConnectionModes, 'pausedAt'>;
  connectionOf(id: string): Connection;
  wake(): void;
  runtime: Runtime;
}

/** The number of attempts at a write when other writers keep committing first. */
const MAX_TRIES = 20;

export type UserService = ReturnType<typeof userService>;

/**
 * Creates the operations on the SCIM users of all connections. Every write is durable before it returns. A write waits for the travel
 * API no longer than the write budget. `requestId` is that of the SCIM request, for the log of exchanges.
 */
export function userService(deps: UserServiceDeps) {
  return {
    /** `leftOut` are the values of the request that `desired` does not have. */
    create: (connection: string, desired: ScimResource, requestId?: string, leftOut: LeftOutValue[] = []) =>
      create(deps, deps.connectionOf(connection), { desired, requestId, leftOut }),
    read: (connection: string, id: string) => readView(deps, connection, id),
    list: (connection: string, query: UserQuery) => listUsers(deps, deps.connectionOf(connection), query),
    /**
     * Applies a pure change to the desired state. `change` may throw to refuse the version, and may be called several times.
     * A change without effect leaves version and lastModified alone.
     */
    change: (
      connection: string,
      id: string,
      change: UserChange,
      kind: 'replace' | 'patch',
      requestId?: string,
    ) => updateDesired(deps, deps.connectionOf(connection), { id, change, kind, requestId }),
    /**
     * Deletes the user: a tombstone remains, and the traveler is archived or deleted. `check` may throw to refuse the
     * version.
     */
    remove: (
      connection: string,
      id: string,
      check?: (version: number) => void,
      requestId?: string,
    ): Promise<void> => remove(deps, deps.connectionOf(connection), { id, check, requestId }),
  };
}

async function create(
  deps: UserServiceDeps,
  connection: Connection,
  {
    desired,
    requestId,
    leftOut,
  }: { desired: ScimResource; requestId: string | undefined; leftOut: LeftOutValue[] },
): Promise<UserView> {
  const since = deps.runtime.now();
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const user = { ...desired, active: desired.active ?? true };
    // If the commit of a new user is refused, the matches are searched.
    const expectsNoMatch = tries === 0;
    const created = await createUser(deps, connection, { desired: user, expectsNoMatch });
    const write = { ...withLeftOut(created, leftOut), requestId };
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
  change: UserChange;
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
    let reported: LeftOutValue[] = [];
    const changed = update.change(desired, view.version, (leftOut) => {
      reported = leftOut;
    });
    const after = withStoredActive(desired, changed);
    const isSame = isDeepStrictEqual(after, desired);
    if (await isOwnUser(deps, connection.id, view)) {
      if (!stored.parse().claimed) throw notFoundError();
      if (!isActive(after)) await refuseToEndOwnUser(deps, stored.parse());
    }
    // During a pause, the traveler may differ from what the IdP states, although the stored user does not.
    const isPaused = deps.modes.pausedAt(connection.id) !== undefined;
    if (isSame && stored.canAnswerNoOp && reported.length === 0 && !isPaused)
      return toUserView(deps, connection.id, view);
    const before = stored.parse();
    const { kind, requestId } = update;
    const statesDeparture = statesInactive(before, update.change);
    const isHeldAgain = isSame && statesDeparture && isKeptActive(before);
    const leftOut = leftOutAfter(before, { after, kind, reported });
    const isUnchanged = isSame && before.claimed && !isHeldAgain;
    if (isUnchanged && hasSameLeftOut(before, leftOut) && !isPaused)
      return repeat(deps, connection, { before, requestId });
    const updated = isUnchanged
      ? markForFindings(before)
      : await changeUser(deps, connection, { before, after, kind, statesDeparture });
    const { identity, changes } = withLeftOut(updated, leftOut);
    const references = stored.hasReferences ? undefined : [];
    const stated = isPaused && kind === 'patch' ? statedBy(update.change, before) : undefined;
    const write = { identity, before, changes, references, generation: stored.generation, requestId, stated };
    const attempt = await deps.reconcileWithinBudget.commit(connection, write, () =>
      markReferrersDirty(deps, before, identity),
    );
    if (attempt === 'stale') continue;
    // The tombstone of another person must give up its address.
    if (changes.some(({ kind }) => kind === 'insert')) deps.wake();
    if (attempt.result === 'refused' && !isActive(after))
      await throwIfArchiveRefused(deps, { ...identity, ...attempt.outcome });
    return viewAfter(deps, identity, { attempt, inGroups: view.inGroups });
  }
  throw busyError();
}

/** Returns what a PATCH states of the user. */
function statedBy(change: UserChange, { desired, version }: Identity): ScimResource {
  return statedPart(desired, (known) => change(known, version, () => {}));
}

async function changeUser(
  deps: UserServiceDeps,
  connection: Connection,
  write: UserWrite,
): Promise<Pick<PendingWrite, 'identity' | 'changes'>> {
  const numberHolders = isReturn(write, deps.runtime.wallClock())
    ? await run(
        findNumberHolders(write.after),
        carriedOutBy({
          findByEmployeeNumber: (number) => deps.identities.findByEmployeeNumber(connection.account, number),
        }),
      )
    : [];
  return updateUser(deps.runtime, connection, { ...write, numberHolders });
}

/** Returns the write of a request that changes nothing but the findings. The version stays: the user is the same. */
function markForFindings(before: Identity): Pick<PendingWrite, 'identity' | 'changes'> {
  const identity: Identity = { ...before, state: 'dirty', attempts: 0, nextAttemptAt: undefined };
  return { identity, changes: [{ kind: 'update', identity, expected: before.version }] };
}

/**
 * False if the user is inactive by an earlier request, and this one does not state it again. Only the decision of an admin makes a
 * difference between the two.
 */
function statesInactive({ desired, version, decision }: Identity, change: UserUpdate['change']): boolean {
  if (decision === undefined || isActive(desired)) return true;
  const { active: _, ...others } = desired;
  return change(others, version, () => {}).active === false;
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
    if (identity) await throwIfArchiveRefused(deps, identity);
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
    const isOwn = await isOwnUser(deps, connection.id, stored.view);
    if (isOwn && !before.claimed) throw notFoundError();
    check?.(before.version);
    if (isOwn) await refuseToEndOwnUser(deps, before);
    const memberOf = stored.view.inGroups ? await deps.groups.membershipsOf(connection.id, id) : [];
    const isStranger = isHeldStranger(connection, before);
    if (isStranger) await throwIfLinkedElsewhere(deps, connection, before);
    const deleted = toDeleted(before, memberOf, deps.runtime);
    const identity = isStranger ? { ...deleted, claimed: false } : deleted;
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

/** Returns the tombstone of a user. */
function toDeleted(before: Identity, memberOf: Membership[], runtime: UserServiceDeps['runtime']): Identity {
  const now = runtime.wallClock();
  const departure = lastDeparture(before, before.desired, now);
  const wasLeftActive = isLeftActive(before);
  const statedDeparture = statedDepartureAfter(before, { isStated: true, wasLeftActive });
  return {
    ...withNextVersion(before, runtime),
    deletedAt: now,
    origin: { ...before.origin, departure, statedDeparture, ...(memberOf.length > 0 ? { memberOf } : {}) },
  };
}

/** Throws 404 for a person whom another connection of the account provisions, and whom an import has listed at the same time. */
async function throwIfLinkedElsewhere(
  { identities }: UserServiceDeps,
  { id: connection, account }: Connection,
  { id, travelId }: Identity,
): Promise<void> {
  if (travelId === undefined || !(await identities.findHolder(account, { travelId }))) return;
  await identities.commit(connection, [{ kind: 'deleteUnclaimed', id }]);
  throw notFoundError();
}

/**
 * True for a person whom the connection has neither written nor found by a filter, and whose traveler therefore stays until an
 * admin decides. The tombstone stays unclaimed, so that other connections of the account still find the person.
 */
function isHeldStranger({ policies }: Connection, { claimed, origin }: Identity): boolean {
  return policies.unclaimedDelete === 'hold' && !claimed && origin.found !== true;
}

/**
 * Answers the DELETE of a tombstone. If an earlier DELETE was committed but the process ended before it was answered, the
 * repeated DELETE must still report a refusal.
 */
async function throwDeleted(
  deps: UserServiceDeps,
  connection: Connection,
  { tombstone, requestId }: { tombstone: Identity; requestId: string | undefined },
): Promise<never> {
  const { id, state, hold, origin } = tombstone;
  if (isKeptActive(tombstone)) {
    // The IdP states again that the person leaves, although an admin has discarded that.
    const statedDeparture = statedDepartureAfter(tombstone, { isStated: true });
    const { lastModified } = tombstone;
    const next = withNextVersion(tombstone, deps.runtime);
    const identity = { ...next, lastModified, origin: { ...origin, statedDeparture } };
    await deps.identities.commit(connection.id, [{ kind: 'update', identity, expected: tombstone.version }]);
    deps.wake();
  }
  const isOpen = state === 'dirty' || state === 'refused' || hold?.cause === 'guarded';
  if (isOpen && (await tryAgain(deps, connection, { id, requestId })) === 'refused')
    await undoDelete(deps, connection, id);
  throw notFoundError();
}

async function readView(deps: UserServiceDeps, connection: string, id: string): Promise<UserView> {
  const stored = await deps.identities.findView(connection, id);
  if (!stored || (await isHidden(deps, connection, stored))) throw notFoundError();
  return toUserView(deps, connection, stored);
}

/** True for the person of the credential, until an IdP has written the user. */
async function isHidden(deps: UserServiceDeps, connection: string, view: IdentityView): Promise<boolean> {
  if (!(await isOwnUser(deps, connection, view))) return false;
  return (await deps.identities.findById(connection, view.id))?.claimed === false;
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

function busyError(): ProvisioningError {
  return new ProvisioningError('unavailable', 'Too many writers change this user at once; try again.');
}
