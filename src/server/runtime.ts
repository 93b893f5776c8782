import type { Logger } from 'pino';
import type { Runtime } from '../model/runtime-ports.ts';
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
