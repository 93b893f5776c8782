import type { Kysely } from 'kysely';
import { batches } from './batches.ts';
import type { Tables } from './tables.ts';

/**
 * Takes users that are gone out of their groups, by an IdP at that time, or because their travelers are gone. Each
 * group's version is raised, as its members are not what they were.
 */
export async function leaveGroups(
  tx: Kysely<Tables>,
  connection: string,
  { ids, at }: { ids: string[]; at?: number },
): Promise<void> {
  const left = new Set<string>();
  for (const batch of batches(ids)) {
    const rows = await tx
      .deleteFrom('group_member')
      .where('connection_id', '=', connection)
      .where('value', 'in', batch)
      .returning('group_id')
      .execute();
    for (const { group_id } of rows) left.add(group_id);
  }
  for (const batch of batches([...left])) {
    await tx
      .updateTable('scim_group')
      .set((row) => ({
        version: row('version', '+', 1),
        ...(at === undefined ? {} : { last_modified: at }),
      }))
      .where('connection_id', '=', connection)
      .where('id', 'in', batch)
      .execute();
  }
}
