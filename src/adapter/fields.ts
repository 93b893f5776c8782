/** A JSON object, or undefined. */
export function record(value: unknown): Record<string, unknown> | undefined {
  return isRecord(value) ? value : undefined;
}

/** The items of an array; nothing for anything else. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A string, or undefined. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The strings among the named members: what is missing or of another type is passed over. */
export function texts<Name extends string>(
  source: Record<string, unknown>,
  names: readonly Name[],
): { [N in Name]?: string } {
  const found: { [N in Name]?: string } = {};
  for (const name of names) {
    const value = text(source[name]);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** What a reader makes of each item, without those it cannot read. */
export function readable<T>(items: unknown, read: (item: unknown) => T | undefined): T[] {
  return list(items).flatMap((item) => {
    const value = read(item);
    return value === undefined ? [] : [value];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
