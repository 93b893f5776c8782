import { type Call, type ConnectionName, connections, type Person } from '../histories/identity-providers.ts';
import type { HistoryRecord } from '../histories/record.ts';
import { recordGroups } from '../histories/standing.ts';
import {
  type GroupChange,
  type StatedGroup,
  UNRESOLVED_MS,
  withGroupChange,
} from '../histories/stated-groups.ts';
import type { Story } from './story.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A place for one group of a connection, with the names that it has in turn: most are named by mappings. */
interface GroupSlot {
  connection: ConnectionName;
  names: readonly [string, ...string[]];
}

/** No name is in two places of a connection, so that a name that is taken is that of a request whose answer was lost. */
export const groupSlots: readonly GroupSlot[] = connections.flatMap((connection) =>
  [
    ['Managers', 'MANAGERS', 'Engineers'] as const,
    ['VIP', 'Visitors'] as const,
    ['Site Paris', 'Paris'] as const,
    ['Site Lyon', 'Lyon'] as const,
    ['Staff', 'Contractors', 'Everybody'] as const,
  ].map((names) => ({ connection, names })),
);

/** What an IdP does with the group in a slot. A group that does not exist is created. */
export interface GroupAct {
  kind: 'group';
  slot: number;
  act: 'add' | 'remove' | 'replace' | 'rename' | 'put' | 'empty' | 'delete';
  /** The place of the new name among those of the slot. */
  name: number;
  who: number[];
}

/** The groups of the IdPs. */
export interface Groups {
  /** Carries out an act, and repeats it until it is answered. */
  act(act: GroupAct): Promise<void>;
  /** Describes the groups that do not read as written, and searches that find others. `reads` takes no time, as a search with many reads must. */
  violations(reads: Call): Promise<string[]>;
  /** Reads all groups again, as after a restore. */
  readAgain(): Promise<void>;
}

const SCHEMAS = ['urn:ietf:params:scim:schemas:core:2.0:Group'];

interface Deps {
  call: Call;
  people: readonly Person[];
  record: HistoryRecord;
  story: Story;
  time: VirtualTime;
}

/** Creates the IdPs as the owners of groups, whose changes are recorded. */
export function simulatedGroups(deps: Deps): Groups {
  const { people, record, story, time } = deps;
  const isCompared = (id: string) => people.some(({ current }) => current?.id === id);
  const groupIn = ({ connection, names }: GroupSlot) =>
    record.groups.groups.find(
      (one) => one.connection === connection && names.some((name) => name === one.displayName),
    );
  return {
    act: async (act) => {
      const slot = groupSlots[act.slot];
      if (!slot) return;
      const before = groupIn(slot);
      const begunAt = time.now();
      const [live, leaving] = [usersOf(people), usersBeingDeleted(people)];
      const named = before && act.act === 'rename' ? [] : idsOf(deps, slot.connection, act.who);
      const after = before ? await change(deps, before, act) : await create(deps, slot, act);
      const present = usersOf(people);
      const deleted = [...live].filter((id) => !present.has(id));
      const done: GroupChange = {
        ...{ before, after, begunAt, endedAt: time.now(), mapping: record.rules.mapping, live },
        ...{ isOneByOne: act.act === 'remove', named },
        leaving: new Set([...leaving, ...usersBeingDeleted(people), ...deleted]),
      };
      recordGroups(record, people, withGroupChange(record.groups, done));
      story.tell(`  group ${act.slot} is ${JSON.stringify(after)}`);
    },
    violations: async (reads) => {
      const broken: string[] = [];
      // A user who is deleted is no member any more.
      const comparable = (one: Omit<StatedGroup, 'id'> | undefined) =>
        one && JSON.stringify([one.displayName, one.members.filter(isCompared).toSorted()]);
      for (const connection of connections) {
        const shown = await list(deps, connection);
        const stated = record.groups.groups.filter((one) => one.connection === connection);
        for (const id of new Set([...shown, ...stated].map((one) => one.id))) {
          const [is, must] = [shown, stated].map((all) => all.find((one) => one.id === id));
          if (comparable(is) !== comparable(must))
            broken.push(`the group ${id} is ${JSON.stringify(is)}, not ${JSON.stringify(must)}`);
        }
        broken.push(...(await searchViolations({ ...deps, call: reads }, connection, stated)));
      }
      return broken;
    },
    readAgain: async () => {
      const groups: StatedGroup[] = [];
      for (const connection of connections) groups.push(...(await list(deps, connection)));
      const live = usersOf(people);
      const unknown = groups.flatMap(({ id, members }) =>
        members.filter((user) => !live.has(user)).map((user) => ({ group: id, user })),
      );
      // Which former memberships the backup had is not known.
      record.groups = { groups, formers: [], unknown, doubtUntil: time.now() + UNRESOLVED_MS };
    },
  };
}

function usersOf(people: readonly Person[]): Set<string> {
  return new Set(people.flatMap(({ current }) => current?.id ?? []));
}

/** The users whose DELETE is not answered yet. */
function usersBeingDeleted(people: readonly Person[]): string[] {
  return people.flatMap(({ current, unanswered }) =>
    current && unanswered?.verb === 'DELETE' ? [current.id] : [],
  );
}

/** Describes the searches that no index answers, and that find other groups than those that match. */
async function searchViolations(
  deps: Deps,
  connection: ConnectionName,
  stated: StatedGroup[],
): Promise<string[]> {
  const [first] = stated;
  if (!first) return [];
  const [member = ''] = first.members.filter((id) => deps.people.some(({ current }) => current?.id === id));
  const text = first.displayName.slice(1);
  const searches = [
    { filter: `displayName co "${text}"`, isFound: ({ displayName }: StatedGroup) => has(displayName, text) },
    {
      filter: `members.value sw "${member}"`,
      isFound: ({ members }: StatedGroup) => members.includes(member),
    },
  ];
  const broken: string[] = [];
  for (const { filter, isFound } of searches.slice(0, member === '' ? 1 : 2)) {
    const found = (await list(deps, connection, `?filter=${encodeURIComponent(filter)}`)).map(({ id }) => id);
    const right = stated.filter(isFound).map(({ id }) => id);
    if (found.toSorted().join() !== right.toSorted().join())
      broken.push(`${filter} finds the groups ${found.join()}, not ${right.join()}`);
  }
  return broken;
}

function has(value: string, part: string): boolean {
  return value.toLowerCase().includes(part.toLowerCase());
}

async function list(deps: Deps, connection: ConnectionName, query = ''): Promise<StatedGroup[]> {
  const { body } = await send(deps, connection, { method: 'GET', path: `/Groups${query}` });
  return body.Resources.map((shown: { id: string; displayName: string; members?: { value: string }[] }) => ({
    ...{ connection, id: shown.id, displayName: shown.displayName },
    members: (shown.members ?? []).map(({ value }) => value),
  }));
}

interface GroupRequest {
  method: string;
  path: string;
  body?: object;
  /** The status of a repetition whose first request was carried out, and not answered. */
  repeated?: number;
}

/** Sends a request until it is answered. */
async function send({ call }: Deps, connection: ConnectionName, request: GroupRequest) {
  const { method, path, body, repeated } = request;
  for (;;) {
    const answer = await call(connection, method, path, body);
    if (!answer) continue;
    if (answer.status >= 300 && answer.status !== repeated)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }
}

async function create(
  deps: Deps,
  { connection, names }: GroupSlot,
  { name, who }: GroupAct,
): Promise<StatedGroup> {
  const displayName = names[name % names.length] ?? names[0];
  const members = idsOf(deps, connection, who);
  const body = { schemas: SCHEMAS, displayName, members: toValues(members) };
  const { status, body: answer } = await send(deps, connection, {
    ...{ method: 'POST', path: '/Groups', body, repeated: 409 },
  });
  const id = status === 409 ? undefined : answer.id;
  const carriedOut = id
    ? undefined
    : (await list(deps, connection)).find((one) => one.displayName === displayName);
  return carriedOut ?? { connection, id, displayName, members };
}

/** Returns the group after the act; undefined if it was deleted. */
async function change(deps: Deps, before: StatedGroup, act: GroupAct): Promise<StatedGroup | undefined> {
  const { connection, id, displayName } = before;
  const path = `/Groups/${id}`;
  const members = idsOf(deps, connection, act.who);
  const patch = (operation: object) =>
    send(deps, connection, { method: 'PATCH', path, body: { Operations: [operation] } });
  switch (act.act) {
    case 'delete':
      await send(deps, connection, { method: 'DELETE', path, repeated: 404 });
      return undefined;
    case 'put': {
      const after = { ...before, displayName: nameOf(act), members };
      const body = { schemas: SCHEMAS, displayName: after.displayName, members: toValues(members) };
      await send(deps, connection, { method: 'PUT', path, body });
      return after;
    }
    case 'rename':
      await patch({ op: 'replace', path: 'displayName', value: nameOf(act) });
      return { ...before, displayName: nameOf(act) };
    case 'replace':
      await patch({ op: 'replace', path: 'members', value: toValues(members) });
      return { ...before, members };
    case 'empty':
      await patch({ op: 'replace', path: 'members', value: [] });
      return { ...before, displayName, members: [] };
    case 'add':
      await patch({ op: 'add', path: 'members', value: toValues(members) });
      return { ...before, members: [...new Set([...before.members, ...members])] };
    case 'remove': {
      for (const one of before.members.filter((member) => members.includes(member)))
        await patch({ op: 'remove', path: `members[value eq "${one}"]` });
      return { ...before, members: before.members.filter((one) => !members.includes(one)) };
    }
  }
}

function nameOf({ slot, name }: GroupAct): string {
  const names = groupSlots[slot]?.names ?? [''];
  return names[name % names.length] ?? '';
}

function idsOf({ people }: Deps, connection: ConnectionName, who: readonly number[]): string[] {
  return [...new Set(who)].flatMap((index) => {
    const { current } = people[index] ?? {};
    return current?.connection === connection ? [current.id] : [];
  });
}

function toValues(ids: readonly string[]) {
  return ids.map((value) => ({ value }));
}
