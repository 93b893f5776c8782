/** A timer that waits for its time. */
interface Timer {
  at: number;
  ms: number;
  isNeeded(): boolean;
  end(): void;
}

/** Time that passes only when nothing else can happen. */
export interface VirtualTime {
  now(): number;
  /**
   * Resolves after `ms`, or as soon as the signal is aborted. A wait whose end `isNeeded` does not need begins again: a look at an idle queue
   * costs more than the rest of a history.
   */
  wait(ms: number, signal?: AbortSignal, isNeeded?: () => boolean): Promise<void>;
  /**
   * Notes that something goes on which takes rounds of the event loop and ends without time passing, such as a query. Returns the function
   * that ends it.
   */
  begin(): () => void;
  /** Lets time pass from timer to timer until the condition holds or `ms` have passed. Returns true if the condition holds. */
  runUntil(condition: () => boolean, ms: number): Promise<boolean>;
  /** Lets this time pass. */
  run(ms: number): Promise<void>;
  /** Sets the clock forward at once, as after a sleep of the machine: the timers in between end late. */
  jump(ms: number): void;
}

/** A run that has ended so many timers is an endless one. */
const MAX_TIMERS = 3_000_000;

/**
 * Creates a clock that shows `start`. Work that goes on is waited for: the queries by counting them, everything else by one round of the
 * event loop, because a promise chain that waits for neither a query nor a timer ends within it.
 */
export function virtualTime(start: number): VirtualTime {
  let now = start;
  let ended = 0;
  let running = 0;
  const timers = new TimerQueue();
  const settle = async () => {
    do await new Promise(setImmediate);
    while (running > 0);
  };
  /** Returns false if all of the timers have begun again. */
  const endTimers = (due: Timer[]): boolean => {
    const needed = due.filter((timer) => timer.isNeeded());
    for (const timer of due)
      if (needed.includes(timer)) timer.end();
      else timers.add(Object.assign(timer, { at: now + timer.ms }));
    return needed.length > 0;
  };
  const runUntil = async (condition: () => boolean, ms: number) => {
    const end = now + ms;
    for (;;) {
      await settle();
      if (condition()) return true;
      let isOver = false;
      while (!isOver) {
        const next = timers.first();
        if (!next || next.at > end) {
          now = Math.max(now, end);
          return false;
        }
        now = Math.max(now, next.at);
        isOver = endTimers(timers.takeUntil(now));
      }
      ended += 1;
      if (ended > MAX_TIMERS) throw new Error('the history never ends');
    }
  };
  return {
    now: () => now,
    wait: (ms, signal, isNeeded = () => true) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const timer = {
          at: now + Math.max(0, ms),
          ms,
          isNeeded,
          end: () => {
            signal?.removeEventListener('abort', cancel);
            resolve();
          },
        };
        const cancel = () => {
          timers.remove(timer);
          resolve();
        };
        timers.add(timer);
        signal?.addEventListener('abort', cancel, { once: true });
      }),
    begin: () => {
      running += 1;
      return () => {
        running -= 1;
      };
    },
    runUntil,
    run: async (ms) => void (await runUntil(() => false, ms)),
    jump: (ms) => {
      now += ms;
    },
  };
}

/** Timers in the order of their times; those of the same time in the order in which they were added. */
class TimerQueue {
  readonly #timers: Timer[] = [];

  add(timer: Timer): void {
    let at = this.#timers.length;
    while (at > 0 && (this.#timers[at - 1]?.at ?? 0) > timer.at) at -= 1;
    this.#timers.splice(at, 0, timer);
  }

  remove(timer: Timer): void {
    const at = this.#timers.indexOf(timer);
    if (at >= 0) this.#timers.splice(at, 1);
  }

  first(): Timer | undefined {
    return this.#timers[0];
  }

  takeUntil(time: number): Timer[] {
    const later = this.#timers.findIndex(({ at }) => at > time);
    return this.#timers.splice(0, later < 0 ? this.#timers.length : later);
  }
}
