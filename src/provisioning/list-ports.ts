/** How a column is compared with a value. */
export type ComparisonOperator = 'eq' | 'gt' | 'ge' | 'lt' | 'le';

/** A comparison that a column answers; texts by `eq` only, times in epoch milliseconds. */
export interface Comparison<Field extends string> {
  field: Field;
  operator: ComparisonOperator;
  value: string | number | boolean;
}

/** A condition that columns answer. `all` of none holds for everybody, `any` of none for nobody. */
export type Where<Field extends string> =
  | { all: Where<Field>[] }
  | { any: Where<Field>[] }
  | Comparison<Field>;

/** What columns answer of users. Case: userName, displayName and email without, the rest exactly. */
export type UserField =
  | 'id'
  | 'userName'
  | 'externalId'
  | 'email'
  | 'displayName'
  | 'active'
  | 'created'
  | 'lastModified';

/** What columns answer of groups. */
export type GroupField = 'id' | 'displayName' | 'externalId' | 'member' | 'created' | 'lastModified';

/** What users can be sorted by; `position` is the stable key, which is fixed for life. */
export type UserOrder =
  | 'position'
  | 'id'
  | 'userName'
  | 'externalId'
  | 'displayName'
  | 'created'
  | 'lastModified';

/** What groups can be sorted by. */
export type GroupOrder = Exclude<UserOrder, 'userName'>;

/** Where a row stands in an order: its value there, null when it has none, and its stable key. */
export interface SortKey {
  value: string | number | null;
  position: number;
}

/** Which part of which list is wanted, and in which order; rows without a value come last, descending first. */
export interface ListQuery<Field extends string, By extends string> {
  where: Where<Field>;
  order: { by: By; descending: boolean };
  /** After so many rows, or after the row that had this key. */
  start: { offset: number } | { after: SortKey };
  limit: number;
}

/** A part of a list. */
export interface ListPage<Row> {
  /** How many there are in all. */
  total: number;
  rows: Row[];
  /** The keys of the rows, in their order; may be none where no others follow. */
  keys: SortKey[];
  /** The key of the last row when others follow it. */
  next: SortKey | undefined;
}

/** What a list that takes long owes to the others, and what it asks of rows beyond their columns. */
export interface ListScan<Row> {
  /** Awaited between short steps: lets others in now and then, and throws when it has taken too long. */
  yieldBetweenSteps(): Promise<void>;
  /** Which of the rows match what no column answers; undefined: columns answer all of it. */
  residual: ((rows: Row[]) => Promise<boolean[]>) | undefined;
}
