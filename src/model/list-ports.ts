/** A comparison operator of a SCIM filter (RFC 7644 §3.4.2.2) that a column can answer. */
export type ComparisonOperator = 'eq' | 'gt' | 'ge' | 'lt' | 'le';

/** An operator that seeks a part of a text: its beginning, its end, or any part. */
export type PartOperator = 'sw' | 'ew' | 'co';

/**
 * A comparison that a database column answers: times in epoch milliseconds, strings by `eq` and by a part. A part is also found in every value
 * that is too long for the column.
 */
export interface Comparison<Field extends string> {
  field: Field;
  operator: ComparisonOperator | PartOperator;
  value: string | number | boolean;
}

/** A condition that database columns answer. An empty `all` matches every row, an empty `any` matches none. */
export type Where<Field extends string> =
  | { all: Where<Field>[] }
  | { any: Where<Field>[] }
  | Comparison<Field>;

/**
 * The searchable columns of users. userName, displayName and email are compared without case, the others exactly. `person` has all names,
 * addresses and numbers of a person in one text, in which a part is sought.
 */
export type UserField =
  | 'id'
  | 'userName'
  | 'externalId'
  | 'email'
  | 'displayName'
  | 'person'
  | 'active'
  | 'created'
  | 'lastModified';

/** The searchable columns of groups. */
export type GroupField = 'id' | 'displayName' | 'externalId' | 'member' | 'created' | 'lastModified';

/** The columns that users can be sorted by. `position` is the default: the order of creation, which never changes. */
export type UserOrder =
  | 'position'
  | 'id'
  | 'userName'
  | 'externalId'
  | 'displayName'
  | 'created'
  | 'lastModified';

/** The columns that groups can be sorted by. */
export type GroupOrder = Exclude<UserOrder, 'userName'>;

/**
 * The place of a row in a sort order: its value in the sorted column (null if it has none) and its id, which decides
 * between rows with equal values.
 */
export interface SortKey {
  value: string | number | null;
  id: string;
}

/** A list request: condition, order and page. Rows without a value come last in ascending and first in descending order. */
export interface ListQuery<Field extends string, By extends string> {
  where: Where<Field>;
  /** The residual can be left out if no value of these fields is too long for its column. Undefined: it cannot. */
  exactUnlessLong?: readonly Field[] | undefined;
  order: { by: By; descending: boolean };
  /** The start of the page: after this many rows, or after the row with this key. */
  start: { offset: number } | { after: SortKey };
  limit: number;
}

/** One page of a list. */
export interface ListPage<Row> {
  /** The exact number of rows that match, on all pages. */
  total: number;
  rows: Row[];
  /** The keys of the rows, in the same order; may be empty on the last page. */
  keys: SortKey[];
  /** The key of the last row, if another page follows. */
  next: SortKey | undefined;
}

/** The functions that a list calls while it is computed: one yields to other requests, the other tests what the columns cannot answer. */
export interface ListScan<Row> {
  /**
   * The list awaits this function between short steps. It yields to other requests from time to time, and throws
   * `tooMany` after the time limit.
   */
  yieldBetweenSteps(): Promise<void>;
  /**
   * Returns, for each row, true if it matches the rest of the filter; undefined if the columns answer the whole filter.
   */
  residual: ((rows: Row[]) => Promise<boolean[]>) | undefined;
}
