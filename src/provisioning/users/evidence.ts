import { foldCase } from '../../schema/case-fold.ts';
import { employeeNumberKey } from '../../schema/resource.ts';

/** The values by which a leaver and a newcomer are compared. Absent values are undefined, or an empty list. */
export interface PersonalValues {
  /** The connection of the user; undefined for a traveler without an identity. */
  connection?: string | undefined;
  userName?: string | undefined;
  /** The addresses of the user. */
  emails?: readonly string[] | undefined;
  externalId?: string | undefined;
  employeeNumber?: string | undefined;
  givenName?: string | undefined;
  familyName?: string | undefined;
  /** The name as one text. It counts if neither `givenName` nor `familyName` is known. */
  fullName?: string | undefined;
}

/** The facts about a return that the values of the two users do not tell. */
export interface ReturnFacts {
  /** True if both were active at the same time and wanted one address. */
  sharedAddress: boolean;
  /** True if the newcomer is the leaver's SCIM user, which was activated again. */
  isSameUser: boolean;
  /** True if another active person of the travel account has the number too: it then tells nothing. */
  isNumberShared: boolean;
  /** The time since the departure, in milliseconds; undefined if it is not known. */
  msSinceDeparture: number | undefined;
}

/** `same`: the newcomer is the leaver. `other`: the newcomer is another person. */
export const verdicts = ['same', 'other', 'unclear'] as const;

export type Verdict = (typeof verdicts)[number];

/** A row of the table of evidence (docs/architecture.md, Leaving and returning). */
export type EvidenceRow = 1 | 2 | 3 | 4 | 5 | 6 | 7;

export interface Judgement {
  verdict: Verdict;
  row: EvidenceRow;
}

/** People of one name who left within this time are taken for the same person, in milliseconds: 90 days. */
const RECENT_MS = 90 * 86_400_000;

interface Compared {
  leaver: PersonalValues;
  newcomer: PersonalValues;
  facts: ReturnFacts;
}

interface TableRow {
  row: EvidenceRow;
  verdict: Verdict;
  fits(compared: Compared): boolean;
}

/** The table of evidence. The first row that fits decides. */
const table: readonly TableRow[] = [
  { row: 1, verdict: 'other', fits: ({ facts }) => facts.sharedAddress },
  {
    row: 2,
    verdict: 'same',
    fits: ({ leaver, newcomer, facts }) => facts.isSameUser && isUnchanged(leaver, newcomer),
  },
  {
    row: 3,
    verdict: 'same',
    fits: ({ leaver, newcomer }) => haveSameExternalId(leaver, newcomer),
  },
  {
    row: 4,
    verdict: 'same',
    fits: ({ leaver, newcomer, facts }) => {
      const isEqual = !facts.isNumberShared && haveEqualNumbers(leaver, newcomer);
      return isEqual && !areDistinct(wholeName(leaver), wholeName(newcomer));
    },
  },
  { row: 5, verdict: 'other', fits: ({ leaver, newcomer }) => haveDistinctNames(leaver, newcomer) },
  {
    row: 6,
    verdict: 'same',
    fits: ({ leaver, newcomer, facts: { msSinceDeparture } }) => {
      const isRecent = msSinceDeparture !== undefined && msSinceDeparture < RECENT_MS;
      return isRecent && isEqualName(wholeName(leaver), wholeName(newcomer));
    },
  },
  { row: 7, verdict: 'unclear', fits: () => true },
];

/** Decides whether a newcomer is the person who left, by the table of evidence. */
export function judgeReturn(leaver: PersonalValues, newcomer: PersonalValues, facts: ReturnFacts): Judgement {
  const found = table.find(({ fits }) => fits({ leaver, newcomer, facts }));
  return found ? { verdict: found.verdict, row: found.row } : { verdict: 'unclear', row: 7 };
}

/** True if both are users of one connection with one externalId, which is no userName or address that another person may get. */
export function haveSameExternalId(one: PersonalValues, other: PersonalValues): boolean {
  const id = stableExternalId(one);
  return id !== undefined && one.connection === other.connection && id === stableExternalId(other);
}

/** True if two users have the same number. Whether it tells anything depends on `ReturnFacts.isNumberShared`. */
function haveEqualNumbers(one: PersonalValues, other: PersonalValues): boolean {
  const number = employeeNumberKey(one.employeeNumber);
  return number !== undefined && number === employeeNumberKey(other.employeeNumber);
}

/** Returns the externalId unless it is the userName, an address or the local part of one: these pass to other people. */
function stableExternalId({ externalId, userName, emails = [] }: PersonalValues): string | undefined {
  if (externalId === undefined || externalId.trim() === '') return undefined;
  const names = [userName ?? '', ...emails].filter((name) => name !== '');
  const reused = names.flatMap((name) => [name, name.replace(/@[^@]*$/u, '')]).map(foldCase);
  return reused.includes(foldCase(externalId)) ? undefined : externalId;
}

function isUnchanged(leaver: PersonalValues, newcomer: PersonalValues): boolean {
  const isSameId = leaver.externalId === newcomer.externalId;
  const isSameNumber =
    employeeNumberKey(leaver.employeeNumber) === employeeNumberKey(newcomer.employeeNumber);
  const names = [leaver, newcomer].map((person) => [toName(person.givenName), toName(person.familyName)]);
  const [[given, family] = [], [newGiven, newFamily] = []] = names;
  const isSameName = isSameOrAbsent(given, newGiven) && isSameOrAbsent(family, newFamily);
  return isSameId && isSameNumber && isSameName;
}

function isSameOrAbsent(one: Name = [], other: Name = []): boolean {
  return one.length === 0 && other.length === 0 ? true : isEqualName(one, other);
}

/** True if the given names or the family names are known on both sides and share no word. */
function haveDistinctNames(leaver: PersonalValues, newcomer: PersonalValues): boolean {
  if (!hasParts(leaver) || !hasParts(newcomer)) return areDistinct(wholeName(leaver), wholeName(newcomer));
  return (
    areDistinct(toName(leaver.givenName), toName(newcomer.givenName)) ||
    areDistinct(toName(leaver.familyName), toName(newcomer.familyName))
  );
}

function hasParts({ givenName, familyName }: PersonalValues): boolean {
  return toName(givenName).length > 0 || toName(familyName).length > 0;
}

function wholeName({ givenName, familyName, fullName }: PersonalValues): Name {
  const [given, family] = [toName(givenName), toName(familyName)];
  if (given.length === 0 && family.length === 0) return toName(fullName);
  return [0, 1].map((spelling) => [...(given[spelling] ?? []), ...(family[spelling] ?? [])]);
}

/**
 * The spellings of a name, each as its words; empty for an absent name. There are two if a letter is written in two ways:
 * Müller is Muller or Mueller.
 */
type Name = readonly (readonly string[])[];

function isEqualName(one: Name, other: Name): boolean {
  const joined = one.map((words) => words.join(''));
  return other.some((words) => joined.includes(words.join('')));
}

/** True for two names that are known and share no word. A name that is written as one word or as several is the same. */
function areDistinct(one: Name, other: Name): boolean {
  if (one.length === 0 || other.length === 0 || isEqualName(one, other)) return false;
  const words = new Set(one.flat());
  return !other.flat().some((word) => words.has(word));
}

/** Real names are shorter. The limit bounds the time for normalizing, which grows with the square of a run of marks. */
const MAX_NAME_LENGTH = 256;

function toName(text: string | undefined): Name {
  if (text === undefined) return [];
  const letters = withoutBrackets(text.slice(0, MAX_NAME_LENGTH).normalize('NFKC')).toLowerCase();
  const spellings = [wordsOf(spellOut(letters, plainLetters)), wordsOf(spellOut(letters, longLetters))];
  return spellings.filter((words) => words.length > 0);
}

/** Removes "(External)", "[Contractor]" and the like, from the inside out. */
function withoutBrackets(text: string): string {
  const without = text.replace(/\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}|<[^<>]*>/gu, ' ');
  return without === text ? text : withoutBrackets(without);
}

function spellOut(letters: string, spelling: Record<string, string>): string {
  return [...letters].map((letter) => spelling[letter] ?? letter).join('');
}

/** An apostrophe joins the parts of a word (O'Brien, OBrien); all other punctuation separates words. */
function wordsOf(text: string): string[] {
  const bare = text.replace(/['‘’ʼʻ`´\p{Cf}]/gu, '').normalize('NFKD');
  return bare
    .replace(/\p{M}/gu, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
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
