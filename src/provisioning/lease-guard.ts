import type { CallCause } from '../log/exchange.ts';
import { withCallsWrapped } from './circuit-breaker.ts';
import type { Connection } from './connection.ts';
import type { TravelFailure } from './travel-ports.ts';

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

interface GuardedLease {
  /** The time of the request for the lease, by `now`; by the database's clock the lease was acquired at this time or later. */
  since: number;
  now(): number;
  /** Extends the lease by this time from now on; false if it has ended. */
  extend(ms: number): Promise<boolean>;
}

/**
 * Wraps a connection so that each call to its travel API is sent only while a lease lasts until the deadline of the call:
 * the lease is extended before, or the call fails without being sent.
 */
export function withLeaseGuard<C extends Connection>(connection: C, lease: GuardedLease): C {
  const ms = leaseDuration(connection);
  let until = lease.since + ms;
  let extending: Promise<boolean> | undefined;
  const extend = async () => {
    const since = lease.now();
    const isExtended = await lease.extend(ms);
    // After the lease has ended, another process may hold it, so that no further call may be sent.
    until = isExtended ? since + ms : Number.NEGATIVE_INFINITY;
    return isExtended;
  };
  const isHeld = async () => {
    if (until === Number.NEGATIVE_INFINITY) return false;
    const left = until - lease.now();
    // If more is left than the whole duration, the clock was set back.
    if (left >= connection.callTimeoutMs + MARGIN_MS && left <= ms) return true;
    extending ??= extend().finally(() => {
      extending = undefined;
    });
    return extending;
  };
  const callUnderLease = async <T>(_: unknown, call: () => Promise<T>) => ((await isHeld()) ? call() : ended);
  return withCallsWrapped(connection, callUnderLease, (call) => call());
}

/** Returns the connection whose calls about travelers name their cause in the log of exchanges. */
export function withCause(connection: Connection, cause: CallCause): Connection {
  const { travel } = connection;
  return {
    ...connection,
    travel: {
      ...travel,
      create: (user) => travel.create(user, cause),
      read: (id) => travel.read(id, cause),
      patch: (id, patch) => travel.patch(id, patch, cause),
      remove: (id) => travel.remove(id, cause),
      findByEmails: (emails, timeoutMs) => travel.findByEmails(emails, timeoutMs, cause),
    },
  };
}

/** The call was not sent, so it counts neither as unanswered nor as carried out. */
const ended: TravelFailure = { kind: 'unavailable', text: 'the lease has ended', isRejected: true };

/** An attempt of this process that holds the lease of an identity, or is about to acquire it. */
interface LeaseHolder {
  /** Ends an attempt that has held the lease. */
  end(): void;
  /**
   * Ends an attempt that did not get the lease. Resolves when the other attempts of this process at the identity have
   * ended, to true if one of them held the lease.
   */
  giveUp(): Promise<boolean>;
}

/** The attempts of this process, by identity. */
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
