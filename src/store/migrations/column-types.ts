/** The few column types that differ between the databases. */
export interface ColumnTypes {
  json: 'text' | 'jsonb';
  /** A 64-bit integer. */
  time: 'integer' | 'bigint';
}
