/** Smallest, middle and largest of some figures. */
export function spread(figures) {
  const sorted = [...figures].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  const median =
    sorted.length % 2 === 0 ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[Math.floor(middle)];
  return { min: sorted[0], median, max: sorted.at(-1) };
}

/** The spread of what is computed from each round. */
export function overRounds(rounds, figure) {
  return spread(rounds.map(figure));
}

/** The figure that the share of all figures does not exceed. */
export function percentile(figures, share) {
  const sorted = [...figures].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}
