import type { ColumnTypes } from './column-types.ts';

/** The tables that the replicas of a service share: the rules in force, the background work of each connection, and the replicas that are alive. */
export function replicaTables({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table rules_in_force (
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      generation ${bigint} not null,
      edition integer not null,
      digest ${orderedText} not null,
      source ${orderedText} not null,
      file_seen_at ${bigint} not null,
      mapping text not null,
      lookups text,
      primary key (account, connection_id),
      foreign key (account, connection_id) references connection (account, id) on update cascade
    )`,
    `create table mapping_version (
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      generation ${bigint} not null,
      edition integer not null,
      digest ${orderedText} not null,
      source ${orderedText} not null,
      applied_at ${bigint} not null,
      author text,
      mapping text not null,
      primary key (account, connection_id, generation),
      foreign key (account, connection_id) references connection (account, id) on update cascade
    )`,
    'create index mapping_version_digest on mapping_version (account, connection_id, digest)',
    `create table background_task (
      account ${orderedText} not null,
      connection_id ${orderedText} not null,
      kind ${orderedText} not null,
      due_at ${bigint} not null,
      requested integer not null default 0,
      lease_token text,
      lease_until ${bigint},
      state text not null,
      primary key (account, connection_id, kind),
      foreign key (account, connection_id) references connection (account, id) on update cascade
    )`,
    `create table replica (
      id ${orderedText} primary key,
      seen_at ${bigint} not null,
      connections text not null
    )`,
  ];
}
