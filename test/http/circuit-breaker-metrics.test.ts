import { Writable } from 'node:stream';
import { pino } from 'pino';
import { eventually } from '../fixtures/eventually.ts';
import { type FaultyProxy, faultyProxy } from '../fixtures/faulty-proxy.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

let travel: RunningService;
let proxy: FaultyProxy;
let bridge: RunningService;
let lines: { msg: string; reason?: string }[];
beforeEach(async () => {
  lines = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  travel = await startService();
  proxy = await faultyProxy(travel.url);
  const environment = { TRAVEL_API_URL: proxy.url, TRAVEL_API_KEY: travel.travelApiKey };
  bridge = await startService(environment, { log: pino({ level: 'info' }, stream) });
});
afterEach(async () => {
  await bridge.close();
  await proxy.close();
  await travel.close();
});

/** Creates a user, which must succeed. */
async function post(name: string): Promise<void> {
  const answer = await fetch(`${bridge.url}/scim/v2/Users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bridge.scimToken}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({ userName: `${name}@corp.example`, active: true }),
  });
  expect(answer.status).toBe(201);
}

/** The values of the gauge, by reason. */
async function gauges(): Promise<Record<string, string>> {
  const metrics = await (await fetch(`${bridge.url}/metrics`)).text();
  const found = metrics.matchAll(
    /^jetbridge_travel_api_paused\{connection="default",reason="(\w+)"\} (\d)$/gm,
  );
  return Object.fromEntries([...found].map(([, reason = '', value = '']) => [reason, value]));
}

const told = () =>
  lines
    .filter(({ msg }) => msg.startsWith('calls to the travel API'))
    .map(({ msg, reason }) => `${msg}: ${reason}`);

test('an open circuit breaker is in the metrics while it is open, and in the log when it opens and closes', async () => {
  const calm = { throttled: '0', unanswered: '0', unauthorized: '0' };
  await post('ada');
  expect(await gauges()).toEqual(calm);
  proxy.decide(() => ({ status: 429, headers: { 'retry-after': '1' } }));
  for (const name of ['bob', 'cy', 'di', 'ed', 'flo', 'gil']) await post(name);
  expect(await gauges()).toEqual({ ...calm, throttled: '1' });
  proxy.decide(() => 'pass');
  await eventually(async () => {
    const people = await bridge.people('default');
    expect(people.map(({ state }) => state)).not.toContain('dirty');
    expect(await gauges()).toEqual(calm);
  });
  expect(told()).toEqual([
    'calls to the travel API are paused; changes wait in the queue: throttled',
    'calls to the travel API are resumed: throttled',
  ]);
});
