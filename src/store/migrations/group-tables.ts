import { ofConnection, ofGroup, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

/** Groups with their members, and the people whom a change of groups concerns (docs/decisions/0054). */
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
  /** A membership that the DELETE of a user has ended. It comes back if the DELETE is refused, unless the group is written without it. */
  deleted_member: {
    columns: {
      ...scopeKey,
      group_id: 'ordered text',
      user_id: 'ordered text',
      type: 'text?',
      display: 'text?',
    },
    constraints: [
      `primary key (${SCOPE}, group_id, user_id)`,
      ofGroup,
      `foreign key (${SCOPE}, user_id) references identity (${SCOPE}, id) on delete cascade on update cascade`,
    ],
    indexes: { user: `${SCOPE}, user_id` },
  },
  /** A membership in a group that no longer exists under a name which the mapping names. It counts until a group has the name again. */
  former_member: {
    columns: {
      ...scopeKey,
      user_id: 'ordered text',
      /** As `rule_name_key` of the group. */
      name_key: 'ordered text',
      display: 'text',
      /** 1 once the membership counts no longer: the row is deleted when the user is made dirty. */
      ended: 'flag',
      /** 1 once the user was made dirty because of the row. */
      marked: 'flag',
    },
    constraints: [`primary key (${SCOPE}, user_id, name_key)`, ofConnection],
    indexes: {
      name: `${SCOPE}, name_key, ended`,
      ended: { columns: `${SCOPE}, user_id`, where: 'ended = 1' },
      unmarked: { columns: `${SCOPE}, user_id`, where: 'marked = 0' },
    },
  },
  /** A group whose members become dirty in batches. */
  changed_group: {
    columns: {
      ...scopeKey,
      group_id: 'ordered text',
      /** The position of the last member that was made dirty. */
      position: 'integer',
    },
    constraints: [`primary key (${SCOPE}, group_id)`, ofGroup],
  },
  /** A connection whose people become dirty in batches as far as its scope concerns them: a group that the scope names has appeared or is gone. */
  changed_scope: {
    columns: {
      ...scopeKey,
      /** The id of the last person who was looked at; empty at the beginning. */
      identity_id: 'ordered text',
    },
    constraints: [`primary key (${SCOPE})`, ofConnection],
  },
} as const satisfies TableDeclarations;
