import { sql } from 'kysely';
import type { ListQuery, ListScan, SortKey } from '../../provisioning/users/list-ports.ts';
import { inScope } from '../connection-scopes.ts';
import type { ListDefinition, ListScope, OrderColumn, Sql } from './list-definitions.ts';
import { allOf } from './list-filter.ts';

/** The table of a list, and the connection. */
export interface List<Row = unknown> {
  definition: Pick<ListDefinition<string, string, Row>, 'table' | 'live' | 'columns' | 'toRow'>;
  scope: ListScope;
}

/** An order in which an index contains all rows of a list. Equal values are ordered by id. */
export interface RowOrder extends OrderColumn<string> {
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

/** A row that meets the conditions on columns. */
export interface FoundKey {
  key: SortKey;
  isAfterCursor: boolean;
}

/** A found row as a statement returns it. */
export interface FoundKeyColumns extends KeyColumns {
  is_after_cursor: 0 | 1;
}

/** Converts the columns of a found row. */
export function toFoundKey(columns: FoundKeyColumns): FoundKey {
  return { key: toSortKey(columns), isAfterCursor: columns.is_after_cursor === 1 };
}

function toSortKey({ key_value, key_id }: KeyColumns): SortKey {
  return { value: key_value, id: key_id };
}

/** Returns the terms of ORDER BY. Rows without a value come last in ascending and first in descending order. */
export function orderBy({ nullable, descending }: RowOrder, value: Sql, id: Sql): Sql {
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
export function isAfterKey(order: RowOrder, key: SortKey | undefined): Sql {
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

/** Reads at most `limit` rows that meet a condition, after a key or an offset. */
export async function readRows<Row>(
  list: List<Row>,
  { order, condition, start, limit }: { order: RowOrder; condition: Sql } & Bounds,
): Promise<KeyedRow<Row>[]> {
  const { table, live, columns, toRow } = list.definition;
  const offset = 'offset' in start ? start.offset : 0;
  const value = sql.ref(order.column);
  const rows: KeyedRow<Row>[] = [];
  for (const range of rangesFrom(order, cursorOf({ start }))) {
    if (rows.length === limit) break;
    const found = await sql<KeyColumns>`
      select ${columns}, ${value} as key_value, id as key_id from ${sql.table(table)}
      where ${allOf([inScope(list.scope), live, condition, range])}
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

/** The number of rows of one step: some milliseconds of work, during which SQLite does nothing else. */
const STEP = 1000;

/** A scan of a list in an order, from a key on. */
export interface Walk extends Pick<ListScan<unknown>, 'yieldBetweenSteps'> {
  order: RowOrder;
  /** The condition that each row is tested for. */
  condition: Sql;
  /** The walk begins after this row, or else with the first one. */
  from: SortKey | undefined;
  /** The cursor of the request. */
  cursor: SortKey | undefined;
}

/** Some rows of a walk that follow each other, and the number of them that meet the condition. */
export interface Step {
  range: Sql;
  matching: number;
}

/** Walks through a list in steps, between which other requests run. */
export async function* stepsOf(list: List, walk: Walk): AsyncGenerator<Step> {
  const { order, from, yieldBetweenSteps } = walk;
  let [range, ...others] = rangesFrom(order, from);
  while (range) {
    await yieldBetweenSteps();
    const { rows } = await sql<KeyColumns & { seen: number; matching: number }>`
      with ${selectStep(list, walk, range)}
      select key_value, key_id, (select count(*) from step) as seen, (select sum(matches) from step) as matching
      from step order by ${keyOrder({ ...order, descending: !order.descending })} limit 1
    `.execute(list.scope.db);
    const [last] = rows;
    if (last) yield { range, matching: last.matching };
    // A full step may be followed by more rows of the same range.
    [range, ...others] = last?.seen === STEP ? rangesAfter(order, toSortKey(last)) : others;
  }
}

function keyOrder(order: RowOrder): Sql {
  return orderBy(order, sql.ref('key_value'), sql.ref('key_id'));
}

/** The condition is not part of WHERE, so that the database reads along the index of the order. */
function selectStep(list: List, { order, condition, cursor }: Walk, range: Sql): Sql {
  const value = sql.ref(order.column);
  return sql`step as materialized (
    select case when ${condition} then 1 else 0 end as matches, ${isAfterKey(order, cursor)} as is_after_cursor,
      ${value} as key_value, id as key_id
    from ${sql.table(list.definition.table)}
    where ${allOf([inScope(list.scope), list.definition.live, range])}
    order by ${orderBy(order, value, sql.ref('id'))} limit ${STEP})`;
}

/** Reads the keys of a step that meet the condition, after skipping some of them. */
export async function readMatchingKeys(
  list: List,
  walk: Walk,
  { step, skip, limit }: { step: Step; skip: number; limit: number },
): Promise<FoundKey[]> {
  const { rows } = await sql<FoundKeyColumns>`
    with ${selectStep(list, walk, step.range)}
    select key_value, key_id, is_after_cursor from step where matches = 1
    order by ${keyOrder(walk.order)} limit ${limit} offset ${skip}`.execute(list.scope.db);
  return rows.map(toFoundKey);
}
