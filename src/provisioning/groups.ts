import type { ScimResource } from '../schema/resource.ts';
import type { Group, Groups, ListedGroup, Member, MemberChange, ResolvedMember } from './group-ports.ts';
import type { GroupField, GroupOrder, ListPage, ListQuery, ListScan } from './list-ports.ts';
import type { ScanQueue } from './list-users.ts';
import { ProvisioningError } from './provisioning-error.ts';
import type { Runtime } from './runtime-ports.ts';

/** A SCIM group as the front door shows it. */
export interface GroupView {
  id: string;
  /** displayName, externalId and whatever else was sent, without members. */
  attributes: ScimResource;
  /** Undefined when not asked for. */
  members: ResolvedMember[] | undefined;
  /** The members of a large group, in place of `members`: read while they are asked for, and they may change meanwhile. */
  manyMembers?: AsyncIterable<ResolvedMember[]>;
  createdAt: number;
  lastModified: number;
  version: number;
}

/** A change to a group: its attributes as a pure function, which may refuse a version by throwing, its members as steps, so that none need be read. */
export interface GroupChange {
  attributes: (current: ScimResource, version: number) => ScimResource;
  members: MemberChange[];
  /** Aborted when the client goes away: a request that still waits for its turn is then dropped. */
  signal?: AbortSignal | undefined;
}

/** What a list of groups asks for. */
export interface GroupQuery extends ListQuery<GroupField, GroupOrder> {
  /** What columns do not answer; undefined: they answer all of it. */
  residual: { matches(group: GroupView, step: Step): Promise<boolean>; needsMembers: boolean } | undefined;
  withMembers: boolean;
}

/** A group on a page. What is asked for and undefined is read by itself. */
export interface ListedGroupView extends ListedGroup {
  members: ResolvedMember[] | undefined;
}

type Step = ListScan<unknown>['yieldBetweenSteps'];

/**
 * The story of groups: kept so that every IdP's own checks pass; the travel service has none (docs/architecture.md,
 * SCIM requests).
 */
export interface GroupService {
  create(connection: string, attributes: ScimResource, members: Member[]): Promise<GroupView>;
  read(connection: string, id: string, withMembers: boolean): Promise<GroupView>;
  list(connection: string, query: GroupQuery): Promise<ListPage<ListedGroupView>>;
  /** Writers of one group queue, so that none is refused because others write too. */
  change(connection: string, id: string, change: GroupChange, withMembers: boolean): Promise<GroupView>;
  /** `check` may refuse, by throwing, what is at that version; `signal` is like that of a change. */
  remove(
    connection: string,
    id: string,
    check?: (version: number) => void,
    signal?: AbortSignal,
  ): Promise<void>;
}

/** What groups are kept with. */
interface GroupServiceDeps {
  groups: Groups;
  scanQueue: ScanQueue;
  runtime: Runtime;
}

interface Deps extends GroupServiceDeps {
  queues: WriteQueues;
}

/** A group at its turn becomes stale only by members who are deleted at that moment; each try passes those before it. */
const TRIES = 100;

/** How often a group that changes is read before its reader queues. */
const READS = 3;

/** The groups of all connections. */
export function groupService(surrounding: GroupServiceDeps): GroupService {
  const deps = { ...surrounding, queues: writeQueues(surrounding.runtime) };
  return {
    create: (connection, attributes, members) => create(deps, connection, { attributes, members }),
    read: async (connection, id, withMembers) => {
      const view = await viewOf(deps, await existing(deps, connection, id), withMembers);
      if (!view) throw notFound();
      return view;
    },
    list: (connection, query) => list(deps, connection, query),
    change: (connection, id, change, withMembers) =>
      inTurn(deps, { connection, id, signal: change.signal }, () =>
        update(deps, connection, { id, change, withMembers }),
      ),
    remove: (connection, id, check, signal) =>
      inTurn(deps, { connection, id, signal }, () => remove(deps, connection, { id, check })),
  };
}

function inTurn<T>(
  { queues }: Deps,
  { connection, id, signal }: { connection: string; id: string; signal?: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  return queues.run(JSON.stringify([connection, id]), work, signal);
}

async function list(deps: Deps, connection: string, query: GroupQuery): Promise<ListPage<ListedGroupView>> {
  const found = await deps.scanQueue.run(connection, (step) => {
    const residual = residualOf(deps, connection, { query, step });
    return deps.groups.list(connection, query, { yieldBetweenSteps: step, residual });
  });
  const ids = found.rows.flatMap(({ id, attributes }) => (query.withMembers && attributes ? [id] : []));
  const small = await deps.groups.membersOfSmallGroups(connection, ids);
  const rows = found.rows.map((group) => {
    const own = small.get(group.id);
    // A group that changed after the page was read is read again, whole.
    return { ...group, members: own?.version === group.version ? own.members : undefined };
  });
  return { ...found, rows };
}

/** One group at a time is looked at, as its members may be many. */
function residualOf(
  deps: Deps,
  connection: string,
  { query: { residual }, step }: { query: GroupQuery; step: Step },
): ListScan<ListedGroup>['residual'] {
  if (!residual) return undefined;
  return async (groups) => {
    const matching: boolean[] = [];
    for (const { id, ...group } of groups) {
      await step();
      const attributes = group.attributes ?? (await deps.groups.findById(connection, id))?.attributes;
      const members = residual.needsMembers
        ? await deps.groups.allMembers(connection, [id], step)
        : undefined;
      const view = attributes && { ...group, id, attributes, members: members?.get(id) };
      matching.push(view !== undefined && (await residual.matches(view, step)));
    }
    return matching;
  };
}

async function create(
  deps: Deps,
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
  if ((await deps.groups.insert(group, members)) === 'duplicate') throw taken();
  return viewAtTurn(deps, group, true);
}

async function update(
  deps: Deps,
  connection: string,
  { id, change, withMembers }: { id: string; change: GroupChange; withMembers: boolean },
): Promise<GroupView> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await existing(deps, connection, id);
    const attributes = change.attributes(before.attributes, before.version);
    const lastModified = deps.runtime.wallClock();
    const after: Group = { ...before, version: before.version + 1, lastModified };
    const outcome = await deps.groups.change(after, before.version, { attributes, members: change.members });
    if (outcome === 'duplicate') throw taken();
    if (outcome === 'noTarget') throw noTarget();
    if (outcome === 'stale') continue;
    return viewAtTurn(deps, outcome === 'unchanged' ? before : { ...after, attributes }, withMembers);
  }
  throw groupBusy();
}

async function remove(
  deps: Deps,
  connection: string,
  { id, check }: { id: string; check: ((version: number) => void) | undefined },
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const group = await existing(deps, connection, id);
    check?.(group.version);
    const removed: Group = { ...group, lastModified: deps.runtime.wallClock() };
    if ((await deps.groups.change(removed, group.version, 'delete')) !== 'stale') return;
  }
  throw groupBusy();
}

async function existing(deps: Deps, connection: string, id: string): Promise<Group> {
  const group = await deps.groups.findById(connection, id);
  if (!group) throw notFound();
  return group;
}

/**
 * A group with the members of its version; undefined when it is removed meanwhile. While it changes it is read again,
 * the last time at a turn of its own, when no other request writes it.
 */
async function viewOf(deps: Deps, group: Group, withMembers: boolean): Promise<GroupView | undefined> {
  if (!withMembers) return viewAtTurn(deps, group, false);
  const { connection, id } = group;
  let before = group;
  for (let tries = 0; tries < READS; tries += 1) {
    const view = await viewAtTurn(deps, before, true);
    if (view.manyMembers) return view;
    const after = await deps.groups.findById(connection, id);
    if (after?.version === before.version) return view;
    if (!after) return undefined;
    before = after;
  }
  return inTurn(deps, { connection, id }, async () => {
    const current = await deps.groups.findById(connection, id);
    return current && viewAtTurn(deps, current, true);
  });
}

/** A group whose members nobody changes meanwhile. */
async function viewAtTurn(deps: Deps, group: Group, withMembers: boolean): Promise<GroupView> {
  const { id, attributes, createdAt, lastModified, version } = group;
  const view = { id, attributes, createdAt, lastModified, version };
  if (!withMembers) return { ...view, members: undefined };
  const members = await deps.groups.streamMembers(group.connection, id);
  return Array.isArray(members) ? { ...view, members } : { ...view, members: [], manyMembers: members };
}

function notFound(): ProvisioningError {
  return new ProvisioningError('notFound', 'There is no such group.');
}

function taken(): ProvisioningError {
  return new ProvisioningError('conflict', 'Another group has this displayName.');
}

function noTarget(): ProvisioningError {
  return new ProvisioningError('noTarget', 'No member of the group matches the filter.');
}

function groupBusy(): ProvisioningError {
  return new ProvisioningError('unavailable', 'Too many writers change this group at once; try again.');
}

/** Requests that may wait for one resource; each holds its body in memory. */
export const MAX_WAITING = 100;
/** Longest wait for a turn, in milliseconds; Okta and Entra ID end a request after 60 s. */
export const MAX_WAIT_MS = 30_000;

/** Lets the writers of one resource work one after the other, in the order of their arrival. */
export interface WriteQueues {
  /**
   * Does the work when all earlier work for the key has ended. Throws `unavailable` when too many wait or the wait gets
   * too long, and `abandoned` when the signal is aborted during the wait; work that has begun is not interrupted.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Queues of this process; they are empty, and take no memory, while nothing is written. */
export function writeQueues({ wait }: Pick<Runtime, 'wait'>): WriteQueues {
  // Keys with work in progress, and the callbacks of those who wait for its end.
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
    run: async (key, work, signal) => {
      const queue = queues.get(key);
      if (queue) await turnIn(queue, { wait, signal });
      else queues.set(key, new Set());
      try {
        return await work();
      } finally {
        endTurn(key);
      }
    },
  };
}

/** Waits for a turn, or leaves the queue. */
function turnIn(
  queue: Set<() => void>,
  { wait, signal }: Pick<Runtime, 'wait'> & { signal: AbortSignal | undefined },
): Promise<void> {
  if (signal?.aborted) throw abandoned();
  if (queue.size >= MAX_WAITING) throw queueFull();
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
      // False: the turn has come already.
      if (!queue.delete(begin)) return;
      leave();
      reject(error);
    };
    const abandon = () => giveUp(abandoned());
    queue.add(begin);
    signal?.addEventListener('abort', abandon);
    void wait(MAX_WAIT_MS, over.signal).then(() => giveUp(queueFull()));
  });
}

function queueFull(): ProvisioningError {
  return new ProvisioningError('unavailable', 'Too many requests write this resource at once; try again.');
}

function abandoned(): ProvisioningError {
  return new ProvisioningError('abandoned', 'The client went away before its turn.');
}
