import { isObject, type Json } from './resource.ts';

/**
 * Joiners between letters of these scripts change the word, as in Persian and Hindi names; everywhere else they are leftovers
 * of copying.
 */
const joiningLetter =
  '[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Sinhala}\\p{Script=Khmer}\\p{Script=Myanmar}]';

/**
 * Characters without a glyph: soft hyphens, zero-width characters, bidirectional marks, embeddings and isolates (UAX #9),
 * and the byte order mark. ZWNJ and ZWJ (U+200C, U+200D) stay where they join letters.
 */
const invisible = new RegExp(
  `\\u034F|[\\u00AD\\u061C\\u180E\\u200B\\u200E\\u200F\\u202A-\\u202E\\u2060-\\u206F\\uFEFF]|(?<!${joiningLetter})[\\u200C\\u200D]|[\\u200C\\u200D](?!${joiningLetter})`,
  'gu',
);

/** Space separators other than the plain one, such as NO-BREAK SPACE and IDEOGRAPHIC SPACE. */
const otherSpaces = /(?! )\p{Zs}/gu;

const fullWidthDigits = /[０-９]/g;

/**
 * Returns a text without the characters that nobody sees, with plain spaces and ASCII digits. Line breaks and tabs stay,
 * because transforms may refer to them.
 */
export function cleanText(text: string): string {
  return text.replace(invisible, '').replace(otherSpaces, ' ').replace(fullWidthDigits, toAsciiDigit);
}

/** The longest usable value, in characters. No travel field is longer, and matching long values takes too much time. */
export const MAX_VALUE_LENGTH = 10_000;

/** Returns a text as rules compare it: `cleanText`, without blanks at both ends. A text that is too long to be used stays as it is. */
export function cleanValue(text: string): string {
  return text.length > MAX_VALUE_LENGTH ? text : cleanText(text).trim();
}

function toAsciiDigit(digit: string): string {
  return String.fromCharCode(digit.charCodeAt(0) - 0xfe_e0);
}

/** Returns a text as one line: each run of line breaks and tabs becomes a space. */
export function toLine(text: string): string {
  return text.replace(/ *[\t\n\v\f\r\u0085\u2028\u2029]+\s*/g, ' ');
}

/** The separators of lines. */
export const lineBreaks = /[\n\v\f\r\u0085\u2028\u2029]+/;

const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\u034F|(?! )\p{Zs}/gu;

/** Shows what nobody sees: each invisible character of the texts in a value becomes its code point, e.g. `<U+200E>`. */
export function withVisibleCharacters(value: Json): Json {
  if (typeof value === 'string') return value.replace(unseen, toCodePoint);
  if (Array.isArray(value)) return value.map(withVisibleCharacters);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withVisibleCharacters(inner)]),
  );
}

function toCodePoint(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `<U+${code.padStart(4, '0')}>`;
}
