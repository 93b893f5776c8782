import type { Columns } from './columns.ts';

export const putBackColumns = {
  /** Values of travelers that were replaced since this generation are put back with the mapping; null if none are. */
  put_back_since: 'bigint?',
} as const satisfies Columns;
