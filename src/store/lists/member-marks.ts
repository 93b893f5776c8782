import { type Kysely, sql } from 'kysely';
import type { RulesForGroups } from '../../model/group-ports.ts';
import type { UserGroup } from '../../model/translation.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { inScope, type ScopedId, scopeColumns } from '../connection-scopes.ts';
import { markDirty } from '../queues/reconcile-queue.ts';
import type { Dialect } from '../sql/dialect.ts';
import { insertInBatches, yieldToEventLoop } from '../sql/queries.ts';
import { ruleNameKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';
import type { MemberDifference } from './member-changes.ts';

/** The number of users that become dirty in the transaction of a change. Others become so in batches, after it. */
const MARKED_AT_ONCE = 1_000;

/** Former members copied or ended per statement; some milliseconds of work. */
const COPIED_AT_ONCE = 500;

/** The transaction of a change of a group, and the rules in force that may name the group. */
export interface MarkContext {
  tx: Kysely<Tables>;
  dialect: Dialect;
  key: ScopedId;
  rules: RulesForGroups | undefined;
}

/** Returns false if later rules are in force than the given ones. Until the end of the transaction those in force stay so. */
export async function holdRules({ tx, dialect, key, rules }: MarkContext): Promise<boolean> {
  if (!rules) return true;
  const row = tx.selectFrom('rules_in_force').select('generation').where(inScope(key));
  const { generation = 0 } = (await dialect.shareValues(row).executeTakeFirst()) ?? {};
  return generation <= rules.generation;
}

/** A change of a group: its name before and after, and its members. */
interface ChangedGroup {
  before: string | undefined;
  after: string;
  members: MemberDifference;
}

/** Makes the users dirty whom a change of a group may concern, if the mapping in force names the group. */
export async function markMembers(
  context: MarkContext,
  { before, after, members }: ChangedGroup,
): Promise<void> {
  const { tx, key } = context;
  if (before !== after) await endFormerMembers(context, after);
  const isNamed = (display: string | undefined) => display !== undefined && names(context, display);
  if (!isNamed(before) && !isNamed(after)) return;
  await markLost(context, { display: before ?? after, ids: members.lost() });
  const isRenamed = before !== undefined && before !== after;
  if (isRenamed && ruleNameKey(before) !== ruleNameKey(after)) {
    await keepFormerMembers(context, before);
    // Who has become a member with the new name was none of the old one.
    await endMemberships(context, { display: before, ids: members.gained() });
  }
  if (isRenamed) await markPresent(context, -1);
  else if (members.gained().length > MARKED_AT_ONCE) await markPresent(context, members.lastKept);
  else await markDirty(tx, key, { ids: members.gained(), now: context.rules?.now ?? 0 });
}

/**
 * Notes that the scope has changed if it names a group by equality that gets or loses this name: while there is no such group, nobody is known
 * to be out of scope. The background work makes the people dirty whom this concerns. The note comes before other marks of the transaction, because
 * that work locks it before the people.
 */
export async function noteChangedScope(
  { tx, key, rules }: MarkContext,
  { before, after }: { before: string | undefined; after: string | undefined },
): Promise<void> {
  const isNamed = (name: string | undefined) => name !== undefined && rules?.isInScope(name);
  if (!isNamed(before) && !isNamed(after)) return;
  if (before !== undefined && after !== undefined && foldCase(before) === foldCase(after)) return;
  await tx
    .insertInto('changed_scope')
    .values({ ...scopeColumns(key), identity_id: '' })
    .onConflict((conflict) => conflict.columns(['account', 'connection_id']).doUpdateSet({ identity_id: '' }))
    .execute();
}

function names({ key: { id }, rules }: MarkContext, display: string): boolean {
  const group: UserGroup = { value: id, display };
  return rules?.test?.(group) ?? false;
}

async function markLost(context: MarkContext, lost: { display: string; ids: string[] }): Promise<void> {
  const { tx, key, rules } = context;
  if (lost.ids.length > MARKED_AT_ONCE) await endMemberships(context, lost);
  else await markDirty(tx, key, { ids: lost.ids, now: rules?.now ?? 0 });
}

/** Stores users as former members that have ended: the background work deletes these rows, and makes the users dirty. */
async function endMemberships(
  { tx, key }: MarkContext,
  { display, ids }: { display: string; ids: string[] },
): Promise<void> {
  const former = { name_key: ruleNameKey(display), display, ended: 1, marked: 1 } as const;
  const rows = ids.map((id) => ({ ...scopeColumns(key), user_id: id, ...former }));
  await insertInBatches(rows, (some) =>
    tx
      .insertInto('former_member')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['account', 'connection_id', 'user_id', 'name_key']).doUpdateSet(former),
      ),
  );
}

/** Makes the present members after a position dirty: at once if they are few, otherwise in batches. */
async function markPresent({ tx, key, rules }: MarkContext, position: number): Promise<void> {
  const present = await tx
    .selectFrom('group_member')
    .select('value')
    .where(inScope(key))
    .where('group_id', '=', key.id)
    .where('position', '>', position)
    .limit(MARKED_AT_ONCE + 1)
    .execute();
  if (present.length <= MARKED_AT_ONCE) {
    const ids = present.map(({ value }) => value);
    await markDirty(tx, key, { ids, now: rules?.now ?? 0 });
    return;
  }
  await tx
    .insertInto('changed_group')
    .values({ ...scopeColumns(key), group_id: key.id, position })
    .onConflict((conflict) =>
      conflict
        .columns(['account', 'connection_id', 'group_id'])
        .doUpdateSet({ position })
        .where('changed_group.position', '>', position),
    )
    .execute();
}

/** Ends the memberships in a group that no longer existed, because a group has its name again. */
async function endFormerMembers({ tx, key }: MarkContext, display: string): Promise<void> {
  for (let ended = COPIED_AT_ONCE; ended === COPIED_AT_ONCE; ) {
    const { numAffectedRows = 0n } = await sql`
      update former_member set ended = 1 where ${inScope(key)} and (user_id, name_key) in
        (select user_id, name_key from former_member
          where ${inScope(key)} and name_key = ${ruleNameKey(display)} and ended = 0 limit ${COPIED_AT_ONCE})`.execute(
      tx,
    );
    ended = Number(numAffectedRows);
    await yieldToEventLoop();
  }
}

/** Keeps the members of a group that is about to lose its name or to be deleted, if the mapping in force names it by equality. */
export async function keepFormerMembers(context: MarkContext, display: string): Promise<void> {
  const { tx, key, rules } = context;
  if (!rules?.isNamed(display)) return;
  const { account, connection, id } = key;
  for (let after = -1; ; ) {
    const last = await tx
      .selectFrom('group_member')
      .select('position')
      .where(inScope(key))
      .where('group_id', '=', id)
      .where('position', '>', after)
      .orderBy('position')
      .limit(1)
      .offset(COPIED_AT_ONCE - 1)
      .executeTakeFirst();
    const end = last ? sql`and position <= ${last.position}` : sql``;
    await sql`
      insert into former_member (account, connection_id, user_id, name_key, display, ended, marked)
        select account, connection_id, value, ${ruleNameKey(display)}, ${display}, 0, 0 from group_member
          where account = ${account} and connection_id = ${connection} and group_id = ${id}
            and position > ${after} ${end}
        on conflict (account, connection_id, user_id, name_key)
          do update set display = excluded.display, ended = 0, marked = 0`.execute(tx);
    if (!last) return;
    after = last.position;
    await yieldToEventLoop();
  }
}
