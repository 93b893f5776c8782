import type { Kysely } from 'kysely';
import type { Member, ResolvedMember } from '../bridge/ports.ts';
import { breath } from './breath.ts';
import { prepared } from './prepared.ts';
import type { Tables } from './tables.ts';

interface Owner {
  connection: string;
  id: string;
}

/** How many rows are read at a stretch; a few milliseconds of work. */
const PIECE = 1000;

/** A group of more members is not read at once, lest many readers of large groups fill the memory. */
const AT_ONCE = 5 * PIECE;

/** The members of a group in their order; of a large group in pieces that are read while they are asked for. */
export async function readMembers(
  db: Kysely<Tables>,
  group: Owner,
): Promise<ResolvedMember[] | AsyncIterable<ResolvedMember[]>> {
  const { rows } = await resolvedPiece(db, { ...group, after: -1 });
  if (rows.length < PIECE) return rows.map(toResolved);
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

async function* pieces(db: Kysely<Tables>, group: Owner): AsyncGenerator<ResolvedMember[]> {
  for (let after = -1; ; ) {
    const { rows } = await resolvedPiece(db, { ...group, after });
    yield rows.map(toResolved);
    const last = rows.at(-1);
    if (!last || rows.length < PIECE) return;
    after = last.position;
  }
}

/** The members of a group in their order; of a large group in pieces, between which others may change it. */
export async function membersOf(
  db: Kysely<Tables>,
  group: Owner,
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
export async function keptMembers(db: Kysely<Tables>, group: Owner): Promise<Member[]> {
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
  pause: () => Promise<void> = breath,
): Promise<void> {
  for (let after = -1; ; ) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (!last || rows.length < PIECE) return;
    after = last.position;
    await pause();
  }
}

type Piece = Owner & { after: number };

const keptPiece = prepared((db, { connection, id, after }: Piece) =>
  db
    .selectFrom('group_member')
    .select(['value', 'display', 'type', 'position'])
    .where('connection_id', '=', connection)
    .where('group_id', '=', id)
    .where('position', '>', after)
    .orderBy('position')
    .limit(PIECE),
);

/** With the ids of the live user and of the group that the id of the member names. */
const resolvedPiece = prepared((db, { connection, id, after }: Piece) =>
  db
    .selectFrom('group_member as member')
    .leftJoin('identity as user', (join) =>
      join
        .onRef('user.connection_id', '=', 'member.connection_id')
        .onRef('user.id', '=', 'member.value')
        .on('user.deleted_at', 'is', null),
    )
    .leftJoin('scim_group as inner', (join) =>
      join.onRef('inner.connection_id', '=', 'member.connection_id').onRef('inner.id', '=', 'member.value'),
    )
    .select(['member.value', 'member.display', 'member.type', 'member.position'])
    .select(['user.id as userId', 'inner.id as groupId'])
    .where('member.connection_id', '=', connection)
    .where('member.group_id', '=', id)
    .where('member.position', '>', after)
    .orderBy('member.position')
    .limit(PIECE),
);

function toResolved(row: Parameters<typeof toMember>[0] & Parameters<typeof namesOf>[0]): ResolvedMember {
  return { ...toMember(row), names: namesOf(row) };
}

function namesOf({ userId, groupId }: { userId: string | null; groupId: string | null }) {
  if (userId !== null) return 'User';
  return groupId === null ? undefined : 'Group';
}

/** The member that a row holds. */
export function toMember(row: { value: string; display: string | null; type: string | null }): Member {
  const member: Member = { value: row.value };
  if (row.display !== null) member.display = row.display;
  if (row.type !== null) member.type = row.type;
  return member;
}
