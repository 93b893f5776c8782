import { MinuteQuota } from '../http/minute-quota.ts';
import type { ExchangeDirection, NewExchange } from '../model/exchange.ts';

/** The requests without a valid credential that are kept in a minute: those of one address, and all. The others are summed up. */
const LIMITS = { ofAddress: 200, all: 400 };

/** The part of the kept entries that such requests can fill. */
const SHARE = 0.1;

const DAY_MS = 24 * 60 * 60_000;

type Key = `${ExchangeDirection} ${number}`;

/**
 * Limits the entries of requests without a valid credential, which anyone can send: those of a minute, so that they cannot fill the disk, and
 * those of a day, so that the entries of all kept days are a share of the log and push out no others.
 */
export class StrangerEntries {
  readonly #quota = new MinuteQuota<Key>(LIMITS);
  readonly #daily: number;
  #day = 0;
  #used = 0;

  constructor({ keepDays, keepEntries }: { keepDays: number; keepEntries: number }) {
    this.#daily = Math.ceil((keepEntries * SHARE) / Math.max(1, keepDays));
  }

  /** Returns false if the request is only counted. */
  admits({ address = '', direction, status = 0 }: NewExchange, now: number): boolean {
    const key: Key = `${direction} ${status}`;
    if (!this.#hasRoom(now)) {
      this.#quota.count(key);
      return false;
    }
    if (!this.#quota.admits(address, key)) return false;
    this.#used += 1;
    return true;
  }

  /**
   * Begins the next minute. Returns entries that stand for the requests that were only counted. These are entries, too: the sum of a day whose
   * share is used up follows on the next day.
   */
  sumUp(now: number): NewExchange[] {
    if (!this.#hasRoom(now)) return [];
    const sums = [...this.#quota.next()].map(([key, count]) => summaryOf(key, count));
    this.#used += sums.length;
    return sums;
  }

  #hasRoom(now: number): boolean {
    const day = Math.floor(now / DAY_MS);
    if (day !== this.#day) this.#used = 0;
    this.#day = day;
    return this.#used < this.#daily;
  }
}

function summaryOf(key: Key, count: number): NewExchange {
  const [direction, status] = key.split(' ') as [ExchangeDirection, string]; // The type of the key says so.
  const requests = count === 1 ? 'request' : 'requests';
  const credential = direction === 'api' ? 'credential' : 'valid token';
  return {
    ...{ direction, ms: 0, connection: undefined, person: undefined, requestId: undefined, method: '-' },
    ...{
      path: `(${count} more ${requests} without a ${credential})`,
      status: Number(status),
      error: undefined,
    },
    ...{ requestHeaders: {}, responseHeaders: {} },
  };
}
