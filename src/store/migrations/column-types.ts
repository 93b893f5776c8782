/** The parts of a table's definition that differ between the databases. All other columns are `text` (JSON too) and `integer`. */
export interface ColumnTypes {
  /** Text that is compared, ordered or part of a key: by code point in every database. */
  orderedText: 'text' | 'text collate "C"';
  /** A 64-bit integer: times, positions, sequence numbers. */
  bigint: 'integer' | 'bigint';
  /**
   * The end of the definition of a table whose rows are little more than their key: SQLite then keeps them in the index of
   * the primary key alone.
   */
  keyOnly: '' | 'without rowid';
  /** The name of the migration that creates all tables. */
  firstMigration: '0001-schema-63b97ee2' | '0001-schema-eccd744d';
}
