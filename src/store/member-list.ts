import type { Kysely } from 'kysely';
import type { Member } from '../bridge/ports.ts';
import { breath } from './breath.ts';
import type { Tables } from './tables.ts';

/** How many rows are read at a stretch; a few milliseconds of work. */
const PIECE = 1000;

/** The members of a group in their order; a large group is read in pieces. */
export async function membersIn(
  db: Kysely<Tables>,
  { connection, id }: { connection: string; id: string },
): Promise<Member[]> {
  const found: Member[] = [];
  for (let after = -1; ; ) {
    const rows = await db
      .selectFrom('group_member')
      .select(['value', 'display', 'type', 'position'])
      .where('connection_id', '=', connection)
      .where('group_id', '=', id)
      .where('position', '>', after)
      .orderBy('position')
      .limit(PIECE)
      .execute();
    for (const row of rows) found.push(toMember(row));
    const last = rows.at(-1);
    if (!last || rows.length < PIECE) return found;
    after = last.position;
    await breath();
  }
}

/** The member that a row holds. */
export function toMember(row: { value: string; display: string | null; type: string | null }): Member {
  const member: Member = { value: row.value };
  if (row.display !== null) member.display = row.display;
  if (row.type !== null) member.type = row.type;
  return member;
}
