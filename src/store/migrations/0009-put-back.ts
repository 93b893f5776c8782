import type { ColumnTypes } from './column-types.ts';
import { addColumns, type Columns } from './columns.ts';

export const putBackColumns = {
  /** Values of travelers that were replaced since this generation are put back with the mapping; null if none are. */
  put_back_since: 'bigint?',
} as const satisfies Columns;

/** Adds the generation since which replaced values are put back. */
export function addPutBack(types: ColumnTypes): string[] {
  return addColumns(types, 'rules_in_force', putBackColumns);
}
