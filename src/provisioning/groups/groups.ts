import type { Connection } from '../../model/connection.ts';
import type {
  Group,
  Groups,
  ListedGroup,
  Member,
  MemberChange,
  ResolvedMember,
  RulesForGroups,
} from '../../model/group-ports.ts';
import type { GroupField, GroupOrder, ListPage, ListQuery, ListScan } from '../../model/list-ports.ts';
import { ProvisioningError } from '../../model/provisioning-error.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { ScimResource } from '../../schema/resource.ts';
import type { RulesSnapshots } from '../rules/rules-snapshots.ts';
import type { ScanQueue } from '../users/list-users.ts';

/** A group as the SCIM interface returns it. */
export interface GroupView {
  id: string;
  /** displayName, externalId and all other attributes except members. */
  attributes: ScimResource;
  /** The members; undefined if the caller did not ask for them. */
  members: ResolvedMember[] | undefined;
  /** The members of a large group, in place of `members`. They are read during iteration and may change meanwhile. */
  manyMembers?: AsyncIterable<ResolvedMember[]>;
  createdAt: number;
  lastModified: number;
  version: number;
}

/**
 * A change of a group. `attributes` is a pure function from the current to the new attributes; it may throw, e.g. if
 * the version does not match. Members are changed without reading all of them.
 */
export interface GroupChange {
  attributes: (current: ScimResource, version: number) => ScimResource;
  members: MemberChange[];
  /** Aborted when the client disconnects. If the request still waits in the queue then, it is dropped. */
  signal?: AbortSignal | undefined;
}

/** True if the members are wanted. `ifFew`: they are wanted if the group has at most 1,000; of a larger group they are undefined. */
export type WithMembers = boolean | 'ifFew';

/** Selects, sorts and pages groups. */
export interface GroupQuery extends ListQuery<GroupField, GroupOrder> {
  /** The part of the filter that columns cannot answer; undefined if they answer all of it. */
  residual:
    | {
        matches(group: GroupView, yieldBetweenSteps: YieldBetweenSteps): Promise<boolean>;
        needsMembers: boolean;
      }
    | undefined;
  withMembers: boolean;
}

/** A group on a page. Large attributes or members are undefined and are read one group at a time. */
export interface ListedGroupView extends ListedGroup {
  members: ResolvedMember[] | undefined;
}

type YieldBetweenSteps = ListScan<unknown>['yieldBetweenSteps'];

interface GroupServiceDeps {
  groups: Groups;
  rulesSnapshots: Pick<RulesSnapshots, 'groupRules'>;
  connectionOf(id: string): Connection;
  /** Wakes the background work that reconciles members and marks them in batches. */
  wakeForMembers(connection: string): void;
  scanQueue: ScanQueue;
  runtime: Runtime;
}

interface GroupDeps extends GroupServiceDeps {
  queues: WriteQueues;
}

/**
 * The number of attempts at a write. Writes of one group are queued, so a conflict occurs only when a deleted user is
 * removed from the group at the same moment.
 */
const MAX_TRIES = 100;

/** The number of attempts to read a group that keeps changing. After that, the read waits in the queue of writes. */
const MAX_READS = 3;

export type GroupService = ReturnType<typeof groupService>;

/**
 * Creates the service for the SCIM groups of all connections. They are stored so that the checks of every IdP pass. The travel service has no
 * groups, so they have an effect only where the mapping names them (docs/architecture.md, Groups in mappings).
 */
export function groupService(groupServiceDeps: GroupServiceDeps) {
  const deps = { ...groupServiceDeps, queues: writeQueues(groupServiceDeps.runtime) };
  return {
    create: (connection: string, attributes: ScimResource, members: Member[]) =>
      create(deps, connection, { attributes, members }),
    read: async (connection: string, id: string, withMembers: boolean): Promise<GroupView> => {
      const view = await readConsistentView(deps, await findGroup(deps, connection, id), withMembers);
      if (!view) throw notFoundError();
      return view;
    },
    list: (connection: string, query: GroupQuery) => list(deps, connection, query),
    /** All writes to one group wait in one queue, so that none fails because of a concurrent one. */
    change: (connection: string, id: string, change: GroupChange, withMembers: WithMembers) =>
      runInTurn(deps, { connection, id, signal: change.signal }, () =>
        update(deps, connection, { id, change, withMembers }),
      ),
    /** Deletes a group. `check` may throw to refuse the version; `signal` has the same effect as in a change. */
    remove: (
      connection: string,
      id: string,
      check?: (version: number) => void,
      signal?: AbortSignal,
    ): Promise<void> =>
      runInTurn(deps, { connection, id, signal }, () => remove(deps, connection, { id, check })),
  };
}

function runInTurn<T>(
  { queues }: GroupDeps,
  { connection, id, signal }: { connection: string; id: string; signal?: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  return queues.run(JSON.stringify([connection, id]), work, signal);
}

async function list(
  deps: GroupDeps,
  connection: string,
  query: GroupQuery,
): Promise<ListPage<ListedGroupView>> {
  const found = await deps.scanQueue.run(connection, (yieldBetweenSteps) => {
    const residual = residualFilter(deps, connection, { query, yieldBetweenSteps });
    return deps.groups.list(connection, query, { yieldBetweenSteps, residual });
  });
  const ids = found.rows.flatMap(({ id, attributes }) => (query.withMembers && attributes ? [id] : []));
  const small = await deps.groups.membersOfSmallGroups(connection, ids);
  const rows = found.rows.map((group) => {
    const own = small.get(group.id);
    // If the group has changed since the page was read, the caller reads it again.
    return { ...group, members: own?.version === group.version ? own.members : undefined };
  });
  return { ...found, rows };
}

/** Groups are checked one at a time because each may have many members. */
function residualFilter(
  deps: GroupDeps,
  connection: string,
  { query: { residual }, yieldBetweenSteps }: { query: GroupQuery; yieldBetweenSteps: YieldBetweenSteps },
): ListScan<ListedGroup>['residual'] {
  if (!residual) return undefined;
  return async (groups) => {
    const matching: boolean[] = [];
    for (const { id, ...group } of groups) {
      await yieldBetweenSteps();
      const attributes = group.attributes ?? (await deps.groups.findById(connection, id))?.attributes;
      const members = residual.needsMembers
        ? await deps.groups.allMembers(connection, [id], yieldBetweenSteps)
        : undefined;
      const view = attributes && { ...group, id, attributes, members: members?.get(id) };
      matching.push(view !== undefined && (await residual.matches(view, yieldBetweenSteps)));
    }
    return matching;
  };
}

async function create(
  deps: GroupDeps,
  connection: string,
  { attributes, members }: { attributes: ScimResource; members: Member[] },
): Promise<GroupView> {
  const now = deps.runtime.wallClock();
  const group: Group = {
    connection,
    id: deps.runtime.newId(),
    attributes,
    version: 1,
    createdAt: now,
    lastModified: now,
  };
  const outcome = await writeUnderRules(deps, connection, (rules) =>
    deps.groups.insert(group, members, rules),
  );
  if (outcome === 'duplicate') throw conflictError();
  return readView(deps, group, true);
}

/**
 * Writes a group under the rules in force, which decide whose membership matters. If a process puts others in force meanwhile, writes
 * again.
 */
async function writeUnderRules<Outcome extends string>(
  { rulesSnapshots, connectionOf, wakeForMembers, runtime }: GroupDeps,
  connection: string,
  write: (rules: RulesForGroups) => Promise<Outcome | 'otherRules'>,
): Promise<Outcome> {
  let known = 0;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const rules = await rulesSnapshots.groupRules(connectionOf(connection), known);
    const outcome = await write({ ...rules, now: runtime.now() });
    if (outcome === 'otherRules') {
      known = rules.generation + 1;
      continue;
    }
    if (outcome !== 'done' || !rules.test) return outcome;
    wakeForMembers(connection);
    return outcome;
  }
  throw busyError();
}

async function update(
  deps: GroupDeps,
  connection: string,
  { id, change, withMembers }: { id: string; change: GroupChange; withMembers: WithMembers },
): Promise<GroupView> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const before = await findGroup(deps, connection, id);
    const attributes = change.attributes(before.attributes, before.version);
    const lastModified = deps.runtime.wallClock();
    const after: Group = { ...before, version: before.version + 1, lastModified };
    const changed = { attributes, members: change.members };
    const outcome = await writeUnderRules(deps, connection, (rules) =>
      deps.groups.change(after, before.version, changed, rules),
    );
    if (outcome === 'duplicate') throw conflictError();
    if (outcome === 'noTarget') throw noTargetError();
    if (outcome === 'stale') continue;
    return readView(deps, outcome === 'unchanged' ? before : { ...after, attributes }, withMembers);
  }
  throw busyError();
}

async function remove(
  deps: GroupDeps,
  connection: string,
  { id, check }: { id: string; check: ((version: number) => void) | undefined },
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const group = await findGroup(deps, connection, id);
    check?.(group.version);
    const removed: Group = { ...group, lastModified: deps.runtime.wallClock() };
    const outcome = await writeUnderRules(deps, connection, (rules) =>
      deps.groups.change(removed, group.version, 'delete', rules),
    );
    if (outcome !== 'stale') return;
  }
  throw busyError();
}

async function findGroup(deps: GroupDeps, connection: string, id: string): Promise<Group> {
  const group = await deps.groups.findById(connection, id);
  if (!group) throw notFoundError();
  return group;
}

/**
 * Reads a group with the members of the same version; undefined if it is deleted meanwhile. If the group changes during
 * the read, it is read again. The last attempt runs in the queue of writes, so that nothing can change the group.
 */
async function readConsistentView(
  deps: GroupDeps,
  group: Group,
  withMembers: boolean,
): Promise<GroupView | undefined> {
  if (!withMembers) return readView(deps, group, false);
  const { connection, id } = group;
  let before = group;
  for (let tries = 0; tries < MAX_READS; tries += 1) {
    const view = await readView(deps, before, true);
    if (view.manyMembers) return view;
    const after = await deps.groups.findById(connection, id);
    if (after?.version === before.version) return view;
    if (!after) return undefined;
    before = after;
  }
  return runInTurn(deps, { connection, id }, async () => {
    const current = await deps.groups.findById(connection, id);
    return current && readView(deps, current, true);
  });
}

/**
 * Reads the members of a group. They fit the group's version only if nothing writes the group meanwhile. If another replica
 * does, they are newer than the version, and a write with this version in `If-Match` is refused.
 */
async function readView(deps: GroupDeps, group: Group, withMembers: WithMembers): Promise<GroupView> {
  const { id, attributes, createdAt, lastModified, version } = group;
  const view = { id, attributes, createdAt, lastModified, version };
  if (!withMembers) return { ...view, members: undefined };
  if (withMembers === 'ifFew') {
    const small = await deps.groups.membersOfSmallGroups(group.connection, [id]);
    return { ...view, members: small.get(id)?.members };
  }
  const members = await deps.groups.streamMembers(group.connection, id);
  return Array.isArray(members) ? { ...view, members } : { ...view, members: [], manyMembers: members };
}

function notFoundError(): ProvisioningError {
  return new ProvisioningError('notFound', 'There is no such group.');
}

function conflictError(): ProvisioningError {
  return new ProvisioningError('conflict', 'Another group has this displayName.');
}

function noTargetError(): ProvisioningError {
  return new ProvisioningError('noTarget', 'No member of the group matches the filter.');
}

function busyError(): ProvisioningError {
  return new ProvisioningError('unavailable', 'Too many writers change this group at once; try again.');
}

/** Maximum number of requests that wait for one resource; each holds its body in memory. */
export const MAX_WAITING = 100;
/** Longest wait in the queue, in milliseconds: Okta and Entra ID end a request after 60 s. */
export const MAX_WAIT_MS = 30_000;

type WriteQueues = ReturnType<typeof writeQueues>;

/**
 * Creates queues of this process that run the writes to one resource one after the other, in the order of their arrival. A key
 * without writes takes no memory.
 */
export function writeQueues({ wait }: Pick<Runtime, 'wait'>) {
  // The keys with work in progress, each with the callbacks of the waiting requests.
  const queues = new Map<string, Set<() => void>>();
  const endTurn = (key: string): void => {
    const queue = queues.get(key);
    const [next] = queue ?? [];
    if (!queue || !next) queues.delete(key);
    else {
      queue.delete(next);
      next();
    }
  };
  return {
    /**
     * Runs `work` after all earlier work for the key. Throws `unavailable` if too many requests wait or the wait takes too
     * long, and `abandoned` if the signal is aborted during the wait. Work that has begun is not interrupted.
     */
    run: async <T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
      const queue = queues.get(key);
      if (queue) await waitForTurn(queue, { wait, signal });
      else queues.set(key, new Set());
      try {
        return await work();
      } finally {
        endTurn(key);
      }
    },
  };
}

/**
 * Resolves when the requests before this one have ended. Leaves the queue when the wait takes too long or the client
 * disconnects.
 */
function waitForTurn(
  queue: Set<() => void>,
  { wait, signal }: Pick<Runtime, 'wait'> & { signal: AbortSignal | undefined },
): Promise<void> {
  if (signal?.aborted) throw abandonedError();
  if (queue.size >= MAX_WAITING) throw queueFullError();
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const leave = () => {
      signal?.removeEventListener('abort', abandon);
      over.abort();
    };
    const begin = () => {
      leave();
      resolve();
    };
    const giveUp = (error: ProvisioningError) => {
      // Removes the request from the queue. `delete` returns false if the request already runs.
      if (!queue.delete(begin)) return;
      leave();
      reject(error);
    };
    const abandon = () => giveUp(abandonedError());
    queue.add(begin);
    signal?.addEventListener('abort', abandon);
    void wait(MAX_WAIT_MS, over.signal).then(() => giveUp(queueFullError()));
  });
}

function queueFullError(): ProvisioningError {
  return new ProvisioningError('unavailable', 'Too many requests write this resource at once; try again.');
}

function abandonedError(): ProvisioningError {
  return new ProvisioningError('abandoned', 'The client went away before its turn.');
}
