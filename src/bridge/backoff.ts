import type { TravelFailure } from './ports.ts';

const FIRST_MS = 1_000;
/** The longest wait of a person. The connection's pause spares a travel API that is down; nobody need wait long once it is back. */
export const LONGEST_MS = 60_000;

/**
 * How long to wait before the next attempt, in milliseconds: doubling from a second to a minute, spread by
 * half so that a crowd does not return at once, and never before what the travel API asked for. `random` in [0, 1).
 */
export function backoff(failure: TravelFailure, attempts: number, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempts, 20));
  const spread = full / 2 + (full / 2) * random;
  const asked = failure.kind === 'unavailable' ? (failure.retryAfterMs ?? 0) : 0;
  return Math.round(Math.max(spread, asked));
}
