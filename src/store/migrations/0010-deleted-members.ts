import type { ColumnTypes } from './column-types.ts';
import { createTables, type TableDeclarations } from './columns.ts';

const KEY = 'account, connection_id';

/** The memberships of deleted users. */
export const deletedMemberTables = {
  /** A membership that the DELETE of a user has ended. It comes back if the DELETE is refused, unless the group is written without it. */
  deleted_member: {
    columns: {
      account: 'ordered text',
      connection_id: 'ordered text',
      group_id: 'ordered text',
      user_id: 'ordered text',
      type: 'text?',
      display: 'text?',
    },
    constraints: [
      `primary key (${KEY}, group_id, user_id)`,
      `foreign key (${KEY}, group_id) references scim_group (${KEY}, id) on delete cascade on update cascade`,
      `foreign key (${KEY}, user_id) references identity (${KEY}, id) on delete cascade on update cascade`,
    ],
    indexes: { user: `${KEY}, user_id` },
  },
} as const satisfies TableDeclarations;

/** Adds the table of the memberships of deleted users. */
export function addDeletedMembers(types: ColumnTypes): string[] {
  return createTables(deletedMemberTables, types);
}
