import { type Kysely, sql } from 'kysely';
import type { Member, ResolvedMember } from '../provisioning/group-ports.ts';
import { compiledQuery, yieldToEventLoop } from './statements.ts';
import type { Tables } from './tables.ts';

interface MembersGroup {
  connection: string;
  id: string;
}

/** How many rows are read at a stretch; a few milliseconds of work. */
const MEMBERS_AT_ONCE = 1000;

/** A group of more members is not read at once, lest many readers of large groups fill the memory. */
const AT_ONCE = 5 * MEMBERS_AT_ONCE;

/** The members of a group in their order; of a large group in pieces that are read while they are asked for. */
export async function readMembers(
  db: Kysely<Tables>,
  group: MembersGroup,
): Promise<ResolvedMember[] | AsyncIterable<ResolvedMember[]>> {
  const { rows } = await resolvedPiece(db, { ...group, after: -1 });
  if (rows.length < MEMBERS_AT_ONCE) return rows.map(toResolved);
  const beyond = await db
    .selectFrom('group_member')
    .select('position')
    .where('connection_id', '=', group.connection)
    .where('group_id', '=', group.id)
    .orderBy('position')
    .limit(1)
    .offset(AT_ONCE)
    .executeTakeFirst();
  return beyond ? pieces(db, group) : membersOf(db, group);
}

async function* pieces(db: Kysely<Tables>, group: MembersGroup): AsyncGenerator<ResolvedMember[]> {
  for (let after = -1; ; ) {
    const { rows } = await resolvedPiece(db, { ...group, after });
    yield rows.map(toResolved);
    const last = rows.at(-1);
    if (!last || rows.length < MEMBERS_AT_ONCE) return;
    after = last.position;
  }
}

/** The members of a group in their order; of a large group in pieces, between which others may change it. */
export async function membersOf(
  db: Kysely<Tables>,
  group: MembersGroup,
  pause?: () => Promise<void>,
): Promise<ResolvedMember[]> {
  const members: ResolvedMember[] = [];
  await inPieces(async (after) => {
    const { rows } = await resolvedPiece(db, { ...group, after });
    for (const row of rows) members.push(toResolved(row));
    return rows;
  }, pause);
  return members;
}

/** The members as they are kept, for a caller that prevents or notices changes meanwhile. */
export async function keptMembers(db: Kysely<Tables>, group: MembersGroup): Promise<Member[]> {
  const members: Member[] = [];
  await inPieces(async (after) => {
    const { rows } = await keptPiece(db, { ...group, after });
    for (const row of rows) members.push(toMember(row));
    return rows;
  });
  return members;
}

/** Reads piece after piece, each from the position where the one before ended. */
async function inPieces(
  read: (after: number) => Promise<{ position: number }[]>,
  pause: () => Promise<void> = yieldToEventLoop,
): Promise<void> {
  for (let after = -1; ; ) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (!last || rows.length < MEMBERS_AT_ONCE) return;
    after = last.position;
    await pause();
  }
}

/**
 * The members of those of these groups that have no more than a piece, with the version that they belong to: one
 * statement, so that both are of one moment. It reads no more rows than those of one group that is read at once; groups
 * that do not fit are left out.
 */
export async function membersOfSmall(
  db: Kysely<Tables>,
  connection: string,
  ids: string[],
): Promise<Map<string, { version: number; members: ResolvedMember[] }>> {
  const found = new Map<string, { version: number; members: ResolvedMember[] }>();
  if (ids.length === 0) return found;
  const rows = await smallGroups(db, connection, ids).execute();
  for (const { groupId, version, value, display, type, names } of rows) {
    const group = found.get(groupId) ?? { version, members: [] };
    if (group.members.length === 0) found.set(groupId, group);
    // A group without members has a row without one.
    if (value !== null) group.members.push(toResolved({ value, display, type, names }));
  }
  const last = rows.at(-1);
  if (last && rows.length > AT_ONCE) found.delete(last.groupId);
  return found;
}

function smallGroups(db: Kysely<Tables>, connection: string, ids: string[]) {
  return db
    .with('page', (page) =>
      page
        .selectFrom('scim_group')
        .select(['connection_id', 'id', 'version'])
        .select((group) =>
          group
            .selectFrom('group_member')
            .select('position')
            .whereRef('group_member.connection_id', '=', 'scim_group.connection_id')
            .whereRef('group_member.group_id', '=', 'scim_group.id')
            .orderBy('position')
            .limit(1)
            .offset(MEMBERS_AT_ONCE)
            .as('beyond'),
        )
        .where('connection_id', '=', connection)
        .where('id', 'in', ids),
    )
    .selectFrom('page')
    .leftJoin('group_member as member', (join) =>
      join.onRef('member.connection_id', '=', 'page.connection_id').onRef('member.group_id', '=', 'page.id'),
    )
    .select(['page.id as groupId', 'page.version'])
    .select(['member.value', 'member.display', 'member.type', names])
    .where('page.beyond', 'is', null)
    .orderBy('page.id')
    .orderBy('member.position')
    .limit(AT_ONCE + 1);
}

/** What the id of a member names: a live user, a group or neither. */
const names = sql<'User' | 'Group' | null>`case
  when exists (select 1 from identity as own where own.connection_id = member.connection_id
    and own.id = member.value and own.deleted_at is null) then 'User'
  when exists (select 1 from scim_group as own where own.connection_id = member.connection_id
    and own.id = member.value) then 'Group' end`.as('names');

type Piece = MembersGroup & { after: number };

const keptPiece = compiledQuery((db, { connection, id, after }: Piece) =>
  db
    .selectFrom('group_member')
    .select(['value', 'display', 'type', 'position'])
    .where('connection_id', '=', connection)
    .where('group_id', '=', id)
    .where('position', '>', after)
    .orderBy('position')
    .limit(MEMBERS_AT_ONCE),
);

/** With what the id of each member names. */
const resolvedPiece = compiledQuery((db, { connection, id, after }: Piece) =>
  db
    .selectFrom('group_member as member')
    .select(['member.value', 'member.display', 'member.type', 'member.position', names])
    .where('member.connection_id', '=', connection)
    .where('member.group_id', '=', id)
    .where('member.position', '>', after)
    .orderBy('member.position')
    .limit(MEMBERS_AT_ONCE),
);

function toResolved(row: MemberRow & { names: ResolvedMember['names'] | null }): ResolvedMember {
  return withTexts({ value: row.value, names: row.names ?? undefined }, row);
}

/** The member that a row holds. */
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
