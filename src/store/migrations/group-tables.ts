import type { ColumnTypes } from './column-types.ts';

/** Groups, and their members as rows, so that a change of one member writes one row. */
export function groupTables({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table scim_group (
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      id ${orderedText} not null,
      position ${bigint} not null,
      display_name_key ${orderedText},
      external_id ${orderedText},
      version integer not null,
      created_at ${bigint} not null,
      last_modified ${bigint} not null,
      attributes text not null,
      primary key (account, connection_id, id),
      unique (account, connection_id, display_name_key),
      foreign key (account, connection_id) references connection (account, id) on update cascade
    )`,
    // Lists: the column that is compared or sorted, and the id.
    'create index scim_group_page on scim_group (account, connection_id, position, id)',
    'create index scim_group_display_name_order on scim_group (account, connection_id, display_name_key, id)',
    'create index scim_group_external_id on scim_group (account, connection_id, external_id, id)',
    'create index scim_group_created on scim_group (account, connection_id, created_at, id)',
    'create index scim_group_last_modified on scim_group (account, connection_id, last_modified, id)',
    `create table group_member (
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      group_id ${orderedText} not null,
      value ${orderedText} not null,
      position integer not null,
      type text,
      display text,
      primary key (account, connection_id, group_id, value),
      foreign key (account, connection_id, group_id) references scim_group (account, connection_id, id)
        on delete cascade on update cascade
    )`,
    // Members in their order, and the groups of a user.
    'create index group_member_position on group_member (account, connection_id, group_id, position)',
    'create index group_member_value on group_member (account, connection_id, value, group_id)',
  ];
}
