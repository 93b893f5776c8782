import { sql } from 'kysely';
import type { ListPage, ListQuery, ListScan, SortKey, Where } from '../provisioning/list-ports.ts';
import { inScope } from './connection-scopes.ts';
import { readCounter } from './list-counters.ts';
import type { ListCounter, ListDefinition, ListScope } from './list-definitions.ts';
import {
  allOf,
  conjunctsOf,
  hideFromPlanner,
  type IndexSearch,
  indexSearchesOf,
  selectFoundIds,
  toCondition,
} from './list-filter.ts';
import {
  type FoundKey,
  type FoundKeyColumns,
  type IndexWalk,
  type KeyedRow,
  readMatchingKeys,
  readRows,
  readRowsAndCounts,
  readRowsAt,
  reverseWalk,
  stepsOf,
  toFoundKey,
  walkInOrder,
} from './list-walk.ts';
import type { PageMemory } from './page-memory.ts';
import { batches } from './queries.ts';

/** A request for one page of a list. */
export interface ListTask<Field extends string, By extends string, Row> {
  definition: ListDefinition<Field, By, Row>;
  scope: ListScope;
  query: ListQuery<Field, By>;
  scan: ListScan<Row>;
  pageEnds: PageEnds;
}

/** The key of the last row of a page, and the total at that time. */
interface PageEnd {
  key: SortKey;
  total: number;
}

export type PageEnds = PageMemory<PageEnd>;

/** Longer descriptions of lists are not remembered, so that the filters of clients do not fill the memory. */
const MAX_REMEMBERED_LENGTH = 4000;

/** The number of rows up to which a search in indexes reads complete rows, and up to which it reads their keys. */
const FEW = 50;
const MANY = 5000;

/** The number of rows to which the residual condition is applied at once. */
const BATCH = 50;

/**
 * Reads one page of a list with its exact total. If searches in indexes find few enough rows, these are sorted.
 * Otherwise the list is walked through in its order.
 */
export async function listRows<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
): Promise<ListPage<Row>> {
  const { definition, scope, query, scan } = task;
  const conditions = conjunctsOf(query.where);
  const counter = definition.counterOf(conditions);
  const walk = walkInOrder(definition, conditions, query);
  const direct = counter && !walk.filter && !scan.residual && (await readPageAndTotal(task, walk, counter));
  if (direct) return direct;
  const known = counter?.toTotal(await readCounter(scope.db, scope, counter.rows));
  if (known === undefined || (known <= MANY && walk.filter)) {
    const found = await findByIndexes(task, walk);
    if (found) return readFoundPage(task, found);
  }
  if (scan.residual) return scanRows(task, walk);
  const total = known ?? (await countMatches(task, conditions));
  return readPage(task, { walk, total });
}

/**
 * Reads a page together with its total. Returns undefined if the row before the page is not known, and therefore rows must be
 * skipped, from the end of the list that is nearer.
 */
async function readPageAndTotal<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  walk: IndexWalk,
  { rows: counted, toTotal }: ListCounter,
): Promise<ListPage<Row> | undefined> {
  const { start, limit } = task.query;
  const offset = 'offset' in start ? start.offset : 0;
  const end = recallPageEnd(task, offset);
  const key = 'after' in start ? start.after : end?.key;
  if (limit === 0 || (offset > 0 && !key)) return undefined;
  const from = { start: key, limit: wantedRows(limit), counted, ...task.scan };
  const { rows, counts } = await readRowsAndCounts(task, walk, from);
  const total = toTotal(counts);
  if (end && !isValidAt(total, end)) return undefined;
  return toPage(task, offset < total ? rows : [], total);
}

/** A row that meets the conditions on columns, read completely or not. */
interface FoundRow<Row> extends FoundKey {
  row?: Row;
}

/** Returns all rows that meet the conditions on columns, in order; undefined if they are too many. */
async function findByIndexes<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  walk: IndexWalk,
): Promise<FoundRow<Row>[] | undefined> {
  const searches = indexSearchesOf(task.definition, task.query.where);
  if (!searches) return undefined;
  return (
    (await selectFound(task, { walk, searches, limit: FEW, withRows: true })) ??
    (await selectFound(task, { walk, searches, limit: MANY, withRows: false }))
  );
}

/**
 * Sorts what searches find; undefined if they find more than `limit`. SQLite executes a cross join in the order in which
 * it is written, and finds each row by its id if it sees no other condition.
 */
async function selectFound<Field extends string, By extends string, Row>(
  { definition, scope, query, scan }: ListTask<Field, By, Row>,
  {
    walk,
    searches,
    limit,
    withRows,
  }: { walk: IndexWalk; searches: IndexSearch<Field>[]; limit: number; withRows: boolean },
): Promise<FoundRow<Row>[] | undefined> {
  await scan.yieldBetweenSteps();
  const condition = allOf([definition.live, toCondition(definition, query.where)]);
  const direction = sql.raw(query.order.descending ? 'desc' : 'asc');
  const { rows } = await sql<FoundKeyColumns & { candidates: number }>`
    with candidate as materialized (${selectFoundIds(definition, scope, { searches, limit: limit + 1 })})
    select * from (select count(*) as candidates from candidate) as counted left join (
      select ${withRows ? sql`${definition.columns}, ` : sql``}${walk.isAfterCursor} as is_after_cursor,
        ${sql.ref(definition.orders[query.order.by].column)} as key_value, id as key_id
      from (select distinct id as candidate_id from candidate where (select count(*) from candidate) <= ${limit})
        as chosen cross join ${sql.table(definition.table)}
      where ${inScope(scope)} and id = candidate_id and ${hideFromPlanner(condition)}
    ) as found on 1 = 1
    order by case when key_value is null then 1 else 0 end ${direction},
      key_value ${direction}, key_id ${direction}`.execute(scope.db);
  if ((rows[0]?.candidates ?? 0) > limit) return undefined;
  return rows
    .filter(({ key_id }) => key_id !== null)
    .map((columns) => ({
      ...toFoundKey(columns),
      ...(withRows ? { row: definition.toRow(columns) } : {}),
    }));
}

async function readFoundPage<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  found: FoundRow<Row>[],
): Promise<ListPage<Row>> {
  const collector = collectPage<FoundRow<Row>>(task.query);
  for (const batch of batches(found, BATCH)) {
    for (const row of task.scan.residual ? await keepMatching(task, batch) : batch) collector.add(row);
  }
  const { items, next } = splitNext(collector.items, task.query.limit);
  return { total: collector.total, ...toRowsAndKeys(await loadRows(task, items)), next };
}

/** Walks through the whole list and applies the residual condition to each row. Holds one batch of rows at a time. */
async function scanRows<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  walk: IndexWalk,
): Promise<ListPage<Row>> {
  const { yieldBetweenSteps } = task.scan;
  const collector = collectPage<FoundRow<Row> & { row: Row }>(task.query);
  for await (const step of stepsOf(task, walk, { start: undefined, yieldBetweenSteps })) {
    const found = await readMatchingKeys(task, walk, { step, skip: 0, limit: step.size });
    for (const batch of batches(found, BATCH)) {
      for (const row of await keepMatching(task, batch)) collector.add(row);
    }
  }
  const { items, next } = splitNext(collector.items, task.query.limit);
  return { total: collector.total, ...toRowsAndKeys(items), next };
}

/** Collects a page from all rows that match, in order, and counts them. */
interface PageCollector<Item> {
  total: number;
  items: Item[];
  add(item: Item): void;
}

function collectPage<Item extends FoundKey>({
  start,
  limit,
}: ListQuery<string, string>): PageCollector<Item> {
  let skip = 'offset' in start ? start.offset : 0;
  const collector: PageCollector<Item> = {
    total: 0,
    items: [],
    add: (item) => {
      collector.total += 1;
      if (!item.isAfterCursor) return;
      if (skip > 0) skip -= 1;
      else if (collector.items.length < wantedRows(limit)) collector.items.push(item);
    },
  };
  return collector;
}

/** One row more than the page shows whether another page follows. An empty page has no next one. */
function wantedRows(limit: number): number {
  return limit > 0 ? limit + 1 : 0;
}

/** Returns the rows of a page, and the key of its last row if another one follows. */
function splitNext<Item extends { key: SortKey }>(
  found: Item[],
  limit: number,
): { items: Item[]; next: SortKey | undefined } {
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? items.at(-1)?.key : undefined };
}

function toRowsAndKeys<Row>(rows: KeyedRow<Row>[]): Pick<ListPage<Row>, 'rows' | 'keys'> {
  return { rows: rows.map(({ row }) => row), keys: rows.map(({ key }) => key) };
}

/** Applies the residual condition. Rows that have been deleted meanwhile do not match. */
async function keepMatching<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  found: FoundRow<Row>[],
): Promise<(FoundRow<Row> & { row: Row })[]> {
  await task.scan.yieldBetweenSteps();
  const loaded = await loadRows(task, found);
  const flags = (await task.scan.residual?.(loaded.map(({ row }) => row))) ?? [];
  return loaded.filter((_, index) => flags[index]);
}

/** Reads the rows of which only the key is known. */
async function loadRows<Field extends string, By extends string, Row>(
  { definition, scope }: ListTask<Field, By, Row>,
  found: FoundRow<Row>[],
): Promise<(FoundRow<Row> & { row: Row })[]> {
  const missing = found.filter(({ row }) => row === undefined).map(({ key }) => key);
  const read = await readRowsAt({ definition, scope }, missing);
  const rows = new Map(read.map(({ key, row }) => [key.id, row]));
  return found.flatMap((one) => {
    const row = one.row ?? rows.get(one.key.id);
    return row === undefined ? [] : [{ ...one, row }];
  });
}

/** Counts in steps, along the index of one of the conditions if there is one. */
async function countMatches<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  conditions: Where<Field>[],
): Promise<number> {
  const { definition, query, scan } = task;
  const [search, ...others] = indexSearchesOf(definition, query.where) ?? [];
  const names = Object.keys(definition.orders) as By[]; // The keys of this record.
  const by = names.find((name) => others.length === 0 && definition.orders[name].field === search?.field);
  const order = { by: by ?? query.order.by, descending: false };
  const walk = walkInOrder(definition, conditions, { order, start: { offset: 0 } });
  let total = 0;
  for await (const { matching } of stepsOf(task, walk, { start: undefined, ...scan })) total += matching;
  return total;
}

/** Reads a page by walking to it: from the cursor, or from the end of a page that was read before. */
async function readPage<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  { walk, total }: { walk: IndexWalk; total: number },
): Promise<ListPage<Row>> {
  const { start, limit } = task.query;
  const offset = 'offset' in start ? start.offset : 0;
  if (limit === 0 || offset >= total) return toPage(task, [], total);
  const end = recallPageEnd(task, offset);
  const known = 'after' in start ? start.after : end && isValidAt(total, end) ? end.key : undefined;
  const from = { start: known, skip: known ? 0 : offset, limit: wantedRows(limit), ...task.scan };
  const rows = await (walk.filter
    ? readFilteredRows(task, walk, from)
    : readRowsFromNearerEnd(task, walk, { ...from, total }));
  return toPage(task, rows, total);
}

/** Returns the page that begins with these rows, and remembers its end. */
function toPage<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  rows: KeyedRow<Row>[],
  total: number,
): ListPage<Row> {
  const { start, limit } = task.query;
  const { items, next } = splitNext(rows, limit);
  if (next && 'offset' in start)
    rememberPageEnd(task, { offset: start.offset + items.length, total, key: next });
  return { total, ...toRowsAndKeys(items), next };
}

/** Skips rows from the end of the list if that is nearer. */
async function readRowsFromNearerEnd<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  walk: IndexWalk,
  { total, ...from }: Parameters<typeof readRows>[2] & { total: number },
): Promise<KeyedRow<Row>[]> {
  const rest = total - from.skip;
  if (from.skip <= rest) return readRows(task, walk, from);
  const limit = Math.min(from.limit, rest);
  const rows = await readRows(task, reverseWalk(walk), { ...from, skip: rest - limit, limit });
  return rows.reverse();
}

/** Returns the end of the page that was read before an offset. */
function recallPageEnd<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  offset: number,
): PageEnd | undefined {
  return offset === 0 ? undefined : task.pageEnds.recall(describeList(task), offset);
}

/** False if rows have been deleted since the page was read: other rows are before its end now. */
function isValidAt(total: number, end: PageEnd): boolean {
  return end.total <= total;
}

function rememberPageEnd<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  { offset, ...end }: PageEnd & { offset: number },
): void {
  const list = describeList(task);
  if (list.length <= MAX_REMEMBERED_LENGTH) task.pageEnds.remember(list, offset, end);
}

function describeList<Field extends string, By extends string, Row>({
  definition,
  scope,
  query,
}: ListTask<Field, By, Row>): string {
  return JSON.stringify([
    definition.table,
    definition.variant,
    scope.account,
    scope.connection,
    query.where,
    query.order,
  ]);
}

/** Reads rows of a walk with a filter: after a key, after skipping rows, and at most `limit`. */
async function readFilteredRows<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  walk: IndexWalk,
  { start, skip, limit, yieldBetweenSteps }: Parameters<typeof readRows>[2],
): Promise<KeyedRow<Row>[]> {
  const found: FoundKey[] = [];
  let left = skip;
  for await (const step of stepsOf(task, walk, { start, yieldBetweenSteps })) {
    if (step.matching > left) {
      const wanted = { step, skip: left, limit: limit - found.length };
      found.push(...(await readMatchingKeys(task, walk, wanted)));
    }
    left = Math.max(0, left - step.matching);
    if (found.length === limit) break;
  }
  return readRowsAt(
    task,
    found.map(({ key }) => key),
  );
}
