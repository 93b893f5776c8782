import { ofConnection, ofGroup, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

export const groupTables = {
  scim_group: {
    columns: {
      ...scopeKey,
      id: 'ordered text',
      /** The position in the stable order of lists. */
      position: 'bigint',
      display_name_key: 'ordered text?',
      /** The name by which a mapping names the group: without case, invisible characters and blanks at the ends. */
      rule_name_key: 'ordered text?',
      external_id: 'ordered text?',
      version: 'integer',
      created_at: 'bigint',
      last_modified: 'bigint',
      attributes: 'text',
    },
    constraints: [`primary key (${SCOPE}, id)`, `unique (${SCOPE}, display_name_key)`, ofConnection],
    indexes: {
      // Lists: the column that is compared or sorted, and the id.
      page: `${SCOPE}, position, id`,
      display_name_order: `${SCOPE}, display_name_key, id`,
      rule_name: `${SCOPE}, rule_name_key`,
      external_id: `${SCOPE}, external_id, id`,
      created: `${SCOPE}, created_at, id`,
      last_modified: `${SCOPE}, last_modified, id`,
    },
  },
  /** Members are rows, so that a change of one member writes one row. */
  group_member: {
    columns: {
      ...scopeKey,
      group_id: 'ordered text',
      value: 'ordered text',
      position: 'integer',
      type: 'text?',
      display: 'text?',
    },
    constraints: [`primary key (${SCOPE}, group_id, value)`, ofGroup],
    indexes: {
      // Members in their order, and the groups of a user.
      position: `${SCOPE}, group_id, position`,
      value: `${SCOPE}, value, group_id`,
    },
  },
} as const satisfies TableDeclarations;
