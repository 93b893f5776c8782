import { sql } from 'kysely';
import type { SortKey } from '../../provisioning/list-ports.ts';
import { inScope } from '../connection-scopes.ts';
import { type IndexRange, orderOf, type RangePart, rowsIn, sortValue } from './index-range.ts';
import type { ListDefinition, ListScope, Sql } from './list-definition.ts';

/** How many rows one statement goes through at most. */
export const STEP = 1000;

/** A row that was read, and where it stands. */
export interface KeyedRow<Row> {
  row: Row;
  key: SortKey;
}

/** The rows, and their keys, in the same order. */
export function toRowsAndKeys<Row>(kept: KeyedRow<Row>[]): { rows: Row[]; keys: SortKey[] } {
  return { rows: kept.map(({ row }) => row), keys: kept.map(({ key }) => key) };
}

/** The key of the last row of the next `STEP`; undefined: there are fewer. */
export async function edge(
  { db }: ListScope,
  range: IndexRange,
  part: RangePart,
): Promise<SortKey | undefined> {
  const position = range.hasTies || range.value === undefined ? sql`position` : sql`0`;
  const { rows } = await sql<RawKey>`
    select ${sortValue(range)} as key_value, ${position} as key_position
    from ${range.table} where ${rowsIn(range, part)}
    order by ${orderOf(range)} limit 1 offset ${STEP - 1}`.execute(db);
  return rows[0] && keyOf(rows[0]);
}

/** How many rows of a part fit. */
export async function countRows(
  { db }: ListScope,
  range: IndexRange,
  { fits, ...part }: RangePart & { fits: Sql | undefined },
): Promise<number> {
  // Outside of the condition, lest a planner go by another index than that of the range.
  const fitting = fits ? sql`case when ${fits} then 1 end` : sql`*`;
  const { rows } = await sql<{ count: number }>`
    select count(${fitting}) as count from ${range.table} where ${rowsIn(range, part)}`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

/** Which rows are read, in which order, and what is told of them. */
interface Reading {
  table: Sql;
  where: Sql;
  order?: Sql;
  /** What stands for their value in a key. */
  value: Sql;
  /** Whether they meet what the index does not answer. */
  fits: Sql | undefined;
  skip?: number;
  take: number;
}

/** Rows, and for each whether it fits. */
export async function readRows<Row>(
  { db }: ListScope,
  { columns, toRow }: Pick<ListDefinition<string, string, Row>, 'columns' | 'toRow'>,
  reading: Reading,
): Promise<(KeyedRow<Row> & { fits: boolean })[]> {
  const { rows } = await sql<RawKey & { fits: number }>`${reads(reading, sql`${columns}, `)}`.execute(db);
  return rows.map((raw) => ({ row: toRow(raw), key: keyOf(raw), fits: raw.fits === 1 }));
}

/** The keys of those rows that fit; `skip` and `take` count these, among the next `STEP`. */
export async function readKeys(
  { db }: ListScope,
  { skip = 0, take, ...reading }: Reading & { descending?: boolean },
): Promise<SortKey[]> {
  const direction = sql.raw(reading.descending ? 'desc' : 'asc');
  const { rows } = await sql<RawKey>`
    select key_value, key_position from (${reads({ ...reading, take: STEP }, sql``)}) as part
    where fits = 1 order by key_value ${direction}, key_position ${direction} limit ${take} offset ${skip}`.execute(
    db,
  );
  return rows.map(keyOf);
}

/** The rows at these keys, in their order; who is gone meanwhile is left out. */
export async function rowsAt<Row>(
  { db, ...scope }: ListScope,
  {
    table,
    live,
    columns,
    toRow,
  }: Pick<ListDefinition<string, string, Row>, 'table' | 'live' | 'columns' | 'toRow'>,
  at: SortKey[],
): Promise<KeyedRow<Row>[]> {
  if (at.length === 0) return [];
  const positions = sql.join(at.map(({ position }) => position));
  const { rows } = await sql<RawKey>`
    select ${columns}, position as key_position from ${sql.table(table)}
    where ${inScope(scope)} and ${live} and position in (${positions})`.execute(db);
  const found = new Map(rows.map((raw) => [raw.key_position, toRow(raw)]));
  return at.flatMap((key) => {
    const row = found.get(key.position);
    return row === undefined ? [] : [{ row, key }];
  });
}

function reads({ table, where, order, value, fits, skip = 0, take }: Reading, columns: Sql): Sql {
  const fitting = fits ? sql`case when ${fits} then 1 else 0 end` : sql`1`;
  return sql`
    select ${columns}${value} as key_value, position as key_position, ${fitting} as fits
    from ${table} where ${where} ${order ? sql`order by ${order}` : sql``} limit ${take} offset ${skip}`;
}

interface RawKey {
  key_value: string | number | null;
  key_position: number;
}

function keyOf({ key_value, key_position }: RawKey): SortKey {
  return { value: key_value, position: key_position };
}
