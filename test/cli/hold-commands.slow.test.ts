import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runCommandLine } from '../fixtures/command-line.ts';
import { createDatabaseIn } from '../fixtures/data-folder.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { type TravelAdmin, travelAdmin } from '../fixtures/travel-admin.ts';

const CROWD = 101;
const TRAVEL_API_KEY = 'the-key-of-the-first-administrator';
const SCIM_TOKEN = 'the-token-of-the-identity-provider';

let folder: ReturnType<typeof temporaryFolder>;
let file: ReturnType<typeof writeSettingsFile>;
let receiver: Server;
let alerts: { type: string; data: object }[];
let environment: Record<string, string>;
let server: RunningService | undefined;
beforeEach(async () => {
  alerts = [];
  receiver = createServer((request, response) => {
    request.on('data', (chunk) => alerts.push(JSON.parse(String(chunk))));
    request.on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo; // It listens on a port.
  folder = temporaryFolder();
  file = writeSettingsFile({ alerts: { webhookUrl: `http://127.0.0.1:${port}/` } });
  environment = {
    ...{ TRAVEL_API_KEY, SCIM_TOKEN },
    JETBRIDGE_DATA: join(folder.path, 'data'),
    JETBRIDGE_CONFIG: file.path,
    ALERTS_WEBHOOK_SECRET: `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`,
  };
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await new Promise((resolve) => receiver.close(resolve).closeAllConnections());
  file.remove();
  folder.remove();
});

const holds = (...args: string[]) => runCommandLine(['holds', ...args], environment);

/** Creates people with a title, ten at a time. */
async function hire(url: string): Promise<void> {
  for (let n = 0; n < CROWD; n += 10) {
    const some = Array.from({ length: Math.min(10, CROWD - n) }, (_, at) => `p${n + at}@corp.example`);
    const answers = await Promise.all(
      some.map((userName) =>
        fetch(`${url}/scim/v2/Users`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${SCIM_TOKEN}`, 'Content-Type': 'application/scim+json' },
          body: JSON.stringify({ userName, emails: [{ value: userName }], title: 'Buyer' }),
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(some.map(() => 201));
  }
}

function addField(admin: TravelAdmin): Promise<string> {
  return admin.make('/custom-fields', { dataType: 'text', name: 'Job title', resourceType: 'user' });
}

async function titled(admin: TravelAdmin): Promise<number> {
  const travelers = await admin.travelers();
  return travelers.filter(({ customFields = [] }) => customFields.length > 0).length;
}

/** Waits until every identity is synced. */
async function reconciled(url: string): Promise<void> {
  await eventually(async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(/state="dirty"} [1-9]/.test(text)).toBe(false);
  });
}

it('shows a rule that would change more than 100 people, and a running server follows it once it is accepted', async () => {
  server = await startService(environment);
  const { url } = server;
  const admin = travelAdmin(url, TRAVEL_API_KEY);
  const customFieldId = await addField(admin);
  await hire(url);
  await reconciled(url);
  await admin.make('/scim-user-mappings', { scimAttribute: 'title', customFieldId });
  await eventually(async () => expect(alerts.map(({ type }) => type)).toEqual(['proposedRules.opened']));
  const proposed = (...args: string[]) => runCommandLine(['mapping', 'proposed', ...args], environment);
  expect((await proposed()).out).toMatch(/customFields|Job title/);
  expect(await titled(admin)).toBe(0);
  expect(await proposed('--accept')).toMatchObject({ code: 2, err: expect.stringContaining('give --yes') });
  expect(await proposed('--accept', '--yes')).toMatchObject({ code: 0 });
  await eventually(async () => expect(await titled(admin)).toBe(CROWD));
  // A condition ends after a minute without it.
  await eventually(async () => expect(alerts.at(-1)?.type).toBe('proposedRules.cleared'), 180_000);
});

it('exits with 2 for wrong use, and with 1 for an unknown name', async () => {
  createDatabaseIn(join(folder.path, 'data'));
  expect(await holds('approve')).toMatchObject({ code: 2 });
  expect(await holds('approve', 'ada', '--all', '--yes')).toMatchObject({ code: 2 });
  expect(await holds('list', '--cause', 'weather')).toMatchObject({ code: 2 });
  expect(await holds('discard', 'ada', '--yes')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^Nobody has the userName, email address, SCIM id or travel user id ada\./),
  });
  expect(await holds('list')).toMatchObject({ code: 0, out: '', err: 'Nothing is held.\n' });
});
