import { type Kysely, sql } from 'kysely';
import type { Member, ResolvedMember } from '../../model/group-ports.ts';
import { equalInScope, inScope, type Scope, type ScopedId } from '../connection-scopes.ts';
import { compiledQuery, yieldToEventLoop } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** Members per query; a few milliseconds of work. */
const PAGE_SIZE = 1000;

/** Larger groups are streamed, so that many readers of large groups do not exhaust the memory. */
const MAX_IN_MEMORY = 5 * PAGE_SIZE;

/** Reads the members of a group in their order. A large group is returned as pages that are read on demand. */
export async function readMembers(
  db: Kysely<Tables>,
  group: ScopedId,
): Promise<ResolvedMember[] | AsyncIterable<ResolvedMember[]>> {
  const { rows } = await selectPage(db, { ...group, after: -1 });
  if (rows.length < PAGE_SIZE) return rows.map(toResolvedMember);
  const beyond = await db
    .selectFrom('group_member')
    .select('position')
    .where(inScope(group))
    .where('group_id', '=', group.id)
    .orderBy('position')
    .limit(1)
    .offset(MAX_IN_MEMORY)
    .executeTakeFirst();
  return beyond ? readMemberPages(db, group) : readAllMembers(db, group);
}

async function* readMemberPages(db: Kysely<Tables>, group: ScopedId): AsyncGenerator<ResolvedMember[]> {
  for (let after = -1; ; ) {
    const { rows } = await selectPage(db, { ...group, after });
    yield rows.map(toResolvedMember);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_SIZE) return;
    after = last.position;
  }
}

/** Reads all members of a group in their order, page by page. Others may change the group between two pages. */
export async function readAllMembers(
  db: Kysely<Tables>,
  group: ScopedId,
  pause: () => Promise<void> = yieldToEventLoop,
): Promise<ResolvedMember[]> {
  const members: ResolvedMember[] = [];
  for await (const page of readMemberPages(db, group)) {
    for (const member of page) members.push(member);
    await pause();
  }
  return members;
}

/**
 * Reads the members of several small groups, each with the version of the group. One statement, so that members and
 * version are from the same snapshot. Leaves out groups with more than one page of members, and those that would
 * exceed `MAX_IN_MEMORY` in total.
 */
export async function readSmallGroups(
  db: Kysely<Tables>,
  scope: Scope,
  ids: string[],
): Promise<Map<string, { version: number; members: ResolvedMember[] }>> {
  const found = new Map<string, { version: number; members: ResolvedMember[] }>();
  if (ids.length === 0) return found;
  const rows = await selectSmallGroups(db, scope, ids).execute();
  for (const { groupId, version, value, display, type, names } of rows) {
    const group = found.get(groupId) ?? { version, members: [] };
    if (group.members.length === 0) found.set(groupId, group);
    // A group without members has one row with null for the member.
    if (value !== null) group.members.push(toResolvedMember({ value, display, type, names }));
  }
  const last = rows.at(-1);
  if (last && rows.length > MAX_IN_MEMORY) found.delete(last.groupId);
  return found;
}

function selectSmallGroups(db: Kysely<Tables>, scope: Scope, ids: string[]) {
  return db
    .with('page', (page) =>
      page
        .selectFrom('scim_group')
        .select(['account', 'connection_id', 'id', 'version'])
        .select((group) =>
          group
            .selectFrom('group_member')
            .select('position')
            .where(equalInScope('group_member.group_id', 'scim_group.id'))
            .orderBy('position')
            .limit(1)
            .offset(PAGE_SIZE)
            .as('beyond'),
        )
        .where(inScope(scope))
        .where('id', 'in', ids),
    )
    .selectFrom('page')
    .leftJoin('group_member as member', (join) => join.on(equalInScope('member.group_id', 'page.id')))
    .select(['page.id as groupId', 'page.version'])
    .select(['member.value', 'member.display', 'member.type', namedResourceType])
    .where('page.beyond', 'is', null)
    .orderBy('page.id')
    .orderBy('member.position')
    .limit(MAX_IN_MEMORY + 1);
}

const isNamed = equalInScope('own.id', 'member.value');

/** The type of the resource that the id of a member names: a live user, a group, or null. */
const namedResourceType = sql<'User' | 'Group' | null>`case
  when exists (select 1 from identity as own where ${isNamed} and own.deleted_at is null) then 'User'
  when exists (select 1 from scim_group as own where ${isNamed}) then 'Group' end`.as('names');

/** A page of members, with the type of the resource that each id names. */
const selectPage = compiledQuery((db, page: ScopedId & { after: number }) =>
  db
    .selectFrom('group_member as member')
    .select(['member.value', 'member.display', 'member.type', 'member.position', namedResourceType])
    .where(inScope(page, 'member'))
    .where('member.group_id', '=', page.id)
    .where('member.position', '>', page.after)
    .orderBy('member.position')
    .limit(PAGE_SIZE),
);

function toResolvedMember(row: MemberRow & { names: ResolvedMember['names'] | null }): ResolvedMember {
  return withTexts({ value: row.value, names: row.names ?? undefined }, row);
}

/** Converts a database row to a member. */
export function toMember(row: MemberRow): Member {
  return withTexts({ value: row.value }, row);
}

interface MemberRow {
  value: string;
  display: string | null;
  type: string | null;
}

function withTexts<T extends Member>(member: T, { display, type }: MemberRow): T {
  if (display !== null) member.display = display;
  if (type !== null) member.type = type;
  return member;
}
