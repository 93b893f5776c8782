import { sql } from 'kysely';
import type { ListQuery, ListScan, SortKey } from '../../model/list-ports.ts';
import { inScope } from '../connection-scopes.ts';
import type { ListDefinition, ListScope, Sql } from './list-definitions.ts';
import { allOf } from './list-filter.ts';

/** The table of a list, and the connection. */
export interface List<Row = unknown> {
  definition: Pick<ListDefinition<string, Row>, 'table' | 'live' | 'columns' | 'toRow'>;
  scope: ListScope;
}

/** An order in which an index contains all rows of a list. Equal values are ordered by id. */
export interface RowOrder {
  column: string;
  /** Rows may have no value. */
  nullable: boolean;
  descending: boolean;
}

/** A row with its sort key. */
export interface KeyedRow<Row> {
  key: SortKey;
  row: Row;
}

/** The sort key of a row as a statement returns it. */
interface KeyColumns {
  key_value: string | number | null;
  key_id: string;
}

/** A row that was tested for a condition. */
export interface FoundKey {
  key: SortKey;
  matches: boolean;
  isAfterCursor: boolean;
}

function toSortKey({ key_value, key_id }: KeyColumns): SortKey {
  return { value: key_value, id: key_id };
}

/** Returns the terms of ORDER BY. Rows without a value come last in ascending and first in descending order. */
function orderBy({ nullable, descending }: RowOrder, value: Sql, id: Sql): Sql {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const nulls = nullable ? sql.raw(descending ? ' nulls first' : ' nulls last') : sql.raw('');
  return sql`${value} ${direction}${nulls}, ${id} ${direction}`;
}

/** Returns the conditions of the rows after a key, each a range of the index, in the order of the list. */
function rangesAfter({ column, nullable, descending }: RowOrder, { value, id }: SortKey): Sql[] {
  const ref = sql.ref(column);
  const relation = sql.raw(descending ? '<' : '>');
  if (value !== null) {
    const later = sql`(${ref}, id) ${relation} (${value}, ${id})`;
    return nullable && !descending ? [later, sql`${ref} is null`] : [later];
  }
  const later = sql`(${ref} is null and id ${relation} ${id})`;
  return descending ? [later, sql`${ref} is not null`] : [later];
}

/** Returns an expression that is 1 for the rows after a key, and for all rows without a key. */
function isAfterKey(order: RowOrder, key: SortKey | undefined): Sql {
  if (!key) return sql.raw('1');
  return sql`case when ${sql.join(rangesAfter(order, key), sql` or `)} then 1 else 0 end`;
}

/** The cursor of a request that has one. */
export function cursorOf({ start }: Pick<ListQuery<string, string>, 'start'>): SortKey | undefined {
  return 'after' in start ? start.after : undefined;
}

function rangesFrom(order: RowOrder, key: SortKey | undefined): Sql[] {
  return key ? rangesAfter(order, key) : [sql.raw('1 = 1')];
}

/** Reads at most `limit` rows after a key or an offset. */
export async function readRows<Row>(
  list: List<Row>,
  { order, start, limit }: { order: RowOrder } & Bounds,
): Promise<KeyedRow<Row>[]> {
  const { table, live, columns, toRow } = list.definition;
  const offset = 'offset' in start ? start.offset : 0;
  const value = sql.ref(order.column);
  const rows: KeyedRow<Row>[] = [];
  for (const range of rangesFrom(order, cursorOf({ start }))) {
    if (rows.length === limit) break;
    const found = await sql<KeyColumns>`
      select ${columns}, ${value} as key_value, id as key_id from ${sql.table(table)}
      where ${allOf([inScope(list.scope), live, range])}
      order by ${orderBy(order, value, sql.ref('id'))} limit ${limit - rows.length} offset ${offset}
    `.execute(list.scope.db);
    rows.push(...found.rows.map((row) => ({ key: toSortKey(row), row: toRow(row) })));
  }
  return rows;
}

type Bounds = Pick<ListQuery<string, string>, 'start' | 'limit'>;

/** Reads the rows with these keys, in their order. Rows that have been deleted meanwhile are missing. */
export async function readRowsAt<Row>(list: List<Row>, keys: SortKey[]): Promise<KeyedRow<Row>[]> {
  if (keys.length === 0) return [];
  const { table, live, columns, toRow } = list.definition;
  const { rows } = await sql<{ key_id: string }>`
    select ${columns}, id as key_id from ${sql.table(table)}
    where ${inScope(list.scope)} and ${live}
      and id in (${sql.join(keys.map(({ id }) => id))})`.execute(list.scope.db);
  const found = new Map(rows.map((row) => [row.key_id, toRow(row)]));
  return keys.flatMap((key) => {
    const row = found.get(key.id);
    return row === undefined ? [] : [{ key, row }];
  });
}

/** The keys to read: their order, the condition for which each row is tested, and the cursor of the request. */
export interface KeySearch {
  order: RowOrder;
  condition: Sql;
  cursor: SortKey | undefined;
}

/** Reads the keys of rows with these ids, in order. */
export function readKeysOf(list: List, search: KeySearch, ids: string[]): Promise<FoundKey[]> {
  const { account, connection } = list.scope;
  // The whole primary key is compared, because SQLite would read all rows of the scope if it knew the ids alone.
  const keys = ids.map((id) => sql`(${account}, ${connection}, ${id})`);
  const condition = allOf([list.definition.live, search.condition]);
  return readKeys(
    list,
    { ...search, condition },
    sql`(account, connection_id, id) in (values ${sql.join(keys)})`,
  );
}

/** The number of rows of one step: some milliseconds of work, during which SQLite does nothing else. */
const STEP = 1000;

/** Walks through a list in steps, between which other requests run. Yields the keys of the rows of each step that meet the condition. */
export async function* walk(
  list: List,
  search: KeySearch,
  { yieldBetweenSteps }: Pick<ListScan<unknown>, 'yieldBetweenSteps'>,
): AsyncGenerator<FoundKey[]> {
  // From the first row on, also after a cursor: the total counts the rows before it.
  let [range, ...others] = rangesFrom(search.order, undefined);
  while (range) {
    await yieldBetweenSteps();
    const where = allOf([inScope(list.scope), list.definition.live, range]);
    const step = await readKeys(list, search, where, sql` limit ${STEP}`);
    yield step.filter(({ matches }) => matches);
    // A full step may be followed by more rows of the same range.
    const last = step[STEP - 1];
    [range, ...others] = last ? rangesAfter(search.order, last.key) : others;
  }
}

/** The condition is not part of WHERE, so that the database reads the rows along the index of the order, or by their ids. */
async function readKeys(
  { definition: { table }, scope: { db } }: List,
  { order, condition, cursor }: KeySearch,
  where: Sql,
  limit = sql``,
): Promise<FoundKey[]> {
  const value = sql.ref(order.column);
  const { rows } = await sql<KeyColumns & { matches: 0 | 1; is_after_cursor: 0 | 1 }>`
    select case when ${condition} then 1 else 0 end as matches, ${isAfterKey(order, cursor)} as is_after_cursor,
      ${value} as key_value, id as key_id
    from ${sql.table(table)} where ${where} order by ${orderBy(order, value, sql.ref('id'))}${limit}`.execute(
    db,
  );
  return rows.map(({ matches, is_after_cursor, ...key }) => ({
    key: toSortKey(key),
    matches: matches === 1,
    isAfterCursor: is_after_cursor === 1,
  }));
}
