import type { ColumnTypes } from './column-types.ts';
import { createTables, ofConnection, type TableDeclarations } from './columns.ts';

/** The memberships in groups that the mapping names (docs/decisions/0054). */
export const namedGroupTables = {
  /** A membership in a group that was deleted or emptied. It still counts while the row exists. */
  former_member: {
    columns: {
      account: 'ordered text',
      connection_id: 'ordered text',
      user_id: 'ordered text',
      group_id: 'ordered text',
      /** The name of the group when the member was removed. */
      display: 'text',
      /** The time at which the row is deleted, and the user becomes dirty. */
      until: 'bigint',
      /** 1 once the user was made dirty because of the row. */
      marked: 'flag',
    },
    constraints: ['primary key (account, connection_id, user_id, group_id)', ofConnection],
    indexes: {
      until: 'account, connection_id, until',
      unmarked: { columns: 'account, connection_id, user_id', where: 'marked = 0' },
    },
  },
  /** A group whose members become dirty in batches. */
  changed_group: {
    columns: {
      account: 'ordered text',
      connection_id: 'ordered text',
      group_id: 'ordered text',
      /** The position of the last member that was made dirty. */
      position: 'integer',
    },
    constraints: [
      'primary key (account, connection_id, group_id)',
      `foreign key (account, connection_id, group_id) references scim_group (account, connection_id, id) on delete cascade on update cascade`,
    ],
  },
  /** A person for whom a change of groups has cleared or replaced a value within the last hour. */
  membership_change: {
    columns: {
      account: 'ordered text',
      connection_id: 'ordered text',
      identity_id: 'ordered text',
      at: 'bigint',
    },
    constraints: ['primary key (account, connection_id, identity_id)', ofConnection],
    indexes: { at: 'account, connection_id, at' },
  },
} as const satisfies TableDeclarations;

/** Adds the tables of memberships in groups that the mapping names. */
export function addNamedGroups(types: ColumnTypes): string[] {
  return createTables(namedGroupTables, types);
}
