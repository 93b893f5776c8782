/** A list in parts, so that a statement has no more than so many parameters. */
export function* batches<T>(all: readonly T[], size = 500): Generator<T[]> {
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size);
}
