import type { Kysely } from 'kysely';
import type { Member } from '../bridge/ports.ts';
import { batches } from './batches.ts';
import type { Tables } from './tables.ts';

/**
 * The members as they are kept: `type` is the client's word for an id that names nothing here, and otherwise follows
 * from the id, so that a client that sends back what it read changes nothing.
 */
export async function withoutKnownTypes(
  db: Kysely<Tables>,
  connection: string,
  members: Member[],
): Promise<Member[]> {
  const typed = members.flatMap(({ value, type }) => (type === undefined ? [] : [value]));
  const known = await knownAmong(db, connection, typed);
  return members.map((member) => {
    const { type: _, ...untyped } = member;
    return known.has(member.value) ? untyped : member;
  });
}

/** The ids of live users and of groups. */
async function knownAmong(db: Kysely<Tables>, connection: string, ids: string[]): Promise<Set<string>> {
  const known = new Set<string>();
  for (const batch of batches(ids)) {
    const users = await db
      .selectFrom('identity')
      .select('id')
      .where('connection_id', '=', connection)
      .where('id', 'in', batch)
      .where('deleted_at', 'is', null)
      .execute();
    const groups = await db
      .selectFrom('scim_group')
      .select('id')
      .where('connection_id', '=', connection)
      .where('id', 'in', batch)
      .execute();
    for (const { id } of [...users, ...groups]) known.add(id);
  }
  return known;
}
