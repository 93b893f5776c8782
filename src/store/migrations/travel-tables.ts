import type { ColumnTypes } from './column-types.ts';

/** The resources of the travel service, with their index values, unique values, references and totals. */
export function travelTables(types: ColumnTypes): string[] {
  return [...resources(types), ...indexValues(types), ...references(types), ...lists(types)];
}

function resources({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table travel_resource (
      type ${orderedText} not null,
      id ${orderedText} not null,
      parent_id ${orderedText} not null,
      created_at ${bigint} not null,
      seq ${bigint} not null,
      archived integer not null,
      doc text not null,
      primary key (type, id)
    )`,
    // Lists in the order of creation, with and without archived resources. Unique, so that the order is total.
    'create unique index travel_resource_page on travel_resource (type, parent_id, created_at, seq)',
    'create index travel_resource_archived on travel_resource (type, parent_id, archived, created_at, seq)',
  ];
}

function indexValues({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table travel_index (
      type ${orderedText} not null,
      id ${orderedText} not null,
      name ${orderedText} not null,
      value ${orderedText} not null,
      archived integer not null,
      seq ${bigint} not null,
      primary key (type, name, value, seq),
      foreign key (type, id) references travel_resource (type, id) on delete cascade
    )`,
    'create index travel_index_archived on travel_index (type, name, archived, value, seq)',
    // Not (type, id, value): SQLite would read all of such an index in a search for a value.
    'create index travel_index_id on travel_index (type, id)',
    `create table travel_unique (
      type ${orderedText} not null,
      name ${orderedText} not null,
      value ${orderedText} not null,
      id ${orderedText} not null,
      primary key (type, name, value),
      foreign key (type, id) references travel_resource (type, id) on delete cascade
    )`,
    'create index travel_unique_id on travel_unique (type, id)',
  ];
}

/** The foreign key on the target refuses to delete a resource that others refer to. */
function references({ orderedText }: ColumnTypes): string[] {
  return [
    `create table travel_reference (
      from_type ${orderedText} not null,
      from_id ${orderedText} not null,
      to_type ${orderedText} not null,
      to_id ${orderedText} not null,
      primary key (from_type, from_id, to_type, to_id),
      foreign key (from_type, from_id) references travel_resource (type, id) on delete cascade,
      foreign key (to_type, to_id) references travel_resource (type, id)
    )`,
    'create index travel_reference_target on travel_reference (to_type, to_id)',
  ];
}

function lists({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table travel_turn (
      type ${orderedText} primary key,
      seq ${bigint} not null,
      latest ${bigint} not null
    )`,
    `create table travel_count (
      type ${orderedText} not null,
      parent_id ${orderedText} not null,
      archived integer not null,
      slot integer not null,
      count integer not null,
      primary key (type, parent_id, archived, slot)
    )`,
  ];
}
