import type { Faker } from '@faker-js/faker';
import { foldCase } from '../schema/case-fold.ts';

/** Replaces every word, number, date and id of a text by an invented one. */
export type Pseudonymize = (text: string) => string;

/** Words of this length tell where they come from: an invented one is none of the recording. */
const TELLING_LENGTH = 4;

/** The number of words that are tried before a longer one is taken. */
const ATTEMPTS = 200;

const notBefore = '(?<![\\p{L}\\p{M}\\p{N}])';
const notAfter = '(?![\\p{L}\\p{M}\\p{N}])';
const date = '\\d{4}(?<dash>[-/.])\\d\\d\\k<dash>\\d\\d|\\d\\d(?<slash>[-/.])\\d\\d\\k<slash>\\d{4}';

/** The parts of a text that are replaced, and the schemes and times of day that stay. All other characters stay. */
const parts = new RegExp(
  [
    '(?<scheme>\\b(?:tel|mailto|https?):)',
    `${notBefore}(?<guid>[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12})${notAfter}`,
    '(?<=@|://)(?<host>[\\p{L}\\p{M}\\p{N}.-]+)',
    `${notBefore}(?<date>${date})(?<time>T\\d\\d:\\d\\d[\\d:.]*(?:Z|[+-]\\d\\d:?\\d\\d)?)?${notAfter}`,
    `${notBefore}(?<number>\\d(?:[\\d ().+/-]*\\d)?)${notAfter}`,
    '(?<word>[\\p{L}\\p{M}\\p{N}]+)',
  ].join('|'),
  'giu',
);

/**
 * Creates the replacements for a recording. Each word gets one invented word, wherever and in whatever case it stands, so that a
 * name, the address made from it, and "Last, First" stay consistent. No replacement has a word of four or more characters from
 * `originals`, and none can be computed from its original.
 */
export function createPseudonyms(faker: Faker, originals: Iterable<string>): Pseudonymize {
  const remember = inventions(wordsOf(originals));
  return (text) =>
    text.replace(parts, (part, ...match) => {
      const {
        scheme,
        guid,
        host,
        date: day,
        time = '',
        number,
      }: Record<string, string | undefined> = match.at(-1);
      if (scheme !== undefined) return part;
      if (guid !== undefined) return replaceGuid(guid, faker, remember);
      if (day !== undefined) return replaceDate(day, faker, remember) + time;
      if (number !== undefined) return replaceNumber(number, faker, remember);
      const key = host === undefined ? foldCase(part) : `@${foldCase(part)}`;
      const word = remember(key, (attempt) => inventWord(host === undefined ? key : '', faker, attempt));
      // Nobody has this top-level domain (RFC 2606).
      return copyCase(host === undefined ? word : `${word}.example`, part);
    });
}

/** Returns the words of some texts that tell where they come from. */
function wordsOf(texts: Iterable<string>): Set<string> {
  const words = [...texts].flatMap((text) => foldCase(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []);
  return new Set(words.filter((word) => word.length >= TELLING_LENGTH));
}

/** Returns the replacement of an original, which is that of no other one. The first time, it is invented. */
type Remember = (original: string, invent: (attempt: number) => string) => string;

function inventions(avoided: Set<string>): Remember {
  const replacements = new Map<string, string>();
  const used = new Set<string>();
  return (original, invent) => {
    const known = replacements.get(original);
    if (known !== undefined) return known;
    for (let attempt = 0; ; attempt += 1) {
      const invented = invent(attempt);
      const isFree = invented !== original && !used.has(invented);
      if (!isFree || [...wordsOf([invented])].some((word) => avoided.has(word))) continue;
      used.add(invented);
      replacements.set(original, invented);
      return invented;
    }
  };
}

/** A name; or letters and digits in the places of the original's, as in `E0071042`. */
function inventWord(original: string, faker: Faker, attempt: number): string {
  if (/\p{N}/u.test(original)) {
    const longer = attempt < ATTEMPTS ? original : `${original}0`;
    return longer.replace(/./gsu, (character) =>
      /\p{N}/u.test(character) ? faker.string.numeric() : faker.string.alpha({ casing: 'lower' }),
    );
  }
  const name = attempt % 2 === 0 ? faker.person.firstName() : faker.person.lastName();
  const isName = attempt < ATTEMPTS && /^[a-z]+$/i.test(name);
  return isName ? name.toLowerCase() : faker.string.alpha({ length: 10, casing: 'lower' });
}

/** Digits at the end of a telephone number that are replaced; country and area before them stay, so that it is still valid. */
const SUBSCRIBER_DIGITS = 7;

/**
 * Replaces the digits of a number of up to eight digits, except for zeros in front; of a longer one, which may be a telephone number,
 * the last seven. The same number in another form has the same digits.
 */
function replaceNumber(text: string, faker: Faker, remember: Remember): string {
  const digits = text.replace(/\D/g, '');
  const [significant = ''] =
    digits.length > SUBSCRIBER_DIGITS + 1
      ? [digits.slice(-SUBSCRIBER_DIGITS)]
      : (/[1-9]\d*$/.exec(digits) ?? []);
  if (significant === '') return text;
  const invented = remember(significant, (attempt) => inventDigits(significant, faker, attempt));
  let staying = digits.length - significant.length;
  let next = 0;
  return text.replace(/\d/g, (digit) => {
    if (staying > 0) {
      staying -= 1;
      return digit;
    }
    next += 1;
    // An invented number that is longer has the rest of its digits in the last place.
    return invented.slice(next - 1, next === significant.length ? undefined : next);
  });
}

/** A first digit below 2 stays, and another one does not become one: telephone numbers must not begin with it everywhere. */
function inventDigits(original: string, faker: Faker, attempt: number): string {
  const [first = '', ...others] = attempt < ATTEMPTS ? original : `${original}0`;
  const start = first < '2' ? first : faker.string.numeric({ length: 1, exclude: ['0', '1'] });
  return start + faker.string.numeric({ length: others.length });
}

/** Keeps hyphens and case. */
function replaceGuid(text: string, faker: Faker, remember: Remember): string {
  const plain = text.replaceAll('-', '');
  // With its hyphens, because each part of it is a word that must not be one of the recording.
  const invented = remember(plain.toLowerCase(), () => faker.string.uuid()).replaceAll('-', '');
  let next = 0;
  const replaced = text.replace(/[0-9a-f]/gi, () => {
    next += 1;
    return invented.charAt(next - 1);
  });
  return /[A-F]/.test(text) ? replaced.toUpperCase() : replaced;
}

const FIRST_YEAR = 1950;
const LAST_YEAR = 1999;

/** The day is 12 at most, so that day and month may be exchanged. */
function replaceDate(text: string, faker: Faker, remember: Remember): string {
  return remember(text, (attempt) => {
    const two = () => String(faker.number.int({ min: 1, max: 12 })).padStart(2, '0');
    // The more dates are taken, the more years follow.
    const year = String(faker.number.int({ min: FIRST_YEAR, max: LAST_YEAR + attempt }));
    return text.replace(/\d+/g, (digits) => (digits.length === 4 ? year : two()));
  });
}

/** Gives a word in lower case the case of the original: all capitals, or letter by letter. */
function copyCase(word: string, original: string): string {
  const isUpper = (letter = '') => letter !== letter.toLowerCase();
  if (original.length > 1 && isUpper(original) && original === original.toUpperCase())
    return word.toUpperCase();
  const model = [...original];
  return [...word].map((letter, index) => (isUpper(model[index]) ? letter.toUpperCase() : letter)).join('');
}
