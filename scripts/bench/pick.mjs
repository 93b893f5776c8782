/** Returns the entry of a list for a number; the entries take turns. */
export function pick(list, n) {
  return list[n % list.length];
}
