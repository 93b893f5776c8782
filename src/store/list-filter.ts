import { sql } from 'kysely';
import type { Comparison, ComparisonOperator, Where } from '../provisioning/list-ports.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import type { ListDefinition, SearchColumn, Sql } from './list-definitions.ts';

/** The part of a definition that a condition needs. */
type Searched<Field extends string> = Pick<
  ListDefinition<Field, string, unknown>,
  'table' | 'live' | 'fields'
>;

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

/** Returns a condition for which no database chooses an index. */
export function hideFromPlanner(condition: Sql): Sql {
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

/** Equalities of one field become one `in`, because a client may list hundreds of values. */
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

function compare({ column, key }: SearchColumn, { operator, value }: Comparison<string>): Sql {
  return sql`${sql.ref(column)} ${operators[operator]} ${key(value)}`;
}

function isOneOf({ column, key }: SearchColumn, values: Value[]): Sql {
  return sql`${sql.ref(column)} in (${sql.join(values.map((value) => key(value)))})`;
}

/** A column of another table needs a row there. */
function withOwner({ table }: Searched<string>, { owned }: SearchColumn, condition: Sql): Sql {
  if (!owned) return condition;
  const ref = (column: string) => sql.ref(`${owned.table}.${column}`);
  return sql`exists (
    select 1 from ${sql.table(owned.table)}
    where ${ref('account')} = ${sql.ref(`${table}.account`)}
      and ${ref('connection_id')} = ${sql.ref(`${table}.connection_id`)}
      and ${ref(owned.id)} = ${sql.ref(`${table}.id`)} and ${condition})`;
}

/** A search in one index, whose condition is a list of values or the bounds of a range. */
export interface IndexSearch<Field extends string> {
  field: Field;
  values: Value[];
  bounds: Comparison<Field>[];
}

/**
 * Returns searches that together find all rows that meet a condition, and maybe others; undefined if only a scan of the
 * list finds them. Of the parts that must all hold, the one with the fewest rows is searched.
 */
export function indexSearchesOf<Field extends string>(
  definition: Searched<Field>,
  where: Where<Field>,
): IndexSearch<Field>[] | undefined {
  if ('any' in where) {
    const searches = where.any.map((part) => indexSearchesOf(definition, part));
    return searches.includes(undefined) ? undefined : searches.flatMap((some) => some ?? []);
  }
  const parts = conjunctsOf(where);
  const rank = (searches: IndexSearch<Field>[]) =>
    searches.reduce((sum, { field }) => sum + definition.fields[field].rank, 0);
  return [
    ...searchesOfFields(parts).map((search) => [search]),
    ...parts.flatMap((part) => ('any' in part ? [indexSearchesOf(definition, part)] : [])),
  ]
    .filter((searches) => searches !== undefined)
    .sort((left, right) => rank(left) - rank(right))[0];
}

/** Both bounds of a range are one search. */
function searchesOfFields<Field extends string>(parts: Where<Field>[]): IndexSearch<Field>[] {
  const ranges = new Map<Field, Comparison<Field>[]>();
  const searches: IndexSearch<Field>[] = [];
  for (const part of parts) {
    if (!('field' in part)) continue;
    const { field, operator, value } = part;
    if (operator === 'eq') searches.push({ field, values: [value], bounds: [] });
    else ranges.set(field, [...(ranges.get(field) ?? []), part]);
  }
  return [...searches, ...[...ranges].map(([field, bounds]) => ({ field, values: [], bounds }))];
}

/**
 * Returns a query for the ids that searches find, at most `limit` in each index, with ids that several searches find more
 * than once.
 */
export function selectFoundIds<Field extends string>(
  definition: Searched<Field>,
  scope: Scope,
  { searches, limit }: { searches: IndexSearch<Field>[]; limit: number },
): Sql {
  const selects = mergeEqualities(searches).map(({ field, values, bounds }, index) => {
    const column = definition.fields[field];
    const condition =
      values.length > 0 ? isOneOf(column, values) : allOf(bounds.map((bound) => compare(column, bound)));
    const { table, id, live } = column.owned
      ? { ...column.owned, live: sql.raw('1 = 1') }
      : { table: definition.table, id: 'id', live: definition.live };
    return sql`select id from (
      select ${sql.ref(id)} as id from ${sql.table(table)}
      where ${inScope(scope)} and ${live} and ${condition} limit ${limit}) as ${sql.ref(`search_${index}`)}`;
  });
  return selects.length === 0 ? sql`select null as id where 1 = 0` : sql.join(selects, sql` union all `);
}

function mergeEqualities<Field extends string>(searches: IndexSearch<Field>[]): IndexSearch<Field>[] {
  const merged = new Map<Field, IndexSearch<Field>>();
  for (const { field, values } of searches.filter(({ bounds }) => bounds.length === 0))
    merged.set(field, { field, values: [...(merged.get(field)?.values ?? []), ...values], bounds: [] });
  return [...merged.values(), ...searches.filter(({ bounds }) => bounds.length > 0)];
}
