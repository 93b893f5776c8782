/** The known word that a misspelled one is likely meant to be; undefined when none is near. */
export function nearest(word: string, known: string[]): string | undefined {
  const far = Math.max(2, Math.floor(word.length / 3));
  const distances = known.map((candidate) => ({
    candidate,
    distance: distance(word.toLowerCase(), candidate.toLowerCase()),
  }));
  const [best] = distances.toSorted((one, other) => one.distance - other.distance);
  return best && best.distance <= far ? best.candidate : undefined;
}

/** How many letters must be put in, taken out or exchanged (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [column, expected] of [...other].entries()) {
      const exchanged = (row[column] ?? 0) + (letter === expected ? 0 : 1);
      next.push(Math.min(exchanged, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
