/** Returns the known word that is most similar to a misspelled one; undefined if none is similar enough. */
export function nearest(word: string, known: string[]): string | undefined {
  return similarWords(word, known, Math.max(2, Math.floor(word.length / 3)))[0];
}

/** Returns the known words that differ from a word in at most this number of letters, without case; the most similar first. */
export function similarWords(word: string, known: string[], maxDistance: number): string[] {
  // Words whose lengths differ by more cannot be so similar, and to compare long ones takes long.
  const comparable = known.filter(({ length }) => Math.abs(length - word.length) <= maxDistance);
  const candidates = comparable.map((candidate) => ({
    candidate,
    distance: distance(word.toLowerCase(), candidate.toLowerCase()),
  }));
  return candidates
    .filter((one) => one.distance <= maxDistance)
    .toSorted((one, other) => one.distance - other.distance)
    .map(({ candidate }) => candidate);
}

/** The number of letters to insert, delete or replace (Levenshtein distance). */
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
