import type { TravelAnswer, TravelFailure, TravelLookups, TravelUsers } from './ports.ts';

/** After so many failures in a row nobody of the connection is tried but one probe at a time. */
const FAILURES = 5;
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** Longer than a travel call may take: a probe has ended before the next is admitted. */
const PROBE_MS = 12_000;

/**
 * Spares a travel API that does not answer: after repeated failures a connection pauses, and then probes with one
 * identity at a time, at growing intervals, until one succeeds.
 */
export interface Pause {
  /** True when an attempt may be made at `now`; while paused, true for one caller when the next probe is due. */
  admits(now: number): boolean;
  /** True when nothing would be admitted at `now`; asks without taking the probe. */
  holds(now: number): boolean;
  succeeded(): void;
  failed(failure: TravelFailure, now: number): void;
}

/** A connection's pause; it lives in the process, as each replica finds out for itself soon enough. */
export function pause(): Pause {
  let failures = 0;
  let until = 0;
  let isProbing = false;
  const isPaused = () => failures >= FAILURES;
  return {
    holds: (now) => isPaused() && now < until,
    admits: (now) => {
      if (!isPaused()) return true;
      if (now < until) return false;
      until = now + PROBE_MS;
      isProbing = true;
      return true;
    },
    succeeded: () => {
      failures = 0;
      until = 0;
      isProbing = false;
    },
    failed: (failure, now) => {
      const asked = failure.kind === 'unavailable' ? (failure.retryAfterMs ?? 0) : 0;
      // What was under way when the pause began fails with it: 25 of them say no more than the one that began it.
      if (isPaused() && !isProbing) {
        until = Math.max(until, now + asked);
        return;
      }
      failures += 1;
      isProbing = false;
      const wait = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - FAILURES));
      until = now + Math.max(wait, asked);
    },
  };
}

/** The same connection, whose every answer the pause learns from. */
export function watched<C extends { travel: TravelUsers; lookups: TravelLookups }>(
  connection: C,
  heed: Pause,
  now: () => number,
): C {
  const seen = async <T>(call: Promise<TravelAnswer<T>>): Promise<TravelAnswer<T>> => {
    const answer = await call;
    if (answer.kind === 'unavailable' || answer.kind === 'unauthorized') heed.failed(answer, now());
    else heed.succeeded();
    return answer;
  };
  const { travel, lookups } = connection;
  return {
    ...connection,
    travel: {
      create: (user) => seen(travel.create(user)),
      read: (id) => seen(travel.read(id)),
      patch: (id, patch) => seen(travel.patch(id, patch)),
      remove: (id) => seen(travel.remove(id)),
      byEmail: (emails, timeoutMs) => seen(travel.byEmail(emails, timeoutMs)),
      page: (offset, limit) => seen(travel.page(offset, limit)),
      serverTime: travel.serverTime,
    },
    lookups: {
      ...lookups,
      current: async () => {
        const answer = await lookups.current();
        // Mostly from memory, so an answer proves nothing; a failure does.
        if (answer.kind !== 'ok') heed.failed(answer, now());
        return answer;
      },
    },
  };
}
