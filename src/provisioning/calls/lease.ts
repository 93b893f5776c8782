import type { Connection } from '../../model/connection.ts';
import type { TravelFailure } from '../../model/travel-ports.ts';
import { guardedConnection } from './guarded-calls.ts';

/**
 * The duration of a lease in milliseconds. A replica that dies is replaced after it. A lease is extended before each call
 * to the travel API that might outlast it.
 */
const LEASE_MS = 20_000;
/** The time between the deadline of a call and the end of its lease, in milliseconds, for the answer to be recorded. */
const MARGIN_MS = 2_000;

/** Returns the duration of the leases of a connection: at least one call to its travel API fits into it. */
export function leaseDuration({ callTimeoutMs }: Pick<Connection, 'callTimeoutMs'>): number {
  return Math.max(LEASE_MS, callTimeoutMs + 2 * MARGIN_MS);
}

/** The lease of an attempt, as its calls depend on it. */
interface GuardedLease {
  /** The time of the request for the lease, by `now`; by the database's clock the lease was acquired at this time or later. */
  since: number;
  /** The time limit of a call to the travel API, in milliseconds. */
  callTimeoutMs: number;
  now(): number;
  /** Extends the lease by this time from now on; false if it has ended. */
  extend(ms: number): Promise<boolean>;
}

/**
 * Returns a function that tells before a call to the travel API whether the lease lasts until the deadline of the call; it extends the
 * lease if necessary. After it has returned false once, no further call may be sent.
 */
export function leaseGuard({
  since: acquired,
  callTimeoutMs,
  now,
  extend,
}: GuardedLease): () => Promise<boolean> {
  const ms = leaseDuration({ callTimeoutMs });
  let until = acquired + ms;
  let extending: Promise<boolean> | undefined;
  const extendOnce = async () => {
    const since = now();
    const isExtended = await extend(ms);
    // After the lease has ended, another process may hold it.
    until = isExtended ? since + ms : Number.NEGATIVE_INFINITY;
    return isExtended;
  };
  return async () => {
    if (until === Number.NEGATIVE_INFINITY) return false;
    const left = until - now();
    // If more is left than the whole duration, the clock was set back.
    if (left >= callTimeoutMs + MARGIN_MS && left <= ms) return true;
    extending ??= extendOnce().finally(() => {
      extending = undefined;
    });
    return extending;
  };
}

/**
 * Stands for the answer to a call that was not sent: `isRejected` says that it has had no effect, so that an announced call is not waited
 * for.
 */
export const leaseEnded: TravelFailure = {
  kind: 'unavailable',
  text: 'the lease has ended',
  isRejected: true,
};

/** Returns the connection for background work under a lease: a call fails without being sent once the lease has ended. */
export function leasedConnection(
  connection: Connection,
  lease: Omit<GuardedLease, 'callTimeoutMs'>,
): Connection {
  const isLeased = leaseGuard({ ...lease, callTimeoutMs: connection.callTimeoutMs });
  return guardedConnection(connection, {
    call: async (_subject, send) => ((await isLeased()) ? send() : leaseEnded),
    lookUp: (read) => read(),
  });
}

/** An attempt of this process that holds the lease of an identity, or is about to acquire it. */
export interface LeaseHolder {
  /** Ends an attempt that has held the lease. */
  end(): void;
  /**
   * Ends an attempt that did not get the lease. Resolves when the other attempts of this process at the identity have
   * ended, to true if one of them held the lease.
   */
  giveUp(): Promise<boolean>;
}

/**
 * The attempts of this process, by identity: one that did not get the lease waits for the one that has it, which is sooner than to ask the
 * store again and again.
 */
export class LeaseHolders {
  readonly #attempts = new Map<string, Set<Promise<boolean>>>();

  /** Adds an attempt that is about to acquire the lease. */
  add(id: string): LeaseHolder {
    const attempts = this.#attempts.get(id) ?? new Set();
    const atStart = [...attempts];
    let resolve: (wasHolder: boolean) => void = () => {};
    const attempt = new Promise<boolean>((resolveAttempt) => {
      resolve = resolveAttempt;
    });
    this.#attempts.set(id, attempts.add(attempt));
    const end = (wasHolder: boolean) => {
      if (attempts.delete(attempt) && attempts.size === 0) this.#attempts.delete(id);
      resolve(wasHolder);
    };
    return {
      end: () => end(true),
      giveUp: async () => {
        end(false);
        const others = await Promise.all([...atStart, ...(this.#attempts.get(id) ?? [])]);
        return others.includes(true);
      },
    };
  }
}
