/** Invents words of a given shape. */
export interface WordSource {
  /**
   * Returns a word with letters where the given one has letters and digits where it has digits, in lower case. It is
   * never returned again, and is not one of the words to avoid. `starts` has what may stand directly before it: together
   * with that, it does not contain a word to avoid either.
   */
  inventWord(word: string, starts?: Iterable<string>): string;
  /** Returns hexadecimal digits that were never returned before. */
  inventHex(length: number): string;
}

/** The number of words that are tried before one to avoid is accepted: there are only 26 words of one letter. */
const ATTEMPTS = 2_000;
/** Words longer than this are compared whole with the words to avoid, and not by their parts. */
const LONG_WORD = 40;
/** A part of this length shows the word that it comes from. */
export const TELLING_LENGTH = 4;

/** Names to invent with, so that a reader can tell people apart: a word of the same length takes one of them. */
const names = [
  'eva ida leo max noa uma tim zoe abe bea',
  'anna emil hugo iris lars mona nina otto rosa sven tara vera',
  'alban berta clara edgar fiona gerda helga ivana jonas klara livia oscar petra selma viola',
  'adrian bettie cosimo dorian esther fabian gudrun hector ingrid jasper ludwig martha norman ottmar',
  'amadeus bertram camille dorothy eleanor florian gabriel horatio isidora juliane leopold ottilie',
  'adelaide bertrand clemence dominika emanuela ferdinand gwendola hermione leonhard marianne',
  'alexandra bernadine constanze ekaterina florentin guglielma henrietta katharina leontinus',
]
  .join(' ')
  .split(' ');

/** Creates a source of words from random numbers in [0, 1). `avoid` has words in lower case. */
export function wordSource(random: () => number, avoid: Set<string>): WordSource {
  const used = new Set<string>();
  const isTelling = (word: string) => word.length >= TELLING_LENGTH && avoid.has(word);
  const isAvoided = (word: string, start = '') =>
    word.length > LONG_WORD ? avoid.has(word) : partsOf(start + word, start.length).some(isTelling);
  const freeNames = names.toSorted(() => random() - 0.5).filter((name) => !isAvoided(name));
  const take = (word: string) => {
    used.add(word);
    return word;
  };
  return {
    inventWord: (original, starts = []) => {
      const before = ['', ...starts];
      const sameLength = (name: string) =>
        name.length === original.length && name !== original && !used.has(name);
      const name = /^[a-z]+$/.test(original) ? freeNames.find(sameLength) : undefined;
      if (name !== undefined) return take(name);
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const word = randomWord(original, random);
        const isFree = !used.has(word) && word !== original;
        if (isFree && !before.some((start) => isAvoided(word, start))) return take(word);
      }
      return take(anyFreeWord(original, random, used));
    },
    inventHex: (length) => {
      for (;;) {
        const text = Array.from({ length }, () => pick('0123456789abcdef', random)).join('');
        if (!used.has(text)) return take(text);
      }
    },
  };
}

/** Returns every part of at least the telling length that ends after a position. */
function partsOf(word: string, position: number): string[] {
  const parts: string[] = [];
  for (let start = 0; start + TELLING_LENGTH <= word.length; start += 1)
    for (let end = Math.max(start + TELLING_LENGTH, position + 1); end <= word.length; end += 1)
      parts.push(word.slice(start, end));
  return parts;
}

/** Returns an unused word of the same shape; a longer one if there is none. */
function anyFreeWord(original: string, random: () => number, used: Set<string>): string {
  for (let longer = original; ; longer += 'a') {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const word = randomWord(longer, random);
      if (!used.has(word)) return word;
    }
  }
}

const vowels = 'aeiou';
const consonants = 'bdfgklmnprstvz';

/** Consonants and vowels of ASCII alternate, so that the word can be spoken. */
function randomWord(original: string, random: () => number): string {
  let isVowelNext = random() < 0.3;
  return [...original]
    .map((character, index) => {
      if (/[a-z]/.test(character)) {
        const letter = original.length < 3 ? pick(`${vowels}${consonants}chjqwxy`, random) : undefined;
        isVowelNext = !isVowelNext;
        return letter ?? pick(isVowelNext ? consonants : vowels, random);
      }
      const isFirst = index === 0 && original.length > 1;
      if (/\p{Nd}/u.test(character)) return randomDigit(character, isFirst, random);
      return /\p{M}/u.test(character) ? character : randomLetter(character, random);
    })
    .join('');
}

/**
 * A first digit of 0 or 1 stays, and another does not become one: numbers keep their length, and telephone numbers
 * remain possible.
 */
function randomDigit(original: string, isFirst: boolean, random: () => number): string {
  const code = original.codePointAt(0) ?? 0;
  // The digits of a script follow each other in Unicode, from a zero.
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  if (isFirst && code - zero < 2) return original;
  const digit = isFirst ? 2 + Math.floor(random() * 8) : Math.floor(random() * 10);
  return String.fromCodePoint(zero + digit);
}

/** The number of neighbours in Unicode that are tried for a letter outside ASCII. */
const NEIGHBOURS = 64;

/** Returns a letter from the same part of Unicode, which is usually one of the same script. */
function randomLetter(original: string, random: () => number): string {
  const code = original.codePointAt(0) ?? 0;
  const hasCase = original.toUpperCase() !== original;
  for (let attempt = 0; attempt < NEIGHBOURS; attempt += 1) {
    const letter = String.fromCodePoint((code & ~0x7f) + Math.floor(random() * 0x80));
    if (isPlainLetter(letter) && (letter.toUpperCase() !== letter) === hasCase) return letter;
  }
  return hasCase ? 'ø' : '山';
}

/** Returns true if a letter is not ASCII, is in lower case (or has none), and survives a change of case and normalizing. */
function isPlainLetter(letter: string): boolean {
  return (
    /^\p{L}$/u.test(letter) &&
    letter > '\u007f' &&
    letter.toUpperCase().toLowerCase() === letter &&
    [...letter.toUpperCase()].length === 1 &&
    letter.normalize('NFKC') === letter
  );
}

function pick(choices: string, random: () => number): string {
  return choices.charAt(Math.floor(random() * choices.length));
}
