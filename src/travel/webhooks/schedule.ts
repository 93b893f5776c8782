import type { Attempt, DeliveryOutcome } from './ports.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long to wait after each failure; the last one again and again. */
const WAITS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR];
/** By how much of it a wait is shortened or prolonged, so that what failed together does not come back together. */
const JITTER = 0.2;
/** A delivery is tried this long, counted from its first attempt. */
const TRIED_MS = 24 * HOUR;
/** A receiver may ask for more time, up to this. */
const LONGEST_ASKED_MS = 2 * HOUR;
/** No wait is longer than this: the longest of the list, prolonged, or what a receiver asks for. */
export const LONGEST_WAIT_MS = Math.max((WAITS.at(-1) ?? 0) * (1 + JITTER), LONGEST_ASKED_MS);
/** A webhook that fails this long, without one success, is disabled. */
export const FAILING_MS = 5 * 24 * HOUR;

/** What becomes of a delivery after its last attempt. `retryAfter` is the header of the answer, `random` from 0 to 1. */
export function outcomeOf(
  attempts: Attempt[],
  { retryAfter, random }: { retryAfter: string | undefined; random: number },
): DeliveryOutcome {
  const first = attempts[0];
  const last = attempts.at(-1);
  if (!first || !last) throw new Error('a delivery without an attempt has no outcome');
  if (last.error === undefined) return { status: 'succeeded', attempts };
  const endedAt = last.at + last.latencyMs;
  const wait = WAITS[Math.min(attempts.length, WAITS.length) - 1] ?? 0;
  const own = Math.round(wait * (1 - JITTER + 2 * JITTER * random));
  const nextAttemptAt = endedAt + Math.max(own, askedFor(retryAfter, endedAt));
  if (nextAttemptAt > first.at + TRIED_MS) return { status: 'failed', attempts };
  return { status: 'pending', attempts, nextAttemptAt };
}

/** "a non-negative decimal integer, representing time in seconds", or a date (RFC 9110 §10.2.3); anything else asks for nothing. */
function askedFor(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  const asked = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * SECOND : Date.parse(retryAfter) - now;
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), LONGEST_ASKED_MS);
}
