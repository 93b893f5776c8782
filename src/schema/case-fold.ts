/** The most combining marks in a row that count as one run; no language stacks as many. */
const MAX_MARKS = 64;

/**
 * The form in which texts are compared without case: NFC, then `toLowerCase()`. Every comparison of addresses, userNames
 * and other texts without case goes through this function: filters, keys of the store, the adapter, the travel service.
 *
 * Lower-casing may leave a text that NFC would change (J + U+030C becomes j + U+030C, not U+01F0), so the form of a form
 * may differ from the form: it is made once, of the text as it came.
 */
export function foldCase(text: string): string {
  return separateLongMarkRuns(text).normalize('NFC').toLowerCase();
}

/**
 * The same text with a COMBINING GRAPHEME JOINER after each 64 combining marks in a row (UAX #15 §13, Stream-Safe Text
 * Format). Normalizing sorts such a run in quadratic time: 65,536 marks would take six seconds.
 */
function separateLongMarkRuns(text: string): string {
  if (text.length <= MAX_MARKS) return text;
  return text.replace(/\p{M}+/gu, (marks) =>
    marks.length > MAX_MARKS ? marks.replace(/.{64}/gsu, '$&\u034f') : marks,
  );
}

/** Folds texts, each different one once: for work that compares the same texts again and again. */
export function createFoldCache(): (text: string) => string {
  const folded = new Map<string, string>();
  return (text) => {
    const known = folded.get(text);
    if (known !== undefined) return known;
    const form = foldCase(text);
    folded.set(text, form);
    return form;
  };
}
