import type { Kysely } from 'kysely';
import { inScope, type Scope, scopeColumns } from '../connection-scopes.ts';
import { insertInBatches } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';
import { toMember } from './group-members.ts';
import { changeMembers } from './member-changes.ts';

/** Keeps the memberships that the DELETE of a user ends. */
export async function keepDeletedMembers(
  tx: Kysely<Tables>,
  scope: Scope,
  members: Pick<Tables['group_member'], 'group_id' | 'value' | 'type' | 'display'>[],
): Promise<void> {
  const rows = members.map(({ value, group_id, type, display }) => ({
    ...{ ...scopeColumns(scope), group_id, user_id: value, type, display },
  }));
  await insertInBatches(rows, (some) =>
    tx
      .insertInto('deleted_member')
      .values(some)
      .onConflict((conflict) => conflict.doNothing()),
  );
}

/** Makes a user whose DELETE is refused a member again of the groups that have not been written without the user meanwhile. */
export async function restoreDeletedMembers(
  tx: Kysely<Tables>,
  scope: Scope,
  { id, at }: { id: string; at: number },
): Promise<void> {
  for (const { group_id, type, display } of await takeDeletedMembers(tx, scope, id)) {
    await tx
      .updateTable('scim_group')
      .set((row) => ({ version: row('version', '+', 1), last_modified: at }))
      .where(inScope(scope))
      .where('id', '=', group_id)
      .execute();
    const member = toMember({ value: id, type, display });
    await changeMembers(tx, { ...scope, id: group_id }, { steps: [{ kind: 'add', members: [member] }] });
  }
}

/** Deletes the kept memberships of a user, and returns them. */
export function takeDeletedMembers(tx: Kysely<Tables>, scope: Scope, user: string) {
  return tx
    .deleteFrom('deleted_member')
    .where(inScope(scope))
    .where('user_id', '=', user)
    .returning(['group_id', 'type', 'display'])
    .execute();
}
