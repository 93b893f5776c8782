/** One of a list, the next for the next number. */
export function pick(list, n) {
  return list[n % list.length];
}
