import { ofConnection, type TableDeclarations } from './columns.ts';

export const groupTables = {
  scim_group: {
    columns: {
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
    },
    constraints: [
      'primary key (account, connection_id, id)',
      'unique (account, connection_id, display_name_key)',
      ofConnection,
    ],
    indexes: {
      // Lists: the column that is compared or sorted, and the id.
      page: 'account, connection_id, position, id',
      display_name_order: 'account, connection_id, display_name_key, id',
      external_id: 'account, connection_id, external_id, id',
      created: 'account, connection_id, created_at, id',
      last_modified: 'account, connection_id, last_modified, id',
    },
  },
  /** Members are rows, so that a change of one member writes one row. */
  group_member: {
    columns: {
      account: 'ordered text',
      connection_id: 'ordered text',
      group_id: 'ordered text',
      value: 'ordered text',
      position: 'integer',
      type: 'text?',
      display: 'text?',
    },
    constraints: [
      'primary key (account, connection_id, group_id, value)',
      `foreign key (account, connection_id, group_id) references scim_group (account, connection_id, id) on delete cascade on update cascade`,
    ],
    indexes: {
      // Members in their order, and the groups of a user.
      position: 'account, connection_id, group_id, position',
      value: 'account, connection_id, value, group_id',
    },
  },
} as const satisfies TableDeclarations;
