import { setImmediate } from 'node:timers/promises';
import type { Compilable, CompiledQuery, DialectAdapter, Kysely, QueryResult } from 'kysely';
import type { Tables } from './tables.ts';

/** A value that is bound to a compiled query. */
type Value = string | number | null;

/** Marks the place of a value in a query that is being compiled. */
class Placeholder<Values> {
  readonly name: keyof Values;

  constructor(name: keyof Values) {
    this.name = name;
  }
}

/**
 * Returns a query that is built and compiled only once for each database: building a query takes longer than executing it. For the
 * queries of every SCIM request. `build` gets a placeholder for each value, with the type of the value.
 */
export function compiledQuery<Values extends Record<keyof Values, Value>, Row>(
  build: (db: Kysely<Tables>, placeholders: Values) => Compilable<Row>,
): (db: Kysely<Tables>, values: Values) => Promise<QueryResult<Row>> {
  const placeholders = new Proxy({}, { get: (_target, name) => new Placeholder(name as keyof Values) });
  const built = new WeakMap<DialectAdapter, CompiledQuery<Row>>();
  const compile = (db: Kysely<Tables>): CompiledQuery<Row> => {
    const { adapter, plugins } = db.getExecutor();
    // Plugins change the compiled query, so a query on a connection with plugins is not kept.
    const compiled =
      (plugins.length === 0 ? built.get(adapter) : undefined) ?? build(db, placeholders as Values).compile();
    if (plugins.length === 0) built.set(adapter, compiled);
    return compiled;
  };
  return (db, values) => {
    const compiled = compile(db);
    const parameters = compiled.parameters.map((value) =>
      value instanceof Placeholder ? values[value.name as keyof Values] : value,
    );
    return db.executeQuery({ ...compiled, parameters });
  };
}

/** The number of rows that one INSERT statement has at most. */
const INSERT_ROWS = 100;

/** Inserts any number of rows by a statement for some of them at a time, and returns what the statements return. */
export async function insertInBatches<Row, Returned>(
  rows: readonly Row[],
  insert: (some: Row[]) => { execute(): Promise<Returned[]> },
): Promise<Returned[]> {
  const returned: Returned[] = [];
  for (const some of batches(rows, INSERT_ROWS)) returned.push(...(await insert(some).execute()));
  return returned;
}

/** Splits a list into parts, because a statement may only have a limited number of parameters. */
export function* batches<T>(all: readonly T[], size = 500): Generator<T[]> {
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size);
}

/** Serializes a value for a JSON column. */
export function toJson(value: unknown): string {
  return JSON.stringify(value);
}

/** Parses a JSON column. The type is not checked, since only this store writes the column. */
export function parseJson<T>(text: string): T {
  return JSON.parse(text) as T;
}

/** Lets other requests run between two parts of a long operation: calls of SQLite are synchronous and never yield. */
export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}
