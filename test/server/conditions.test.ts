import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type FaultyProxy, faultyProxy } from '../fixtures/faulty-proxy.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

let travel: RunningService;
let proxy: FaultyProxy;
let bridge: AdminFixture;
// An outage must be seen without the log of exchanges.
const file = writeSettingsFile({ requestLog: { keepDays: 0 }, writeBudgetMs: 500 });
let environment: Record<string, string>;
beforeAll(async () => {
  travel = await startService();
  proxy = await faultyProxy(travel.url);
  environment = {
    ...{ JETBRIDGE_CONFIG: file.path, SCIM_TOKEN: 'token-of-the-provider-in-this-test-0123456789' },
    ...{ TRAVEL_API_URL: proxy.url, TRAVEL_API_KEY: travel.travelApiKey },
  };
  bridge = await startAdmin(environment, { countMs: 100 });
});
afterAll(async () => {
  await bridge.close();
  await proxy.close();
  await travel.close();
  file.remove();
});

async function post(name: string): Promise<string> {
  const { send } = scimClient(bridge.service.url, bridge.service.scimToken);
  const { status, body } = await send('POST', '/Users', { userName: `${name}@corp.example`, active: true });
  expect(status).toBe(201);
  return body.id;
}

const read = async (path: string) => (await bridge.viewer('GET', path)).body;

async function readMetric(): Promise<string[]> {
  const metrics = await (await fetch(`${bridge.service.url}/metrics`)).text();
  return metrics.match(/^jetbridge_conditions\{.*/gm) ?? [];
}

async function readPublic(): Promise<{ status: string; conditions: object[] }> {
  const response = await fetch(`${bridge.service.url}/readyz?verbose`);
  expect(response.status).toBe(200);
  return JSON.parse(await response.text());
}

const since = String.raw`since \d{4}-\d\d-\d\dT\d\d:\d\dZ`;
const outage = `The travel API answers 503 ${since}; 2 changes wait, the oldest for \\d+ (second|minute)s?\\.`;

test('a sound service has no conditions, and everybody is in step', async () => {
  await post('ada');
  await eventually(async () => {
    const { state, conditions, connections } = await read('/overview');
    expect([state, conditions]).toEqual(['inStep', []]);
    // An import that an outage ends is tried again after a minute.
    expect(connections[0].lastImport).toBeDefined();
  });
  expect(await readMetric()).toEqual([]);
  expect(await readPublic()).toEqual({ status: 'ready', writes: 'ok', conditions: [] });
});

test('a travel API that answers 503 to each person is told alike everywhere, without the log of exchanges', async () => {
  proxy.decide(() => ({ status: 503 }));
  const id = await post('bob');
  await post('cy');
  await eventually(async () => {
    const { state, sentence, conditions } = await read('/overview');
    expect(sentence).toMatch(new RegExp(`^${outage}$`));
    expect(state).toBe('failing');
    expect(conditions).toMatchObject([
      { kind: 'travelOutage', connection: 'default', severity: 'failing', people: 2, text: sentence },
    ]);
  });
  await eventually(async () =>
    expect((await readPublic()).conditions).toEqual([
      {
        ...{ kind: 'travelOutage', connection: 'default', severity: 'failing', people: 2 },
        ...{ text: expect.stringMatching(outage), since: expect.stringMatching(/^\d{4}-.*Z$/) },
      },
    ]),
  );
  expect(await readMetric()).toEqual([
    'jetbridge_conditions{connection="default",kind="travelOutage",severity="failing"} 1',
  ]);
  const because = new RegExp(`^the travel API answers 503 ${since}$`);
  expect((await read(`/people/default/${id}`)).verdict).toMatchObject({
    ...{ status: 'waiting', because: expect.stringMatching(because) },
  });
});

test('commands beside the server tell it too, from what the server has shared', async () => {
  const run = (...args: string[]) =>
    runCommandLine(args, { ...environment, JETBRIDGE_DATA: bridge.service.data });
  await eventually(async () => expect((await run('people')).err).toMatch(new RegExp(`^${outage}\n`)));
  expect((await run('explain', 'bob@corp.example')).out).toMatch(
    new RegExp(`waiting.*, because the travel API answers 503 ${since}`),
  );
  const { code, out } = await run('doctor');
  expect(code).toBe(1);
  expect(out).toMatch(/^fault {4}running servers: The travel API answers 503 since .* 2 changes wait, /m);
});

test('the condition ends with the outage', async () => {
  proxy.decide(() => 'pass');
  await eventually(async () => {
    const { state, conditions } = await read('/overview');
    expect([state, conditions]).toEqual(['inStep', []]);
    expect((await readPublic()).conditions).toEqual([]);
    expect(await readMetric()).toEqual([]);
  });
});
