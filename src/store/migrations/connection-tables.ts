import type { ColumnTypes } from './column-types.ts';

/** Connections with their counters, and the row that probe writes replace. */
export function connectionTables({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table connection (
      id ${orderedText} primary key,
      account ${orderedText} not null
    )`,
    `create table tally (
      connection_id ${orderedText} not null references connection (id),
      kind ${orderedText} not null,
      count integer not null,
      active integer not null default 0,
      last ${bigint} not null default 0,
      primary key (connection_id, kind)
    )`,
    `create table identity_block (
      connection_id ${orderedText} not null references connection (id),
      block ${bigint} not null,
      live integer not null,
      active integer not null,
      primary key (connection_id, block)
    )`,
    `create table write_probe (
      id integer primary key,
      content text not null
    )`,
  ];
}
