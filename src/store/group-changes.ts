import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { Group, Groups, Member } from '../bridge/ports.ts';
import { atomically } from './atomically.ts';
import type { Database } from './database.ts';
import { fromText, toText } from './json.ts';
import { exactKey, keyOf, keyOfAttribute } from './keys.ts';
import { keptMembers } from './member-list.ts';
import { changeMembers, removeMembers } from './members.ts';
import { leaveGroups } from './memberships.ts';
import type { Tables } from './tables.ts';
import { tally } from './tally.ts';

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
      const position = await tally(tx, connection, { kind: 'group', count: 1, places: 1 });
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
    return await atomically<Changed>(db, ['done'], async (tx) => {
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
  await tally(tx, connection, { kind: 'group', count: -1 });
  return 'done';
}

function attributeColumns(attributes: Group['attributes']) {
  return {
    attributes: toText(attributes),
    display_name_key: keyOfAttribute(attributes.displayName, keyOf),
    external_id: keyOfAttribute(attributes.externalId, exactKey),
  };
}
