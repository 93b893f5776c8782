import type { ColumnTypes } from './column-types.ts';

/** Groups, and their members as rows, so that a change of one member writes one row. */
export function groupTables({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table scim_group (
      connection_id ${orderedText} not null references connection (id),
      id ${orderedText} not null,
      position ${bigint} not null default 0,
      display_name_key ${orderedText},
      external_id ${orderedText},
      version integer not null,
      created_at ${bigint} not null,
      last_modified ${bigint} not null,
      attributes text not null,
      primary key (connection_id, id),
      unique (connection_id, display_name_key)
    )`,
    // Lists: the compared column and the stable order.
    'create index scim_group_page on scim_group (connection_id, position)',
    'create index scim_group_display_name_order on scim_group (connection_id, display_name_key, position)',
    'create index scim_group_external_id on scim_group (connection_id, external_id, position)',
    'create index scim_group_created on scim_group (connection_id, created_at, position)',
    'create index scim_group_last_modified on scim_group (connection_id, last_modified, position)',
    `create table group_member (
      connection_id ${orderedText} not null,
      group_id ${orderedText} not null,
      value ${orderedText} not null,
      position integer not null,
      type text,
      display text,
      primary key (connection_id, group_id, value),
      foreign key (connection_id, group_id) references scim_group (connection_id, id) on delete cascade
    )`,
    // Members in their order, and the groups of a user.
    'create index group_member_position on group_member (connection_id, group_id, position)',
    'create index group_member_value on group_member (connection_id, value, group_id)',
  ];
}
