import type { Json } from '../schema/resource.ts';
import { type Reading, unusable } from './reading.ts';
import { textOf } from './values.ts';

/** A date of birth: `YYYY-MM-DD`, also where a time follows it. */
export function readDate(raw: Json): Reading {
  const date = isoDate(textOf(raw) ?? '');
  if (date) return { value: date };
  return unusable(
    'dateUnreadable',
    'This is not a date of the form YYYY-MM-DD.',
    'Correct the date in the identity provider, e.g. 1990-02-28, or give the rule a date transform.',
  );
}

/** The date at the start of an ISO 8601 date or date-time, when it exists in the calendar. */
export function isoDate(text: string): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})(?:$|[T ])/.exec(text) ?? [];
  return calendarDate(year, month, day);
}

/** Reads a date written as `format` says, in which YYYY, MM and DD stand for the parts, e.g. `DD/MM/YYYY`. */
export function dateOf(text: string, format: string): string | undefined {
  if (text.length !== format.length) return undefined;
  const part = (name: string): string => text.slice(format.indexOf(name), format.indexOf(name) + name.length);
  const year = part('YYYY');
  const month = part('MM');
  const day = part('DD');
  const spelled = format.replace('YYYY', year).replace('MM', month).replace('DD', day);
  return spelled === text ? calendarDate(year, month, day) : undefined;
}

/** True when a format names year, month and day once each. */
export function isDateFormat(format: string): boolean {
  return ['YYYY', 'MM', 'DD'].every((part) => format.split(part).length === 2);
}

function calendarDate(year = '', month = '', day = ''): string | undefined {
  const text = `${year}-${month}-${day}`;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const time = Date.parse(`${text}T00:00:00Z`);
  // Date.parse rolls 30 February over into March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) ? text : undefined;
}
