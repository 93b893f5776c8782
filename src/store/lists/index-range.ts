import { sql } from 'kysely';
import type { Comparison, SortKey } from '../../provisioning/list-ports.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { conditionOf } from './condition.ts';
import type { ListDefinition, ListScope, OrderColumn, Sql } from './list-definition.ts';

/** Rows in an order that one index has: those with a value, or those without. */
export interface IndexRange {
  table: Sql;
  /** What all its rows have, and the index begins with. */
  base: Sql;
  /** Bounds of the value that the client set. */
  bounds: Bound[];
  /** The columns of the order; undefined in place of the value: by position alone. */
  value: string | undefined;
  /** Whether rows with the same value follow each other by position. */
  hasTies: boolean;
  /** Whether its rows are all, or those with a value, or those without. */
  rows: 'all' | 'valued' | 'rest';
  descending: boolean;
}

/** A bound of the value, below or above. */
interface Bound {
  isLower: boolean;
  condition: Sql;
  /** The same, in a form for which no index is used. */
  checked: Sql;
}

/** A part of a range: after one key, up to and including another. */
export interface RangePart {
  after: SortKey | undefined;
  until: SortKey | undefined;
}

/** An order, and the comparisons that its index answers, too. */
interface Ordered<Field extends string> {
  of: Pick<OrderColumn, 'column' | 'unique' | 'nullable'>;
  base: Comparison<Field>[];
  descending: boolean;
}

/** The ranges that make up an order, in their order (RFC 7644 §3.4.2.3: without a value last, descending first). */
export function indexRangesOf<Field extends string>(
  definition: Pick<ListDefinition<Field, string, unknown>, 'table' | 'live' | 'fields'>,
  scope: ListScope,
  { of, base, descending }: Ordered<Field>,
): IndexRange[] {
  const equal = base.filter(({ operator: is }) => is === 'eq');
  const conditions = [
    sql`${inScope(scope)}`,
    definition.live,
    ...equal.map((comparison) => conditionOf(definition, scope, comparison)),
  ];
  const isPosition = of.column === 'position';
  const valued: IndexRange = {
    table: sql.table(definition.table),
    base: sql.join(conditions, sql` and `),
    bounds: base
      .filter(({ operator: is }) => is !== 'eq')
      .map((comparison) => boundOf(definition, scope, comparison)),
    value: isPosition ? undefined : of.column,
    hasTies: !of.unique,
    rows: of.nullable && base.length === 0 ? 'valued' : 'all',
    descending,
  };
  if (valued.rows === 'all') return [valued];
  const none = sql`${valued.base} and ${sql.ref(of.column)} is null`;
  const rest: IndexRange = { ...valued, base: none, value: undefined, rows: 'rest' };
  return descending ? [rest, valued] : [valued, rest];
}

/** A range, or what of it comes after a key, or up to and including it. */
export interface Segment extends RangePart {
  range: IndexRange;
}

/** The ranges, whole. */
export function segmentsOf(ranges: IndexRange[]): Segment[] {
  return ranges.map((range) => ({ range, after: undefined, until: undefined }));
}

/** What of the ranges comes up to and including a row that has this key, and what comes after it. */
export function segmentsAround(ranges: IndexRange[], key: SortKey): { before: Segment[]; behind: Segment[] } {
  const at = ranges.findIndex((range) => hasKey(range, key));
  const cut = (segment: Segment, index: number, end: Partial<RangePart>) =>
    index === at ? { ...segment, ...end } : segment;
  const segments = segmentsOf(ranges);
  return {
    before: segments.map((segment, index) => cut(segment, index, { until: key })).slice(0, at + 1),
    behind: segments.map((segment, index) => cut(segment, index, { after: key })).slice(at),
  };
}

/** The segments of a single range, from behind a key on. */
export function segmentsAfter(segments: Segment[], after: SortKey): Segment[] {
  return segments.map((segment) => ({ ...segment, after }));
}

function hasKey({ rows }: IndexRange, key: SortKey): boolean {
  return rows === 'all' || (rows === 'rest') === (key.value === null);
}

function boundOf<Field extends string>(
  definition: Pick<ListDefinition<Field, string, unknown>, 'fields'>,
  scope: Scope,
  comparison: Comparison<Field>,
): Bound {
  const condition = conditionOf(definition, scope, comparison);
  // Only moments have bounds, and plus leaves numbers as they are.
  return {
    isLower: comparison.operator === 'gt' || comparison.operator === 'ge',
    condition,
    checked: sql`+${condition}`,
  };
}

/** The rows of a part of a range, as a condition. */
export function rowsIn(range: IndexRange, { after, until }: RangePart): Sql {
  const { descending } = range;
  const [later, before] = descending ? ['<', '>='] : ['>', '<='];
  const [lower, upper] = descending ? [until, after] : [after, until];
  const parts = [
    range.base,
    // A key is the nearer bound; by the other one an index would begin each step at the beginning.
    ...range.bounds.map(({ isLower, condition, checked }) =>
      (isLower ? lower : upper) ? checked : condition,
    ),
    ...(after ? [compared(range, later, after)] : []),
    ...(until ? [compared(range, before, until)] : []),
    // A key says as much; said twice, an index might begin at this.
    ...(range.rows === 'valued' && range.value !== undefined && !after && !until
      ? [sql`${sql.ref(range.value)} is not null`]
      : []),
  ];
  return sql.join(parts, sql` and `);
}

function compared({ value, hasTies }: IndexRange, relation: string | undefined, key: SortKey): Sql {
  const by = sql.raw(relation ?? '');
  if (value === undefined) return sql`position ${by} ${key.position}`;
  if (!hasTies) return sql`${sql.ref(value)} ${by} ${key.value}`;
  return sql`(${sql.ref(value)}, position) ${by} (${key.value}, ${key.position})`;
}

/** The order of a range, as a statement has it. */
export function orderOf({ value, hasTies, descending }: IndexRange): Sql {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  if (value === undefined) return sql`position ${direction}`;
  const first = sql`${sql.ref(value)} ${direction}`;
  return hasTies ? sql`${first}, position ${direction}` : first;
}

/** The value of a row in its order, as a statement has it. */
export function sortValue({ value }: Pick<IndexRange, 'value'>): Sql {
  return value === undefined ? sql`null` : sql.ref(value);
}
