import { isDeepStrictEqual } from 'node:util';
import { BridgeError } from '../../src/bridge/errors.ts';
import type { GroupStory, GroupView } from '../../src/bridge/groups.ts';
import type { IdentityMatch, Member, MemberChange } from '../../src/bridge/ports.ts';
import type { UserStory, UserView } from '../../src/bridge/users.ts';
import type { JsonObject, ScimResource } from '../../src/schema/resource.ts';

/** The bridge's stories kept in memory, with no travel service behind them. */
export interface MemoryBridge {
  users: UserStory;
  groups: GroupStory;
  /** What `fail` returns is thrown by every story. */
  failWith(error: Error | undefined): void;
}

/** A user whose desired state is not yet text. */
type Person = Omit<UserView, 'desired'> & { resource: ScimResource };

interface Kept<View> {
  connection: string;
  view: View;
}

/** Every id is unique in the process of the test: u1, u2, g1 … */
export function memoryBridge(): MemoryBridge {
  const users: Kept<Person>[] = [];
  const groups: Kept<GroupView>[] = [];
  let failure: Error | undefined;
  let time = Date.UTC(2026, 10, 20, 10);
  const tick = () => {
    if (failure) throw failure;
    time += 1000;
    return time;
  };
  return {
    users: userStory(users, groups, tick),
    groups: groupStory(groups, tick),
    failWith: (error) => {
      failure = error;
    },
  };
}

function userStory(users: Kept<Person>[], groups: Kept<GroupView>[], tick: () => number): UserStory {
  const of = (connection: string) => users.filter((kept) => kept.connection === connection);
  const find = (connection: string, id: string) => {
    const kept = of(connection).find(({ view }) => view.id === id);
    if (!kept) throw new BridgeError('notFound', 'There is no such user.');
    return kept;
  };
  const withGroups = (kept: Kept<Person>): UserView => ({
    ...textual(kept.view),
    groups: groups.flatMap(({ connection, view }) =>
      connection === kept.connection && view.members?.some(({ value }) => value === kept.view.id)
        ? [{ value: view.id, display: String(view.attributes['displayName']) }]
        : [],
    ),
  });
  const checkFree = (connection: string, resource: ScimResource, id?: string) => {
    const isTaken = of(connection).some(
      ({ view }) => view.id !== id && fold(view.resource['userName']) === fold(resource['userName']),
    );
    if (isTaken) throw new BridgeError('conflict', 'Another user has this userName.');
  };
  let last = 0;
  return {
    create: async (connection, desired) => {
      const now = tick();
      checkFree(connection, desired);
      last += 1;
      const view: Person = {
        id: `u${last}`,
        resource: { ...desired, active: desired['active'] ?? true },
        createdAt: now,
        lastModified: now,
        version: 1,
        extensions: null,
        travelUserId: undefined,
        groups: [],
      };
      users.push({ connection, view });
      return textual(view);
    },
    read: async (connection, id) => {
      tick();
      return withGroups(find(connection, id));
    },
    list: async (connection, { matches, offset, limit }) => {
      tick();
      const found = of(connection).filter(({ view }) => matches.every((match) => isUser(view, match)));
      return { total: found.length, users: found.slice(offset, offset + limit).map(withGroups) };
    },
    change: async (connection, id, change) => {
      const now = tick();
      const kept = find(connection, id);
      const changed = change(kept.view.resource, kept.view.version);
      const resource = { ...changed, active: changed['active'] ?? kept.view.resource['active'] ?? true };
      checkFree(connection, resource, id);
      if (!isDeepStrictEqual(resource, kept.view.resource)) {
        kept.view = { ...kept.view, resource, lastModified: now, version: kept.view.version + 1 };
      }
      return withGroups(kept);
    },
    remove: async (connection, id, check) => {
      tick();
      check?.(find(connection, id).view.version);
      users.splice(users.indexOf(find(connection, id)), 1);
    },
  };
}

function textual({ resource, ...view }: Person): UserView {
  return { ...view, desired: JSON.stringify(resource) };
}

function isUser({ id, resource }: Person, { by, value }: IdentityMatch): boolean {
  switch (by) {
    case 'id':
      return id === value;
    case 'externalId':
      return resource['externalId'] === value;
    case 'userName':
      return fold(resource['userName']) === fold(value);
    case 'email': {
      const emails = (resource['emails'] ?? []) as JsonObject[];
      return emails.some((email) => fold(email['value']) === fold(value));
    }
    default:
      throw new Error(`no client asks by ${by}`);
  }
}

function groupStory(groups: Kept<GroupView>[], tick: () => number): GroupStory {
  const of = (connection: string) => groups.filter((kept) => kept.connection === connection);
  const find = (connection: string, id: string) => {
    const kept = of(connection).find(({ view }) => view.id === id);
    if (!kept) throw new BridgeError('notFound', 'There is no such group.');
    return kept;
  };
  const checkFree = (connection: string, attributes: ScimResource, id?: string) => {
    const isTaken = of(connection).some(
      ({ view }) =>
        view.id !== id && fold(view.attributes['displayName']) === fold(attributes['displayName']),
    );
    if (isTaken) throw new BridgeError('conflict', 'Another group has this displayName.');
  };
  const shown = (view: GroupView, withMembers: boolean): GroupView =>
    withMembers ? view : { ...view, members: undefined };
  let last = 0;
  return {
    create: async (connection, attributes, members) => {
      const now = tick();
      checkFree(connection, attributes);
      last += 1;
      const view: GroupView = {
        id: `g${last}`,
        attributes,
        members: applied([], [{ kind: 'add', members }]),
        createdAt: now,
        lastModified: now,
        version: 1,
      };
      groups.push({ connection, view });
      return view;
    },
    read: async (connection, id, withMembers) => {
      tick();
      return shown(find(connection, id).view, withMembers);
    },
    list: async (connection, { matches, offset, limit, withMembers }) => {
      tick();
      const found = of(connection).filter(({ view }) =>
        matches.every(({ by, value }) => {
          if (by === 'id') return view.id === value;
          if (by === 'member') return view.members?.some((member) => member.value === value);
          const own = view.attributes[by];
          return by === 'displayName' ? fold(own) === fold(value) : own === value;
        }),
      );
      return {
        total: found.length,
        groups: found.slice(offset, offset + limit).map(({ view }) => shown(view, withMembers)),
      };
    },
    change: async (connection, id, change, withMembers) => {
      const now = tick();
      const kept = find(connection, id);
      const attributes = change.attributes(kept.view.attributes, kept.view.version);
      checkFree(connection, attributes, id);
      const members = applied(kept.view.members ?? [], change.members);
      if (!isDeepStrictEqual([attributes, members], [kept.view.attributes, kept.view.members])) {
        kept.view = { ...kept.view, attributes, members, lastModified: now, version: kept.view.version + 1 };
      }
      return shown(kept.view, withMembers);
    },
    remove: async (connection, id, check) => {
      tick();
      check?.(find(connection, id).view.version);
      groups.splice(groups.indexOf(find(connection, id)), 1);
    },
  };
}

function applied(before: Member[], changes: MemberChange[]): Member[] {
  let members = before;
  for (const change of changes) {
    if (change.kind === 'remove') members = members.filter(({ value }) => !change.values.includes(value));
    else if (change.kind === 'replace') members = unique(change.members);
    else members = unique([...members, ...change.members]);
  }
  return members;
}

function unique(members: Member[]): Member[] {
  return members.filter(
    (member, index) => members.findIndex(({ value }) => value === member.value) === index,
  );
}

function fold(value: unknown): string {
  return String(value).toLowerCase();
}
