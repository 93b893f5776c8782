import type { Kysely } from 'kysely';
import { batches } from './batches.ts';
import type { Tables } from './tables.ts';

/**
 * Removes users and groups that are gone from the groups that contain them, and raises the version of each of those, as
 * its members have changed. `at` is its new `lastModified`; without it, because no request caused the change but a
 * traveler that is gone, `lastModified` stays.
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
