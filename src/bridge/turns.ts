import { BridgeError } from './errors.ts';
import type { Scan } from './list-query.ts';
import type { Surroundings } from './ports.ts';

/** Others are let in this often. */
const PAUSE_MS = 5;
/** Longer than this no list may take, waiting included. */
const LIMIT_MS = 5000;

/** Lets long lists of one connection be made one after the other; short ones wait for nobody. */
export interface Turns {
  /** Does the work; `step`, awaited between short steps of it, waits for a turn once the work has proved long. */
  take<T>(connection: string, work: (step: Scan<unknown>['step']) => Promise<T>): Promise<T>;
}

/** Who waits for their turn, by connection. */
export function turns({ now }: Pick<Surroundings, 'now'>): Turns {
  const queues = new Map<string, Promise<void>>();
  return {
    take: async (connection, work) => {
      const turn = turnIn(queues, connection);
      const begun = now();
      let last = begun;
      const step = async (): Promise<void> => {
        if (now() - last < PAUSE_MS) return;
        await turn.come();
        await new Promise((resolve) => setImmediate(resolve));
        last = now();
        if (last - begun > LIMIT_MS) throw tooMany();
      };
      try {
        return await work(step);
      } finally {
        turn.end();
      }
    },
  };
}

/** A place in a queue, taken when it is first asked for. */
function turnIn(queues: Map<string, Promise<void>>, connection: string) {
  let coming: Promise<void> | undefined;
  let release = () => {};
  return {
    come: (): Promise<void> => {
      if (!coming) {
        coming = queues.get(connection) ?? Promise.resolve();
        const over = new Promise<void>((resolve) => {
          release = resolve;
        });
        const tail = coming.then(() => over);
        queues.set(connection, tail);
        void tail.then(() => {
          if (queues.get(connection) === tail) queues.delete(connection);
        });
      }
      return coming;
    },
    end: () => release(),
  };
}

function tooMany(): BridgeError {
  return new BridgeError(
    'tooMany',
    'Too many resources must be looked at one by one. Add what is indexed: of users id, userName, externalId, emails and displayName with eq, active, meta.created, meta.lastModified; of groups id, displayName, externalId and members with eq, meta.created, meta.lastModified.',
  );
}
