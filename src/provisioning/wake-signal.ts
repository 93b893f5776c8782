export type WakeSignal = ReturnType<typeof wakeSignal>;

/** Creates a signal that ends the idle wait of a loop. A `wake` while the loop does not wait ends the next wait at once. */
export function wakeSignal() {
  let isSignalled = false;
  let resume: (() => void) | undefined;
  const resolveWaiter = () => {
    const waiting = resume;
    if (!waiting) return;
    isSignalled = false;
    resume = undefined;
    waiting();
  };
  return {
    wake: (): void => {
      isSignalled = true;
      resolveWaiter();
    },
    /** Resolves at the next `wake`, or at once if one came since the last wait. Resolves early if `stop` is aborted. */
    wait: (stop?: AbortSignal) =>
      new Promise<void>((resolve) => {
        resume = resolve;
        if (isSignalled) resolveWaiter();
        stop?.addEventListener('abort', () => {
          if (resume === resolve) resume = undefined;
          resolve();
        });
      }),
  };
}
