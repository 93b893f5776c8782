/** Returns the minimum, median and maximum of some figures. */
export function spread(figures) {
  const sorted = [...figures].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  const median =
    sorted.length % 2 === 0 ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[Math.floor(middle)];
  return { min: sorted[0], median, max: sorted.at(-1) };
}

/** Computes a figure of each round, and returns the spread of these figures. */
export function overRounds(rounds, figure) {
  return spread(rounds.map(figure));
}

/** Returns the smallest figure that is not exceeded by this share of all figures. */
export function percentile(figures, share) {
  const sorted = [...figures].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}
