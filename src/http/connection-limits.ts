import { type AddressPredicate, addressPredicate } from './proxies.ts';

/** What the settings allow the requests of a connection. */
interface Allowed {
  requestsPerSecond?: number | undefined;
  /** Undefined: every address. */
  allowFrom?: readonly string[] | undefined;
}

/** The limits of the requests of connections. */
export interface ConnectionLimits {
  isAllowedFrom(connection: string, address: string): boolean;
  /** Counts a request. Returns the seconds for `Retry-After` if the connection has sent too many, else undefined. */
  countRequest(connection: string): number | undefined;
}

/** The reason that the log shows for a request from an address that is not in `allowFrom`. */
export const ADDRESS_NOT_ALLOWED = 'address not allowed';
/** The reason that the log shows for a request beyond `requestsPerSecond`. */
export const TOO_MANY_REQUESTS = 'too many requests of the connection';

const SECOND_MS = 1_000;
/** The oldest of the counted requests is no longer counted after a second at most. */
const RETRY_AFTER_S = 1;

/** Limits the requests of each connection as `allowedOf` says at the time of the request. `now` returns milliseconds of a monotonic clock. */
export function connectionLimits(
  allowedOf: (connection: string) => Allowed | undefined,
  now: () => number,
): ConnectionLimits {
  const predicates = new WeakMap<readonly string[], AddressPredicate>();
  const answered = new Map<string, LatestTimes>();
  return {
    isAllowedFrom: (connection, address) => {
      const entries = allowedOf(connection)?.allowFrom;
      if (!entries) return true;
      const isAllowed = predicates.get(entries) ?? addressPredicate([...entries]);
      predicates.set(entries, isAllowed);
      return isAllowed(address);
    },
    countRequest: (connection) => {
      const rate = allowedOf(connection)?.requestsPerSecond;
      if (rate === undefined) return undefined;
      const known = answered.get(connection);
      const latest = known?.times.length === rate ? known : newTimes(rate);
      answered.set(connection, latest);
      return addTime(latest, now()) ? undefined : RETRY_AFTER_S;
    },
  };
}

/** The times of the latest requests that were answered, as many as a second may have. The oldest one is at `oldest`. */
interface LatestTimes {
  times: number[];
  oldest: number;
}

function newTimes(count: number): LatestTimes {
  return { times: Array<number>(count).fill(Number.NEGATIVE_INFINITY), oldest: 0 };
}

/** Replaces the oldest time by `at`. Returns false, and changes nothing, if less than a second has passed since it. */
function addTime(latest: LatestTimes, at: number): boolean {
  const { times, oldest } = latest;
  if (at - (times[oldest] ?? at) < SECOND_MS) return false;
  times[oldest] = at;
  latest.oldest = (oldest + 1) % times.length;
  return true;
}
