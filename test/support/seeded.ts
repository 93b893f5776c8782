/** Random numbers that are the same for the same seed, so that a failing run can be repeated. */
export interface Random {
  /** From 0 to below `end`. */
  below(end: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
  /** So many of them, in random order. */
  some<T>(from: readonly T[], count: number): T[];
}

/** Mulberry32: small, and good enough to choose what a test does next. */
export function seeded(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  return {
    below,
    pick: (from) => from[below(from.length)] ?? from[0],
    some: (from, count) => {
      const left = [...from];
      return Array.from({ length: Math.min(count, from.length) }, () =>
        left.splice(below(left.length), 1),
      ).flat();
    },
  };
}
