import { isDeepStrictEqual } from 'node:util';
import type { Connection } from '../../model/connection.ts';
import type { Groups, Memberships } from '../../model/group-ports.ts';
import type { Identity } from '../../model/identity.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { Identities, IdentityView, ReconcileQueue, References } from '../../model/store-ports.ts';
import type { LeftOutValue } from '../../schema/left-out.ts';
import { extensionsOf, isActive, type ScimResource } from '../../schema/resource.ts';
import { type StatedPath, wholeResource } from '../../schema/stated-attributes.ts';
import type { ConnectionModes } from '../../store/connection-modes.ts';
import { doubted } from '../../translator/plan/field-records.ts';
import type { OwnUsers } from '../calls/own-users.ts';
import { hasSameLeftOut, leftOutAfter, withLeftOut } from '../people/left-out-values.ts';
import { isKeptActive } from '../reconcile/departure/guard.ts';
import { statesAnew } from '../reconcile/restored/statements.ts';
import { inheritsMemberships, type PendingWrite } from '../reconcile/run/commit.ts';
import { markDirty, markReferrersDirty, referenceValuesOf } from '../reconcile/run/notify-dependents.ts';
import type { RulesSnapshots } from '../rules/rules-snapshots.ts';
import { createUser } from './create-user.ts';
import { deleteUser } from './delete-user.ts';
import type { ExistingUserFinder } from './find-existing.ts';
import { listUsers, type ScanQueue, toUserViews, type UserQuery, type UserView } from './list-users.ts';
import { isOwnUser, notFoundError, refuseToEndOwnUser, throwIfArchiveRefused } from './refused-departures.ts';
import { updateUser } from './update-user.ts';
import type { BudgetedAttempt, Writer } from './write.ts';

/** Returns the new desired state of a user. `report` receives the values of the request that it does not have. */
export type UserChange = (
  current: ScimResource,
  version: number,
  report?: (leftOut: LeftOutValue[]) => void,
) => ScimResource;

export interface UserServiceDeps {
  identities: Identities;
  groups: Pick<Groups, 'groupsOf'>;
  memberships: Pick<Memberships, 'findUnknownNames'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  references: Pick<References, 'findReferrers'>;
  rulesSnapshots: RulesSnapshots;
  existingUserFinder: ExistingUserFinder;
  writer: Writer;
  scanQueue: ScanQueue;
  ownUsers: Pick<OwnUsers, 'lastKnown'>;
  modes: Pick<ConnectionModes, 'shadowSince'>;
  connectionOf(id: string): Connection;
  wake(): void;
  runtime: Runtime;
}

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
     * A change without effect leaves version and lastModified alone. `stated` returns what a PATCH states, whether or not that is new.
     */
    change: (
      connection: string,
      id: string,
      change: UserChange,
      kind: 'replace' | 'patch',
      requestId?: string,
      stated: () => readonly StatedPath[] = () => (kind === 'replace' ? wholeResource : []),
    ) => updateDesired(deps, deps.connectionOf(connection), { id, change, kind, requestId, stated }),
    /**
     * Deletes the user: a tombstone remains, and the traveler is archived or deleted. `check` may throw to refuse the
     * version.
     */
    remove: (
      connection: string,
      id: string,
      check?: (version: number) => void,
      requestId?: string,
    ): Promise<void> => deleteUser(deps, deps.connectionOf(connection), { id, check, requestId }),
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
  return deps.writer.write(connection, async (earlierTries) => {
    const user = { ...desired, active: desired.active ?? true };
    // If the commit of a new user is refused, the matches are searched.
    const expectsNoMatch = earlierTries === 0;
    const mayReserve = deps.modes.shadowSince(connection.id) === undefined;
    const created = await createUser(deps, connection, { desired: user, expectsNoMatch, mayReserve });
    const write = { ...withLeftOut(created, leftOut), requestId };
    const { identity } = write;
    return {
      write,
      afterCommit: async () => {
        if (identity.travelId !== undefined || inheritsMemberships(write))
          await markReferrersDirty(deps, identity, identity);
        await wakeLeavers(deps, write);
      },
      answer: async (attempt) => {
        const leavers = leaversGivingEmailUp(connection, write);
        if (leavers.length === 0)
          return viewAfter(deps, identity, { attempt, inGroups: inheritsMemberships(write) });
        // With its own address free, the new user can have its traveler in the answer already.
        const ids = [...leavers, identity.id];
        await deps.writer.reconcileInOrder(connection, ids, { since, requestId });
        return readView(deps, connection.id, identity.id);
      },
    };
  });
}

/** The leavers of this connection whose travelers give up their address for a new user. */
function leaversGivingEmailUp({ id: connection }: Connection, { identity, changes }: PendingWrite): string[] {
  if (identity.waitingFor === undefined) return [];
  return changes.flatMap((change) =>
    change.kind === 'noteSuccessor' && change.connection === connection ? [change.id] : [],
  );
}

/**
 * Starts the attempts at the leavers that the write concerns. People who refer to a live leaver as their manager lose the traveler that
 * it passes on.
 */
async function wakeLeavers(deps: UserServiceDeps, { changes }: PendingWrite): Promise<void> {
  if (changes.some(({ kind }) => kind === 'noteSuccessor' || kind === 'giveUpTraveler')) deps.wake();
  for (const change of changes) {
    if (change.kind !== 'giveUpTraveler') continue;
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
  stated: () => readonly StatedPath[];
}

async function updateDesired(
  deps: UserServiceDeps,
  connection: Connection,
  update: UserUpdate,
): Promise<UserView> {
  return deps.writer.write(connection, async () => {
    const stored = await deps.identities.findForWrite(connection.id, update.id);
    if (!stored || stored.isDeleted) throw notFoundError();
    const { view } = stored;
    const desired = JSON.parse(view.desired) as ScimResource; // The store writes only SCIM resources into this column.
    const { after, reported } = applyChange(desired, view.version, update.change);
    const isSame = isDeepStrictEqual(after, desired);
    if (await isOwnUser(deps, connection.id, view)) {
      if (!stored.parse().claimed) throw notFoundError();
      if (!isActive(after)) await refuseToEndOwnUser(deps, stored.parse());
    }
    if (isSame && stored.canAnswerNoOp && reported.length === 0)
      return { unchanged: await toUserView(deps, connection.id, view) };
    const before = stored.parse();
    const { kind, requestId } = update;
    const stated = before.origin.stated === undefined ? [] : update.stated();
    const statesDeparture = statesInactive(before, update.change);
    const isHeldAgain = isSame && statesDeparture && isKeptActive(before);
    const leftOut = leftOutAfter(before, { after, kind, reported });
    const isUnchanged = isSame && before.claimed && !isHeldAgain && !statesAnew(before, stated);
    const isWithoutEffect = !isActive(after) && isArchiveNotShown(before);
    if (isUnchanged && !isWithoutEffect && hasSameLeftOut(before, leftOut))
      return { unchanged: await repeat(deps, connection, { before, requestId }) };
    const updated = isUnchanged
      ? markForAttempt(isWithoutEffect ? withArchiveDoubted(before) : before)
      : updateUser(deps.runtime, { before, after, kind, statesDeparture, stated });
    const { identity, changes } = withLeftOut(updated, leftOut);
    const references = stored.hasReferences ? undefined : [];
    const write = { identity, before, changes, references, generation: stored.generation, requestId };
    return {
      write,
      afterCommit: () => markReferrersDirty(deps, before, identity),
      answer: async (attempt) => {
        // The tombstone of another person must give up its address.
        if (changes.some(({ kind }) => kind === 'insert')) deps.wake();
        if (attempt.result === 'refused' && !isActive(after))
          await throwIfArchiveRefused(deps, { ...identity, ...attempt.outcome });
        return viewAfter(deps, identity, { attempt, inGroups: view.inGroups });
      },
    };
  });
}

/** True if the travel API has accepted that the traveler is archived, and has not shown it. */
function isArchiveNotShown({ applied: { archived } }: Identity): boolean {
  return archived?.sent === true && archived.seen === false;
}

function withArchiveDoubted(identity: Identity): Identity {
  return { ...identity, applied: doubted(identity.applied, ['archived']) };
}

/** Returns the write of a request that changes nothing but the findings, or repeats a call. The version stays: the user is the same. */
function markForAttempt(before: Identity): Pick<PendingWrite, 'identity' | 'changes'> {
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
  const attempt = isTriedAgain ? await deps.writer.retry(connection, before.id, requestId) : 'later';
  if (attempt === 'refused' && !isActive(before.desired)) {
    const identity = await deps.identities.findById(connection.id, before.id);
    if (identity) await throwIfArchiveRefused(deps, identity);
  }
  return readView(deps, connection.id, before.id);
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
 * Returns the new desired state, and the values of the request that it does not have. `active` is always stored: a change that omits or
 * clears it keeps the stored value (docs/architecture.md, The rules of the plan).
 */
function applyChange(current: ScimResource, version: number, change: UserChange) {
  let reported: LeftOutValue[] = [];
  const changed = change(current, version, (leftOut) => {
    reported = leftOut;
  });
  const hasActive = typeof changed.active === 'boolean';
  return { after: hasActive ? changed : { ...changed, active: current.active ?? true }, reported };
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
