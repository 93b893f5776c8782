/** A JSON object of the travel API, of which nothing is known yet. */
export type JsonRecord = Record<string, unknown>;

/** Returns the value if it is a JSON object, otherwise undefined. */
export function asObject(value: unknown): JsonRecord | undefined {
  return isRecord(value) ? value : undefined;
}

/** Returns the value if it is an array, otherwise an empty array. */
export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the value if it is a string, otherwise undefined. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns those of the named members that are strings. */
export function readStrings<Name extends string>(
  source: JsonRecord | undefined,
  names: readonly Name[],
): { [N in Name]?: string } {
  const found: { [N in Name]?: string } = {};
  for (const name of names) {
    const value = asString(source?.[name]);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** Reads each item of an array; unreadable items are left out. */
export function readItems<T>(items: unknown, read: (item: unknown) => T | undefined): T[] {
  return asArray(items).flatMap((item) => {
    const value = read(item);
    return value === undefined ? [] : [value];
  });
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
