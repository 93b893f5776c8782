import { ofGroup, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

/** The memberships of deleted users. */
export const deletedMemberTables = {
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
} as const satisfies TableDeclarations;
