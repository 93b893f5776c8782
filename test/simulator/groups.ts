import { changeForEverybody, type Knowledge } from './knowledge.ts';
import { type Call, type ConnectionName, connections } from './people.ts';

/** A group as its IdP keeps it. */
export interface StatedGroup {
  connection: ConnectionName;
  id: string;
  displayName: string;
  members: string[];
}

/** The places for groups, with their names: mappings know the first ones. No name is in two places of a connection. */
export const groupSlots = connections.flatMap((connection) =>
  (
    [
      ['Managers', 'MANAGERS', 'Engineers'],
      ['VIP', 'Vip', 'Visitors'],
      ['Site Paris', 'Site Paris', 'Paris'],
      ['Site Lyon', 'Site Lyon', 'Lyon'],
      ['Staff', 'STAFF', 'Everybody'],
      ['Contractors', 'contractors', 'Visiting'],
    ] as const
  ).map((names) => ({ connection, names })),
);

/** What an IdP does with the group in a place. A group that does not exist is created. */
export interface GroupMove {
  kind: 'group';
  place: number;
  act: (typeof groupActs)[number];
  who: number[];
  /** The index of the name. */
  name: number;
}

export const groupActs = [
  'add',
  'add',
  'add',
  'remove',
  'replace',
  'rename',
  'put',
  'empty',
  'delete',
] as const;

const SCHEMAS = ['urn:ietf:params:scim:schemas:core:2.0:Group'];

interface Deps {
  call: Call;
  knowledge: Knowledge;
}

/** Carries out a move, and repeats each of its requests until it is answered. */
export async function moveGroup(deps: Deps, move: GroupMove): Promise<void> {
  const { knowledge } = deps;
  const place = groupSlots[move.place];
  if (!place) return;
  const { connection } = place;
  const known = knowledge.groups.find(
    (one) => one.connection === connection && place.names.some((name) => name === one.displayName),
  );
  const before = known ?? (await create(deps, connection, place.names[move.name] ?? place.names[0]));
  const named = move.who.flatMap((slot) => {
    const current = knowledge.people[slot]?.current;
    return current?.connection === connection ? [current.id] : [];
  });
  const renamed = move.act === 'rename' ? place.names[move.name] : undefined;
  const displayName = renamed ?? before.displayName;
  const after: StatedGroup | undefined =
    move.act === 'delete'
      ? undefined
      : { ...before, displayName, members: membersAfter(before.members, move.act, named) };
  const others = knowledge.groups.filter(({ id }) => id !== before.id);
  // The values of the new memberships may be sent from here on, those of the old ones up to the answer.
  changeForEverybody(knowledge, () =>
    Object.assign(knowledge, { groups: after ? [...others, after] : others }),
  );
  await sendChange(deps, { before, after, act: move.act, named });
  changeForEverybody(knowledge, () => {});
}

function membersAfter(members: string[], act: GroupMove['act'], named: string[]): string[] {
  switch (act) {
    case 'add':
      return [...new Set([...members, ...named])];
    case 'remove':
      return members.filter((one) => !named.includes(one));
    case 'replace':
    case 'put':
      return named;
    case 'empty':
      return [];
    default:
      return members;
  }
}

interface GroupChange {
  before: StatedGroup;
  /** Undefined if it is deleted. */
  after: StatedGroup | undefined;
  act: GroupMove['act'];
  named: string[];
}

async function sendChange(deps: Deps, { before, after, act, named }: GroupChange): Promise<void> {
  const { connection, id } = before;
  const path = `/Groups/${id}`;
  if (!after) return void (await send(deps, connection, 'DELETE', path));
  const { displayName, members } = after;
  const patch = (operation: object) => send(deps, connection, 'PATCH', path, { Operations: [operation] });
  switch (act) {
    case 'add':
      await patch({ op: 'add', path: 'members', value: toValues(named) });
      break;
    case 'remove':
      for (const one of named.filter((member) => before.members.includes(member)))
        await patch({ op: 'remove', path: `members[value eq "${one}"]` });
      break;
    case 'rename':
      await patch({ op: 'replace', path: 'displayName', value: displayName });
      break;
    case 'put':
      await send(deps, connection, 'PUT', path, {
        schemas: SCHEMAS,
        displayName,
        members: toValues(members),
      });
      break;
    default:
      await patch({ op: 'replace', path: 'members', value: toValues(members) });
  }
}

async function create(deps: Deps, connection: ConnectionName, displayName: string): Promise<StatedGroup> {
  const body = { schemas: SCHEMAS, displayName, members: [] };
  const answer = await send(deps, connection, 'POST', '/Groups', body);
  // A repetition finds the group that a request without an answer has made.
  const made = answer.status === 409 ? await findGroup(deps, connection, displayName) : answer.body;
  return { connection, id: made.id, displayName, members: [] };
}

async function findGroup(deps: Deps, connection: ConnectionName, displayName: string) {
  const groups = await listGroups(deps.call, connection);
  const found = groups.find((one) => one.displayName === displayName);
  if (!found) throw new Error(`the group ${displayName} is neither made nor found`);
  return found;
}

/** Sends a request until it is answered. One that is repeated may have been carried out already. */
async function send({ call }: Deps, connection: ConnectionName, method: string, path: string, body?: object) {
  const repeated = { POST: 409, DELETE: 404 }[method];
  for (;;) {
    const answer = await call(connection, method, path, body);
    if (!answer) continue;
    if (answer.status >= 300 && answer.status !== repeated)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }
}

/** Lists the groups of a connection. */
export async function listGroups(call: Call, connection: ConnectionName): Promise<StatedGroup[]> {
  for (;;) {
    const answer = await call(connection, 'GET', '/Groups');
    if (!answer) continue;
    return answer.body.Resources.map(
      (shown: { id: string; displayName: string; members?: { value: string }[] }) => ({
        ...{ connection, id: shown.id, displayName: shown.displayName },
        members: (shown.members ?? []).map(({ value }) => value),
      }),
    );
  }
}

function toValues(ids: readonly string[]) {
  return ids.map((value) => ({ value }));
}
