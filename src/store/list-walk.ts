import { type RawBuilder, sql } from 'kysely';
import type { ListQuery, ListScan, SortKey, Where } from '../provisioning/list-ports.ts';
import { inScope } from './connection-scopes.ts';
import { joinRows, splitRows } from './joined-rows.ts';
import { type CountedRows, type Counts, compileCounter, readCounter, toCounts } from './list-counters.ts';
import type { ListDefinition, ListScope, OrderColumn, Sql } from './list-definitions.ts';
import { allOf, hideFromPlanner, toCondition } from './list-filter.ts';

/** Reads a list in the order of an index. */
export interface IndexWalk {
  /** Rows without a value are a part of their own, because databases sort nulls differently. */
  parts: IndexPart[];
  /** The condition that the index does not answer; undefined if it answers all. */
  filter: Sql | undefined;
  /** An expression that is 1 for rows after the cursor of the request, and for all rows without a cursor. */
  isAfterCursor: Sql;
  /** The largest number of rows that one statement looks at. */
  maxStep: number;
}

/** Rows that one index has in order: all of a list, those with a value in the sorted column, or those without. */
interface IndexPart {
  column: string;
  descending: boolean;
  rows: 'all' | 'valued' | 'null';
  equalities: Sql[];
  lowerBounds: Sql[];
  upperBounds: Sql[];
}

/** Rows looked at by the first step of a walk. Each further step looks at twice as many, up to a maximum. */
const FIRST_STEP = 500;
/** The largest step if the rows themselves are read. */
const MAX_STEP = 1000;
/** The largest step if the index contains all columns of the filter, and the largest number of skipped index entries. */
const MAX_INDEX_STEP = 10_000;

/** Returns the walk that reads all rows that meet the conditions in the order of a request. */
export function walkInOrder<Field extends string, By extends string>(
  definition: ListDefinition<Field, By, unknown>,
  conditions: Where<Field>[],
  { order: { by, descending }, start }: Pick<ListQuery<Field, By>, 'order' | 'start'>,
): IndexWalk {
  const order = definition.orders[by];
  const own = (condition: Where<Field>) => 'field' in condition && condition.field === order.field;
  const others = conditions.filter((condition) => !own(condition));
  const isCovered = others.every((one) => 'field' in one && one.field === definition.covered);
  const operators = (names: string[]) =>
    conditions
      .filter((one) => own(one) && 'field' in one && names.includes(one.operator))
      .map((one) => toCondition(definition, one));
  const part: IndexPart = {
    column: order.column,
    descending,
    rows: 'all',
    equalities: operators(['eq']),
    lowerBounds: operators(['gt', 'ge']),
    upperBounds: operators(['lt', 'le']),
  };
  const hasNulls = order.nullable && others.length === conditions.length;
  const split: IndexPart[] = [
    { ...part, rows: 'valued' },
    { ...part, rows: 'null' },
  ];
  return {
    parts: hasNulls ? (descending ? split.reverse() : split) : [part],
    filter: others.length > 0 ? toCondition(definition, { all: others }) : undefined,
    isAfterCursor: 'after' in start ? isAfterKey(order, descending, start.after) : sql.raw('1'),
    maxStep: isCovered ? MAX_INDEX_STEP : MAX_STEP,
  };
}

/** Rows without a value come last in ascending and first in descending order. */
function isAfterKey({ column, nullable }: OrderColumn<string>, descending: boolean, key: SortKey): Sql {
  const ref = sql.ref(column);
  const later = compareKeys(column, descending, key);
  const isAfter =
    key.value === null
      ? descending
        ? sql`${ref} is not null or ${later}`
        : sql`${ref} is null and ${later}`
      : nullable && !descending
        ? sql`${ref} is null or ${later}`
        : later;
  return sql`case when ${isAfter} then 1 else 0 end`;
}

function compareKeys(column: string, descending: boolean, { value, id }: SortKey): Sql {
  const relation = sql.raw(descending ? '<' : '>');
  if (value === null || column === 'id') return sql`id ${relation} ${id}`;
  return sql`(${sql.ref(column)}, id) ${relation} (${value}, ${id})`;
}

/** The start of a walk: after a key or, if undefined, with the first row. */
type Start = SortKey | undefined;

/** Returns the parts from a key on. */
function partsAfter({ parts }: IndexWalk, start: Start): { part: IndexPart; after: Start }[] {
  const first = start
    ? parts.findIndex(({ rows }) => rows === 'all' || (rows === 'null') === (start.value === null))
    : 0;
  return parts.slice(first).map((part, index) => ({ part, after: index === 0 ? start : undefined }));
}

function rowsIn(list: List, part: IndexPart, after: Start): Sql {
  const { column, descending, lowerBounds, upperBounds } = part;
  const [passed, ahead] = descending ? [upperBounds, lowerBounds] : [lowerBounds, upperBounds];
  return allOf([
    inScope(list.scope),
    list.definition.live,
    ...part.equalities,
    ...ahead,
    // With a key, the index must start at the key. A database may start at another bound of the column, if it sees one.
    ...(after ? passed.map(hideFromPlanner) : passed),
    ...(part.rows === 'null' ? [sql`${sql.ref(column)} is null`] : []),
    ...(part.rows === 'valued' && !after ? [sql`${sql.ref(column)} is not null`] : []),
    ...(after ? [compareKeys(column, descending, after)] : []),
  ]);
}

/** The table of a walk, and the connection. */
export interface List<Row = unknown> {
  definition: Pick<ListDefinition<string, string, Row>, 'table' | 'live' | 'columns' | 'toRow' | 'joined'>;
  scope: ListScope;
}

function selectKeys(list: List, part: IndexPart, after: Start): Sql {
  return sql`${sql.ref(part.column)} as key_value, id as key_id
    from ${sql.table(list.definition.table)} where ${rowsIn(list, part, after)}
    order by ${sortBy(part.column, 'id', part.descending)}`;
}

function sortBy(value: string, id: string, descending: boolean): Sql {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  if (value === id) return sql`${sql.ref(id)} ${direction}`;
  return sql`${sql.ref(value)} ${direction}, ${sql.ref(id)} ${direction}`;
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

/** Returns the walk in the opposite direction. */
export function reverseWalk(walk: IndexWalk): IndexWalk {
  return {
    ...walk,
    parts: walk.parts.map((part) => ({ ...part, descending: !part.descending })).reverse(),
  };
}

/** A row with its sort key. */
export interface KeyedRow<Row> {
  key: SortKey;
  row: Row;
}

/** Reads rows of a walk without a filter: after a key, after skipping rows, and at most `limit`. */
export async function readRows<Row>(
  list: List<Row>,
  walk: IndexWalk,
  { start, skip, limit, yieldBetweenSteps }: { start: Start; skip: number; limit: number } & Yielding,
): Promise<KeyedRow<Row>[]> {
  const rows: KeyedRow<Row>[] = [];
  let left = skip;
  for (const { part, after: first } of partsAfter(walk, start)) {
    let after = first;
    while (left >= MAX_INDEX_STEP) {
      const [last] = await readKeys(list, part, { after, skip: MAX_INDEX_STEP - 1 });
      if (!last) break;
      after = last;
      left -= MAX_INDEX_STEP;
      await yieldBetweenSteps();
    }
    rows.push(...(await readRowsOfPart(list, part, { after, skip: left, limit: limit - rows.length })));
    if (rows.length === limit) return rows;
    if (left > 0) left = rows.length > 0 ? 0 : left - (await countPart(list, part, after));
  }
  return rows;
}

/** Reads the first rows after a key together with a counter. */
export async function readRowsAndCounts<Row>(
  list: List<Row>,
  walk: IndexWalk,
  {
    start,
    limit,
    counted,
    yieldBetweenSteps,
  }: { start: Start; limit: number; counted: CountedRows } & Yielding,
): Promise<{ rows: KeyedRow<Row>[]; counts: Counts }> {
  const [first, ...others] = partsAfter(walk, start);
  if (!first) return { rows: [], counts: await readCounter(list.scope.db, list.scope, counted) };
  const { rows, counts } = await readFirstRows(list, first.part, { after: first.after, limit, counted });
  if (rows.length < limit && others.length > 0) {
    const rest = { ...walk, parts: others.map(({ part }) => part) };
    const from = { start: undefined, skip: 0, limit: limit - rows.length, yieldBetweenSteps };
    rows.push(...(await readRows(list, rest, from)));
  }
  return { rows, counts };
}

type Yielding = Pick<ListScan<unknown>, 'yieldBetweenSteps'>;

/** Reads the first rows of a part and a counter. */
async function readFirstRows<Row>(
  list: List<Row>,
  part: IndexPart,
  { after, limit, counted }: { after: Start; limit: number; counted: CountedRows },
): Promise<{ rows: KeyedRow<Row>[]; counts: Counts }> {
  const { db, readBoth, ...scope } = list.scope;
  const { joined } = list.definition;
  const counter = compileCounter(db, scope, counted);
  const select = selectFirstRows(list, part, { after, limit });
  if (joined?.order !== part.column) {
    const [sums, { rows }] = await readBoth(counter, select.compile(db));
    return { rows: toKeyedRows(list, rows), counts: toCounts(sums) };
  }
  const [sums, { rows }] = await readBoth(counter, joinRows(joined, select).compile(db));
  return { rows: rows.flatMap((row) => splitRows(joined, row)), counts: toCounts(sums) };
}

async function readRowsOfPart<Row>(
  list: List<Row>,
  part: IndexPart,
  { after, skip, limit }: { after: Start; skip: number; limit: number },
): Promise<KeyedRow<Row>[]> {
  const query =
    skip === 0
      ? selectFirstRows(list, part, { after, limit })
      : selectRows(list, part, { after, skip, limit });
  return toKeyedRows(list, (await query.execute(list.scope.db)).rows);
}

function toKeyedRows<Row>({ definition: { toRow } }: List<Row>, rows: KeyedColumns[]): KeyedRow<Row>[] {
  return rows.map((row) => ({ key: { value: row.key_value, id: row.id }, row: toRow(row) }));
}

/** The value of the sorted column beside the columns of a row. Each further column costs several microseconds of a page. */
interface KeyedColumns {
  key_value: string | number | null;
  id: string;
}

function selectFirstRows(
  list: List,
  part: IndexPart,
  { after, limit }: { after: Start; limit: number },
): RawBuilder<KeyedColumns> {
  const { table, columns } = list.definition;
  return sql`
    select ${columns}, ${sql.ref(part.column)} as key_value
    from ${sql.table(table)} where ${rowsIn(list, part, after)}
    order by ${sortBy(part.column, 'id', part.descending)} limit ${limit}`;
}

/** The subquery skips rows in the index, without reading them from the table. */
function selectRows(
  list: List,
  part: IndexPart,
  { after, skip, limit }: { after: Start; skip: number; limit: number },
): RawBuilder<KeyedColumns> {
  const { table, columns } = list.definition;
  return sql`
    select ${columns}, key_value
    from (select ${selectKeys(list, part, after)} limit ${limit} offset ${skip}) as page
    join ${sql.table(table)} on ${inScope(list.scope)} and ${sql.ref(`${table}.id`)} = page.key_id
    order by ${sortBy('key_value', 'key_id', part.descending)}`;
}

async function readKeys(
  list: List,
  part: IndexPart,
  { after, skip }: { after: Start; skip: number },
): Promise<SortKey[]> {
  const { rows } = await sql<KeyColumns>`
    select ${selectKeys(list, part, after)} limit 1 offset ${skip}`.execute(list.scope.db);
  return rows.map(toSortKey);
}

/** Counts the rows of a part after a key, of which less than `MAX_INDEX_STEP` are left. */
async function countPart(list: List, part: IndexPart, after: Start): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(list.definition.table)}
    where ${rowsIn(list, part, after)}`.execute(list.scope.db);
  return rows[0]?.count ?? 0;
}

/** Some rows of a walk that follow each other, and the number of them that match the filter. */
export interface Step {
  part: IndexPart;
  after: Start;
  size: number;
  matching: number;
}

/** Walks through a list from a key on, in steps between which it yields. */
export async function* stepsOf(
  list: List,
  walk: IndexWalk,
  { start, yieldBetweenSteps }: { start: Start } & Yielding,
): AsyncGenerator<Step> {
  let size = FIRST_STEP;
  for (const { part, after: first } of partsAfter(walk, start)) {
    for (let after = first; ; size = Math.min(2 * size, walk.maxStep)) {
      await yieldBetweenSteps();
      const { rows } = await sql<KeyColumns & { seen: number; matching: number }>`
        with ${selectStep(list, walk, { part, after, size })}
        select key_value, key_id, (select count(*) from step) as seen, (select sum(matches) from step) as matching
        from step order by ${sortBy('key_value', 'key_id', !part.descending)} limit 1`.execute(list.scope.db);
      const [last] = rows;
      if (last) yield { part, after, size, matching: last.matching };
      if (!last || last.seen < size) break;
      after = toSortKey(last);
    }
  }
}

/** The filter is not part of the condition, so that the database searches the index of the order and no other. */
function selectStep(
  list: List,
  { filter = sql.raw('1 = 1'), isAfterCursor }: IndexWalk,
  { part, after, size }: Omit<Step, 'matching'>,
): Sql {
  return sql`step as materialized (
    select case when ${filter} then 1 else 0 end as matches, ${isAfterCursor} as is_after_cursor,
      ${selectKeys(list, part, after)} limit ${size})`;
}

/** Reads the keys of a step that match the filter, after skipping some of them. */
export async function readMatchingKeys(
  list: List,
  walk: IndexWalk,
  { step, skip, limit }: { step: Step; skip: number; limit: number },
): Promise<FoundKey[]> {
  const { rows } = await sql<FoundKeyColumns>`
    with ${selectStep(list, walk, step)}
    select key_value, key_id, is_after_cursor from step where matches = 1
    order by ${sortBy('key_value', 'key_id', step.part.descending)}
    limit ${limit} offset ${skip}`.execute(list.scope.db);
  return rows.map(toFoundKey);
}

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
