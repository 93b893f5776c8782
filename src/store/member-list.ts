import type { Kysely } from 'kysely';
import type { Member } from '../bridge/ports.ts';
import { breath } from './breath.ts';
import type { Tables } from './tables.ts';

interface Owner {
  connection: string;
  id: string;
}

/** How many rows are read at a stretch; a few milliseconds of work. */
const PIECE = 1000;

/** How often members that changed while they were read are read again; a group can change all the time. */
const TRIES = 3;

/** The members of a group in their order; of a large group in pieces, between which others may change it. */
export async function membersOf(db: Kysely<Tables>, group: Owner): Promise<Member[]> {
  const first = await pieceOf(db, group, -1);
  if (first.length < PIECE) return first.map(toMember);
  for (let tries = 1; ; tries += 1) {
    const before = await versionOf(db, group);
    const members = await membersWithin(db, group);
    if (tries === TRIES || before === (await versionOf(db, group))) return members;
  }
}

/** The same where nobody else changes them: in a transaction. */
export async function membersWithin(tx: Kysely<Tables>, group: Owner): Promise<Member[]> {
  const found: Member[] = [];
  for (let after = -1; ; ) {
    const rows = await pieceOf(tx, group, after);
    for (const row of rows) found.push(toMember(row));
    const last = rows.at(-1);
    if (!last || rows.length < PIECE) return found;
    after = last.position;
    await breath();
  }
}

function pieceOf(db: Kysely<Tables>, { connection, id }: Owner, after: number) {
  return db
    .selectFrom('group_member')
    .select(['value', 'display', 'type', 'position'])
    .where('connection_id', '=', connection)
    .where('group_id', '=', id)
    .where('position', '>', after)
    .orderBy('position')
    .limit(PIECE)
    .execute();
}

async function versionOf(db: Kysely<Tables>, { connection, id }: Owner): Promise<number | undefined> {
  const row = await db
    .selectFrom('scim_group')
    .select('version')
    .where('connection_id', '=', connection)
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.version;
}

/** The member that a row holds. */
export function toMember(row: { value: string; display: string | null; type: string | null }): Member {
  const member: Member = { value: row.value };
  if (row.display !== null) member.display = row.display;
  if (row.type !== null) member.type = row.type;
  return member;
}
