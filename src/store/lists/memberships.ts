import { type Kysely, sql } from 'kysely';
import type { Memberships } from '../../model/group-ports.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { dirtyColumns, markDirty } from '../queues/reconcile-queue.ts';
import type { Database } from '../sql/database.ts';
import { batches, compiledQuery } from '../sql/queries.ts';
import { inRange, prefixRange, ruleNameKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';
import { displayNameOf, membersWithGroups } from './groups.ts';

/** The users that become dirty in one transaction; some tens of milliseconds of work. */
const BATCH = 1_000;

/** Returns the store of memberships, as mappings read them. */
export function memberships(database: Database): Memberships {
  const { db, scopeOf } = database;
  const selectGroups = (connection: string) =>
    db.selectFrom('scim_group').where(inScope(scopeOf(connection)));
  return {
    findOf: async (connection, user) => {
      const { rows } = await selectMemberships(db, { ...scopeOf(connection), user });
      return rows.map(({ value, attributes, display }) =>
        attributes === null
          ? { value, display, isGone: true }
          : { value, display: displayNameOf(attributes) },
      );
    },
    findUnknownNames: async (connection, names) => {
      const known = new Set<string | null>();
      for (const keys of batches([...new Set(names.map(ruleNameKey))])) {
        const groups = selectGroups(connection)
          .select('rule_name_key as key')
          .where('rule_name_key', 'in', keys);
        for (const { key } of await groups.execute()) known.add(key);
      }
      return names.filter((name) => !known.has(ruleNameKey(name)));
    },
    findNames: async (connection, beginning, limit) => {
      const groups = selectGroups(connection).where(inRange('display_name_key', prefixRange(beginning)));
      const first = groups.select('attributes').orderBy('display_name_key').limit(sql.lit(limit));
      return (await first.execute()).map(({ attributes }) => displayNameOf(attributes));
    },
    markSome: async (connection, now) => {
      const scope = scopeOf(connection);
      return (
        (await markFormerMembers(database, scope, { which: 'ended', now })) ||
        (await markFormerMembers(database, scope, { which: 'unmarked', now })) ||
        (await markMembersOfChangedGroup(database, scope, now)) ||
        (await markPeopleOfChangedScope(database, scope, now))
      );
    },
  };
}

/** The present memberships, and those in groups that no longer exist, without attributes. */
const selectMemberships = compiledQuery((db, member: Scope & { user: string }) =>
  membersWithGroups(db, member)
    .select(['scim_group.id as value', sql<string | null>`scim_group.attributes`.as('attributes')])
    .select(sql<string>`''`.as('display'))
    .where('group_member.value', '=', member.user)
    .unionAll(
      db
        .selectFrom('former_member')
        .select([sql<string>`''`.as('value'), sql<string | null>`cast(null as text)`.as('attributes')])
        .select('display')
        .where(inScope(member))
        .where('user_id', '=', member.user)
        .where('ended', '=', sql.lit(0)),
    ),
);

/** Former memberships that count no longer are deleted; of the others the users become dirty once, so that their findings tell it. */
const formerMembers = {
  ended: { change: sql`delete from former_member`, condition: sql`ended = 1` },
  unmarked: { change: sql`update former_member set marked = 1`, condition: sql`marked = 0` },
};

/** Changes former memberships, and makes their users dirty. Returns true if there were any. */
function markFormerMembers(
  { transaction }: Database,
  scope: Scope,
  { which, now }: { which: keyof typeof formerMembers; now: number },
): Promise<boolean> {
  const { change, condition } = formerMembers[which];
  return transaction(async (tx) => {
    const { rows } = await sql<{ user_id: string }>`
      ${change} where ${inScope(scope)} and ${condition} and (user_id, name_key) in
        (select user_id, name_key from former_member
          where ${inScope(scope)} and ${condition} order by user_id limit ${BATCH})
      returning user_id`.execute(tx);
    await markDirty(tx, scope, { ids: rows.map(({ user_id }) => user_id), now });
    return rows.length > 0;
  });
}

/** Makes the next members of one changed group dirty. Returns true if there was such a group. */
function markMembersOfChangedGroup(
  { transaction, dialect }: Database,
  scope: Scope,
  now: number,
): Promise<boolean> {
  return transaction(async (tx) => {
    const first = tx.selectFrom('changed_group').select(['group_id', 'position']).where(inScope(scope));
    const group = await dialect.lockRows(first.orderBy('group_id').limit(1)).executeTakeFirst();
    if (!group) return false;
    const members = await tx
      .selectFrom('group_member')
      .select(['value', 'position'])
      .where(inScope(scope))
      .where('group_id', '=', group.group_id)
      .where('position', '>', group.position)
      .orderBy('position')
      .limit(BATCH)
      .execute();
    await markDirty(tx, scope, { ids: members.map(({ value }) => value), now });
    const last = members.at(-1);
    if (last && members.length === BATCH)
      await tx
        .updateTable('changed_group')
        .set({ position: last.position })
        .where(inScope(scope))
        .where('group_id', '=', group.group_id)
        .execute();
    else
      await tx
        .deleteFrom('changed_group')
        .where(inScope(scope))
        .where('group_id', '=', group.group_id)
        .execute();
    return true;
  });
}

/**
 * Looks at the next people after the scope has changed with a group, and makes those dirty whom it may concern. Returns true if there was such
 * a change.
 */
function markPeopleOfChangedScope(
  { transaction, dialect }: Database,
  scope: Scope,
  now: number,
): Promise<boolean> {
  return transaction(async (tx) => {
    const note = tx.selectFrom('changed_scope').select('identity_id').where(inScope(scope));
    const changed = await dialect.lockRows(note).executeTakeFirst();
    if (!changed) return false;
    const { identity_id: after } = changed;
    const last = await tx
      .selectFrom('identity')
      .select('id')
      .where(inScope(scope))
      .where('deleted_at', 'is', null)
      .where('id', '>', after)
      .orderBy('id')
      .limit(1)
      .offset(BATCH - 1)
      .executeTakeFirst();
    await markConcerned(tx, scope, { after, last: last?.id, now });
    if (last)
      await tx.updateTable('changed_scope').set({ identity_id: last.id }).where(inScope(scope)).execute();
    else await tx.deleteFrom('changed_scope').where(inScope(scope)).execute();
    return true;
  });
}

/**
 * Makes the people in a range of ids dirty who are out of the scope, or of whom that is not known, or who are planned. An attempt that runs may have read the groups
 * before the change, and has not saved yet what it found.
 */
async function markConcerned(
  tx: Kysely<Tables>,
  scope: Scope,
  { after, last, now }: { after: string; last: string | undefined; now: number },
): Promise<void> {
  const concerned = tx
    .updateTable('identity')
    .set((row) => dirtyColumns(row, now))
    .where(inScope(scope))
    .where('deleted_at', 'is', null)
    .where('id', '>', after)
    .where((row) =>
      row.or([
        row('progress', 'like', '%"scope":"%'),
        row('progress', 'like', '%"shadow":{%'),
        row('lease_token', 'is not', null),
      ]),
    );
  await (last === undefined ? concerned : concerned.where('id', '<=', last)).execute();
}
