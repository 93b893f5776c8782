import type { Expression, ExpressionBuilder, Kysely, Selectable, SqlBool } from 'kysely';
import type { Group, GroupMatch, Groups, Member } from '../bridge/ports.ts';
import { batches } from './batches.ts';
import type { Database } from './database.ts';
import { changeGroup, insertGroup } from './group-changes.ts';
import { fromText } from './json.ts';
import { exactKey, keyOf } from './keys.ts';
import { toMember } from './members.ts';
import { prepared } from './prepared.ts';
import type { Tables } from './tables.ts';
import { tallied } from './tally.ts';

/** The groups in a database. */
export function groups(database: Database): Groups {
  const { db } = database;
  const groupsOfOne = groupsOfOneIn(db);
  return {
    byId: async (connection, id) => {
      const row = await matching(db, connection, [{ by: 'id', value: id }])
        .selectAll()
        .executeTakeFirst();
      return row && toGroup(row);
    },
    page: (connection, matches, offset, limit) =>
      matches.length === 0
        ? page(db, connection, { offset, limit })
        : matched(db, connection, { matches, offset, limit }),
    members: (connection, groupIds) => members(db, connection, groupIds),
    groupsOf: async (connection, userIds) => {
      const [first = '', ...others] = userIds;
      if (others.length > 0) return groupsOf(db, connection, userIds);
      return toGroupsOf([first], await groupsOfOne({ connection, user: first }));
    },
    insert: (group, list) => insertGroup(database, group, list),
    change: (group, expected, change) => changeGroup(database, group, { expected, change }),
  };
}

interface Slice {
  offset: number;
  limit: number;
}

async function page(
  db: Kysely<Tables>,
  connection: string,
  { offset, limit }: Slice,
): Promise<{ total: number; groups: Group[] }> {
  const total = await tallied(db, connection, 'group');
  if (limit === 0 || offset >= total) return { total, groups: [] };
  const rows = await matching(db, connection, [])
    .selectAll()
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total, groups: rows.map(toGroup) };
}

/** What matches is little, and sorted here: asked for an order, SQLite would rather walk through all groups. */
async function matched(
  db: Kysely<Tables>,
  connection: string,
  { matches, offset, limit }: Slice & { matches: GroupMatch[] },
): Promise<{ total: number; groups: Group[] }> {
  const rows = await matching(db, connection, matches).selectAll().execute();
  rows.sort((left, right) => left.created_at - right.created_at || (left.id < right.id ? -1 : 1));
  return { total: rows.length, groups: rows.slice(offset, offset + limit).map(toGroup) };
}

function matching(db: Kysely<Tables>, connection: string, matches: GroupMatch[]) {
  return db
    .selectFrom('scim_group')
    .where('connection_id', '=', connection)
    .where((row) => row.and(matches.map((match) => condition(row, connection, match))));
}

function condition(
  row: ExpressionBuilder<Tables, 'scim_group'>,
  connection: string,
  { by, value }: GroupMatch,
): Expression<SqlBool> {
  switch (by) {
    case 'id':
      return row('id', '=', value);
    case 'displayName':
      return row('display_name_key', '=', keyOf(value));
    case 'externalId':
      return row('external_id', '=', exactKey(value));
    case 'member': {
      const memberships = row.selectFrom('group_member').select('group_id');
      return row('id', 'in', memberships.where('connection_id', '=', connection).where('value', '=', value));
    }
  }
}

async function members(
  db: Kysely<Tables>,
  connection: string,
  groupIds: string[],
): Promise<Map<string, Member[]>> {
  const found = new Map(groupIds.map((id): [string, Member[]] => [id, []]));
  for (const batch of batches(groupIds)) {
    const rows = await db
      .selectFrom('group_member')
      .select(['group_id', 'value', 'display', 'type'])
      .where('connection_id', '=', connection)
      .where('group_id', 'in', batch)
      .orderBy('group_id')
      .orderBy('position')
      .execute();
    for (const row of rows) found.get(row.group_id)?.push(toMember(row));
  }
  return found;
}

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
function groupsOfOneIn(db: Kysely<Tables>) {
  return prepared(db, ({ connection, user }: { connection: string; user: string }) =>
    memberships(db, connection).where('group_member.value', '=', user),
  );
}

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
    .orderBy('scim_group.created_at')
    .orderBy('scim_group.id');
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

function toGroup(row: Selectable<Tables['scim_group']>): Group {
  return {
    connection: row.connection_id,
    id: row.id,
    attributes: fromText(row.attributes),
    version: row.version,
    createdAt: row.created_at,
    lastModified: row.last_modified,
  };
}
