import { type Kysely, sql } from 'kysely';
import type { RulesForGroups } from '../../provisioning/groups/group-ports.ts';
import { foldCase } from '../../schema/case-fold.ts';
import type { UserGroup } from '../../translator/translation.ts';
import { inScope, type ScopedId, scopeColumns } from '../connection-scopes.ts';
import { markDirty } from '../queues/reconcile-queue.ts';
import { type Dialect, timeAfter } from '../sql/dialect.ts';
import { batches, insertInBatches, yieldToEventLoop } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';
import type { MemberDifference } from './member-changes.ts';

/**
 * The time for which the members of a group that was deleted or emptied still count as members, in milliseconds: clients empty groups and
 * fill them again.
 */
export const UNRESOLVED_MS = 2 * 60 * 60_000;

/** The number of users that become dirty in the transaction of a change. Others become so in batches, after it. */
const MARKED_AT_ONCE = 1_000;

/** Former members copied per statement; some milliseconds of work. */
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
  const isNamed = (display: string | undefined) => display !== undefined && names(context, display);
  if (!isNamed(before) && !isNamed(after)) return;
  await forgetFormerMembers(context, members);
  if (before !== undefined && isNamed(before) && (await isEmptied(context, members)))
    await saveFormerMembers(context, { display: before, ids: members.lost(), ms: UNRESOLVED_MS });
  else await markLost(context, { display: before ?? after, ids: members.lost() });
  const isRenamed = before !== undefined && before !== after;
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

/** True if the group had several members, and has none of them any more. */
async function isEmptied({ tx, key }: MarkContext, members: MemberDifference): Promise<boolean> {
  if (members.lost().length < 2 || members.hasRewritten()) return false;
  // New members come after those that the group had.
  const first = await tx
    .selectFrom('group_member')
    .select('value')
    .where(inScope(key))
    .where('group_id', '=', key.id)
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
  return first === undefined || members.added.has(first.value);
}

/** Many users are kept as former members whose time is over: the background work deletes these rows, and makes the users dirty. */
async function markLost(
  context: MarkContext,
  { display, ids }: { display: string; ids: string[] },
): Promise<void> {
  if (ids.length > MARKED_AT_ONCE) await saveFormerMembers(context, { display, ids, ms: 0 });
  else await markDirty(context.tx, context.key, { ids, now: context.rules?.now ?? 0 });
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

/** Members who are added again are no former members any more. */
async function forgetFormerMembers({ tx, key }: MarkContext, members: MemberDifference): Promise<void> {
  for (const ids of batches(members.gained()))
    await tx
      .deleteFrom('former_member')
      .where(inScope(key))
      .where('user_id', 'in', ids)
      .where('group_id', '=', key.id)
      .execute();
}

async function saveFormerMembers(
  { tx, dialect, key, rules }: MarkContext,
  { display, ids, ms }: { display: string; ids: string[]; ms: number },
): Promise<void> {
  const until = timeAfter(dialect.now(rules?.now ?? 0), ms);
  const rows = ids.map((id) => ({
    ...{ ...scopeColumns(key), user_id: id, group_id: key.id, display, until },
    marked: 0 as const,
  }));
  await insertInBatches(rows, (some) =>
    tx
      .insertInto('former_member')
      .values(some)
      .onConflict((conflict) =>
        conflict
          .columns(['account', 'connection_id', 'user_id', 'group_id'])
          .doUpdateSet({ display, until, marked: 0 }),
      ),
  );
}

/** Keeps the members of a group that is about to be deleted, if the mapping in force names it. */
export async function keepMembersOfDeleted(context: MarkContext, display: string): Promise<void> {
  const { tx, dialect, key, rules } = context;
  if (!rules || !names(context, display)) return;
  const until = timeAfter(dialect.now(rules.now), UNRESOLVED_MS);
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
      insert into former_member (account, connection_id, user_id, group_id, display, until, marked)
        select account, connection_id, value, group_id, ${display}, ${until}, 0 from group_member
          where account = ${account} and connection_id = ${connection} and group_id = ${id}
            and position > ${after} ${end}
        on conflict (account, connection_id, user_id, group_id)
          do update set display = excluded.display, until = excluded.until, marked = 0`.execute(tx);
    if (!last) return;
    after = last.position;
    await yieldToEventLoop();
  }
}
