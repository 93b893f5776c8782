import type { Kysely } from 'kysely';
import type { Group, Groups, ResolvedMember } from '../bridge/ports.ts';
import { batches } from './batches.ts';
import type { Database } from './database.ts';
import { changeGroup, insertGroup } from './group-changes.ts';
import { fromText } from './json.ts';
import { groupShelf, toGroup } from './lists/group-shelf.ts';
import { list } from './lists/list.ts';
import { membersOf, membersOfSmall, readMembers, toMember } from './member-list.ts';
import { prepared } from './prepared.ts';
import type { Tables } from './tables.ts';

/** The groups in a database. */
export function groups(database: Database): Groups {
  const { db } = database;
  return {
    byId: async (connection, id) => {
      const [row] = (await byId(db, { connection, id })).rows;
      return row && toGroup(row);
    },
    list: (connection, query, scan) => list({ shelf: groupShelf, place: { db, connection }, query, scan }),
    membersOf: (connection, id) => readMembers(db, { connection, id }),
    membersOfSmall: (connection, groupIds) => membersOfSmall(db, connection, groupIds),
    members: async (connection, groupIds, pause) => {
      const found = new Map<string, ResolvedMember[]>();
      for (const id of groupIds) found.set(id, await membersOf(db, { connection, id }, pause));
      return found;
    },
    groupsOf: async (connection, userIds) => {
      const [first = '', ...others] = userIds;
      if (others.length > 0) return groupsOf(db, connection, userIds);
      const { rows } = await groupsOfOne(db, { connection, user: first });
      return new Map([
        [first, rows.map(({ id, attributes }) => ({ value: id, display: displayOf(attributes) }))],
      ]);
    },
    membershipsOf: async (connection, user) => {
      const { rows } = await membershipsOfOne(db, { connection, user });
      return rows.map(({ group_id, ...row }) => {
        const { value: _, ...kept } = toMember(row);
        return { group: group_id, ...kept };
      });
    },
    insert: (group, members) => insertGroup(database, group, members),
    change: (group, expected, change) => changeGroup(database, group, { expected, change }),
  };
}

const byId = prepared((db, { connection, id }: { connection: string; id: string }) =>
  db.selectFrom('scim_group').selectAll().where('connection_id', '=', connection).where('id', '=', id),
);

type GroupsOf = Awaited<ReturnType<Groups['groupsOf']>>;

/** In two steps, as many users share few groups: each group is read once, and stands for all its members on a page. */
async function groupsOf(db: Kysely<Tables>, connection: string, userIds: string[]): Promise<GroupsOf> {
  const memberships: { user: string; group: string }[] = [];
  for (const batch of batches(userIds)) {
    const rows = await db
      .selectFrom('group_member')
      .select(['value as user', 'group_id as group'])
      .where('connection_id', '=', connection)
      .where('value', 'in', batch)
      .execute();
    memberships.push(...rows);
  }
  const places = new Map<string, Place>();
  for (const batch of batches([...new Set(memberships.map(({ group }) => group))])) {
    const rows = await db
      .selectFrom('scim_group')
      .select(['id', 'attributes', 'position'])
      .where('connection_id', '=', connection)
      .where('id', 'in', batch)
      .execute();
    for (const { id, attributes, position } of rows)
      places.set(id, { position, group: { value: id, display: displayOf(attributes) } });
  }
  const found = new Map(userIds.map((id): [string, Place[]] => [id, []]));
  for (const { user, group } of memberships) {
    const place = places.get(group);
    if (place) found.get(user)?.push(place);
  }
  return new Map([...found].map(([user, own]) => [user, inOrder(own)]));
}

/** A group as its members tell of it, and where it stands among all. */
interface Place {
  position: number;
  group: { value: string; display: string };
}

function inOrder(places: Place[]): Place['group'][] {
  return places.sort((left, right) => left.position - right.position).map(({ group }) => group);
}

/** The same for one user, asked with every read, at once. */
const groupsOfOne = prepared((db, { connection, user }: { connection: string; user: string }) =>
  db
    .selectFrom('group_member')
    .innerJoin('scim_group', (join) =>
      join
        .onRef('scim_group.connection_id', '=', 'group_member.connection_id')
        .onRef('scim_group.id', '=', 'group_member.group_id'),
    )
    .select(['scim_group.id', 'scim_group.attributes'])
    .where('group_member.connection_id', '=', connection)
    .where('group_member.value', '=', user)
    .orderBy('scim_group.position'),
);

const membershipsOfOne = prepared((db, { connection, user }: { connection: string; user: string }) =>
  db
    .selectFrom('group_member')
    .select(['group_id', 'value', 'display', 'type'])
    .where('connection_id', '=', connection)
    .where('value', '=', user),
);

function displayOf(attributes: string): string {
  const { displayName } = fromText<Group['attributes']>(attributes);
  return typeof displayName === 'string' ? displayName : '';
}
