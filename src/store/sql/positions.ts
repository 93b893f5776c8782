/** Added to the position of users that were created incomplete, so that they come after all others. */
const INCOMPLETE = 2 ** 52;

let last = 0;

/**
 * Returns the position of a new user or group in the stable order of lists: the time in microseconds since 1970, and
 * always more than the last position that this process has assigned. Two processes may assign the same position, so lists
 * are ordered by position and id.
 */
export function nextPosition({ incomplete }: { incomplete: 0 | 1 } = { incomplete: 0 }): number {
  last = Math.max(last + 1, Date.now() * 1000);
  return last + incomplete * INCOMPLETE;
}
