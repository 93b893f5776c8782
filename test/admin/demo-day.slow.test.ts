import { join } from 'node:path';
import { createLog } from '../../src/http/log.ts';
import { type AdminFixture, adminClient, signIn, startAdmin } from '../fixtures/admin.ts';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { startService } from '../fixtures/service.ts';

/** The folder of the recorded day. */
const demo = join(__dirname, '../../demo');
/** The people of the recorded day; one of them was deleted and has returned. */
const PEOPLE = 20;
/** A slow machine plays the demo day within this time. */
const TIMEOUT_MS = 60_000;

const refusal = {
  code: 'conflict',
  message:
    'The demo day is played once, on a service that has no people and uses the embedded travel service.',
};

const opened: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));

/** Starts a service that is closed after the test. */
async function startDemo(...given: Parameters<typeof startAdmin>): Promise<AdminFixture> {
  const fixture = await startAdmin(...given);
  opened.push(fixture);
  return fixture;
}

async function read({ viewer }: Pick<AdminFixture, 'viewer'>, path: string) {
  return (await viewer('GET', path)).body;
}

test(
  'the demo day fills an empty service with people, findings and traffic, and the page says that they are invented, also after a restart',
  async () => {
    const lines: Parameters<typeof parseLinesInto>[0] = [];
    const environment = { JETBRIDGE_DATA: createDataFolder('jetbridge-demo-day-') };
    const fixture = await startDemo(environment, { demo, log: createLog('warn', parseLinesInto(lines)) });
    const { admin } = fixture;
    const before = await read(fixture, '/overview');
    expect(before).toMatchObject({ state: 'empty', demoDay: 'offered', steps: { isConnected: false } });
    expect((await admin('POST', '/demo-day')).status).toBe(204);
    await eventually(
      async () => expect((await read(fixture, '/overview')).demoDay).toBe('played'),
      TIMEOUT_MS / 2,
    );
    const { steps, ...played } = await read(fixture, '/overview');
    expect(steps).toBeUndefined();
    expect(played.connections).toMatchObject([{ id: 'default', people: PEOPLE }]);
    const codes = played.findings.kinds.map(({ code }: { code: string }) => code);
    expect(codes).toEqual(['emailInvalid', 'noEmail', 'otherPerson', 'phoneUnreadable']);
    await eventually(async () => {
      const { exchanges } = await read(fixture, '/exchanges?direction=scim&limit=100');
      const statuses = exchanges.map(({ status }: { status: number }) => status);
      for (const status of [200, 201, 204, 401, 409]) expect(statuses).toContain(status);
    });
    // The token of the play is known to nobody, and no list has it.
    expect((await admin('GET', '/tokens')).body.tokens).toMatchObject([{ name: 'first token' }]);
    expect(lines).toEqual([]);
    expect((await admin('POST', '/demo-day')).body).toEqual(refusal);

    await opened.pop()?.close();
    const restarted = await startService(environment, { demo });
    opened.push(restarted);
    const browser = await signIn(adminClient(restarted.url), 'admin', fixture.password);
    expect((await browser('GET', '/overview')).body.demoDay).toBe('played');
  },
  TIMEOUT_MS,
);

test('a service to which an identity provider has sent somebody refuses the demo day', async () => {
  const fixture = await startDemo({}, { demo });
  const { send } = scimClient(fixture.service.url, fixture.service.scimToken);
  expect((await send('POST', '/Users', { userName: 'real@corp.example', active: true })).status).toBe(201);
  expect((await read(fixture, '/overview')).steps).toBeUndefined();
  expect((await fixture.admin('POST', '/demo-day')).body).toEqual(refusal);
});

test.each([
  ['a real travel API', { TRAVEL_API_URL: 'http://127.0.0.1:1', TRAVEL_API_KEY: 'key' }, { demo }],
  ['no recorded day', {}, {}],
])('with %s the demo day is not offered', async (_case, environment, options) => {
  const fixture = await startDemo(environment, options);
  expect((await read(fixture, '/overview')).demoDay).toBe('unavailable');
  expect((await fixture.admin('POST', '/demo-day')).body).toEqual(refusal);
});
