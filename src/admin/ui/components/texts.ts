/** Converts a name of the API, such as `emailTaken` or `createAccount`, to words. */
export function toWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Returns the words for the code of a finding. */
export function findingLabel(code: string): string {
  return findingLabels[code] ?? toWords(code);
}

/** The codes whose words are not those of people. */
const findingLabels: Partial<Record<string, string>> = {
  safetyValve: 'departure held',
  guarded: 'administers the travel service',
  neverProvisioned: 'deleted, but never sent',
  refusedByTravelApi: 'refused by the travel API',
  shadowCreate: 'planned: a traveler is created',
  shadowLink: 'planned: linked to a traveler',
  shadowChange: 'planned: a change',
  shadowReactivation: 'planned: activated again',
  shadowDeparture: 'planned: archived or deleted',
};

/** A number with separators, e.g. `1,204`. */
export function numberText(count: number): string {
  return count.toLocaleString('en');
}

/** A number and a noun, e.g. `1 traveler` or `1,204 travelers`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

/** Converts labels by value to the values of a field that lets choose among them. */
export function toChoices<Value extends string>(labels: Record<Value, string>) {
  // `Object.entries` forgets which keys there are.
  return Object.entries<string>(labels).map(([value, label]) => ({ value: value as Value, label }));
}

/** Parses the text of a JSON object; undefined for any other text. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True for a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const hours = { hourCycle: 'h23' } as const;
const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', ...hours });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', ...hours });
const exactClock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', ...hours });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns the text of a moment, both in epoch milliseconds, e.g. `7 s ago` or `in 2 h`. */
export function timeText(at: number, now: number): string {
  const distance = Math.abs(at - now);
  if (distance >= DAY) return local.format(at);
  const text =
    distance >= HOUR
      ? `${Math.trunc(distance / HOUR)} h`
      : distance >= MINUTE
        ? `${Math.trunc(distance / MINUTE)} min`
        : `${Math.trunc(distance / 1000)} s`;
  return at > now ? `in ${text}` : `${text} ago`;
}

/** Returns the time of day of a moment in epoch milliseconds. */
export function clockText(at: number): string {
  return clock.format(at);
}

/** Returns the time of day of a moment in epoch milliseconds, with its second. */
export function exactClockText(at: number): string {
  return exactClock.format(at);
}

/** Returns the text of a moment at which something is due, both in epoch milliseconds. */
export function deadlineText(at: number, now: number): string {
  return at <= now ? 'due' : timeText(at, now);
}

/** Returns the text of a moment after "since", both in epoch milliseconds: the time of day, and the day unless it is today. */
export function sinceText(at: number, now: number): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString();
  return (isToday ? clock : local).format(at);
}

/** Replaces the times of a sentence of the server, such as `2026-11-20T14:02Z`, by local ones: those of today by the time of day alone. */
export function withLocalTimes(text: string, now: number): string {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\dZ/g, (time) => sinceText(Date.parse(time), now));
}

/** The URNs that tables of rules abbreviate, by their short names. */
export const shortUrns = {
  enterprise: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  travel: 'urn:ietf:params:scim:schemas:extension:travel:2.0:User',
};

/** Returns SCIM paths with short names in place of URNs, e.g. `enterprise:costCenter`. */
export function withShortUrns(text: string): string {
  return Object.entries(shortUrns).reduce((all, [name, urn]) => all.replaceAll(`${urn}:`, `${name}:`), text);
}

/** Returns a SCIM path with the URN in place of its short name. */
export function withLongUrns(path: string): string {
  const found = Object.entries(shortUrns).find(([name]) => path.startsWith(`${name}:`));
  return found ? `${found[1]}${path.slice(found[0].length)}` : path;
}

/** Returns a duration, e.g. `3.2 ms` or `1.4 s`. */
export function durationText(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${Math.round(ms * 10) / 10} ms`;
}

/** Returns JSON with one member on each line; another text as it is. */
export function prettyText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Returns JSON with a line for each member, and any other text as it is. */
export function prettyBody({ text, isCut }: { text: string; isCut: boolean }): string {
  return isCut ? `${text}…` : prettyText(text);
}

/** A state as people read it: the symbol says the same as the colour. A state in which all is well has no colour. */
export interface Mark {
  symbol: string;
  label: string;
  color?: string;
}
