import { cleanText } from './clean-text.ts';

/** The date of an ISO 8601 date or date-time; undefined if it is not in the calendar. */
export function isoDate(text: string): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})(?:$|[T ])/.exec(text) ?? [];
  return calendarDate(year, month, day);
}

/** Parses a date in a format such as `DD/MM/YYYY` to `YYYY-MM-DD`; undefined if the text is not such a date. */
export function parseDate(text: string, format: string): string | undefined {
  if (text.length !== format.length) return undefined;
  const part = (name: string): string => text.slice(format.indexOf(name), format.indexOf(name) + name.length);
  const year = part('YYYY');
  const month = part('MM');
  const day = part('DD');
  const spelled = format.replace('YYYY', year).replace('MM', month).replace('DD', day);
  return spelled === text ? calendarDate(year, month, day) : undefined;
}

/**
 * True if a date format has YYYY, MM and DD once each, and a date can match the rest. A letter in the rest is meant as a
 * part that dates here do not have, such as a month's name (MMM) or an hour (HH); only T and Z stand for themselves (ISO
 * 8601).
 */
export function isDateFormat(format: string): boolean {
  const rest = dateParts.reduce((text, part) => text.replace(part, ''), format);
  // A text is compared without invisible characters and outer blanks.
  return hasDateParts(format) && !/[A-SU-Y]/i.test(rest) && cleanText(format).trim() === format;
}

/** True if a date format has YYYY, MM and DD once each. */
export function hasDateParts(format: string): boolean {
  return dateParts.every((part) => format.split(part).length === 2);
}

const dateParts = ['YYYY', 'MM', 'DD'];

function calendarDate(year = '', month = '', day = ''): string | undefined {
  const text = `${year}-${month}-${day}`;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const time = Date.parse(`${text}T00:00:00Z`);
  // Date.parse turns 30 February into 2 March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) ? text : undefined;
}
