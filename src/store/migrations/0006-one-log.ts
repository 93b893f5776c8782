import { type Migration, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/**
 * Replaces the log of exchanges in segments and the request log of the travel service by one table, which begins empty. The names of
 * people are in a table of their own, because a body may have many. Indexes find the exchanges of a person, of a request and of a
 * time, and those with a name.
 */
export function oneLogMigration({ bigint, orderedText, keyOnly }: ColumnTypes): Record<string, Migration> {
  const statements = [
    `insert into travel_turn (type, seq, latest)
      select '${EMPTIED_LOGS}', 0, 0
      where exists (select 1 from exchange_segment) or exists (select 1 from request_log)`,
    'drop table exchange_person',
    'drop table exchange_segment',
    'drop table request_log',
    `create table exchange (
      position ${bigint} primary key,
      at ${bigint} not null,
      ms double precision not null,
      direction ${orderedText} not null,
      connection_id ${orderedText} not null,
      person ${orderedText},
      user_id ${orderedText},
      credential text,
      request_id ${orderedText},
      method ${orderedText} not null,
      path ${orderedText} not null,
      status integer,
      error text,
      key_id ${orderedText} not null,
      content text not null
    )`,
    'create index exchange_time on exchange (at)',
    'create index exchange_about_person on exchange (person, position) where person is not null',
    'create index exchange_request on exchange (request_id) where request_id is not null',
    `create table exchange_name (
      position ${bigint} not null references exchange (position) on delete cascade,
      name ${orderedText} not null,
      asked integer not null,
      primary key (position, name)
    ) ${keyOnly}`,
    'create index exchange_name_search on exchange_name (name, asked)',
  ];
  return {
    '0006-one-log': {
      up: async (db) => {
        for (const statement of statements) await sql.raw(statement).execute(db);
      },
    },
  };
}

/** A feed with this name stands for the message that the logs of an earlier version were emptied. */
export const EMPTIED_LOGS = 'emptied logs';
