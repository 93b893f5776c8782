/** A value as it is kept in a JSON column. */
export function toText(value: unknown): string {
  return JSON.stringify(value);
}

/** What a JSON column holds. Only this store writes it, so its type is what was written. */
export function fromText<T>(text: string): T {
  return JSON.parse(text) as T;
}
