import { sql } from 'kysely';
import type { ListPage, ListQuery, ListScan, SortKey } from '../../provisioning/users/list-ports.ts';
import { inScope } from '../connection-scopes.ts';
import { batches } from '../sql/queries.ts';
import { readCounter } from './list-counters.ts';
import type { ListDefinition, ListScope } from './list-definitions.ts';
import {
  allOf,
  conjunctsOf,
  indexSearchesOf,
  selectFoundIds,
  toCondition,
  withoutIndex,
} from './list-filter.ts';
import {
  cursorOf,
  type FoundKey,
  type FoundKeyColumns,
  isAfterKey,
  type KeyedRow,
  orderBy,
  type RowOrder,
  readMatchingKeys,
  readRows,
  readRowsAt,
  stepsOf,
  toFoundKey,
  type Walk,
} from './list-walk.ts';

/** A request for one page of a list. */
export interface ListTask<Field extends string, By extends string, Row> {
  definition: ListDefinition<Field, By, Row>;
  scope: ListScope;
  query: ListQuery<Field, By>;
  scan: ListScan<Row>;
}

/** The number of rows up to which a search in indexes reads complete rows, and up to which it reads their keys. */
const FEW = 50;
const MANY = 5000;

/** The number of rows to which the residual condition is applied at once. */
const BATCH = 50;

/**
 * Reads one page of a list with its exact total. A counter tells the number of all, active and inactive rows. If searches in indexes
 * find few enough rows, these are sorted. Otherwise the list is walked through in its order.
 */
export async function listRows<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
): Promise<ListPage<Row>> {
  const { definition, scope, query, scan } = task;
  const conditions = conjunctsOf(query.where);
  const counter = scan.residual ? undefined : definition.counterOf(conditions);
  const total = counter && readCounter(scope.db, scope, counter.rows).then(counter.toTotal);
  const { field } = definition.orders[query.order.by];
  if (total && conditions.every((one) => 'field' in one && one.field === field)) return readPage(task, total);
  const known = await total;
  if (known === undefined || known <= MANY) {
    const found = await findByIndexes(task);
    if (found) return readFoundPage(task, found);
  }
  return scan.residual ? scanRows(task) : readFilteredPage(task, known ?? (await countMatches(task)));
}

/** Reads a page along the index of its order, which answers the whole condition. */
async function readPage<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  counted: Promise<number>,
): Promise<ListPage<Row>> {
  const { definition, query } = task;
  const condition = toCondition(definition, query.where);
  const page = { order: orderOf(task), condition, start: query.start, limit: wantedRows(query.limit) };
  const [total, rows] = await Promise.all([counted, readRows(task, page)]);
  return toPage(task, rows, total);
}

function orderOf<Field extends string, By extends string>({
  definition,
  query: { order },
}: Pick<ListTask<Field, By, unknown>, 'definition' | 'query'>): RowOrder {
  return { ...definition.orders[order.by], descending: order.descending };
}

/** A row that meets the conditions on columns, read completely or not. */
interface FoundRow<Row> extends FoundKey {
  row?: Row;
}

/** Returns all rows that meet the conditions on columns, in order; undefined if searches in indexes find too many or do not exist. */
async function findByIndexes<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
): Promise<FoundRow<Row>[] | undefined> {
  const { definition, scope, query, scan } = task;
  const searches = indexSearchesOf(definition, query.where);
  if (!searches) return undefined;
  await scan.yieldBetweenSteps();
  const found = await sql<{ id: string }>`
    ${selectFoundIds(definition, scope, { searches, limit: MANY + 1 })}`.execute(scope.db);
  const ids = [...new Set(found.rows.map(({ id }) => id))];
  if (ids.length === 0 || ids.length > MANY) return ids.length === 0 ? [] : undefined;
  const order = orderOf(task);
  const withRows = ids.length <= FEW;
  const condition = allOf([definition.live, toCondition(definition, query.where)]);
  const value = sql.ref(order.column);
  const { rows } = await sql<FoundKeyColumns>`
    select ${withRows ? sql`${definition.columns}, ` : sql``}${isAfterKey(order, cursorOf(query))} as is_after_cursor,
      ${value} as key_value, id as key_id
    from ${sql.table(definition.table)}
    where ${inScope(scope)} and id in (${sql.join(ids)}) and ${withoutIndex(condition)}
    order by ${orderBy(order, value, sql.ref('id'))}`.execute(scope.db);
  return rows.map((columns) => ({
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
  return toPage(task, await loadRows(task, collector.items), collector.total);
}

/** Walks through the whole list and applies the residual condition to each row. Holds one batch of rows at a time. */
async function scanRows<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
): Promise<ListPage<Row>> {
  const collector = collectPage<FoundRow<Row> & { row: Row }>(task.query);
  const walk = walkOf(task, undefined);
  for await (const step of stepsOf(task, walk)) {
    const found = await readMatchingKeys(task, walk, { step, skip: 0, limit: step.matching });
    for (const batch of batches(found, BATCH)) {
      for (const row of await keepMatching(task, batch)) collector.add(row);
    }
  }
  return toPage(task, collector.items, collector.total);
}

/** Returns the walk that tests each row after `from` for the condition of a request. */
function walkOf<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  from: SortKey | undefined,
): Walk {
  const { definition, query, scan } = task;
  const condition = toCondition(definition, query.where);
  return { order: orderOf(task), condition, from, cursor: cursorOf(query), ...scan };
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

/** Returns a page, with the key of its last row if another one follows. */
function toPage<Row>(
  { query: { limit } }: Pick<ListTask<string, string, Row>, 'query'>,
  found: KeyedRow<Row>[],
  total: number,
): ListPage<Row> {
  const items = found.slice(0, limit);
  return {
    total,
    rows: items.map(({ row }) => row),
    keys: items.map(({ key }) => key),
    next: found.length > limit ? items.at(-1)?.key : undefined,
  };
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

/** Counts the rows that meet the condition, along the index of the column that it compares if there is only one. */
async function countMatches<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
): Promise<number> {
  const { definition } = task;
  const searches = indexSearchesOf(definition, task.query.where)?.flatMap(conjunctsOf) ?? [];
  const names = Object.keys(definition.orders) as By[]; // The keys of this record.
  const by = names.find((name) =>
    searches.every((one) => 'field' in one && one.field === definition.orders[name].field),
  );
  const order = { by: by ?? task.query.order.by, descending: false };
  const walk = walkOf({ ...task, query: { ...task.query, order, start: { offset: 0 } } }, undefined);
  let total = 0;
  for await (const { matching } of stepsOf(task, walk)) total += matching;
  return total;
}

/** Reads a page whose condition the index of its order does not answer, by walking to it from the cursor or the first row. */
async function readFilteredPage<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  total: number,
): Promise<ListPage<Row>> {
  const { start, limit } = task.query;
  let skip = 'offset' in start ? start.offset : 0;
  if (limit === 0 || skip >= total) return toPage(task, [], total);
  const found: FoundKey[] = [];
  const walk = walkOf(task, cursorOf(task.query));
  for await (const step of stepsOf(task, walk)) {
    if (step.matching > skip) {
      const wanted = { step, skip, limit: wantedRows(limit) - found.length };
      found.push(...(await readMatchingKeys(task, walk, wanted)));
    }
    skip = Math.max(0, skip - step.matching);
    if (found.length === wantedRows(limit)) break;
  }
  const keys = found.map(({ key }) => key);
  return toPage(task, await readRowsAt(task, keys), total);
}
