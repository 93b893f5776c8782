import type { ScimResource } from '../schema/resource.ts';
import { type Candidate, candidate } from './candidate.ts';
import { textOf, valueAt } from './values.ts';

/** Where a first name comes from. */
export function firstNames(user: ScimResource): Candidate[] {
  const familyName = textOf(valueAt(user, 'name', 'familyName'));
  return [
    candidate('name.givenName', valueAt(user, 'name', 'givenName')),
    ...wholeNames(user).map(({ path, text }) =>
      candidate(`${path}, first part`, split(text, { familyName }).first),
    ),
  ];
}

/** Where a last name comes from. */
export function lastNames(user: ScimResource): Candidate[] {
  const givenName = textOf(valueAt(user, 'name', 'givenName'));
  return [
    candidate('name.familyName', valueAt(user, 'name', 'familyName')),
    ...wholeNames(user).map(({ path, text }) =>
      candidate(`${path}, last part`, split(text, { givenName }).last),
    ),
  ];
}

function wholeNames(user: ScimResource): { path: string; text: string }[] {
  const names = [
    { path: 'name.formatted', text: textOf(valueAt(user, 'name', 'formatted')) ?? '' },
    { path: 'displayName', text: textOf(valueAt(user, 'displayName')) ?? '' },
  ];
  // Some directories show the address where there is no name.
  return names.map(({ path, text }) => ({ path, text: text.includes('@') ? '' : text }));
}

/** What may follow a name behind a comma and is no part of it. */
const suffix = /, *(jr|sr|ii|iii|iv|phd|md|esq)\.?$/i;

interface Parts {
  first?: string | undefined;
  last?: string | undefined;
}

/**
 * Splits a whole name. What is known of it is taken off; else "Last, First" is turned round, and of several words the
 * first is the first name. A single word is a first name.
 */
function split(
  whole: string,
  known: { givenName?: string | undefined; familyName?: string | undefined },
): Parts {
  const text = single(whole).replace(suffix, '');
  const givenName = single(known.givenName ?? '');
  const familyName = single(known.familyName ?? '');
  if (givenName && startsWith(text, givenName)) return { last: rest(text.slice(givenName.length)) };
  if (givenName && endsWith(text, givenName)) return { last: rest(text.slice(0, -givenName.length)) };
  if (familyName && endsWith(text, familyName)) return { first: rest(text.slice(0, -familyName.length)) };
  if (familyName && startsWith(text, familyName)) return { first: rest(text.slice(familyName.length)) };
  const [before = '', after] = text.split(',', 2);
  if (after !== undefined) return { first: rest(after), last: rest(before) };
  const [first, ...others] = before.split(' ');
  return { first: rest(first ?? ''), last: rest(others.join(' ')) };
}

/** With single blanks. */
function single(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function startsWith(text: string, part: string): boolean {
  return (
    `${text} `.toLowerCase().startsWith(`${part.toLowerCase()} `) ||
    text.toLowerCase().startsWith(`${part.toLowerCase()},`)
  );
}

function endsWith(text: string, part: string): boolean {
  return ` ${text}`.toLowerCase().endsWith(` ${part.toLowerCase()}`);
}

function rest(text: string): string | undefined {
  const trimmed = text.replace(/^[\s,]+|[\s,]+$/g, '');
  return trimmed === '' ? undefined : trimmed;
}
