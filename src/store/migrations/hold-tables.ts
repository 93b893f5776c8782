import type { ColumnTypes } from './column-types.ts';
import { type Columns, createTable, ofConnection } from './columns.ts';

/** A deactivation or deletion that the safety valve counted within its window. */
export const departureColumns = {
  account: 'ordered text',
  connection_id: 'ordered text',
  /** The id of the traveler, by which a person counts once whatever SCIM ids they had; without a traveler, the SCIM id. */
  identity_id: 'ordered text',
  at: 'bigint',
} as const satisfies Columns;

/** The change of rules or lookups that was checked last. */
export const rulesChangeColumns = {
  account: 'ordered text',
  connection_id: 'ordered text',
  generation: 'bigint',
  /** The number of people whom the change affects; counting stops at a limit. */
  people: 'integer',
  since: 'bigint',
  /** An admin's answer; null until there is one. */
  answer: 'text?',
  /** JSON list of the people whom recent approved changes affected, each with the time of the change. */
  recent: 'text',
} as const satisfies Columns;

/** A hold that was reported to the operator. */
export const holdAlarmColumns = {
  account: 'ordered text',
  connection_id: 'ordered text',
  cause: 'ordered text',
  count: 'integer',
  since: 'bigint',
  reported_at: 'bigint',
} as const satisfies Columns;

/** A traveler of an erased person. Imports skip it, and no identity is linked to it. */
export const erasedTravelerColumns = {
  account: 'ordered text',
  /** SHA-256 of the account and the travel id. */
  hash: 'ordered text',
  erased_at: 'bigint',
} as const satisfies Columns;

export function holdTables(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'departure',
      columns: departureColumns,
      constraints: ['primary key (account, connection_id, identity_id)', ofConnection],
    }),
    'create index departure_at on departure (account, connection_id, at)',
    createTable(types, {
      table: 'rules_change',
      columns: rulesChangeColumns,
      constraints: ['primary key (account, connection_id)', ofConnection],
    }),
    createTable(types, {
      table: 'hold_alarm',
      columns: holdAlarmColumns,
      constraints: ['primary key (account, connection_id, cause)', ofConnection],
    }),
    createTable(types, {
      table: 'erased_traveler',
      columns: erasedTravelerColumns,
      constraints: ['primary key (account, hash)'],
    }),
  ];
}
