import type { ExchangeLog, LoggedExchange } from '../../src/model/exchange.ts';
import { activityReader } from '../../src/operations/traffic/activity.ts';

const NOW = Date.UTC(2026, 10, 22, 12);

function exchange(position: number): LoggedExchange {
  return {
    ...{
      position: String(position),
      direction: 'scim',
      at: NOW - 1_000 + position,
      ms: 1,
      connection: 'okta',
    },
    ...{ person: undefined, requestId: undefined, method: 'GET', path: '/scim/v2/Users', status: 200 },
    ...{ error: undefined, requestHeaders: {}, responseHeaders: {} },
  };
}

/** A log whose pages have two exchanges, and wait for a call of `answer` unless they are the newest. */
function slowLog(exchanges: LoggedExchange[]) {
  const waiting: (() => void)[] = [];
  const list: ExchangeLog['list'] = async ({ before, after }) => {
    if (before !== undefined) await new Promise<void>((resolve) => waiting.push(resolve));
    const isWanted = ({ position }: LoggedExchange) =>
      Number(position) > Number(after) && (before === undefined || Number(position) < Number(before));
    const wanted = exchanges.filter(isWanted).reverse();
    const page = wanted.slice(0, 2);
    const next = wanted.length > 2 ? page.at(-1)?.position : undefined;
    return { exchanges: page, next, head: String(exchanges.length) };
  };
  const answer = async () => {
    waiting.shift()?.();
    // The reader counts the page, and asks for the next one.
    await new Promise(setImmediate);
  };
  return { list, answer };
}

test('an activity is told after one page of the log, and the others are counted later, each exchange once', async () => {
  const exchanges = [1, 2, 3, 4, 5].map(exchange);
  const log = slowLog(exchanges);
  const reader = activityReader({ exchanges: log, now: () => NOW });
  const read = async () => {
    const { minutes, completeSince } = await reader.read();
    return {
      requests: [...minutes.values()].reduce((sum, { requests }) => sum + requests, 0),
      completeSince,
    };
  };
  expect(await read()).toEqual({ requests: 2, completeSince: exchanges[3]?.at });
  await log.answer();
  expect(await read()).toEqual({ requests: 4, completeSince: exchanges[1]?.at });
  // These come while the rest is still being counted, and leave a gap of their own.
  exchanges.push(...[6, 7, 8].map(exchange));
  expect(await read()).toEqual({ requests: 6, completeSince: exchanges[6]?.at });
  await log.answer();
  await log.answer();
  expect(await read()).toEqual({ requests: 8, completeSince: NOW - 24 * 60 * 60_000 });
});

test('a log that fails while the rest is counted is counted on by a later call', async () => {
  const exchanges = [1, 2, 3].map(exchange);
  const log = slowLog(exchanges);
  let isBroken = true;
  const list: ExchangeLog['list'] = async (query) => {
    if (query.before !== undefined && isBroken) throw new Error('the database is away');
    return log.list(query);
  };
  const reader = activityReader({ exchanges: { list }, now: () => NOW });
  await reader.read();
  await new Promise(setImmediate);
  isBroken = false;
  await reader.read();
  await log.answer();
  const { minutes } = await reader.read();
  expect([...minutes.values()].reduce((sum, { requests }) => sum + requests, 0)).toBe(3);
});
