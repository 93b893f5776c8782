/** The one spelling of texts that are the same without case: where caseExact is false (RFC 7643 §2.2), and in every index. */
export function foldCase(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
