import type { Surroundings } from '../bridge/ports.ts';

/** How hard a travel API may be used. */
export interface Limits {
  /** Calls that may be on their way at the same time. */
  atOnce: number;
  /** Calls that may start within any second; undefined for no limit. */
  perSecond: number | undefined;
  clock: Pick<Surroundings, 'now' | 'wait'>;
}

/** Does the work when its turn has come, first come first served; rejects with the signal's reason when that never comes. */
export type Limiter = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** One limiter serves all the calls of a connection. */
export function limiter(limits: Limits): Limiter {
  const turns = semaphore(limits.atOnce);
  const pace = pacer(limits);
  return async (signal, work) => {
    await turns.take(signal);
    try {
      await pace(signal);
      signal.throwIfAborted();
      return await work();
    } finally {
      turns.give();
    }
  };
}

function semaphore(size: number): { take(signal: AbortSignal): Promise<void>; give(): void } {
  let free = size;
  const waiting = new Set<() => void>();
  return {
    take: (signal) =>
      new Promise((resolve, reject) => {
        if (free > 0) {
          free -= 1;
          resolve();
          return;
        }
        const proceed = () => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        const leave = () => {
          waiting.delete(proceed);
          reject(signal.reason);
        };
        waiting.add(proceed);
        signal.addEventListener('abort', leave, { once: true });
      }),
    give: () => {
      const [next] = waiting;
      if (next === undefined) {
        free += 1;
        return;
      }
      waiting.delete(next);
      next();
    },
  };
}

/** Keeps the times of the last starts, so that the limit holds for any second and not only on average. */
function pacer({ perSecond, clock }: Limits): (signal: AbortSignal) => Promise<void> {
  const starts: number[] = [];
  return async (signal) => {
    if (perSecond === undefined) return;
    const oldest = starts.length < perSecond ? undefined : starts.shift();
    const now = clock.now();
    const at = oldest === undefined ? now : Math.max(now, oldest + 1_000);
    starts.push(at);
    if (at > now) await clock.wait(at - now, signal);
  };
}
