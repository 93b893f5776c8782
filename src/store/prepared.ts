import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** Stands for a value in a query that is prepared. It has the type of the value, so that the query is checked. */
class Blank {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * A query that is built and compiled once, for those asked with every request: building it costs more than its answer.
 * `build` gets a blank for each value, and puts it where the value would stand.
 */
export function prepared<Values extends Record<string, string | number>, Row>(
  db: Kysely<Tables>,
  build: (blanks: Values) => Compilable<Row>,
): (values: Values) => Promise<Row[]> {
  const blanks = new Proxy({}, { get: (_target, name) => new Blank(name) }) as Values;
  let built: CompiledQuery<Row> | undefined;
  return async (values) => {
    built ??= build(blanks).compile();
    const parameters = built.parameters.map((value) =>
      value instanceof Blank ? values[value.name as keyof Values] : value,
    );
    const query: CompiledQuery<Row> = { ...built, parameters };
    return (await db.executeQuery(query)).rows;
  };
}
