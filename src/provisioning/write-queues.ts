import { ProvisioningError } from './errors.ts';
import type { Runtime } from './ports.ts';

/** Requests that may wait for one resource; each holds its body in memory. */
export const MAX_WAITING = 100;
/** Longest wait for a turn, in milliseconds; Okta and Entra ID end a request after 60 s. */
export const MAX_WAIT_MS = 30_000;

/** Lets the writers of one resource work one after the other, in the order of their arrival. */
export interface WriteQueues {
  /**
   * Does the work when all earlier work for the key has ended. Throws `unavailable` when too many wait or the wait gets
   * too long, and `abandoned` when the signal is aborted during the wait; work that has begun is not interrupted.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Queues of this process; they are empty, and take no memory, while nothing is written. */
export function writeQueues({ wait }: Pick<Runtime, 'wait'>): WriteQueues {
  // Keys with work in progress, and the callbacks of those who wait for its end.
  const queues = new Map<string, Set<() => void>>();
  const endTurn = (key: string): void => {
    const queue = queues.get(key);
    const [next] = queue ?? [];
    if (!queue || !next) queues.delete(key);
    else {
      queue.delete(next);
      next();
    }
  };
  return {
    run: async (key, work, signal) => {
      const queue = queues.get(key);
      if (queue) await turnIn(queue, { wait, signal });
      else queues.set(key, new Set());
      try {
        return await work();
      } finally {
        endTurn(key);
      }
    },
  };
}

/** Waits for a turn, or leaves the queue. */
function turnIn(
  queue: Set<() => void>,
  { wait, signal }: Pick<Runtime, 'wait'> & { signal: AbortSignal | undefined },
): Promise<void> {
  if (signal?.aborted) throw abandoned();
  if (queue.size >= MAX_WAITING) throw busy();
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const leave = () => {
      signal?.removeEventListener('abort', abandon);
      over.abort();
    };
    const begin = () => {
      leave();
      resolve();
    };
    const giveUp = (error: ProvisioningError) => {
      // False: the turn has come already.
      if (!queue.delete(begin)) return;
      leave();
      reject(error);
    };
    const abandon = () => giveUp(abandoned());
    queue.add(begin);
    signal?.addEventListener('abort', abandon);
    void wait(MAX_WAIT_MS, over.signal).then(() => giveUp(busy()));
  });
}

function busy(): ProvisioningError {
  return new ProvisioningError('unavailable', 'Too many requests write this resource at once; try again.');
}

function abandoned(): ProvisioningError {
  return new ProvisioningError('abandoned', 'The client went away before its turn.');
}
