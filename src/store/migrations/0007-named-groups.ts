import { ofConnection, ofGroup, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

/** The memberships in groups that the mapping names (docs/decisions/0054). */
export const namedGroupTables = {
  /** A membership in a group that was deleted or emptied. It still counts while the row exists. */
  former_member: {
    columns: {
      ...scopeKey,
      user_id: 'ordered text',
      group_id: 'ordered text',
      /** The name of the group when the member was removed. */
      display: 'text',
      /** The time at which the row is deleted, and the user becomes dirty. */
      until: 'bigint',
      /** 1 once the user was made dirty because of the row. */
      marked: 'flag',
    },
    constraints: [`primary key (${SCOPE}, user_id, group_id)`, ofConnection],
    indexes: {
      until: `${SCOPE}, until`,
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
  /** A person for whom a change of groups has cleared or replaced a value within the last hour. */
  membership_change: {
    columns: {
      ...scopeKey,
      identity_id: 'ordered text',
      at: 'bigint',
    },
    constraints: [`primary key (${SCOPE}, identity_id)`, ofConnection],
    indexes: { at: `${SCOPE}, at` },
  },
} as const satisfies TableDeclarations;
