import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Runtime } from '../provisioning/runtime-ports.ts';

/**
 * Makes a clock that starts at the wall clock's time and follows the monotonic clock from then on, so that it stays as it
 * is when the wall clock is set.
 */
export function steadyClock(
  wallClock: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
): () => number {
  const offset = wallClock() - monotonic();
  return () => Math.floor(offset + monotonic());
}

/** The real time, randomness and log. */
export function systemRuntime(log: Logger, checkpoint: Runtime['checkpoint'] = () => {}): Runtime {
  return {
    now: steadyClock(),
    wallClock: () => Date.now(),
    newId: randomUUID,
    random: Math.random,
    wait,
    log,
    checkpoint,
  };
}

/** Waits; an aborted wait has ended, too. The timers of Node itself would make an error of it, stack and all, at each. */
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
