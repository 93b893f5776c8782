/**
 * The form in which texts are compared without case: NFC, then `toLowerCase()`. Every comparison of addresses, userNames
 * and other texts without case goes through this function: filters, keys of the store, the adapter, the travel service.
 *
 * Lower-casing may leave a text that NFC would change (J + U+030C becomes j + U+030C, not U+01F0), so the form of a form
 * may differ from the form: it is made once, of the text as it came.
 */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
