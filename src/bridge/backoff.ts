import type { TravelFailure } from './ports.ts';

const FIRST_MS = 1_000;
/** Nobody waits longer, whatever the travel API asks for: once it is back, nobody need wait long. */
export const LONGEST_MS = 60_000;

/**
 * How long to wait before the next attempt at a person, in milliseconds: doubling from a second to a minute, spread by
 * half so that a crowd does not return at once, and, up to a minute, never before what the travel API asked for. A
 * throttled person waits for the connection's pause, and must be due when that ends. `random` in [0, 1).
 */
export function backoff(failure: TravelFailure, attempts: number, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempts, 20));
  const spread = full / 2 + (full / 2) * random;
  const asked = failure.kind === 'unavailable' && !failure.isThrottled ? (failure.retryAfterMs ?? 0) : 0;
  return Math.round(Math.min(LONGEST_MS, Math.max(spread, asked)));
}
