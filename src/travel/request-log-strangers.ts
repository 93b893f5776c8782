import type { LoggedRequest } from './ports.ts';

/** Of requests without a credential so many are kept one by one each minute: of one address, and of all. */
const OF_ONE = 100;
const OF_ALL = 200;

/** What keeps those without a credential from filling the disk: every request of theirs is counted, not every one is kept. */
export interface Strangers {
  /** False: the request is counted, and nothing else. */
  admits(request: LoggedRequest, address: string): boolean;
  /** Ends the minute. Answers what sums up the requests that were only counted, one for each status. */
  sums(): LoggedRequest[];
}

/** Counts from the beginning of a minute on. No more is remembered than is kept, however many addresses there are. */
export function strangers(): Strangers {
  const kept = new Map<string, number>();
  const counted = new Map<number, { first: LoggedRequest; count: number }>();
  let all = 0;
  return {
    admits: (request, address) => {
      const ofOne = kept.get(address) ?? 0;
      if (ofOne < OF_ONE && all < OF_ALL) {
        kept.set(address, ofOne + 1);
        all += 1;
        return true;
      }
      const { first, count } = counted.get(request.status) ?? { first: request, count: 0 };
      counted.set(request.status, { first, count: count + 1 });
      return false;
    },
    sums: () => {
      const sums = [...counted.values()].map(sum);
      kept.clear();
      counted.clear();
      all = 0;
      return sums;
    },
  };
}

function sum({ first, count }: { first: LoggedRequest; count: number }): LoggedRequest {
  const path = `(${count} more requests without a credential)`;
  return { ...first, method: '-', path, ms: 0, requestId: '-' };
}
