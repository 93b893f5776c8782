import type { Call, Person } from '../histories/identity-providers.ts';
import type { Story } from './story.ts';

/** What an IdP does with one of its groups. A group that does not exist is created first. */
export interface GroupAct {
  kind: 'group';
  group: number;
  act: 'add' | 'remove' | 'replace' | 'rename' | 'put' | 'delete';
  who: number[];
}

/** A group as the IdP has written it: the ids of its members. */
interface WrittenGroup {
  id: string;
  displayName: string;
  members: string[];
}

/** The groups of one connection. */
export interface Groups {
  /** Carries out an act, and repeats it until it is answered. */
  act(act: GroupAct): Promise<void>;
  /** Describes the groups that do not read as written. */
  violations(): Promise<string[]>;
  /** Reads all groups again, as after a restore. */
  readAgain(): Promise<void>;
}

const CONNECTION = 'default';
const SCHEMAS = ['urn:ietf:params:scim:schemas:core:2.0:Group'];

interface Deps {
  call: Call;
  people: readonly Person[];
  story: Story;
}

/** Creates the groups of the first connection. They have no effect on travelers. */
export function simulatedGroups({ call, people, story }: Deps): Groups {
  const groups = new Map<number, WrittenGroup>();
  let names = 0;
  /** Sends a request until it is answered. A repetition may find that the first one was carried out. */
  const send = async (method: string, path: string, body?: object, repeated?: number) => {
    for (;;) {
      const answer = await call(CONNECTION, method, path, body);
      if (!answer) continue;
      if (answer.status >= 300 && answer.status !== repeated)
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer;
    }
  };
  const read = async ({ id }: WrittenGroup): Promise<Omit<WrittenGroup, 'id'> | undefined> => {
    const { status, body } = await send('GET', `/Groups/${id}`, undefined, 404);
    if (status === 404) return undefined;
    const members = (body.members ?? []).map(({ value }: { value: string }) => value);
    return { displayName: body.displayName, members };
  };
  const idsOf = (who: number[]) =>
    [...new Set(who)].flatMap((index) => {
      const { current } = people[index] ?? {};
      return current?.connection === CONNECTION ? [current.id] : [];
    });
  const isLive = (id: string) =>
    people.some(({ current }) => current?.id === id && current.connection === CONNECTION);
  const create = async (who: number[]): Promise<WrittenGroup> => {
    names += 1;
    const displayName = `Group ${names}`;
    const members = idsOf(who);
    const body = { schemas: SCHEMAS, displayName, members: members.map((value) => ({ value })) };
    const { status, body: answer } = await send('POST', '/Groups', body, 409);
    // The first POST was carried out, and nobody knows its id.
    if (status === 409) return create(who);
    return { id: answer.id, displayName, members };
  };
  const change = async (group: WrittenGroup, { act, who }: GroupAct): Promise<void> => {
    const members = idsOf(who);
    const values = members.map((value) => ({ value }));
    if (act === 'rename' || act === 'put') names += 1;
    if (act === 'rename' || act === 'put') group.displayName = `Group ${names}`;
    if (act === 'put' || act === 'replace') group.members = members;
    if (act === 'add') group.members = [...new Set([...group.members, ...members])];
    const removed = group.members.filter((id) => members.includes(id) && isLive(id));
    if (act === 'remove') group.members = group.members.filter((id) => !members.includes(id));
    const operations = {
      rename: [{ op: 'replace', path: 'displayName', value: group.displayName }],
      replace: [{ op: 'replace', path: 'members', value: values }],
      add: [{ op: 'add', path: 'members', value: values }],
    };
    const path = `/Groups/${group.id}`;
    if (act === 'put')
      await send('PUT', path, { schemas: SCHEMAS, displayName: group.displayName, members: values });
    else if (act === 'remove')
      // A member who is deleted meanwhile is no target.
      for (const id of removed)
        await send('PATCH', path, { Operations: [{ op: 'remove', path: `members[value eq "${id}"]` }] }, 400);
    else if (act !== 'delete') await send('PATCH', path, { Operations: operations[act] });
  };
  return {
    act: async (act) => {
      const group = groups.get(act.group);
      if (!group) groups.set(act.group, await create(act.who));
      else if (act.act === 'delete') {
        await send('DELETE', `/Groups/${group.id}`, undefined, 404);
        groups.delete(act.group);
      } else await change(group, act);
      story.tell(`  group ${act.group} is ${JSON.stringify(groups.get(act.group))}`);
    },
    violations: async () => {
      const broken: string[] = [];
      for (const [number, group] of groups) {
        const shown = await read(group);
        // A user who is deleted is no member any more.
        const comparable = (one: Omit<WrittenGroup, 'id'> | undefined) =>
          one && JSON.stringify([one.displayName, one.members.filter(isLive).toSorted()]);
        if (comparable(shown) !== comparable(group))
          broken.push(`group ${number} is ${JSON.stringify(shown)}, not ${JSON.stringify(group)}`);
      }
      return broken;
    },
    readAgain: async () => {
      for (const [number, group] of groups) {
        const shown = await read(group);
        if (shown) groups.set(number, { ...group, ...shown });
        else groups.delete(number);
      }
    },
  };
}
