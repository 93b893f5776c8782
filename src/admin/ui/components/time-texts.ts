const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns the text of a moment, both in epoch milliseconds. */
export function timeText(at: number, now: number): string {
  const difference = at - now;
  const distance = Math.abs(difference);
  if (distance >= DAY) return local.format(at);
  if (distance >= HOUR) return relative.format(Math.trunc(difference / HOUR), 'hour');
  if (distance >= MINUTE) return relative.format(Math.trunc(difference / MINUTE), 'minute');
  return relative.format(Math.trunc(difference / 1000), 'second');
}

/** Returns the text of a moment at which something is due, both in epoch milliseconds. */
export function deadlineText(at: number, now: number): string {
  return at <= now ? 'due' : timeText(at, now);
}
