import type { ColumnTypes } from './column-types.ts';

/** The departures that the safety valve counts, the changes of rules that wait, and erased travelers. */
export function holdTables({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table departure (
      connection_id ${orderedText} not null,
      identity_id ${orderedText} not null,
      at ${bigint} not null,
      primary key (connection_id, identity_id)
    )`,
    'create index departure_at on departure (connection_id, at)',
    `create table rules_change (
      connection_id ${orderedText} primary key,
      generation ${bigint} not null,
      people integer not null,
      since ${bigint} not null,
      answer text,
      recent text not null
    )`,
    `create table erased_traveler (
      account ${orderedText} not null,
      hash ${orderedText} not null,
      erased_at ${bigint} not null,
      primary key (account, hash)
    )`,
  ];
}
