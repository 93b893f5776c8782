import type { ColumnTypes } from './column-types.ts';

/**
 * The log of exchanges, in segments: one row holds the exchanges of a connection that were written together, compressed
 * and encrypted, because a row for each would cost more than the work on most requests. Indexes find the segments of a
 * connection and those with writes of a person.
 */
export function exchangeTables({ orderedText, bigint, keyOnly }: ColumnTypes): string[] {
  return [
    `create table exchange_segment (
      last ${bigint} primary key,
      connection_id ${orderedText} not null,
      count integer not null,
      began_at ${bigint} not null,
      ended_at ${bigint} not null,
      entries text not null,
      bodies text
    )`,
    'create index exchange_segment_connection on exchange_segment (connection_id, last)',
    'create index exchange_segment_time on exchange_segment (ended_at, last)',
    `create table exchange_person (
      person ${orderedText} not null,
      last ${bigint} not null references exchange_segment (last) on delete cascade,
      primary key (person, last)
    ) ${keyOnly}`,
    'create index exchange_person_segment on exchange_person (last)',
  ];
}
