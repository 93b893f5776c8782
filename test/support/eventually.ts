import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 25;

/**
 * Asks until there is an answer, and rejects with the last reason when there is none in time. For processes, which
 * nothing but asking tells about: the time bounds a failure and decides nothing else.
 */
export async function eventually<T>(ask: () => Promise<T>, withinMs = 40_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await ask();
    } catch (reason) {
      if (performance.now() > deadline) throw reason;
      await delay(POLL_MS);
    }
  }
}
