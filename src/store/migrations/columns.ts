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
}

/** A text that is compared or ordered is an ordered text. A flag is 0 or 1. */
type ColumnType = 'text' | 'ordered text' | 'integer' | 'bigint' | 'double' | 'flag';

/** The columns of a table. A column may be null, or has a default, or neither. */
type Columns = Record<string, ColumnType | `${ColumnType}?` | `${ColumnType} = ${string}`>;

/** The columns of an index. With `where` it has only the rows of which the condition holds. */
type Index = string | { columns: string; unique?: true; where?: string };

/** Tables by name, in an order in which a table follows those that it refers to. */
export type TableDeclarations = Record<
  string,
  {
    columns: Columns;
    constraints: readonly string[];
    /** True if the rows are little more than their key. */
    isKeyOnly?: true;
    /** By name, which begins with that of the table. */
    indexes?: Record<string, Index>;
  }
>;

/** The types of the rows of tables. */
export type RowsOf<Tables extends TableDeclarations> = {
  [Name in keyof Tables]: RowOf<Tables[Name]['columns']>;
};

/** The type of a row with these columns. */
type RowOf<Declared extends Columns> = {
  -readonly [Name in keyof Declared]: Declared[Name] extends `${infer Type}?`
    ? ValueOf<Type> | null
    : ValueOf<Declared[Name]>;
};

type ValueOf<Type> = Type extends `flag${string}`
  ? 0 | 1
  : Type extends `${'text' | 'ordered text'}${string}`
    ? string
    : number;

/** Returns the statements that create tables with their indexes. */
export function createTables(tables: TableDeclarations, types: ColumnTypes): string[] {
  return Object.entries(tables).flatMap(([table, { columns, constraints, isKeyOnly, indexes = {} }]) => {
    const parts = [...columnDefinitions(columns, types), ...constraints];
    return [
      `create table ${table} (${parts.join(', ')}) ${isKeyOnly ? types.keyOnly : ''}`,
      ...Object.entries(indexes).map(([name, index]) => createIndex(table, name, index)),
    ];
  });
}

function createIndex(table: string, name: string, index: Index): string {
  const { columns, unique, where } = typeof index === 'string' ? { columns: index } : index;
  const condition = where === undefined ? '' : ` where ${where}`;
  return `create ${unique ? 'unique ' : ''}index ${table}_${name} on ${table} (${columns})${condition}`;
}

function columnDefinitions(columns: Columns, { orderedText, bigint }: ColumnTypes): string[] {
  const types = {
    ...{ text: 'text', 'ordered text': orderedText, integer: 'integer', bigint, flag: 'integer' },
    double: 'double precision',
  };
  return Object.entries(columns).map(([name, column]) => {
    const [declared = '', value] = column.split(' = ');
    const type = types[declared.replace('?', '') as ColumnType]; // The type of a column declares it so.
    if (declared.endsWith('?')) return `${name} ${type}`;
    return `${name} ${type} not null${value === undefined ? '' : ` default ${value}`}`;
  });
}

/** The columns with which the keys and most indexes of the bridge's tables begin. */
export const SCOPE = 'account, connection_id';

export const scopeKey = {
  account: 'ordered text',
  connection_id: 'ordered text',
} as const satisfies Columns;

/** The constraint of the tables of the bridge. Their rows move with the connection to another account. */
export const ofConnection = `foreign key (${SCOPE}) references connection (account, id) on update cascade`;

/** The constraint of rows that belong to a group. */
export const ofGroup = `foreign key (${SCOPE}, group_id) references scim_group (${SCOPE}, id) on delete cascade on update cascade`;
