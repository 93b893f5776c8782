import type { ColumnTypes } from './column-types.ts';

/** Connections with their counters, and the row that probe writes replace. */
export function connectionTables({ orderedText, bigint, keyOnly }: ColumnTypes): string[] {
  return [
    // The tables of the bridge have keys that begin with the account, so that all rows of an account can be placed on
    // one node of a distributed database. Their rows move with the connection to another account.
    `create table connection (
      account ${orderedText} not null,
      id ${orderedText} not null unique,
      read_bodies_until ${bigint},
      primary key (account, id)
    )`,
    `create table list_counter (
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      kind ${orderedText} not null,
      slot integer not null,
      count integer not null,
      active integer not null,
      primary key (account, connection_id, kind, slot),
      foreign key (account, connection_id) references connection (account, id) on update cascade
    ) ${keyOnly}`,
    `create table write_probe (
      id integer primary key,
      content text not null
    )`,
  ];
}
