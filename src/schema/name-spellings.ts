import { isObject, type JsonObject, textOf } from './resource.ts';

/** Returns the name of a user by which people are compared: the given and the family name, else the name as one text. */
export function nameOf({ name, displayName }: JsonObject): string | undefined {
  const parts = isObject(name) ? name : {};
  const names = [textOf(parts['givenName']), textOf(parts['familyName'])].filter(
    (part) => part !== undefined,
  );
  const text = names.length > 0 ? names.join(' ') : (textOf(parts['formatted']) ?? textOf(displayName));
  return text?.slice(0, MAX_NAME_LENGTH);
}

/** Real names are shorter. The limit bounds the time for normalizing, which grows with the square of a run of marks. */
const MAX_NAME_LENGTH = 256;

/**
 * Returns the letters and digits of a name, in the spellings that it may have; none for a name without letters. There are two if a letter
 * is written in two ways: Müller is Muller or Mueller.
 */
export function spellingsOf(name = ''): string[] {
  const letters = withoutBrackets(name.slice(0, MAX_NAME_LENGTH).normalize('NFKC')).toLowerCase();
  const spellings = [plainLetters, longLetters].map((spelling) => bareLetters(spellOut(letters, spelling)));
  return spellings.filter((text) => text !== '');
}

/** Removes "(External)", "[Contractor]" and the like, from the inside out. */
function withoutBrackets(text: string): string {
  const without = text.replace(/\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}|<[^<>]*>/gu, ' ');
  return without === text ? text : withoutBrackets(without);
}

function spellOut(letters: string, spelling: Record<string, string>): string {
  return [...letters].map((letter) => spelling[letter] ?? letter).join('');
}

function bareLetters(text: string): string {
  return text.normalize('NFKD').replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Letters that consist of no letter and accent. */
const plainLetters: Record<string, string> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ŧ: 't', ŋ: 'ng', ı: 'i' },
  ...{ ĸ: 'k', ə: 'e', ȷ: 'j', ĳ: 'ij' },
};

/** The same, and the letters that are also written as two. */
const longLetters: Record<string, string> = {
  ...plainLetters,
  ...{ ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa', đ: 'dj' },
};
