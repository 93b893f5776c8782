import { setImmediate } from 'node:timers/promises';
import type { Compilable, CompiledQuery, DialectAdapter, Kysely, QueryResult } from 'kysely';
import type { Edge, ListQuery, Position } from '../travel/ports.ts';
import type { Tables } from './tables.ts';

/** A value that is bound to a compiled query. */
type Value = string | number | null;

/** Marks the place of a value in a query that is being compiled. */
class Placeholder {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * Executes a query with these values. They may be in two objects: V8 turns an object with many properties that are copied
 * from others into a hash table, and copying the columns of an identity takes as long as writing them.
 */
interface RunQuery<Values, Row> {
  (db: Kysely<Tables>, values: Values): Promise<QueryResult<Row>>;
  <Part extends Partial<Values>>(
    db: Kysely<Tables>,
    values: Part,
    others: Omit<Values, keyof Part>,
  ): Promise<QueryResult<Row>>;
  /** Returns the query with these values, for a batch. */
  compile(db: Kysely<Tables>, values: Values): CompiledQuery<Row>;
  compile<Part extends Partial<Values>>(
    db: Kysely<Tables>,
    values: Part,
    others: Omit<Values, keyof Part>,
  ): CompiledQuery<Row>;
}

/** A query that was compiled by `compiledQuery`. */
interface ShortQuery<Row> extends CompiledQuery<Row> {
  isRead: boolean;
}

/** True for a read that takes no longer than a few milliseconds. */
export function isShortRead(query: CompiledQuery): boolean {
  return 'isRead' in query && query.isRead === true;
}

/**
 * Returns a query that is built and compiled only once. For short queries of every request: building a query takes longer
 * than executing it. `build` gets a placeholder for each value, with the type of the value.
 */
export function compiledQuery<Values extends Record<keyof Values, Value>, Row>(
  build: (db: Kysely<Tables>, placeholders: Values) => Compilable<Row>,
): RunQuery<Values, Row> {
  const placeholders = new Proxy({}, { get: (_target, name) => new Placeholder(name) }) as Values;
  const built = new WeakMap<DialectAdapter, ShortQuery<Row>>();
  const buildShort = (db: Kysely<Tables>): ShortQuery<Row> => {
    const compiled = build(db, placeholders).compile();
    return { ...compiled, isRead: /^\s*select\s/.test(compiled.sql) };
  };
  const compile = (db: Kysely<Tables>, values: Partial<Values>, others: object = {}): ShortQuery<Row> => {
    const { adapter, plugins } = db.getExecutor();
    // Plugins change the compiled query, so a query on a connection with plugins is not cached.
    const known = plugins.length === 0 ? built.get(adapter) : undefined;
    const compiled = known ?? buildShort(db);
    if (plugins.length === 0 && !known) built.set(adapter, compiled);
    // Together both objects have the type `Values`.
    const readValue = (name: keyof Values) => ((name in others ? others : values) as Partial<Values>)[name];
    const parameters = compiled.parameters.map((value) =>
      value instanceof Placeholder ? readValue(value.name as keyof Values) : value,
    );
    return { ...compiled, parameters };
  };
  const execute = (db: Kysely<Tables>, values: Partial<Values>, others?: object) =>
    db.executeQuery<Row>(compile(db, values, others));
  return Object.assign(execute, { compile });
}

/**
 * Returns a function that compiles one query for each shape, at its first use. For queries that differ by more than
 * their values.
 */
export function compiledQueryVariants<Shape extends object, Values extends Record<keyof Values, Value>, Row>(
  build: (shape: Shape) => (db: Kysely<Tables>, placeholders: Values) => Compilable<Row>,
): (shape: Shape) => ReturnType<typeof compiledQuery<Values, Row>> {
  const made = new Map<string, ReturnType<typeof compiledQuery<Values, Row>>>();
  return (shape) => {
    const key = Object.values(shape).join();
    const known = made.get(key) ?? compiledQuery(build(shape));
    made.set(key, known);
    return known;
  };
}

/** The numbers of rows of one INSERT statement. Few, so that few statements are compiled. */
const INSERT_SIZES = [50, 10, 5, 4, 3, 2, 1];

/** A function that inserts rows. */
interface CompiledInsert<Row, Returned> {
  (db: Kysely<Tables>, rows: readonly Row[]): Promise<Returned[]>;
  /** Returns the statements that insert the rows, for a batch. */
  compile(db: Kysely<Tables>, rows: readonly Row[]): CompiledQuery<Returned>[];
}

/**
 * Returns a function that inserts any number of rows by statements that are compiled once for each size, and returns
 * what they return. All rows must have the same columns in the same order, and the parameters of the statement must be
 * their values alone.
 */
export function compiledInsert<Row extends object, Returned>(
  build: (db: Kysely<Tables>, rows: Row[]) => Compilable<Returned>,
): CompiledInsert<Row, Returned> {
  const built = new WeakMap<DialectAdapter, Map<number, CompiledQuery<Returned>>>();
  const compileOne = (db: Kysely<Tables>, rows: Row[]): CompiledQuery<Returned> => {
    const { adapter, plugins } = db.getExecutor();
    // Plugins change the compiled query, so a query on a connection with plugins is not cached.
    if (plugins.length > 0) return build(db, rows).compile();
    const known = built.get(adapter) ?? new Map<number, CompiledQuery<Returned>>();
    built.set(adapter, known);
    const compiled = known.get(rows.length) ?? build(db, rows).compile();
    known.set(rows.length, compiled);
    return compiled;
  };
  const compile = (db: Kysely<Tables>, rows: readonly Row[]): CompiledQuery<Returned>[] => {
    const queries: CompiledQuery<Returned>[] = [];
    let start = 0;
    for (const size of INSERT_SIZES) {
      for (; rows.length - start >= size; start += size) {
        const some = rows.slice(start, start + size);
        const parameters: unknown[] = [];
        // `flatMap` takes about eight times as long.
        for (const row of some) parameters.push(...Object.values(row));
        queries.push({ ...compileOne(db, some), parameters });
      }
    }
    return queries;
  };
  const execute = async (db: Kysely<Tables>, rows: readonly Row[]) => {
    const returned: Returned[] = [];
    for (const query of compile(db, rows)) returned.push(...(await db.executeQuery(query)).rows);
    return returned;
  };
  return Object.assign(execute, { compile });
}

/** Returns an object with these members only. Works for values and for placeholders. */
export function pick<T extends object, Name extends keyof T>(from: T, names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, Name>;
}

/**
 * Reads up to `limit` rows of a list in one direction, from a position or, without one, from the first row in that
 * direction.
 */
export type PageReader<Row> = (
  direction: 'asc' | 'desc',
  limit: number,
  from?: { place: Position; inclusive: boolean },
) => Promise<Row[]>;

/** Returns the rows of a page that begins or ends at a position, and the rows directly before and after the page. */
export async function pageAround<Row>(
  { order, limit }: Pick<ListQuery, 'order' | 'limit'>,
  edge: Edge | undefined,
  step: PageReader<Row>,
): Promise<{ rows: Row[]; next: Row | undefined; previous: Row | undefined }> {
  const back = order === 'asc' ? 'desc' : 'asc';
  const beside = async (direction: 'asc' | 'desc', place: Position) =>
    (await step(direction, 1, { place, inclusive: false }))[0];
  if (edge && 'before' in edge) {
    const found = await step(back, limit + 1, { place: edge.before, inclusive: true });
    const next = await beside(order, edge.before);
    return { rows: found.slice(0, limit).reverse(), next, previous: found[limit] };
  }
  const found = await step(order, limit + 1, edge && { place: edge.after, inclusive: true });
  const previous = edge && (await beside(back, edge.after));
  return { rows: found.slice(0, limit), next: found[limit], previous };
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
