import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely';
import type { Member, MemberChange } from '../../model/group-ports.ts';
import { inScope, type Scope, type ScopedId, scopeColumns } from '../connection-scopes.ts';
import { batches, yieldToEventLoop } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';
import { readAllMembers, toMember } from './group-members.ts';

/** Members deleted per statement; some milliseconds of work. */
const MEMBERS_AT_ONCE = 500;

/** The difference that changes make to the members of a group. */
export class MemberDifference {
  /** The members that were removed or replaced. */
  readonly removed = new Map<string, Member>();
  /** The ids of the members that were added, or replaced by one with other texts. */
  readonly added = new Set<string>();
  /** True if the change concerns memberships that would come back with deleted users (`restoreDeletedMembers`). */
  hasForgotten = false;
  /** The position of the last member before the first one that was added. */
  lastKept = Number.MAX_SAFE_INTEGER;

  isEmpty(): boolean {
    return this.removed.size + this.added.size === 0;
  }

  /** Returns the ids that are members no more. */
  lost(): string[] {
    return [...this.removed.keys()].filter((id) => !this.added.has(id));
  }

  /** Returns the ids that were no members before. */
  gained(): string[] {
    return [...this.added].filter((id) => !this.removed.has(id));
  }
}

/**
 * Applies changes to a group's members in order, without reading unaffected members. Returns the difference, or `noTarget` if a required
 * member is missing. Adding an existing member does not change it. `before`
 * contains the members at the current version, if the caller has read them.
 */
export async function changeMembers(
  tx: Kysely<Tables>,
  group: ScopedId,
  { steps, before }: { steps: MemberChange[]; before?: Member[] | undefined },
): Promise<MemberDifference | 'noTarget'> {
  const difference = new MemberDifference();
  for (const [index, step] of steps.entries()) {
    switch (step.kind) {
      case 'require':
        if (!(await hasOneOfEach(tx, group, step.lists))) return 'noTarget';
        break;
      case 'add':
        await addMembers(tx, group, { members: step.members, difference });
        break;
      case 'remove':
        await removeMembersByValue(tx, group, { values: step.values, difference });
        for (const values of batches(step.values))
          await forgetDeletedMembers(tx, group, { difference, which: (row) => row('user_id', 'in', values) });
        break;
      case 'replace': {
        const current = (index === 0 ? before : undefined) ?? (await readAllMembers(tx, group));
        await replaceMembers(tx, group, { members: step.members, difference, current });
        await forgetDeletedMembers(tx, group, { difference, which: (row) => row.and([]) });
      }
    }
  }
  return difference;
}

async function hasOneOfEach(tx: Kysely<Tables>, group: ScopedId, lists: string[][]): Promise<boolean> {
  const found = new Set<string>();
  for (const batch of batches([...new Set(lists.flat())])) {
    const rows = await tx
      .selectFrom('group_member')
      .select('value')
      .where(inScope(group))
      .where('group_id', '=', group.id)
      .where('value', 'in', batch)
      .execute();
    for (const { value } of rows) found.add(value);
    await yieldToEventLoop();
  }
  return lists.every((list) => list.some((value) => found.has(value)));
}

async function addMembers(
  tx: Kysely<Tables>,
  group: ScopedId,
  { members, difference }: { members: Member[]; difference: MemberDifference },
): Promise<void> {
  const last = await tx
    .selectFrom('group_member')
    .select((row) => row.fn.max('position').as('position'))
    .where(inScope(group))
    .where('group_id', '=', group.id)
    .executeTakeFirst();
  let position = last?.position ?? -1;
  difference.lastKept = Math.min(difference.lastKept, position);
  for (const batch of batches(uniqueByValue(members))) {
    const storedMembers = await dropKnownTypes(tx, group, batch);
    const rows = storedMembers.map(({ value, display, type }) => {
      position += 1;
      const texts = { display: display ?? null, type: type ?? null };
      return { ...scopeColumns(group), group_id: group.id, value, ...texts, position };
    });
    const added = await tx
      .insertInto('group_member')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .returning(['value', 'display', 'type'])
      .execute();
    for (const row of added) {
      const before = difference.removed.get(row.value);
      if (before && hasSameTexts(before, toMember(row))) difference.removed.delete(row.value);
      else difference.added.add(row.value);
    }
    await yieldToEventLoop();
  }
}

async function removeMembersByValue(
  tx: Kysely<Tables>,
  group: ScopedId,
  { values, difference }: { values: string[]; difference: MemberDifference },
): Promise<void> {
  for (const batch of batches(values)) {
    const removed = await tx
      .deleteFrom('group_member')
      .where(inScope(group))
      .where('group_id', '=', group.id)
      .where('value', 'in', batch)
      .returning(['value', 'display', 'type'])
      .execute();
    for (const row of removed) {
      if (!difference.added.delete(row.value)) difference.removed.set(row.value, toMember(row));
    }
    await yieldToEventLoop();
  }
}

async function replaceMembers(
  tx: Kysely<Tables>,
  group: ScopedId,
  { members, difference, current }: { members: Member[]; difference: MemberDifference; current: Member[] },
): Promise<void> {
  const storedMembers = await dropKnownTypes(tx, group, uniqueByValue(members));
  const wanted = new Map(storedMembers.map((member) => [member.value, member]));
  const leaving: string[] = [];
  for (const member of current) {
    const staying = wanted.get(member.value);
    if (staying && hasSameTexts(staying, member)) wanted.delete(member.value);
    else leaving.push(member.value);
  }
  await removeMembersByValue(tx, group, { values: leaving, difference });
  await addMembers(tx, group, { members: [...wanted.values()], difference });
}

/** The IdP has stated members without these deleted users, who are none again if their DELETE is refused. */
async function forgetDeletedMembers(
  tx: Kysely<Tables>,
  group: ScopedId,
  { difference, which }: { difference: MemberDifference; which: DeletedMemberCondition },
): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom('deleted_member')
    .where(inScope(group))
    .where('group_id', '=', group.id)
    .where(which)
    .executeTakeFirst();
  if (numDeletedRows > 0n) difference.hasForgotten = true;
}

type DeletedMemberCondition = (row: ExpressionBuilder<Tables, 'deleted_member'>) => Expression<SqlBool>;

/** Deletes all members of a group in batches. The foreign key of the group would delete them in one long statement. */
export async function removeAllMembers(tx: Kysely<Tables>, group: ScopedId): Promise<void> {
  const members = () => tx.selectFrom('group_member').where(inScope(group)).where('group_id', '=', group.id);
  for (;;) {
    const last = await members()
      .select('position')
      .orderBy('position')
      .limit(1)
      .offset(MEMBERS_AT_ONCE - 1)
      .executeTakeFirst();
    if (!last) return;
    await tx
      .deleteFrom('group_member')
      .where(inScope(group))
      .where('group_id', '=', group.id)
      .where('position', '<=', last.position)
      .execute();
    await yieldToEventLoop();
  }
}

/** Removes members with the value of an earlier one. */
function uniqueByValue(members: Member[]): Member[] {
  const found = new Map<string, Member>();
  for (const member of members) if (!found.has(member.value)) found.set(member.value, member);
  return [...found.values()];
}

function hasSameTexts(left: Member, right: Member): boolean {
  return left.display === right.display && left.type === right.type;
}

/**
 * Removes `type` from members whose id is that of a stored user or group, because the type is derived from the id: a
 * client that sends back what it has read changes nothing. For other ids the client's `type` is stored.
 */
export async function dropKnownTypes(db: Kysely<Tables>, scope: Scope, members: Member[]): Promise<Member[]> {
  const typed = members.flatMap(({ value, type }) => (type === undefined ? [] : [value]));
  const known = await findKnownIds(db, scope, typed);
  return members.map((member) => {
    const { type: _, ...untyped } = member;
    return known.has(member.value) ? untyped : member;
  });
}

/** Returns the ids that belong to a live user or a group. */
async function findKnownIds(db: Kysely<Tables>, scope: Scope, ids: string[]): Promise<Set<string>> {
  const known = new Set<string>();
  for (const batch of batches(ids)) {
    const users = await db
      .selectFrom('identity')
      .select('id')
      .where(inScope(scope))
      .where('id', 'in', batch)
      .where('deleted_at', 'is', null)
      .execute();
    const groups = await db
      .selectFrom('scim_group')
      .select('id')
      .where(inScope(scope))
      .where('id', 'in', batch)
      .execute();
    for (const { id } of [...users, ...groups]) known.add(id);
  }
  return known;
}
