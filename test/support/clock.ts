/** Time that passes only when told to. */
export interface Clock {
  now(): number;
  /** `now` and what the wall clock was set by. */
  wallClock(): number;
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  advance(ms: number): void;
  /** Sets the wall clock forward, or back. */
  setWallClock(byMs: number): void;
}

/** A clock that stands at a fixed moment until it is advanced; waits end when their time has come, or are aborted. */
export function clock(start = Date.UTC(2026, 10, 20, 10)): Clock {
  let time = start;
  let shift = 0;
  const waits = new Set<{ until: number; end(): void }>();
  return {
    now: () => time,
    wallClock: () => time + shift,
    setWallClock: (byMs) => {
      shift += byMs;
    },
    wait: (ms, signal) =>
      new Promise((resolve) => {
        const wait = {
          until: time + ms,
          end: () => {
            waits.delete(wait);
            signal?.removeEventListener('abort', wait.end);
            resolve();
          },
        };
        waits.add(wait);
        signal?.addEventListener('abort', wait.end, { once: true });
        if (signal?.aborted) wait.end();
      }),
    advance: (ms) => {
      time += ms;
      for (const wait of [...waits]) if (wait.until <= time) wait.end();
    },
  };
}
