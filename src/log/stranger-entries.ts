import { MinuteQuota } from '../http/minute-quota.ts';
import type { ExchangeDirection, NewExchange } from './exchange.ts';

/** The part of the kept entries that requests without a valid credential can fill. */
const SHARE = 0.1;
const MINUTES_OF_A_DAY = 24 * 60;

type Key = `${ExchangeDirection} ${number}`;

/**
 * Limits the entries of requests without a valid credential, which anyone can send, to their share of a minute; those of one address to half
 * of it. So they neither fill the disk nor push out other entries. Further ones are only counted, and summed up by the minute.
 */
export function strangerEntries({ keepDays, keepEntries }: { keepDays: number; keepEntries: number }) {
  const all = Math.ceil((keepEntries * SHARE) / (Math.max(1, keepDays) * MINUTES_OF_A_DAY));
  const quota = new MinuteQuota<Key>({ ofAddress: Math.ceil(all / 2), all });
  return {
    /** Returns false if the request is only counted. */
    admits: ({ address = '', direction, status = 0 }: NewExchange) =>
      quota.admits(address, `${direction} ${status}`),
    /** Begins the next minute. Returns entries that stand for the requests that were only counted. */
    sumUp: () => [...quota.next()].map(([key, count]) => summaryOf(key, count)),
  };
}

function summaryOf(key: Key, count: number): NewExchange {
  const [direction, status] = key.split(' ') as [ExchangeDirection, string]; // The type of the key says so.
  const requests = count === 1 ? 'request' : 'requests';
  const credential = direction === 'api' ? 'credential' : 'valid token';
  return {
    ...{ direction, ms: 0, connection: undefined, person: undefined, requestId: undefined, method: '-' },
    ...{ path: `(${count} more ${requests} without a ${credential})`, status: Number(status) },
    ...{ error: undefined, requestHeaders: {}, responseHeaders: {} },
  };
}
