import { sql } from 'kysely';
import type { Comparison, Relation, Where } from '../../bridge/list-query.ts';
import type { Column, Owned, Shelf, Sql } from './shelf.ts';

/** How relations are written; a closed list, so that nothing of a client's gets into a statement. */
const relations: Record<Relation, Sql> = {
  eq: sql.raw('='),
  gt: sql.raw('>'),
  ge: sql.raw('>='),
  lt: sql.raw('<'),
  le: sql.raw('<='),
};

type Fields<Field extends string> = Pick<Shelf<Field, string, unknown>, 'fields'>;

/** A condition as a part of a statement. */
export function conditionOf<Field extends string>(
  shelf: Fields<Field>,
  connection: string,
  where: Where<Field>,
): Sql {
  if ('all' in where) return joined(shelf, connection, { parts: where.all, by: ' and ', none: '1 = 1' });
  if ('any' in where) return joined(shelf, connection, { parts: where.any, by: ' or ', none: '1 = 0' });
  const column = shelf.fields[where.field];
  return isOwned(column) ? owns(column, connection, where) : compares(column, where);
}

/** Whether a field's values stand in rows of their own. */
export function isOwned(column: Column | Owned): column is Owned {
  return 'owned' in column;
}

/** The comparisons that must all hold; undefined: there is more to it than that. */
export function conjunctsOf<Field extends string>(where: Where<Field>): Comparison<Field>[] | undefined {
  if ('any' in where) return undefined;
  if (!('all' in where)) return [where];
  const parts = where.all.map((part) => conjunctsOf(part));
  return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

function joined<Field extends string>(
  shelf: Fields<Field>,
  connection: string,
  { parts, by, none }: { parts: Where<Field>[]; by: string; none: string },
): Sql {
  if (parts.length === 0) return sql.raw(none);
  const conditions = parts.map((part) => conditionOf(shelf, connection, part));
  return sql`(${sql.join(conditions, sql.raw(by))})`;
}

function compares<Field extends string>(column: Column, { is, value }: Comparison<Field>): Sql {
  return sql`${sql.ref(column.column)} ${relations[is]} ${column.key(value)}`;
}

function owns<Field extends string>(
  { owned, column, key }: Owned,
  connection: string,
  { value }: Comparison<Field>,
): Sql {
  const { table, owner } = owned;
  return sql`id in (select ${sql.ref(owner)} from ${sql.table(table)} where connection_id = ${connection} and ${sql.ref(column)} = ${key(value)})`;
}
