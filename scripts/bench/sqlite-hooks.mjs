const counted = new URL('sqlite-counted.mjs', import.meta.url).href;

/** Gives the program a module of SQLite that counts its statements. */
export async function resolve(specifier, context, next) {
  const isSqlite = specifier === '@photostructure/sqlite' || specifier === 'node:sqlite';
  if (!isSqlite || context.parentURL === counted) return next(specifier, context);
  return { url: counted, shortCircuit: true };
}
