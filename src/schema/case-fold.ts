/** The longest run of combining marks that is normalized as one; longer than any language needs. */
const MAX_MARKS = 64;

/**
 * Returns the form of a text that is compared without case: NFC, then `toLowerCase()`. All comparisons of addresses,
 * userNames and other texts without case use this function: filters, keys of the store, the adapter, the travel service.
 *
 * Fold a text only once: the result may change when it is folded again, since lower-casing can leave a text that NFC
 * changes (J + U+030C becomes j + U+030C, not U+01F0).
 */
export function foldCase(text: string): string {
  return separateLongMarkRuns(text).normalize('NFC').toLowerCase();
}

/**
 * Inserts a COMBINING GRAPHEME JOINER after each 64 combining marks in a row (UAX #15 §13, Stream-Safe Text Format).
 * Normalizing sorts a run of marks in quadratic time: 65,536 marks would take six seconds.
 */
function separateLongMarkRuns(text: string): string {
  if (text.length <= MAX_MARKS) return text;
  return text.replace(/\p{M}+/gu, (marks) =>
    marks.length > MAX_MARKS ? marks.replace(/.{64}/gsu, '$&\u034f') : marks,
  );
}
