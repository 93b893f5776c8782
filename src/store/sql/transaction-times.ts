import type { Database, RunTransaction } from './database.ts';

/** Returns a function that runs transactions and tells its listeners their durations. */
export function timedTransactions(run: RunTransaction): Pick<Database, 'transaction' | 'onTransaction'> {
  const listeners: ((ms: number) => void)[] = [];
  return {
    transaction: async (work, options) => {
      const began = performance.now();
      try {
        return await run(work, options);
      } finally {
        for (const listener of listeners) listener(performance.now() - began);
      }
    },
    onTransaction: (listener) => void listeners.push(listener),
  };
}
