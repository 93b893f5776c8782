import { DAY, HOUR } from './scene.ts';

/** From eight to six, Monday to Friday. */
const OPENS = 8 * HOUR;
const HOURS = 10 * HOUR;
const WEEK = 7 * DAY;
/** A Monday, in epoch milliseconds. */
const MONDAY = 4 * DAY;

/** How long people have worked since that Monday, in milliseconds. */
export function workedUntil(time: number): number {
  const weeks = Math.floor((time - MONDAY) / WEEK);
  const inWeek = time - MONDAY - weeks * WEEK;
  const days = Math.floor(inWeek / DAY);
  const today = Math.min(HOURS, Math.max(0, inWeek - days * DAY - OPENS));
  return weeks * 5 * HOURS + (days < 5 ? days * HOURS + today : 5 * HOURS);
}

/** The other way round: the time, in epoch milliseconds, at which people have worked so long. */
export function timeAfter(worked: number): number {
  const weeks = Math.floor(worked / (5 * HOURS));
  const days = Math.floor((worked - weeks * 5 * HOURS) / HOURS);
  return Math.floor(MONDAY + weeks * WEEK + days * DAY + OPENS + (worked % HOURS));
}
