import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { Group, Groups, Member, ResolvedMember } from '../provisioning/group-ports.ts';
import { counter } from './counters.ts';
import type { Database } from './database.ts';
import { leaveGroups } from './delete-identities.ts';
import { exactKey, keyOf, keyOfAttribute } from './keys.ts';
import { groupShelf, toGroup } from './lists/group-shelf.ts';
import { list } from './lists/list.ts';
import { keptMembers, membersOf, membersOfSmall, readMembers, toMember } from './member-list.ts';
import { changeMembers, removeMembers } from './members.ts';
import { batches, compiledQuery, fromText, inTransaction, toText } from './statements.ts';
import type { Tables } from './tables.ts';

/** The groups in a database. */
export function groups(database: Database): Groups {
  const { db } = database;
  return {
    findById: async (connection, id) => {
      const [row] = (await byId(db, { connection, id })).rows;
      return row && toGroup(row);
    },
    list: (connection, query, scan) => list({ shelf: groupShelf, place: { db, connection }, query, scan }),
    streamMembers: (connection, id) => readMembers(db, { connection, id }),
    membersOfSmallGroups: (connection, groupIds) => membersOfSmall(db, connection, groupIds),
    allMembers: async (connection, groupIds, pause) => {
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

const byId = compiledQuery((db, { connection, id }: { connection: string; id: string }) =>
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
const groupsOfOne = compiledQuery((db, { connection, user }: { connection: string; user: string }) =>
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

const membershipsOfOne = compiledQuery((db, { connection, user }: { connection: string; user: string }) =>
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

type Change = Parameters<Groups['change']>[2];
type Changed = 'done' | 'unchanged' | 'stale' | 'noTarget';

/** Keeps a new group with its members. */
export async function insertGroup(
  { db, isDuplicate }: Database,
  group: Group,
  members: Member[],
): Promise<'done' | 'duplicate'> {
  const { connection, id, attributes, version, createdAt, lastModified } = group;
  try {
    await db.transaction().execute(async (tx) => {
      const times = { created_at: createdAt, last_modified: lastModified };
      const position = await counter(tx, connection, { kind: 'group', count: 1, places: 1 });
      await tx
        .insertInto('scim_group')
        .values({
          connection_id: connection,
          id,
          position,
          ...attributeColumns(attributes),
          version,
          ...times,
        })
        .execute();
      await changeMembers(tx, group, { steps: [{ kind: 'add', members }] });
    });
    return 'done';
  } catch (error) {
    if (isDuplicate(error)) return 'duplicate';
    throw error;
  }
}

/** Changes a group, or removes it, at the expected version only; what changes nothing is not written. */
export async function changeGroup(
  { db, isDuplicate }: Database,
  group: Group,
  { expected, change }: { expected: number; change: Change },
): Promise<Changed | 'duplicate'> {
  const membersBefore = await membersToCompare(db, group, change);
  try {
    return await inTransaction<Changed>(db, ['done'], async (tx) => {
      if (change === 'delete') return remove(tx, group, expected);
      const before = await tx
        .selectFrom('scim_group')
        .select('attributes')
        .where('connection_id', '=', group.connection)
        .where('id', '=', group.id)
        .where('version', '=', expected)
        .executeTakeFirst();
      if (!before) return 'stale';
      const steps = change.members;
      const members = await changeMembers(tx, group, { steps, before: membersBefore });
      if (members === 'noTarget') return 'noTarget';
      const hasSameAttributes = isDeepStrictEqual(fromText(before.attributes), change.attributes);
      if (members === 'unchanged' && hasSameAttributes) return 'unchanged';
      return write(tx, { ...group, attributes: change.attributes }, expected);
    });
  } catch (error) {
    if (isDuplicate(error)) return 'duplicate';
    throw error;
  }
}

/**
 * Reads the members that a replacement begins with, before the transaction: they may be many, and meanwhile others use
 * the database. They are as they were at the expected version if the group is still at that version in the transaction.
 */
async function membersToCompare(
  db: Kysely<Tables>,
  group: Group,
  change: Change,
): Promise<Member[] | undefined> {
  const isReplacement = change !== 'delete' && change.members[0]?.kind === 'replace';
  return isReplacement ? keptMembers(db, group) : undefined;
}

async function write(tx: Kysely<Tables>, group: Group, expected: number): Promise<Changed> {
  const { numUpdatedRows } = await tx
    .updateTable('scim_group')
    .set({
      ...attributeColumns(group.attributes),
      version: group.version,
      last_modified: group.lastModified,
    })
    .where('connection_id', '=', group.connection)
    .where('id', '=', group.id)
    .where('version', '=', expected)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? 'done' : 'stale';
}

async function remove(tx: Kysely<Tables>, group: Group, expected: number): Promise<Changed> {
  const { connection, id, lastModified } = group;
  await removeMembers(tx, group);
  const { numDeletedRows } = await tx
    .deleteFrom('scim_group')
    .where('connection_id', '=', connection)
    .where('id', '=', id)
    .where('version', '=', expected)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return 'stale';
  await leaveGroups(tx, connection, { ids: [id], at: lastModified });
  await counter(tx, connection, { kind: 'group', count: -1 });
  return 'done';
}

function attributeColumns(attributes: Group['attributes']) {
  return {
    attributes: toText(attributes),
    display_name_key: keyOfAttribute(attributes.displayName, keyOf),
    external_id: keyOfAttribute(attributes.externalId, exactKey),
  };
}
