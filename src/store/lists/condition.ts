import { sql } from 'kysely';
import type { Comparison, ComparisonOperator, Where } from '../../provisioning/list-ports.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import type { Column, ListDefinition, OwnedColumn, Sql } from './list-definition.ts';

/** How relations are written; a closed list, so that nothing of a client's gets into a statement. */
const relations: Record<ComparisonOperator, Sql> = {
  eq: sql.raw('='),
  gt: sql.raw('>'),
  ge: sql.raw('>='),
  lt: sql.raw('<'),
  le: sql.raw('<='),
};

type Fields<Field extends string> = Pick<ListDefinition<Field, string, unknown>, 'fields'>;

/** A condition as a part of a statement. */
export function conditionOf<Field extends string>(
  definition: Fields<Field>,
  scope: Scope,
  where: Where<Field>,
): Sql {
  if ('all' in where) {
    const conditions = where.all.map((part) => conditionOf(definition, scope, part));
    return joined(conditions, { by: ' and ', none: '1 = 1' });
  }
  if ('any' in where) return alternatives(definition, scope, where.any);
  const column = definition.fields[where.field];
  const condition = compares(column, where);
  return isOwned(column) ? owns(column, scope, condition) : condition;
}

/** Whether a field's values stand in rows of their own. */
export function isOwned(column: Column | OwnedColumn): column is OwnedColumn {
  return 'owned' in column;
}

/** The comparisons that must all hold; undefined: there is more to it than that. */
export function conjunctsOf<Field extends string>(where: Where<Field>): Comparison<Field>[] | undefined {
  if ('any' in where) return undefined;
  if (!('all' in where)) return [where];
  const parts = where.all.map((part) => conjunctsOf(part));
  return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

/** Values of one field are one list, as a client may name hundreds. */
function alternatives<Field extends string>(
  definition: Fields<Field>,
  scope: Scope,
  parts: Where<Field>[],
): Sql {
  const lists = new Map<Field, Comparison<Field>['value'][]>();
  const others: Sql[] = [];
  for (const part of parts) {
    if (!('field' in part) || part.operator !== 'eq') others.push(conditionOf(definition, scope, part));
    else lists.set(part.field, [...(lists.get(part.field) ?? []), part.value]);
  }
  const listed = [...lists].map(([field, values]) => hasOneOf(definition.fields[field], scope, values));
  return joined([...listed, ...others], { by: ' or ', none: '1 = 0' });
}

function joined(conditions: Sql[], { by, none }: { by: string; none: string }): Sql {
  if (conditions.length === 0) return sql.raw(none);
  return sql`(${sql.join(conditions, sql.raw(by))})`;
}

function hasOneOf(field: Column | OwnedColumn, scope: Scope, values: Comparison<string>['value'][]): Sql {
  const condition = sql`${sql.ref(field.column)} in (${sql.join(values.map((value) => field.key(value)))})`;
  return isOwned(field) ? owns(field, scope, condition) : condition;
}

function compares<Field extends string>(column: Column, { operator: is, value }: Comparison<Field>): Sql {
  return sql`${sql.ref(column.column)} ${relations[is]} ${column.key(value)}`;
}

function owns({ owned: { table, owner } }: OwnedColumn, scope: Scope, condition: Sql): Sql {
  return sql`id in (select ${sql.ref(owner)} from ${sql.table(table)} where ${inScope(scope)} and ${condition})`;
}
