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

/** Returns an object with these members only. Works for values and for placeholders. */
export function pick<T extends object, Name extends keyof T>(from: T, names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, Name>;
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

/** The numbers of rows of the statements of a compiled insert. Most people have three keys, and a batch of the log has up to some fifty exchanges. */
const COMPILED_ROWS = [50, 12, 3, 2, 1];

/**
 * Returns a function that inserts any number of rows by statements that are built once for each database, for the rows of imports and
 * of every write. All rows must have the same columns in the same order, and the parameters of a statement must be their values alone.
 */
export function compiledInsert<Row extends object, Returned>(
  build: (db: Kysely<Tables>, rows: Row[]) => Compilable<Returned>,
): (db: Kysely<Tables>, rows: readonly Row[]) => Promise<Returned[]> {
  const built = new WeakMap<DialectAdapter, Map<number, CompiledQuery<Returned>>>();
  return async (db, rows) => {
    const { adapter, plugins } = db.getExecutor();
    // Plugins change the compiled query, so a query on a connection with plugins is not kept.
    const known = (plugins.length === 0 ? built.get(adapter) : undefined) ?? new Map();
    if (plugins.length === 0) built.set(adapter, known);
    const returned: Returned[] = [];
    let left = rows;
    for (const size of COMPILED_ROWS) {
      for (; left.length >= size; left = left.slice(size)) {
        const some = left.slice(0, size);
        const compiled = known.get(size) ?? build(db, some).compile();
        known.set(size, compiled);
        const parameters = some.flatMap((row) => Object.values(row));
        returned.push(...(await db.executeQuery<Returned>({ ...compiled, parameters })).rows);
      }
    }
    return returned;
  };
}

/** Splits a list into parts, because a statement may only have a limited number of parameters. */
export function* batches<T>(all: readonly T[], size = 500): Generator<T[]> {
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size);
}

/** Returns the ids of people by their version: most have the same one, so that one statement changes many of them. */
export function groupByVersion(people: readonly { id: string; version: number }[]): Map<number, string[]> {
  const groups = new Map<number, string[]>();
  for (const { id, version } of people) {
    const ids = groups.get(version) ?? [];
    groups.set(version, ids);
    ids.push(id);
  }
  return groups;
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

/** Returns a function that reads at most once in an interval; its callers meanwhile share the result. A failure is not kept. */
export function readAtMostEvery<T>(ms: number, now: () => number, read: () => Promise<T>): () => Promise<T> {
  let last: { at: number; result: Promise<T> } | undefined;
  return () => {
    if (!last || Math.abs(now() - last.at) >= ms) {
      const result = read();
      last = { at: now(), result };
      result.catch(() => {
        last = undefined;
      });
    }
    return last.result;
  };
}
