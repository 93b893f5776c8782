import type { ColumnTypes } from './column-types.ts';
import { type Columns, createTable, ofConnection } from './columns.ts';

export const groupColumns = {
  account: 'ordered text',
  connection_id: 'ordered text',
  id: 'ordered text',
  /** The position in the stable order of lists. */
  position: 'bigint',
  display_name_key: 'ordered text?',
  external_id: 'ordered text?',
  version: 'integer',
  created_at: 'bigint',
  last_modified: 'bigint',
  attributes: 'text',
} as const satisfies Columns;

/** Members are rows, so that a change of one member writes one row. */
export const groupMemberColumns = {
  account: 'ordered text',
  connection_id: 'ordered text',
  group_id: 'ordered text',
  value: 'ordered text',
  position: 'integer',
  type: 'text?',
  display: 'text?',
} as const satisfies Columns;

export function groupTables(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'scim_group',
      columns: groupColumns,
      constraints: [
        'primary key (account, connection_id, id)',
        'unique (account, connection_id, display_name_key)',
        ofConnection,
      ],
    }),
    // Lists: the column that is compared or sorted, and the id.
    'create index scim_group_page on scim_group (account, connection_id, position, id)',
    'create index scim_group_display_name_order on scim_group (account, connection_id, display_name_key, id)',
    'create index scim_group_external_id on scim_group (account, connection_id, external_id, id)',
    'create index scim_group_created on scim_group (account, connection_id, created_at, id)',
    'create index scim_group_last_modified on scim_group (account, connection_id, last_modified, id)',
    createTable(types, {
      table: 'group_member',
      columns: groupMemberColumns,
      constraints: [
        'primary key (account, connection_id, group_id, value)',
        `foreign key (account, connection_id, group_id) references scim_group (account, connection_id, id)
          on delete cascade on update cascade`,
      ],
    }),
    // Members in their order, and the groups of a user.
    'create index group_member_position on group_member (account, connection_id, group_id, position)',
    'create index group_member_value on group_member (account, connection_id, value, group_id)',
  ];
}
