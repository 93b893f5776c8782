const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const exactClock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
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

/** Replaces the times of a sentence of the server, such as `2026-11-20T14:02Z`, by local ones: those of today by the time of day alone. */
export function withLocalTimes(text: string, now: number): string {
  const today = new Date(now).toDateString();
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\dZ/g, (time) => {
    const at = new Date(time);
    return (at.toDateString() === today ? clock : local).format(at);
  });
}
