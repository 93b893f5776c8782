import type { Kysely } from 'kysely';
import type { Group, Groups, Member } from '../bridge/ports.ts';
import { batches } from './batches.ts';
import type { Database } from './database.ts';
import { changeGroup, insertGroup } from './group-changes.ts';
import { fromText } from './json.ts';
import { groupShelf, toGroup } from './lists/group-shelf.ts';
import { list } from './lists/list.ts';
import { membersOf } from './member-list.ts';
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
    members: async (connection, groupIds) => {
      const found = new Map<string, Member[]>();
      for (const id of groupIds) found.set(id, await membersOf(db, { connection, id }));
      return found;
    },
    groupsOf: async (connection, userIds) => {
      const [first = '', ...others] = userIds;
      if (others.length > 0) return groupsOf(db, connection, userIds);
      return toGroupsOf([first], (await groupsOfOne(db, { connection, user: first })).rows);
    },
    insert: (group, members) => insertGroup(database, group, members),
    change: (group, expected, change) => changeGroup(database, group, { expected, change }),
  };
}

const byId = prepared((db, { connection, id }: { connection: string; id: string }) =>
  db.selectFrom('scim_group').selectAll().where('connection_id', '=', connection).where('id', '=', id),
);

type GroupsOf = Awaited<ReturnType<Groups['groupsOf']>>;

async function groupsOf(db: Kysely<Tables>, connection: string, userIds: string[]): Promise<GroupsOf> {
  const rows = [];
  for (const batch of batches(userIds)) {
    const query = memberships(db, connection).where('group_member.value', 'in', batch);
    rows.push(...(await query.execute()));
  }
  return toGroupsOf(userIds, rows);
}

/** The same for one user, asked with every read. */
const groupsOfOne = prepared((db, { connection, user }: { connection: string; user: string }) =>
  memberships(db, connection).where('group_member.value', '=', user),
);

function memberships(db: Kysely<Tables>, connection: string) {
  return db
    .selectFrom('group_member')
    .innerJoin('scim_group', (join) =>
      join
        .onRef('scim_group.connection_id', '=', 'group_member.connection_id')
        .onRef('scim_group.id', '=', 'group_member.group_id'),
    )
    .select(['group_member.value as user', 'scim_group.id as value', 'scim_group.attributes'])
    .where('group_member.connection_id', '=', connection)
    .orderBy('scim_group.position');
}

function toGroupsOf(
  userIds: string[],
  rows: { user: string; value: string; attributes: string }[],
): GroupsOf {
  const found: GroupsOf = new Map(userIds.map((id) => [id, []]));
  for (const { user, value, attributes } of rows)
    found.get(user)?.push({ value, display: displayOf(attributes) });
  return found;
}

function displayOf(attributes: string): string {
  const { displayName } = fromText<Group['attributes']>(attributes);
  return typeof displayName === 'string' ? displayName : '';
}
