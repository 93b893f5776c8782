import type { ColumnTypes } from './column-types.ts';
import { addColumns, type Columns } from './columns.ts';

/** The columns of `identity` about decisions of admins. */
export const decisionColumns = {
  /** The time of the last decision about this person; null if there was none. */
  decided_at: 'bigint?',
} as const satisfies Columns;

/** The columns of `rules_change` about the effect of the change, and the decision about it. */
export const rulesDecisionColumns = {
  decided_at: 'bigint?',
  /** The number of people who are reconciled because of the decision. */
  decided_people: 'integer?',
  /** JSON of the effect, as far as it is computed; null before that and after the decision. */
  effect: 'text?',
} as const satisfies Columns;

/** The rules that people followed before those in force, so that a held change can be compared with them. */
export const followedColumns = {
  followed_generation: 'bigint?',
  followed_lookups: 'text?',
} as const satisfies Columns;

/** Adds the effect of held changes, and the time of decisions by which their people are found. */
export function addHeldChanges(types: ColumnTypes): string[] {
  return [
    ...addColumns(types, 'identity', decisionColumns),
    ...addColumns(types, 'rules_change', rulesDecisionColumns),
    ...addColumns(types, 'rules_in_force', followedColumns),
    `create index identity_decided_at on identity (account, connection_id, decided_at, state, id)
      where decided_at is not null`,
  ];
}
