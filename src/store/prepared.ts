import type { Compilable, CompiledQuery, DialectAdapter, Kysely, QueryResult } from 'kysely';
import type { Tables } from './tables.ts';

/** A value that a prepared query is asked with. */
type Value = string | number | null;

/** Stands for a value in a query that is prepared. */
class Blank {
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
export function prepared<Values extends Record<keyof Values, Value>, Row>(
  build: (db: Kysely<Tables>, blanks: Values) => Compilable<Row>,
): (db: Kysely<Tables>, values: Values) => Promise<QueryResult<Row>> {
  const blanks = new Proxy({}, { get: (_target, name) => new Blank(name) }) as Values;
  const built = new WeakMap<DialectAdapter, CompiledQuery<Row>>();
  return (db, values) => {
    const { adapter, plugins } = db.getExecutor();
    // Plugins take part in the building, so whoever has some gets it built anew.
    const known = plugins.length === 0 ? built.get(adapter) : undefined;
    const compiled = known ?? build(db, blanks).compile();
    if (plugins.length === 0 && !known) built.set(adapter, compiled);
    const parameters = compiled.parameters.map((value) =>
      value instanceof Blank ? values[value.name as keyof Values] : value,
    );
    return db.executeQuery({ ...compiled, parameters });
  };
}

/** Prepared queries that differ by more than values: one for each shape, made when it is first asked for. */
export function variants<Shape extends object, Values extends Record<keyof Values, Value>, Row>(
  build: (shape: Shape) => (db: Kysely<Tables>, blanks: Values) => Compilable<Row>,
): (shape: Shape) => ReturnType<typeof prepared<Values, Row>> {
  const made = new Map<string, ReturnType<typeof prepared<Values, Row>>>();
  return (shape) => {
    const key = Object.values(shape).join();
    const known = made.get(key) ?? prepared(build(shape));
    made.set(key, known);
    return known;
  };
}

/** Those columns of an object, be it of values or of blanks. */
export function pick<T extends object, Name extends keyof T>(from: T, names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, Name>;
}
