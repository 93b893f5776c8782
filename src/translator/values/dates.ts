import { cleanText } from '../../schema/clean-text.ts';

/**
 * The date of an ISO 8601 date or date-time, or of a date of XML Schema with a time zone such as `1990-02-28-08:00`; undefined if it is not
 * in the calendar. Times and zones are ignored.
 */
export function isoDate(text: string): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})(?:$|[T ]|Z$|[+-]\d{2}:\d{2}$)/i.exec(text) ?? [];
  return calendarDate(year, month, day);
}

/** The day of a time by the wall clock, in UTC, as YYYY-MM-DD. */
export function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}

/** The parts of a date format. */
const parts: Readonly<Record<string, string>> = {
  YYYY: '(?<year>\\d{4})',
  MM: '(?<month>\\d{2})',
  DD: '(?<day>\\d{2})',
  MMMM: '(?<monthName>\\p{L}{3,}\\.?)',
  M: '(?<month>\\d{1,2})',
  D: '(?<day>\\d{1,2})',
};

/**
 * Makes a function that parses a date in a format such as `DD/MM/YYYY` or `D MMMM YYYY` to `YYYY-MM-DD`. It returns undefined for a text
 * that is not such a date.
 */
export function dateParser(format: string): (text: string) => string | undefined {
  const pattern = tokensOf(format).map((token) => parts[token] ?? token.replace(/[$(-+.?[-^{-}]/g, '\\$&'));
  const date = new RegExp(`^${pattern.join('')}$`, 'u');
  return (text) => {
    const { year, day, month, monthName } = date.exec(text)?.groups ?? {};
    const number = monthName === undefined ? month : monthNumber(monthName);
    return calendarDate(year, number?.padStart(2, '0'), day?.padStart(2, '0'));
  };
}

function tokensOf(format: string): string[] {
  return format.match(/YYYY|MMMM|MM?|DD?|./gs) ?? [];
}

/**
 * True if a date format has a year, a month and a day once each, and a date can match the rest. A letter in the rest is meant as a
 * part that dates here do not have, such as an hour (HH); only T and Z stand for themselves (ISO 8601).
 */
export function isDateFormat(format: string): boolean {
  const tokens = tokensOf(format);
  const count = (names: string[]) => tokens.filter((token) => names.includes(token)).length;
  const hasEachOnce = [['YYYY'], ['MMMM', 'MM', 'M'], ['DD', 'D']].every((names) => count(names) === 1);
  const rest = tokens.filter((token) => parts[token] === undefined).join('');
  // A text is compared without invisible characters and outer blanks.
  const isMatched = !/[A-SU-Y]/i.test(rest) && cleanText(format).trim() === format;
  return hasEachOnce && isMatched && !isAmbiguous(tokens);
}

/** True if a number of one or two digits stands directly beside another number. */
function isAmbiguous(tokens: string[]): boolean {
  const isNumber = (token = '') => parts[token] !== undefined && token !== 'MMMM';
  return tokens.some(
    (token, index) =>
      (token === 'M' || token === 'D') && (isNumber(tokens[index - 1]) || isNumber(tokens[index + 1])),
  );
}

/** The names of the months in the languages of the travel service, without accents. */
const monthNames = [
  ['january', 'janvier'],
  ['february', 'fevrier'],
  ['march', 'mars'],
  ['april', 'avril'],
  ['may', 'mai'],
  ['june', 'juin'],
  ['july', 'juillet'],
  ['august', 'aout'],
  ['september', 'septembre'],
  ['october', 'octobre'],
  ['november', 'novembre'],
  ['december', 'decembre'],
];

/** Returns the number of a month by its name or by the beginning of it, e.g. `Jan` or `janv.`; undefined if it belongs to no month or to several. */
function monthNumber(name: string): string | undefined {
  const letters = name
    .normalize('NFD')
    .replace(/[\p{M}.]/gu, '')
    .toLowerCase();
  const found = monthNames.flatMap((names, index) =>
    names.some((one) => one.startsWith(letters)) ? [index + 1] : [],
  );
  return found.length === 1 ? String(found[0]) : undefined;
}

function calendarDate(year = '', month = '', day = ''): string | undefined {
  const text = `${year}-${month}-${day}`;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const time = Date.parse(`${text}T00:00:00Z`);
  // Date.parse turns 30 February into 2 March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) ? text : undefined;
}
