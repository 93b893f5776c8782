import type { ScimResource } from '../schema/resource.ts';
import { BridgeError } from './errors.ts';
import type { GroupField, GroupOrder, Listed, ListQuery, Scan } from './list-query.ts';
import type { Group, Groups, Member, MemberChange, Surroundings } from './ports.ts';
import type { Turns } from './turns.ts';

/** A SCIM group as the front door shows it. */
export interface GroupView {
  id: string;
  /** displayName, externalId and whatever else was sent, without members. */
  attributes: ScimResource;
  /** Undefined when not asked for. */
  members: Member[] | undefined;
  createdAt: number;
  lastModified: number;
  version: number;
}

/** A change to a group: its attributes as a pure function, which may refuse a version by throwing, its members as steps, so that none need be read. */
export interface GroupChange {
  attributes: (current: ScimResource, version: number) => ScimResource;
  members: MemberChange[];
}

/** What a list of groups asks for. */
export interface GroupQuery extends ListQuery<GroupField, GroupOrder> {
  /** What columns do not answer; undefined: they answer all of it. */
  residual: { matches(group: GroupView): boolean; needsMembers: boolean } | undefined;
  withMembers: boolean;
}

/** The story of groups: kept so that every IdP's own checks pass; the travel service has none (DESIGN §2). */
export interface GroupStory {
  create(connection: string, attributes: ScimResource, members: Member[]): Promise<GroupView>;
  read(connection: string, id: string, withMembers: boolean): Promise<GroupView>;
  list(connection: string, query: GroupQuery): Promise<Listed<GroupView>>;
  change(connection: string, id: string, change: GroupChange, withMembers: boolean): Promise<GroupView>;
  /** `check` may refuse, by throwing, what is at that version. */
  remove(connection: string, id: string, check?: (version: number) => void): Promise<void>;
}

interface Shop {
  groups: Groups;
  turns: Turns;
  surroundings: Surroundings;
}

const TRIES = 20;

/** The groups of all connections. */
export function groupStory(shop: Shop): GroupStory {
  return {
    create: (connection, attributes, members) => create(shop, connection, { attributes, members }),
    read: async (connection, id, withMembers) =>
      viewOf(shop, await existing(shop, connection, id), withMembers),
    list: (connection, query) => list(shop, connection, query),
    change: (connection, id, change, withMembers) => amend(shop, connection, { id, change, withMembers }),
    remove: (connection, id, check) => remove(shop, connection, { id, check }),
  };
}

async function list(shop: Shop, connection: string, query: GroupQuery): Promise<Listed<GroupView>> {
  const { rows, ...rest } = await shop.turns.take(connection, (step) => {
    const residual = residualOf(shop, connection, { query, step });
    return shop.groups.list(connection, query, { step, residual });
  });
  return { ...rest, rows: await viewsOf(shop, { connection, groups: rows, withMembers: query.withMembers }) };
}

/** One group at a time is looked at, as its members may be many. */
function residualOf(
  shop: Shop,
  connection: string,
  { query: { residual }, step }: { query: GroupQuery; step: Scan<unknown>['step'] },
): Scan<Group>['residual'] {
  if (!residual) return undefined;
  return async (groups) => {
    const matching: boolean[] = [];
    for (const group of groups) {
      await step();
      const [view] = await viewsOf(shop, { connection, groups: [group], withMembers: residual.needsMembers });
      matching.push(view !== undefined && residual.matches(view));
    }
    return matching;
  };
}

async function create(
  shop: Shop,
  connection: string,
  { attributes, members }: { attributes: ScimResource; members: Member[] },
): Promise<GroupView> {
  const now = shop.surroundings.wallClock();
  const group: Group = {
    connection,
    id: shop.surroundings.newId(),
    attributes,
    version: 1,
    createdAt: now,
    lastModified: now,
  };
  if ((await shop.groups.insert(group, members)) === 'duplicate') throw taken();
  return viewOf(shop, group, true);
}

async function amend(
  shop: Shop,
  connection: string,
  { id, change, withMembers }: { id: string; change: GroupChange; withMembers: boolean },
): Promise<GroupView> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await existing(shop, connection, id);
    const attributes = change.attributes(before.attributes, before.version);
    const lastModified = shop.surroundings.wallClock();
    const after: Group = { ...before, version: before.version + 1, lastModified };
    const outcome = await shop.groups.change(after, before.version, { attributes, members: change.members });
    if (outcome === 'duplicate') throw taken();
    if (outcome === 'stale') continue;
    return viewOf(shop, outcome === 'unchanged' ? before : { ...after, attributes }, withMembers);
  }
  throw busy();
}

async function remove(
  shop: Shop,
  connection: string,
  { id, check }: { id: string; check: ((version: number) => void) | undefined },
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const group = await existing(shop, connection, id);
    check?.(group.version);
    if ((await shop.groups.change(group, group.version, 'delete')) !== 'stale') return;
  }
  throw busy();
}

async function existing(shop: Shop, connection: string, id: string): Promise<Group> {
  const group = await shop.groups.byId(connection, id);
  if (!group) throw new BridgeError('notFound', 'There is no such group.');
  return group;
}

async function viewOf(shop: Shop, group: Group, withMembers: boolean): Promise<GroupView> {
  const members = withMembers ? await shop.groups.members(group.connection, [group.id]) : undefined;
  return toView(group, members);
}

async function viewsOf(
  shop: Shop,
  { connection, groups, withMembers }: { connection: string; groups: Group[]; withMembers: boolean },
): Promise<GroupView[]> {
  const ids = groups.map(({ id }) => id);
  const members = withMembers ? await shop.groups.members(connection, ids) : undefined;
  return groups.map((group) => toView(group, members));
}

function toView(group: Group, members: Map<string, Member[]> | undefined): GroupView {
  const { id, attributes, createdAt, lastModified, version } = group;
  return { id, attributes, members: members && (members.get(id) ?? []), createdAt, lastModified, version };
}

function taken(): BridgeError {
  return new BridgeError('conflict', 'Another group has this displayName.');
}

function busy(): BridgeError {
  return new BridgeError('unavailable', 'Too many writers change this group at once; try again.');
}
