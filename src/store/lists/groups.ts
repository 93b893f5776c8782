import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { Group, Groups, Member, ResolvedMember, RulesForGroups } from '../../model/group-ports.ts';
import { equalInScope, inScope, type Scope, type ScopedId, scopeColumns } from '../connection-scopes.ts';
import { removeFromGroups } from '../identities/delete-identities.ts';
import type { Database } from '../sql/database.ts';
import { nextPosition } from '../sql/positions.ts';
import { batches, compiledQuery, parseJson, toJson } from '../sql/queries.ts';
import { attributeKey, caseFoldedKey, exactKey, ruleNameKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';
import { readAllMembers, readMembers, readSmallGroups } from './group-members.ts';
import { countGroups } from './list-counters.ts';
import { groupList, toGroup } from './list-definitions.ts';
import { listRows } from './list-query.ts';
import { changeMembers, removeAllMembers } from './member-changes.ts';
import {
  holdRules,
  keepFormerMembers,
  type MarkContext,
  markMembers,
  noteChangedScope,
} from './member-marks.ts';

/** Returns the store of groups. */
export function groups(database: Database): Groups {
  const { db, scopeOf } = database;
  return {
    findById: async (connection, id) => {
      const [row] = (await selectGroupById(db, { ...scopeOf(connection), id })).rows;
      return row && toGroup(row);
    },
    list: (connection, query, scan) =>
      listRows({ definition: groupList, scope: { db, ...scopeOf(connection) }, query, scan }),
    streamMembers: (connection, id) => readMembers(db, { ...scopeOf(connection), id }),
    membersOfSmallGroups: (connection, groupIds) => readSmallGroups(db, scopeOf(connection), groupIds),
    allMembers: async (connection, groupIds, pause) => {
      const found = new Map<string, ResolvedMember[]>();
      for (const id of groupIds)
        found.set(id, await readAllMembers(db, { ...scopeOf(connection), id }, pause));
      return found;
    },
    groupsOf: (connection, userIds) => readGroupsOf(db, scopeOf(connection), userIds),
    insert: (group, members, rules) => insertGroup(database, group, { members, rules }),
    change: (group, expected, change, rules) => changeGroup(database, group, { expected, change, rules }),
  };
}

const selectGroupById = compiledQuery((db, key: ScopedId) =>
  db.selectFrom('scim_group').selectAll().where(inScope(key)).where('id', '=', key.id),
);

async function readGroupsOf(
  db: Kysely<Tables>,
  scope: Scope,
  userIds: string[],
): ReturnType<Groups['groupsOf']> {
  const rows: GroupOfUser[] = [];
  // Every read of a user has a single one.
  if (userIds.length === 1)
    rows.push(...(await selectGroupsOfUser(db, { ...scope, user: userIds[0] ?? '' })).rows);
  else
    for (const batch of batches(userIds))
      rows.push(...(await selectGroups(db, scope).where('group_member.value', 'in', batch).execute()));
  // Sorted here: for an order, SQLite would look at all groups of the connection.
  rows.sort((one, other) => one.position - other.position || (one.id < other.id ? -1 : 1));
  const found = new Map(userIds.map((id): [string, { value: string; display: string }[]] => [id, []]));
  for (const { user, id, attributes } of rows)
    found.get(user)?.push({ value: id, display: displayNameOf(attributes) });
  return found;
}

type GroupOfUser = Pick<Tables['scim_group'], 'id' | 'attributes' | 'position'> & { user: string };

/** The members of the groups of a connection, each with its group. */
export function membersWithGroups(db: Kysely<Tables>, scope: Scope) {
  return db
    .selectFrom('group_member')
    .innerJoin('scim_group', (join) => join.on(equalInScope('scim_group.id', 'group_member.group_id')))
    .where(inScope(scope, 'group_member'));
}

function selectGroups(db: Kysely<Tables>, scope: Scope) {
  return membersWithGroups(db, scope).select([
    'group_member.value as user',
    'scim_group.id',
    'scim_group.attributes',
    'scim_group.position',
  ]);
}

const selectGroupsOfUser = compiledQuery((db, member: Scope & { user: string }) =>
  selectGroups(db, member).where('group_member.value', '=', member.user),
);

/** Returns the name of a group with these stored attributes. */
export function displayNameOf(attributes: string): string {
  return displayNameIn(parseJson<Group['attributes']>(attributes));
}

function displayNameIn({ displayName }: Group['attributes']): string {
  return typeof displayName === 'string' ? displayName : '';
}

type GroupChange = Parameters<Groups['change']>[2];
type GroupChangeResult = 'done' | 'unchanged' | 'stale' | 'noTarget' | 'otherRules';

interface GroupInsert {
  members: Member[];
  rules?: RulesForGroups | undefined;
}

/** Inserts a group with its members. Returns `duplicate` if the displayName is taken. */
async function insertGroup(
  { transaction, scopeOf, isDuplicate, dialect }: Database,
  group: Group,
  { members, rules }: GroupInsert,
): Promise<'done' | 'duplicate' | 'otherRules'> {
  const { id, attributes, version, createdAt, lastModified } = group;
  const key = { ...scopeOf(group.connection), id };
  const insert = async (tx: Kysely<Tables>): Promise<'done' | 'otherRules'> => {
    const context: MarkContext = { tx, dialect, key, rules };
    if (!(await holdRules(context))) return 'otherRules';
    const times = { created_at: createdAt, last_modified: lastModified };
    await tx
      .insertInto('scim_group')
      .values({
        ...scopeColumns(key),
        id,
        position: nextPosition(),
        ...attributeColumns(attributes),
        version,
        ...times,
      })
      .execute();
    await countGroups(tx, key, 1);
    const difference = await changeMembers(tx, key, { steps: [{ kind: 'add', members }] });
    const names = { before: undefined, after: displayNameIn(attributes) };
    await noteChangedScope(context, names);
    if (difference !== 'noTarget') await markMembers(context, { ...names, members: difference });
    return 'done';
  };
  try {
    return await transaction(insert, { commitIf: (result) => result === 'done' });
  } catch (error) {
    if (isDuplicate(error)) return 'duplicate';
    throw error;
  }
}

interface ExpectedChange {
  expected: number;
  change: GroupChange;
  rules?: RulesForGroups | undefined;
}

/**
 * Changes or deletes a group if it is still at the expected version. Writes nothing if the change makes no
 * difference.
 */
async function changeGroup(
  { db, dialect, transaction, scopeOf, isDuplicate }: Database,
  group: Group,
  { expected, change, rules }: ExpectedChange,
): Promise<GroupChangeResult | 'duplicate'> {
  const key = { ...scopeOf(group.connection), id: group.id };
  const membersBefore = await readMembersToCompare(db, key, change);
  try {
    const apply = async (tx: Kysely<Tables>): Promise<GroupChangeResult | 'forgotten'> => {
      const context: MarkContext = { tx, dialect, key, rules };
      if (!(await holdRules(context))) return 'otherRules';
      const current = tx
        .selectFrom('scim_group')
        .select('attributes')
        .where(inScope(key))
        .where('id', '=', key.id)
        .where('version', '=', expected);
      // The writers of a group queue here, before they read or write members.
      const row = await dialect.lockRows(current).executeTakeFirst();
      if (!row) return 'stale';
      const before = parseJson<Group['attributes']>(row.attributes);
      if (change === 'delete')
        return deleteGroup(context, { display: displayNameIn(before), at: group.lastModified });
      const steps = change.members;
      const members = await changeMembers(tx, key, { steps, before: membersBefore });
      if (members === 'noTarget') return 'noTarget';
      if (members.isEmpty() && isDeepStrictEqual(before, change.attributes))
        return members.hasForgotten ? 'forgotten' : 'unchanged';
      const names = { before: displayNameIn(before), after: displayNameIn(change.attributes) };
      await noteChangedScope(context, names);
      await markMembers(context, { ...names, members });
      return updateGroup(tx, key, { group: { ...group, attributes: change.attributes }, expected });
    };
    const commitIf = (result: string) => result === 'done' || result === 'forgotten';
    const result = await transaction(apply, { commitIf });
    return result === 'forgotten' ? 'unchanged' : result;
  } catch (error) {
    if (isDuplicate(error)) return 'duplicate';
    throw error;
  }
}

/**
 * Reads the current members before a replacement, outside of the transaction: there may be many, and other writers
 * must not wait for it. If the group is still at the expected version inside the transaction, so are its members.
 */
async function readMembersToCompare(
  db: Kysely<Tables>,
  key: ScopedId,
  change: GroupChange,
): Promise<Member[] | undefined> {
  const isReplacement = change !== 'delete' && change.members[0]?.kind === 'replace';
  return isReplacement ? readAllMembers(db, key) : undefined;
}

async function updateGroup(
  tx: Kysely<Tables>,
  key: ScopedId,
  { group, expected }: { group: Group; expected: number },
): Promise<GroupChangeResult> {
  const { numUpdatedRows } = await tx
    .updateTable('scim_group')
    .set({
      ...attributeColumns(group.attributes),
      version: group.version,
      last_modified: group.lastModified,
    })
    .where(inScope(key))
    .where('id', '=', key.id)
    .where('version', '=', expected)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? 'done' : 'stale';
}

async function deleteGroup(
  context: MarkContext,
  { display, at }: { display: string; at: number },
): Promise<GroupChangeResult> {
  const { tx, key } = context;
  await noteChangedScope(context, { before: display, after: undefined });
  await keepFormerMembers(context, display);
  await removeAllMembers(tx, key);
  await tx.deleteFrom('scim_group').where(inScope(key)).where('id', '=', key.id).execute();
  await removeFromGroups(tx, key, { ids: [key.id], at });
  await countGroups(tx, key, -1);
  return 'done';
}

function attributeColumns(attributes: Group['attributes']) {
  return {
    attributes: toJson(attributes),
    display_name_key: attributeKey(attributes.displayName, caseFoldedKey),
    rule_name_key: attributeKey(attributes.displayName, ruleNameKey),
    external_id: attributeKey(attributes.externalId, exactKey),
  };
}
