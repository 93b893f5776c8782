import type { ColumnTypes } from './column-types.ts';

/** The departures that the safety valve counts, the changes of rules that wait, and erased travelers. */
export function holdTables({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table departure (
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      identity_id ${orderedText} not null,
      at ${bigint} not null,
      primary key (account, connection_id, identity_id),
      foreign key (account, connection_id) references connection (account, id) on update cascade
    )`,
    'create index departure_at on departure (account, connection_id, at)',
    `create table rules_change (
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      generation ${bigint} not null,
      people integer not null,
      since ${bigint} not null,
      answer text,
      recent text not null,
      primary key (account, connection_id),
      foreign key (account, connection_id) references connection (account, id) on update cascade
    )`,
    `create table hold_alarm (
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      cause ${orderedText} not null,
      count integer not null,
      since ${bigint} not null,
      reported_at ${bigint} not null,
      primary key (account, connection_id, cause),
      foreign key (account, connection_id) references connection (account, id) on update cascade
    )`,
    `create table erased_traveler (
      account ${orderedText} not null,
      hash ${orderedText} not null,
      erased_at ${bigint} not null,
      primary key (account, hash)
    )`,
  ];
}
