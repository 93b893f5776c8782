import { setImmediate } from 'node:timers/promises';
import type { Compilable, CompiledQuery, DialectAdapter, Kysely, QueryResult, Transaction } from 'kysely';
import type { Edge, ListQuery, Position } from '../travel/ports.ts';
import type { Tables } from './tables.ts';

/** A value that a prepared query is asked with. */
type Value = string | number | null;

/** Stands for a value in a query that is prepared. */
class Placeholder {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * A query that is built and compiled once, for what happens with every request: building it costs more than its answer.
 * `build` gets a blank for each value, typed as the value so that the query is checked, and puts it where the value
 * would stand.
 */
export function compiledQuery<Values extends Record<keyof Values, Value>, Row>(
  build: (db: Kysely<Tables>, blanks: Values) => Compilable<Row>,
): (db: Kysely<Tables>, values: Values) => Promise<QueryResult<Row>> {
  const blanks = new Proxy({}, { get: (_target, name) => new Placeholder(name) }) as Values;
  const built = new WeakMap<DialectAdapter, CompiledQuery<Row>>();
  return (db, values) => {
    const { adapter, plugins } = db.getExecutor();
    // Plugins take part in the building, so whoever has some gets it built anew.
    const known = plugins.length === 0 ? built.get(adapter) : undefined;
    const compiled = known ?? build(db, blanks).compile();
    if (plugins.length === 0 && !known) built.set(adapter, compiled);
    const parameters = compiled.parameters.map((value) =>
      value instanceof Placeholder ? values[value.name as keyof Values] : value,
    );
    return db.executeQuery({ ...compiled, parameters });
  };
}

/** Prepared queries that differ by more than values: one for each shape, made when it is first asked for. */
export function compiledQueryVariants<Shape extends object, Values extends Record<keyof Values, Value>, Row>(
  build: (shape: Shape) => (db: Kysely<Tables>, blanks: Values) => Compilable<Row>,
): (shape: Shape) => ReturnType<typeof compiledQuery<Values, Row>> {
  const made = new Map<string, ReturnType<typeof compiledQuery<Values, Row>>>();
  return (shape) => {
    const key = Object.values(shape).join();
    const known = made.get(key) ?? compiledQuery(build(shape));
    made.set(key, known);
    return known;
  };
}

/** Those columns of an object, be it of values or of blanks. */
export function pick<T extends object, Name extends keyof T>(from: T, names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, Name>;
}

/**
 * Does the work in one transaction, which is kept when it comes to one of the `kept` results and undone when it comes
 * to another, or fails. The work awaits nothing but its own queries and, where it is long, a breath for the rest of the
 * process: the whole database may be waiting for it.
 */
export async function inTransaction<T>(
  db: Kysely<Tables>,
  kept: readonly T[],
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const undone: { result: T }[] = [];
  try {
    return await db.transaction().execute(async (tx) => {
      const result = await work(tx);
      if (kept.includes(result)) return result;
      undone.push({ result });
      throw new Rollback();
    });
  } catch (error) {
    const [first] = undone;
    if (first && error instanceof Rollback) return first.result;
    throw error;
  }
}

/** Makes the transaction roll back, and goes no further than the function above. */
class Rollback extends Error {}

/** Goes through a list from a place on, which may belong to it; none: from the end at which the direction begins. */
export type PageReader<Row> = (
  direction: 'asc' | 'desc',
  limit: number,
  from?: { place: Position; inclusive: boolean },
) => Promise<Row[]>;

/** The rows of a page that begins or ends at a place, and the rows next to it on either side, as far as there are any. */
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

/** A list in parts, so that a statement has no more than so many parameters. */
export function* batches<T>(all: readonly T[], size = 500): Generator<T[]> {
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size);
}

/** A value as it is kept in a JSON column. */
export function toJson(value: unknown): string {
  return JSON.stringify(value);
}

/** What a JSON column holds. Only this store writes it, so its type is what was written. */
export function parseJson<T>(text: string): T {
  return JSON.parse(text) as T;
}

/** Between two pieces of something long, lets the other requests have their turn; SQLite itself never does. */
export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}
