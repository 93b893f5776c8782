import { join } from 'node:path';
import { eventually } from '../fixtures/eventually.ts';
import {
  type JetbridgeServer,
  runJetbridge,
  serveJetbridge,
  temporaryFolder,
} from '../fixtures/jetbridge.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type TravelAdmin, travelAdmin } from '../fixtures/travel-admin.ts';

const PEOPLE = 500;
const LEAVERS = 400;
/** 5 % of 500 people. */
const BOUND = 25;
const TRAVEL_API_KEY = 'the-key-of-the-first-administrator';
const SCIM_TOKEN = 'the-token-of-the-identity-provider';

let place: ReturnType<typeof temporaryFolder>;
let environment: Record<string, string>;
let server: JetbridgeServer;
let scim: ScimClient;
let travel: TravelAdmin;
beforeEach(async () => {
  place = temporaryFolder();
  environment = { TRAVEL_API_KEY, SCIM_TOKEN, LOG_LEVEL: 'error', JETBRIDGE_DATA: join(place.path, 'data') };
  await begin();
});
afterEach(async () => {
  await server.stop();
  place.remove();
});

async function begin(): Promise<void> {
  server = await serveJetbridge(environment);
  scim = scimClient(server.url, SCIM_TOKEN);
  travel = travelAdmin(server.url, TRAVEL_API_KEY);
}

const holds = (...args: string[]) => runJetbridge(['holds', ...args], environment);

/** Sends these requests, ten at a time, and returns their bodies; each must have the status. */
async function each(
  count: number,
  status: (n: number) => number,
  send: (n: number) => ReturnType<ScimClient['send']>,
) {
  const answers: Awaited<ReturnType<ScimClient['send']>>[] = [];
  for (let n = 0; n < count; n += 10)
    answers.push(...(await Promise.all(Array.from({ length: 10 }, (_, at) => send(n + at)))));
  expect(answers.map((answer) => answer.status)).toEqual(answers.map((_, n) => status(n)));
  return answers.map(({ body }) => body);
}

const userNameOf = (n: number) => `p${n}@corp.example`;
const activeIs = (value: boolean) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op: 'replace', path: 'active', value }],
});

async function archived(): Promise<string[]> {
  return (await travel.travelers()).filter((one) => one.archived).map(({ email }) => email);
}

async function heldIs(count: number): Promise<void> {
  await eventually(async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const [, now = '0'] =
      /^jetbridge_held\{connection="default",cause="safetyValve"\} (\d+)$/m.exec(metrics) ?? [];
    expect(now).toBe(String(count));
  }, 20_000);
}

async function heldNames(): Promise<string[]> {
  const { out } = await holds('list', '--json', '--cause', 'safetyValve');
  const lines = out.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line).userName);
}

test('an IdP that deactivates 400 of 500 people gets its answers, 25 are archived, and an admin decides about the rest', async () => {
  const users = await each(
    PEOPLE,
    () => 201,
    (n) => scim.send('POST', '/Users', { userName: userNameOf(n), emails: [{ value: userNameOf(n) }] }),
  );
  const ids = users.map(({ id }) => String(id));
  await each(
    LEAVERS,
    (n) => (n % 2 === 0 ? 200 : 204),
    (n) =>
      n % 2 === 0
        ? scim.send('PATCH', `/Users/${ids[n]}`, activeIs(false))
        : scim.send('DELETE', `/Users/${ids[n]}`),
  );
  await heldIs(LEAVERS - BOUND);
  expect(await archived()).toHaveLength(BOUND);
  await eventually(async () => expect(server.log()).toContain('"cause":"safetyValve"'));

  await server.stop();
  await begin();
  await heldIs(LEAVERS - BOUND);
  expect(await archived()).toHaveLength(BOUND);

  const held = await heldNames();
  const inactive = held.filter((name) => Number(name.slice(1).split('@')[0]) % 2 === 0);
  const [back = '', kept = '', approved = ''] = inactive;
  const idOf = (name: string) => ids[Number(name.slice(1).split('@')[0])] ?? '';
  expect((await scim.send('PATCH', `/Users/${idOf(back)}`, activeIs(true))).status).toBe(200);
  expect((await holds('discard', kept, '--yes')).out).toBe('discarded: 1 traveler stays as it is\n');
  expect((await holds('approve', approved, '--yes')).out).toBe('approved: 1 traveler will be archived\n');
  await heldIs(LEAVERS - BOUND - 3);
  await eventually(async () => expect(await archived()).toContain(approved));
  expect(await archived()).toHaveLength(BOUND + 1);

  expect((await holds('approve', '--cause', 'safetyValve', '--yes')).code).toBe(0);
  await eventually(async () => expect(await archived()).toHaveLength(LEAVERS - 2), 30_000);
  await heldIs(0);
  const left = await archived();
  for (const name of [back, kept]) expect(left).not.toContain(name);
  expect((await holds('list', '--json')).out).toBe('');

  // A later write of the IdP is held again, since the window is still full.
  const named = { userName: kept, emails: [{ value: kept }], active: false, displayName: 'Somebody' };
  expect((await scim.send('PUT', `/Users/${idOf(kept)}`, named)).status).toBe(200);
  await heldIs(1);
  expect(await heldNames()).toEqual([kept]);
}, 180_000);

test('an administrator is neither deactivated nor deleted over SCIM until an approval, which archives at once', async () => {
  const made = await scim.send('POST', '/Users', { userName: 'ada@corp.example' });
  const path = `/Users/${made.body.id}`;
  const { travelUserId } = made.body['urn:ietf:params:scim:schemas:extension:travel:2.0:User'];
  await promote(travelUserId);
  for (let repeat = 0; repeat < 2; repeat += 1) {
    for (const answer of [await scim.send('DELETE', path), await scim.send('PATCH', path, activeIs(false))])
      expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('administers') } });
  }
  expect((await scim.send('GET', path)).body.active).toBe(false);
  expect(await archived()).toEqual([]);
  expect((await holds('show', 'ada@corp.example')).out).toContain('the traveler will be archived');
  expect((await holds('approve', 'ada@corp.example', '--yes')).code).toBe(0);
  await eventually(async () => expect(await archived()).toEqual(['ada@corp.example']));
  expect((await scim.send('DELETE', path)).status).toBe(204);
});

async function promote(travelUserId: string): Promise<void> {
  const answer = await fetch(`${server.url}/api/users/${travelUserId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${TRAVEL_API_KEY}`, 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ data: { roles: ['admin'] } }),
  });
  expect(answer.status).toBe(200);
}
