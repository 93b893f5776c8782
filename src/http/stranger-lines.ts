import type { Logger } from 'pino';
import { everyMinute, MinuteQuota, type Timer } from './minute-quota.ts';

/** The lines of requests without a valid credential in one minute: of one address, and in all. */
const LIMITS = { ofAddress: 50, all: 200 };

/** The quota of these lines. */
export interface StrangerLines {
  quota: MinuteQuota<number>;
  /** Logs the sum of the last minute, and stops. */
  close(): Promise<void>;
}

/** Logs each minute how many requests without a valid credential had no line of their own, by status. */
export function sumUpStrangers(clock: Timer, log: Pick<Logger, 'info'>): StrangerLines {
  const quota = new MinuteQuota<number>(LIMITS);
  const end = new AbortController();
  const summing = everyMinute(clock, end.signal, () => {
    const counted = quota.next();
    if (counted.size === 0) return;
    const requests = [...counted.values()].reduce((sum, count) => sum + count, 0);
    const statuses = Object.fromEntries(counted);
    log.info({ requests, statuses }, 'further requests without a valid credential');
  });
  return {
    quota,
    close: async () => {
      end.abort();
      await summing;
    },
  };
}
