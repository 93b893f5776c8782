/** What `openssl rand` prints has more. */
const LEAST_CHARACTERS = 6;

/** What makes a secret easy to guess however long it is; undefined: nothing that its text shows. */
export function weaknessOf(secret: string): string | undefined {
  if (new Set(secret).size < LEAST_CHARACTERS)
    return `has fewer than ${LEAST_CHARACTERS} different characters`;
  const block = repeatedBlock(secret);
  return block === undefined ? undefined : `repeats its first ${block} characters`;
}

/** The length of the block that the text repeats to its end, where the last one may be cut. */
function repeatedBlock(text: string): number | undefined {
  for (let length = 1; length * 2 <= text.length; length += 1)
    if (text.startsWith(text.slice(length))) return length;
  return undefined;
}
