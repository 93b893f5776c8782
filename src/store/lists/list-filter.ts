import { sql } from 'kysely';
import type { Comparison, ComparisonOperator, PartOperator, Where } from '../../model/list-ports.ts';
import { equalInScope, inScope, type Scope } from '../connection-scopes.ts';
import { hasPart, inRange } from '../sql/search-keys.ts';
import type { ListDefinition, SearchColumn, Sql } from './list-definitions.ts';

/** The part of a definition that a condition needs. */
type Searched<Field extends string> = Pick<ListDefinition<Field, unknown>, 'table' | 'live' | 'fields'>;

/** The SQL of each operator. A closed list, so that no text of a client becomes part of a statement. */
const operators: Record<ComparisonOperator, Sql> = {
  eq: sql.raw('='),
  gt: sql.raw('>'),
  ge: sql.raw('>='),
  lt: sql.raw('<'),
  le: sql.raw('<='),
};

/** Returns conditions of which all must hold. */
export function allOf(conditions: Sql[]): Sql {
  return conditions.length === 0 ? sql.raw('1 = 1') : sql`(${sql.join(conditions, sql.raw(' and '))})`;
}

/** Returns a condition for which SQLite, which has no statistics, does not choose an index. */
export function withoutIndex(condition: Sql): Sql {
  return sql`case when ${condition} then 1 else 0 end = 1`;
}

/** Returns the parts of a condition that must all hold. */
export function conjunctsOf<Field extends string>(where: Where<Field>): Where<Field>[] {
  return 'all' in where ? where.all.flatMap(conjunctsOf) : [where];
}

/** Converts a condition to SQL. */
export function toCondition<Field extends string>(definition: Searched<Field>, where: Where<Field>): Sql {
  if ('all' in where) return allOf(where.all.map((part) => toCondition(definition, part)));
  if ('any' in where) return toDisjunction(definition, where.any);
  const column = definition.fields[where.field];
  return withOwner(definition, column, compare(column, where));
}

function toDisjunction<Field extends string>(definition: Searched<Field>, parts: Where<Field>[]): Sql {
  const { values, others } = groupEqualities(parts);
  const conditions = [
    ...[...values].map(([field, listed]) => {
      const column = definition.fields[field];
      return withOwner(definition, column, isOneOf(column, listed));
    }),
    ...others.map((part) => toCondition(definition, part)),
  ];
  return conditions.length === 0 ? sql.raw('1 = 0') : sql`(${sql.join(conditions, sql.raw(' or '))})`;
}

type Value = Comparison<string>['value'];

/** Groups the equalities by field, so that they become one `in`: a client may list hundreds of values. */
function groupEqualities<Field extends string>(
  parts: Where<Field>[],
): { values: Map<Field, Value[]>; others: Where<Field>[] } {
  const values = new Map<Field, Value[]>();
  const others: Where<Field>[] = [];
  for (const part of parts) {
    if ('field' in part && part.operator === 'eq')
      values.set(part.field, [...(values.get(part.field) ?? []), part.value]);
    else others.push(part);
  }
  return { values, others };
}

/** The comparison of a column of this row, or of the table that has it. */
export function compare(definition: SearchColumn, { operator, value }: Comparison<string>): Sql {
  const { column, key, fold = String, isTooLong = sql`1 = 0`, range } = definition;
  if (!isPartOperator(operator)) return sql`${sql.ref(column)} ${operators[operator]} ${key(value)}`;
  const found = sql`(${hasPart(column, operator, fold(String(value)))} or ${isTooLong})`;
  return range ? sql`(${inRange(column, range)} and ${found})` : found;
}

function isPartOperator(operator: Comparison<string>['operator']): operator is PartOperator {
  return operator === 'sw' || operator === 'ew' || operator === 'co';
}

/** True for a comparison that no index finds: all its entries are compared. */
export function comparesAllEntries<Field extends string>(where: Where<Field>): where is Comparison<Field> {
  return 'field' in where && (where.operator === 'co' || where.operator === 'ew');
}

function isOneOf({ column, key }: SearchColumn, values: Value[]): Sql {
  return sql`${sql.ref(column)} in (${sql.join(values.map((value) => key(value)))})`;
}

/** A column of another table needs a row there. */
function withOwner({ table }: Searched<string>, { owned }: SearchColumn, condition: Sql): Sql {
  if (!owned) return condition;
  return sql`exists (
    select 1 from ${sql.table(owned.table)}
    where ${equalInScope(`${owned.table}.${owned.id}`, `${table}.id`)} and ${condition})`;
}

/**
 * Returns conditions that one index each answers, and that together find all rows that meet a condition, and maybe others; undefined if
 * only a scan of the list finds them. Of the parts that must all hold, one is searched: an equality rather than a range.
 */
export function indexSearchesOf<Field extends string>(
  definition: Searched<Field>,
  where: Where<Field>,
): Where<Field>[] | undefined {
  if ('any' in where) {
    const searches = where.any.map((part) => indexSearchesOf(definition, part));
    return searches.includes(undefined) ? undefined : searches.flatMap((some) => some ?? []);
  }
  const parts = conjunctsOf(where);
  const candidates = parts.flatMap((part) => {
    const isCommon = 'field' in part && definition.fields[part.field].isCommon;
    const searches = 'field' in part ? [withOtherBounds(part, parts)] : indexSearchesOf(definition, part);
    return searches && !isCommon ? [searches] : [];
  });
  const isEasiest = (searches: Where<Field>[]) =>
    searches.every((one) => 'field' in one && one.operator === 'eq');
  const isEasy = (searches: Where<Field>[]) => !searches.some(comparesAllEntries);
  return candidates.find(isEasiest) ?? candidates.find(isEasy) ?? candidates[0];
}

/** Both bounds of a range are one search. */
function withOtherBounds<Field extends string>(part: Comparison<Field>, parts: Where<Field>[]): Where<Field> {
  if (part.operator === 'eq' || isPartOperator(part.operator)) return part;
  return { all: parts.filter((one) => 'field' in one && one.field === part.field && one.operator !== 'eq') };
}

/**
 * Returns a query for the ids that searches find, at most `limit` in each index, with ids that several searches find more
 * than once.
 */
export function selectFoundIds<Field extends string>(
  definition: Searched<Field>,
  scope: Scope,
  { searches, limit }: { searches: Where<Field>[]; limit: number },
): Sql {
  const { values, others } = groupEqualities(searches);
  const selectFrom = (table: string, id: string, condition: Sql) => sql`
    select id from (select ${sql.ref(id)} as id from ${sql.table(table)}
      where ${inScope(scope)} and ${condition} limit ${limit}) as search`;
  const selectLive = (condition: Sql) =>
    selectFrom(definition.table, 'id', allOf([definition.live, condition]));
  const selects = [
    ...[...values].map(([field, listed]) => {
      const column = definition.fields[field];
      const condition = isOneOf(column, listed);
      return column.owned
        ? selectFrom(column.owned.table, column.owned.id, condition)
        : selectLive(condition);
    }),
    ...others.map((bounds) => {
      const column = 'field' in bounds ? definition.fields[bounds.field] : undefined;
      return column?.owned && 'field' in bounds
        ? selectFrom(column.owned.table, column.owned.id, compare(column, bounds))
        : selectLive(toCondition(definition, bounds));
    }),
  ];
  return selects.length === 0 ? sql`select null as id where 1 = 0` : sql.join(selects, sql` union all `);
}
