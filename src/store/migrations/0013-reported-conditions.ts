import type { ColumnTypes } from './column-types.ts';
import { createTables, type TableDeclarations } from './columns.ts';

export const reportedConditionTables = {
  /** A condition that was told to the operator, or that a process has seen by itself. */
  reported_condition: {
    columns: {
      /** Empty for the whole service. */
      connection_id: 'ordered text',
      kind: 'ordered text',
      /** Empty if the kind has no subject. */
      subject: 'ordered text',
      /** The number of people when it was told last. */
      people: 'integer',
      since: 'bigint',
      /** Null until it is told. */
      told_at: 'bigint?',
      /** The time at which a process has last seen it by itself; 0 if every process finds it in the database. */
      seen_at: 'bigint',
      /** JSON of what the process knows; empty if every process finds it in the database. */
      fact: 'text',
    },
    constraints: ['primary key (connection_id, kind, subject)'],
  },
} as const satisfies TableDeclarations;

/** Replaces the table of reported holds by that of all conditions. */
export function addReportedConditions(types: ColumnTypes): string[] {
  return [
    ...createTables(reportedConditionTables, types),
    `insert into reported_condition (connection_id, kind, subject, people, since, told_at, seen_at, fact)
      select connection_id, cause, '', count, since, reported_at, 0, '' from hold_alarm
      where cause in ('unclearAnswer', 'notArchived', 'importMaximum')`,
    `insert into reported_condition (connection_id, kind, subject, people, since, told_at, seen_at, fact)
      select connection_id, 'hold', cause, count, since, reported_at, 0, '' from hold_alarm
      where cause not in ('unclearAnswer', 'notArchived', 'importMaximum')`,
    'drop table hold_alarm',
  ];
}
