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

let folder: ReturnType<typeof temporaryFolder>;
let environment: Record<string, string>;
let server: JetbridgeServer;
let scim: ScimClient;
let travel: TravelAdmin;
beforeEach(async () => {
  folder = temporaryFolder();
  environment = { TRAVEL_API_KEY, SCIM_TOKEN, LOG_LEVEL: 'error', JETBRIDGE_DATA: join(folder.path, 'data') };
  await startServer();
});
afterEach(async () => {
  await server.stop();
  folder.remove();
});

async function startServer(): Promise<void> {
  server = await serveJetbridge(environment);
  scim = scimClient(server.url, SCIM_TOKEN);
  travel = travelAdmin(server.url, TRAVEL_API_KEY);
}

const holds = (...args: string[]) => runJetbridge(['holds', ...args], environment);

/** Sends these requests, ten at a time, and returns their bodies; each must have the status. */
async function sendEach(
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

async function archivedEmails(): Promise<string[]> {
  return (await travel.travelers()).filter((traveler) => traveler.archived).map(({ email }) => email);
}

async function waitForHeld(count: number): Promise<void> {
  await eventually(async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const [, now = '0'] =
      /^jetbridge_held\{connection="default",cause="safetyValve"\} (\d+)$/m.exec(metrics) ?? [];
    expect(now).toBe(String(count));
  });
}

async function heldNames(): Promise<string[]> {
  const { out } = await holds('list', '--json', '--cause', 'safetyValve');
  const lines = out.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line).userName);
}

test('an IdP that deactivates 400 of 500 people gets its answers, 25 are archived, and an admin decides about the rest', async () => {
  const users = await sendEach(
    PEOPLE,
    () => 201,
    (n) => scim.send('POST', '/Users', { userName: userNameOf(n), emails: [{ value: userNameOf(n) }] }),
  );
  const ids = users.map(({ id }) => String(id));
  await sendEach(
    LEAVERS,
    (n) => (n % 2 === 0 ? 200 : 204),
    (n) =>
      n % 2 === 0
        ? scim.send('PATCH', `/Users/${ids[n]}`, activeIs(false))
        : scim.send('DELETE', `/Users/${ids[n]}`),
  );
  await waitForHeld(LEAVERS - BOUND);
  expect(await archivedEmails()).toHaveLength(BOUND);
  await eventually(async () => expect(server.log()).toContain('"cause":"safetyValve"'));

  await server.stop();
  await startServer();
  await waitForHeld(LEAVERS - BOUND);
  expect(await archivedEmails()).toHaveLength(BOUND);

  const held = await heldNames();
  const inactive = held.filter((name) => Number(name.slice(1).split('@')[0]) % 2 === 0);
  const [reactivated = '', discarded = '', approved = ''] = inactive;
  const idOf = (name: string) => ids[Number(name.slice(1).split('@')[0])] ?? '';
  expect((await scim.send('PATCH', `/Users/${idOf(reactivated)}`, activeIs(true))).status).toBe(200);
  expect((await holds('discard', discarded, '--yes')).out).toBe('discarded: 1 traveler stays as it is\n');
  expect((await holds('approve', approved, '--yes')).out).toBe('approved: 1 traveler will be archived\n');
  await waitForHeld(LEAVERS - BOUND - 3);
  await eventually(async () => expect(await archivedEmails()).toContain(approved));
  expect(await archivedEmails()).toHaveLength(BOUND + 1);

  expect((await holds('approve', '--cause', 'safetyValve', '--yes')).code).toBe(0);
  await eventually(async () => expect(await archivedEmails()).toHaveLength(LEAVERS - 2));
  await waitForHeld(0);
  const archivedNow = await archivedEmails();
  for (const name of [reactivated, discarded]) expect(archivedNow).not.toContain(name);
  expect((await holds('list', '--json')).out).toBe('');

  // A later write of the IdP is held again, since the window is still full.
  const deactivated = {
    userName: discarded,
    emails: [{ value: discarded }],
    active: false,
    displayName: 'Somebody',
  };
  expect((await scim.send('PUT', `/Users/${idOf(discarded)}`, deactivated)).status).toBe(200);
  await waitForHeld(1);
  expect(await heldNames()).toEqual([discarded]);
});

test('an administrator is neither deactivated nor deleted over SCIM until an approval, which archives at once', async () => {
  const created = await scim.send('POST', '/Users', { userName: 'ada@corp.example' });
  const path = `/Users/${created.body.id}`;
  // The traveler may be created after the answer.
  const travelUserId = await eventually(async () => {
    const { body } = await scim.send('GET', path);
    return body['urn:ietf:params:scim:schemas:extension:travel:2.0:User'].travelUserId;
  });
  await promote(travelUserId);
  for (let repeat = 0; repeat < 2; repeat += 1) {
    for (const answer of [await scim.send('DELETE', path), await scim.send('PATCH', path, activeIs(false))])
      expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('administers') } });
  }
  expect((await scim.send('GET', path)).body.active).toBe(false);
  expect(await archivedEmails()).toEqual([]);
  expect((await holds('show', 'ada@corp.example')).out).toContain('the traveler will be archived');
  expect((await holds('approve', 'ada@corp.example', '--yes')).code).toBe(0);
  await eventually(async () => expect(await archivedEmails()).toEqual(['ada@corp.example']));
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
