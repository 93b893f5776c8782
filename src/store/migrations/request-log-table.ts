import type { ColumnTypes } from './column-types.ts';

/**
 * The request log, with one index that contains every searched column: each further index would slow down every
 * request, and entries are appended to the end of this one.
 */
export function requestLogTable({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table request_log (
      seq ${bigint} primary key,
      time ${bigint} not null,
      ms integer not null,
      method text not null,
      path text not null,
      place ${orderedText} not null,
      status integer not null,
      user_id ${orderedText},
      credential text,
      request_id text not null,
      request_body text,
      request_cut integer not null,
      response_body text,
      response_cut integer not null
    )`,
    'create index request_log_search on request_log (time, seq, status, user_id, place)',
  ];
}
