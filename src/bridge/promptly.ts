import type { Connection } from './connection.ts';
import type { Pause } from './pause.ts';
import type { Surroundings } from './ports.ts';
import type { Attempt, Reconciler } from './reconcile.ts';

/** Reconciles right after a write, but only as long as the IdP may be kept waiting. */
export interface Promptly {
  /** What became of it within the budget; `later` when it goes on in the background or the connection pauses. */
  reconcile(connection: Connection, id: string): Promise<Attempt | 'later'>;
}

/** Attempts within the budget, in milliseconds; what takes longer goes on, and the background loop sees to the rest. */
export function promptly(
  reconciler: Pick<Reconciler, 'attempt'>,
  {
    budgetMs,
    pauseOf,
    wake,
    surroundings,
  }: {
    budgetMs: number;
    pauseOf(connection: Connection): Pause;
    wake(): void;
    surroundings: Surroundings;
  },
): Promptly {
  return {
    reconcile: async (connection, id) => {
      if (pauseOf(connection).reason() !== undefined) {
        // A write does not end the pause, and no probe is its own: in the queue those who leave come first.
        wake();
        return 'later';
      }
      const stop = new AbortController();
      const attempt = reconciler.attempt(connection, id).then((outcome) => {
        if (outcome !== 'settled' && outcome !== 'refused') wake();
        return outcome;
      });
      const late = surroundings.wait(budgetMs, stop.signal).then((): 'later' => 'later');
      try {
        return await Promise.race([attempt, late]);
      } finally {
        // With a reason, so that none is made up: an error with a stack, at each write.
        stop.abort('over');
      }
    },
  };
}
