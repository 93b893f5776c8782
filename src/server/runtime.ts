import type { Logger } from 'pino';
import type { Runtime } from '../provisioning/runtime-ports.ts';
import { timeOrderedId } from './ids.ts';

/**
 * Returns a clock, in epoch milliseconds, that starts at the wall clock's time and follows the monotonic clock from then on. Setting
 * the wall clock does not change it.
 */
export function steadyClock(
  wallClock: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
): () => number {
  const offset = wallClock() - monotonic();
  return () => Math.floor(offset + monotonic());
}

/** A clock that follows the database's, so that all replicas agree on times. */
export interface SharedClock {
  now(): number;
  /** Sets the clock to a time of the database, which was asked for it between two times by this clock. */
  follow(time: number, asked: { from: number; to: number }): void;
}

/** Differences below this, in milliseconds, are left: a clock should not go back by a little at each comparison. */
const CLOCK_TOLERANCE_MS = 50;

/** Creates a clock that runs steadily, and is set again if it differs from the database's. */
export function sharedClock(steady: () => number): SharedClock {
  let offset = 0;
  return {
    now: () => steady() + offset,
    follow: (time, { from, to }) => {
      if (time < from - CLOCK_TOLERANCE_MS) offset += time - from;
      else if (time > to + CLOCK_TOLERANCE_MS) offset += time - to;
    },
  };
}

/** The runtime of production: the machine's clocks, random numbers, timers, and the given log. */
export function systemRuntime(
  log: Logger,
  {
    checkpoint = () => {},
    now = steadyClock(),
    wallClock = () => Date.now(),
  }: Partial<Pick<Runtime, 'checkpoint' | 'now' | 'wallClock'>> = {},
): Runtime {
  return {
    now,
    wallClock,
    newId: timeOrderedId,
    random: Math.random,
    wait,
    log,
    checkpoint,
  };
}

/**
 * Waits for some milliseconds, or until the signal is aborted; both resolve. (`timers/promises` rejects an aborted wait, with the cost
 * of an Error and its stack each time.)
 */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
