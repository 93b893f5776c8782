import { sql } from 'kysely';
import type { Comparison, ListPage, ListQuery, ListScan, SortKey } from '../../model/list-ports.ts';
import { inScope } from '../connection-scopes.ts';
import { batches } from '../sql/queries.ts';
import { type WalkedIndex, walkIndex } from '../sql/walk-index.ts';
import { readCounter } from './list-counters.ts';
import type { ListDefinition, ListScope } from './list-definitions.ts';
import {
  allOf,
  compare,
  comparesAllEntries,
  conjunctsOf,
  indexSearchesOf,
  selectFoundIds,
  toCondition,
} from './list-filter.ts';
import {
  cursorOf,
  type FoundKey,
  type KeyedRow,
  type KeySearch,
  type RowOrder,
  readKeysOf,
  readRows,
  readRowsAt,
  walk,
} from './list-walk.ts';

/** A request for one page of a list. */
export interface ListTask<Field extends string, Row> {
  definition: ListDefinition<Field, Row>;
  scope: ListScope;
  query: ListQuery<Field, Field | 'position'>;
  scan: ListScan<Row>;
}

/** The number of rows up to which searches in indexes are sorted. */
const MANY = 5000;

/** The number of rows to which the residual condition is applied at once. */
const BATCH = 50;

/**
 * Reads one page of a list with its exact total. A counter tells the number of all rows. If searches in indexes find few enough rows,
 * these are sorted. Otherwise the list is walked through in its order.
 */
export async function listRows<Field extends string, Row>(
  task: ListTask<Field, Row>,
): Promise<ListPage<Row>> {
  const { definition, query } = task;
  const scan = await withoutNeedlessResidual(task);
  const search: KeySearch = {
    order: orderOf(task),
    condition: toCondition(definition, query.where),
    cursor: cursorOf(query),
  };
  if (!scan.residual && conjunctsOf(query.where).length === 0) return readPage(task, search);
  const found = await findByIndexes(task, search);
  return collectPage({ ...task, scan }, found ? [found] : walk(task, search, scan));
}

/** Leaves the residual out if it was only for values that are too long for a column, and there are none. */
async function withoutNeedlessResidual<Field extends string, Row>({
  definition: { table, live, fields },
  scope,
  query: { exactUnlessLong },
  scan,
}: ListTask<Field, Row>): Promise<ListScan<Row>> {
  if (!scan.residual || !exactUnlessLong) return scan;
  for (const { isTooLong = sql`1 = 1` } of exactUnlessLong.map((field) => fields[field])) {
    const where = allOf([inScope(scope), live, isTooLong]);
    const { rows } = await sql`select 1 from ${sql.table(table)} where ${where} limit 1`.execute(scope.db);
    if (rows.length > 0) return scan;
  }
  return { ...scan, residual: undefined };
}

/** Reads a page of all rows along the index of its order. */
async function readPage<Field extends string, Row>(
  task: ListTask<Field, Row>,
  { order }: KeySearch,
): Promise<ListPage<Row>> {
  const { definition, scope, query } = task;
  const page = { order, start: query.start, limit: wantedRows(query.limit) };
  const [{ count }, rows] = await Promise.all([
    readCounter(scope.db, scope, definition.counted),
    readRows(task, page),
  ]);
  return toPage(query, rows, count);
}

function orderOf<Field extends string>({
  definition: { fields },
  query: {
    order: { by, descending },
  },
}: Pick<ListTask<Field, unknown>, 'definition' | 'query'>): RowOrder {
  if (by === 'position') return { column: by, nullable: false, descending };
  const { column, isNullable = false } = fields[by];
  return { column, nullable: isNullable, descending };
}

/** Returns the keys that meet the conditions on columns, in order; undefined if searches in indexes find too many or do not exist. */
async function findByIndexes<Field extends string, Row>(
  task: ListTask<Field, Row>,
  search: KeySearch,
): Promise<FoundKey[] | undefined> {
  const { definition, scope, query, scan } = task;
  const searches = indexSearchesOf(definition, query.where);
  if (!searches) return undefined;
  await scan.yieldBetweenSteps();
  const [walks, lookups] = [
    searches.filter(comparesAllEntries),
    searches.filter((one) => !comparesAllEntries(one)),
  ];
  const found = await sql<{ id: string }>`
    ${selectFoundIds(definition, scope, { searches: lookups, limit: MANY + 1 })}`.execute(scope.db);
  const ids = new Set(found.rows.flatMap(({ id }) => id ?? []));
  for (const comparison of walks) {
    for await (const some of walkIndex(scope.db, scope, indexOf(definition, comparison))) {
      await scan.yieldBetweenSteps();
      for (const id of some) ids.add(id);
      if (ids.size > MANY) return undefined;
    }
  }
  if (ids.size === 0 || ids.size > MANY) return ids.size === 0 ? [] : undefined;
  const rows = await readKeysOf(task, search, [...ids]);
  return rows.filter(({ matches }) => matches);
}

/** The index whose entries are compared. */
function indexOf<Field extends string>(
  { table, live, fields }: ListDefinition<Field, unknown>,
  comparison: Comparison<Field>,
): WalkedIndex {
  const column = fields[comparison.field];
  const { column: key, owned, range = { from: '', to: '\u{10FFFF}' } } = column;
  const matches = compare(column, comparison);
  return owned
    ? { table: owned.table, id: owned.id, key, range, matches }
    : { table, id: 'id', key, range, of: live, matches };
}

/** Collects a page from the rows that meet the conditions on columns, and counts those that match. */
async function collectPage<Field extends string, Row>(
  task: ListTask<Field, Row>,
  steps: Iterable<FoundKey[]> | AsyncIterable<FoundKey[]>,
): Promise<ListPage<Row>> {
  const { start, limit } = task.query;
  const wanted = wantedRows(limit);
  let skip = 'offset' in start ? start.offset : 0;
  let total = 0;
  const keys: SortKey[] = [];
  for await (const step of steps) {
    const found = await keepMatching(task, step);
    const after = found.filter(({ isAfterCursor }) => isAfterCursor).map(({ key }) => key);
    total += found.length;
    keys.push(...after.slice(skip, skip + wanted - keys.length));
    skip = Math.max(0, skip - after.length);
  }
  return toPage(task.query, await readRowsAt(task, keys), total);
}

/** One row more than the page shows whether another page follows. An empty page has no next one. */
function wantedRows(limit: number): number {
  return limit > 0 ? limit + 1 : 0;
}

/** Returns a page, with the key of its last row if another one follows. */
function toPage<Row>(
  { limit }: Pick<ListQuery<string, string>, 'limit'>,
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
async function keepMatching<Field extends string, Row>(
  task: ListTask<Field, Row>,
  found: FoundKey[],
): Promise<FoundKey[]> {
  const { residual, yieldBetweenSteps } = task.scan;
  if (!residual) return found;
  const matching = new Set<string>();
  for (const batch of batches(found, BATCH)) {
    await yieldBetweenSteps();
    const read = await readRowsAt(
      task,
      batch.map(({ key }) => key),
    );
    const flags = await residual(read.map(({ row }) => row));
    for (const [index, { key }] of read.entries()) if (flags[index]) matching.add(key.id);
  }
  return found.filter(({ key }) => matching.has(key.id));
}
