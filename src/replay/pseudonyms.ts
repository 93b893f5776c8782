import { TELLING_LENGTH, type WordSource, wordSource } from './invented-words.ts';
import { type PersonalKind, parseDate, type Token, tokenize } from './personal-tokens.ts';

/** A personal text of the recording. */
export interface PersonalText {
  text: string;
  kind: PersonalKind;
}

/** Replaces personal data in a text. */
export type Pseudonymize = (text: string, kind?: PersonalKind) => string;

/** The number of times that the replacements are chosen anew if a text of the recording happens to be in one of them. */
const MAX_CHOICES = 50;

/**
 * Creates the replacements for a recording. Each word gets an invented one of the same length and case, wherever it
 * stands: in a name, in the address made from it, or in a display name such as "Last, First". No replacement contains a
 * text of four or more characters from the recording, and no telephone number contains another, however its digits are
 * grouped. Nothing of the original can be computed from a replacement.
 */
export function createPseudonyms(originals: PersonalText[]): Pseudonymize {
  const all = originals.map(({ text, kind }) => tokenize(text, kind));
  const numbers = all.flatMap(numbersIn);
  const avoid = wordsToAvoid(all.flat(), numbers);
  const isSurvivor = survivorTest(originals);
  for (let choice = 1; ; choice += 1) {
    const random = randomNumbers(choice);
    const replaceToken = tokenReplacer(wordSource(random, avoid), random, { avoid, numbers });
    if (choice === MAX_CHOICES || !all.some((tokens) => isSurvivor(tokens, replaceToken)))
      return (text, kind) => tokenize(text, kind).map(replaceToken).join('');
  }
}

/** A telephone number: the digits that stay, and the key of those that are replaced. */
interface PhoneNumber {
  start: string;
  key: string;
}

function numbersIn(tokens: Token[]): PhoneNumber[] {
  return tokens.flatMap((token, index) => {
    const before = tokens[index - 1];
    const start = before?.type === 'kept' ? before.text.replace(/\D/g, '') : '';
    return token.type === 'digits' ? [{ start, key: tokenKey(token) }] : [];
  });
}

function wordsToAvoid(tokens: Token[], numbers: PhoneNumber[]): Set<string> {
  const words = tokens.filter(({ type }) => type !== 'kept').map(tokenKey);
  return new Set([...words, ...numbers.map(({ start, key }) => start + key)]);
}

/**
 * Returns a function that tells whether the replacement of some tokens contains a text of the recording. Texts in the
 * parts that stay as they are do not count: they would be in every replacement.
 */
function survivorTest(originals: PersonalText[]): (tokens: Token[], replaceToken: ReplaceToken) => boolean {
  const texts = new Set(originals.map(({ text }) => foldText(text)));
  const byStart = new Map<string, string[]>();
  for (const text of texts) {
    const start = text.slice(0, TELLING_LENGTH);
    if (start.length === TELLING_LENGTH) byStart.set(start, [...(byStart.get(start) ?? []), text]);
  }
  return (tokens, replaceToken) => {
    const parts = tokens.map((token) => foldText(replaceToken(token)));
    const replacement = parts.join('');
    // One character for each of the replacement: a space where it stays as it was.
    const changes = parts.map((part, index) =>
      (tokens[index]?.type === 'kept' ? ' ' : 'x').repeat(part.length),
    );
    const changed = changes.join('');
    const isAt = (text: string, start: number) =>
      replacement.startsWith(text, start) && changed.slice(start, start + text.length).includes('x');
    for (let start = 0; start + TELLING_LENGTH <= replacement.length; start += 1) {
      const candidates = byStart.get(replacement.slice(start, start + TELLING_LENGTH)) ?? [];
      if (candidates.some((text) => isAt(text, start))) return true;
    }
    return false;
  };
}

function tokenKey({ type, text }: Token): string {
  if (type === 'digits') return text.replace(/\D/g, '');
  if (type === 'guid') return text.replaceAll('-', '').toLowerCase();
  return type === 'date' ? (parseDate(text)?.iso ?? text) : foldText(text);
}

type ReplaceToken = (token: Token) => string;

function tokenReplacer(
  words: WordSource,
  random: () => number,
  { avoid, numbers }: { avoid: Set<string>; numbers: PhoneNumber[] },
): ReplaceToken {
  const startsOf = new Map<string, Set<string>>();
  for (const { start, key } of numbers) startsOf.set(key, (startsOf.get(key) ?? new Set()).add(start));
  const replacements = new Map<string, string>();
  const topLevels = new Map<string, string>();
  const remember = (key: string, invent: () => string) => {
    const known = replacements.get(key) ?? invent();
    replacements.set(key, known);
    return known;
  };
  const inventDate = dateSource(random, avoid);
  const inventWord = (key: string) => words.inventWord(key, startsOf.get(key));
  return (token) => {
    const key = tokenKey(token);
    switch (token.type) {
      case 'kept':
        return token.text;
      case 'guid':
        return copyGuidForm(
          remember(`guid ${key}`, () => words.inventHex(32)),
          token.text,
        );
      case 'date':
        return copyDateForm(remember(`date ${key}`, inventDate), token.text);
      case 'digits':
        return copyDigits(
          remember(key, () => inventWord(key)),
          token.text,
        );
      case 'word': {
        // The same word is another one below another top-level domain.
        const { topLevel = topLevels.get(key) ?? '' } = token;
        if (!topLevels.has(key) && token.topLevel !== undefined) topLevels.set(key, topLevel);
        const own = topLevels.get(key) === topLevel || topLevel === '' ? key : `${key} ${topLevel}`;
        return copyCase(
          remember(own, () => inventWord(key)),
          token.text,
        );
      }
    }
  };
}

/** Converts a text to NFC and lower case, code point by code point: letters whose lower case is longer stay. */
function foldText(text: string): string {
  return [...text.normalize('NFC')].map(foldCharacter).join('');
}

function foldCharacter(character: string): string {
  const lower = character.toLowerCase();
  return [...lower].length === 1 ? lower : character;
}

/** Gives a word in lower case the case and the normalization form of the original, letter by letter. */
function copyCase(word: string, original: string): string {
  const composed = [...original.normalize('NFC')];
  const cased = [...word].map((letter, index) => {
    const model = composed[index] ?? '';
    return foldCharacter(model) === model ? letter : letter.toUpperCase();
  });
  const text = cased.join('');
  return original === original.normalize('NFC') ? text : text.normalize('NFD');
}

/** Puts digits in the places of the original's digits. */
function copyDigits(digits: string, original: string): string {
  let next = 0;
  return original.replace(/\d/g, () => {
    next += 1;
    return digits.charAt(next - 1);
  });
}

/** Keeps hyphens, case, and the digits for version and variant (RFC 9562 §4). */
function copyGuidForm(hex: string, original: string): string {
  const plain = original.replaceAll('-', '');
  let next = -1;
  return original.replace(/[0-9a-f]/gi, (digit) => {
    next += 1;
    if (next === 12 || next === 16) return digit;
    const replaced = hex.charAt(next);
    return /[A-F]/.test(plain) ? replaced.toUpperCase() : replaced;
  });
}

function copyDateForm(iso: string, original: string): string {
  const [year = '', month = '', day = ''] = iso.split('-');
  return parseDate(original)?.format(year, month, day) ?? iso;
}

const FIRST_YEAR = 1950;
const YEARS = 50;

/** Returns a function that invents a date, in a year that is no word to avoid, and never the same one again. */
function dateSource(random: () => number, avoid: Set<string>): () => string {
  const used = new Set<string>();
  return () => {
    for (let attempt = 0; ; attempt += 1) {
      const date = randomDate(random, used.size + attempt);
      if (used.has(date) || avoid.has(date) || avoid.has(date.slice(0, 4))) continue;
      used.add(date);
      return date;
    }
  };
}

/** Days are 12 at most, so that day and month may be exchanged. The more dates are taken, the more years follow. */
function randomDate(random: () => number, taken: number): string {
  const years = YEARS + Math.floor(taken / 50);
  const two = (number: number) => String(1 + Math.floor(number * 12)).padStart(2, '0');
  return `${FIRST_YEAR + Math.floor(random() * years)}-${two(random())}-${two(random())}`;
}

/** The generator "mulberry32": the same recording gives the same files. */
function randomNumbers(seed: number): () => number {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
