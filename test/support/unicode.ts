import fc from 'fast-check';

/** Letters that normalization and lower-casing treat specially, and some that they leave alone. */
const letters = [
  ...[
    'a',
    'A',
    'i',
    'I',
    'İ',
    'ı',
    'i\u0307',
    'ß',
    'ẞ',
    'ss',
    'SS',
    'Σ',
    'σ',
    'ς',
    'ﬁ',
    'fi',
    'Ａ',
    'ａ',
    '１',
  ],
  ...['é', 'É', 'e\u0301', 'E\u0301', 'Å', '\u212b', 'A\u030a', 'K', '\u212a', 'k', '\u2126', 'Ω', 'ω'],
  ...[
    'J\u030c',
    'j\u030c',
    'ǰ',
    'ǅ',
    'Ǆ',
    'ǆ',
    'ᾳ',
    'ᾼ',
    'ſ',
    's',
    '각',
    '\u1100\u1161\u11a8',
    '¹',
    '\u{10400}',
  ],
];

/** A word, mostly of letters whose case or form is special. */
export const specialWord = fc
  .array(
    fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...letters) },
      { weight: 1, arbitrary: fc.stringMatching(/^[\p{L}\p{N}]{1,3}$/u) },
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.join(''));

const rewritings: ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  ...(['NFC', 'NFD', 'NFKC', 'NFKD'] as const).map((form) => (text: string) => text.normalize(form)),
];

/** Two words, of which the second is often the first in another case or form. */
export const twoSpellings = fc.oneof(
  fc.tuple(specialWord, specialWord),
  fc
    .tuple(specialWord, fc.constantFrom(...rewritings), fc.constantFrom(...rewritings))
    .map(([word, one, other]): [string, string] => [word, other(one(word))]),
);

/** The contract: NFC, then `toLowerCase()`; written out here, so that no test asks the code under test. */
export function areSameWithoutCase(one: string, other: string): boolean {
  return one.normalize('NFC').toLowerCase() === other.normalize('NFC').toLowerCase();
}
