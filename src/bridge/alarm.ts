/** Wakes a loop from its idle wait. */
export interface Alarm {
  ring(): void;
  /** Resolves at the next ring; at once when it rang since the last wait. Who gives up waiting hears no ring. */
  rung(giveUp?: AbortSignal): Promise<void>;
}

/** An alarm that remembers one ring. */
export function alarm(): Alarm {
  let rang = false;
  let answer: (() => void) | undefined;
  const resolveWaiter = () => {
    const waiting = answer;
    if (!waiting) return;
    rang = false;
    answer = undefined;
    waiting();
  };
  return {
    ring: () => {
      rang = true;
      resolveWaiter();
    },
    rung: (giveUp) =>
      new Promise((resolve) => {
        answer = resolve;
        if (rang) resolveWaiter();
        giveUp?.addEventListener('abort', () => {
          if (answer === resolve) answer = undefined;
          resolve();
        });
      }),
  };
}
