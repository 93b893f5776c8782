import type { ColumnTypes } from './column-types.ts';
import { type Columns, createTable } from './columns.ts';

/** A resource. `parent_id` is '' if the type has no parent; `seq` orders resources of the same creation time. */
export const travelResourceColumns = {
  type: 'ordered text',
  id: 'ordered text',
  parent_id: 'ordered text',
  created_at: 'bigint',
  seq: 'bigint',
  archived: 'integer',
  doc: 'text',
} as const satisfies Columns;

/**
 * A value by which a resource is found or sorted. It repeats the columns that a page needs, so that a page is read from
 * one index.
 */
export const travelIndexColumns = {
  type: 'ordered text',
  id: 'ordered text',
  name: 'ordered text',
  value: 'ordered text',
  archived: 'integer',
  seq: 'bigint',
} as const satisfies Columns;

/** A value that is unique among the resources of a type. */
export const travelUniqueColumns = {
  type: 'ordered text',
  name: 'ordered text',
  value: 'ordered text',
  id: 'ordered text',
} as const satisfies Columns;

/** A reference from one resource to another. */
export const travelReferenceColumns = {
  from_type: 'ordered text',
  from_id: 'ordered text',
  to_type: 'ordered text',
  to_id: 'ordered text',
} as const satisfies Columns;

/** One row for each type that transactions lock. The row of a feed also numbers its entries. */
export const travelTurnColumns = {
  type: 'ordered text',
  /** The number of the last entry. */
  seq: 'bigint',
  /** The creation time of the last entry. */
  latest: 'bigint',
} as const satisfies Columns;

/**
 * Exact totals of lists, updated in the transaction of each write. `parent_id` is the parent of the collection, or
 * the name of a counted index. The total is the sum of all slots; a slot may be negative.
 */
export const travelCountColumns = {
  type: 'ordered text',
  parent_id: 'ordered text',
  archived: 'integer',
  slot: 'integer',
  count: 'integer',
} as const satisfies Columns;

const ofResource = 'foreign key (type, id) references travel_resource (type, id) on delete cascade';

/** The resources of the travel service, with their index values, unique values, references and totals. */
export function travelTables(types: ColumnTypes): string[] {
  return [...resources(types), ...indexValues(types), ...references(types), ...lists(types)];
}

function resources(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'travel_resource',
      columns: travelResourceColumns,
      constraints: ['primary key (type, id)'],
    }),
    // Lists in the order of creation, with and without archived resources. Unique, so that the order is total.
    'create unique index travel_resource_page on travel_resource (type, parent_id, created_at, seq)',
    'create index travel_resource_archived on travel_resource (type, parent_id, archived, created_at, seq)',
  ];
}

function indexValues(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'travel_index',
      columns: travelIndexColumns,
      constraints: ['primary key (type, name, value, seq)', ofResource],
    }),
    'create index travel_index_archived on travel_index (type, name, archived, value, seq)',
    // Not (type, id, value): SQLite would read all of such an index in a search for a value.
    'create index travel_index_id on travel_index (type, id)',
    createTable(types, {
      table: 'travel_unique',
      columns: travelUniqueColumns,
      constraints: ['primary key (type, name, value)', ofResource],
    }),
    'create index travel_unique_id on travel_unique (type, id)',
  ];
}

/** The foreign key on the target refuses to delete a resource that others refer to. */
function references(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'travel_reference',
      columns: travelReferenceColumns,
      constraints: [
        'primary key (from_type, from_id, to_type, to_id)',
        'foreign key (from_type, from_id) references travel_resource (type, id) on delete cascade',
        'foreign key (to_type, to_id) references travel_resource (type, id)',
      ],
    }),
    'create index travel_reference_target on travel_reference (to_type, to_id)',
  ];
}

function lists(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'travel_turn',
      columns: travelTurnColumns,
      constraints: ['primary key (type)'],
    }),
    createTable(types, {
      table: 'travel_count',
      columns: travelCountColumns,
      constraints: ['primary key (type, parent_id, archived, slot)'],
    }),
  ];
}
