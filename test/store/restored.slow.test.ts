import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../src/config/settings.ts';
import { type Service, start } from '../../src/server/start.ts';
import { backUp, type Restore } from '../fixtures/backup.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { createDataFolder, isOnPostgres } from '../fixtures/data-folder.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type OtherTravelApi, otherTravelApi } from '../fixtures/other-travel-api.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { letTimePass, withTestDatabase } from '../fixtures/test-database.ts';

const home = join(__dirname, '..', '..');
const token = 'the-token-of-the-identity-provider';
const policies = { drift: 'correct', deprovision: 'delete', safetyValve: false };

let travel: OtherTravelApi;
let environment: Record<string, string>;
let service: Service | undefined;
let settingsFile: ReturnType<typeof writeSettingsFile>;
beforeEach(async () => {
  travel = await otherTravelApi();
  settingsFile = writeSettingsFile({}, { default: { policies } });
  environment = {
    ...{ PORT: '0', JETBRIDGE_DATA: createDataFolder('jetbridge-'), LOG_LEVEL: 'silent' },
    ...{ SCIM_TOKEN: token, JETBRIDGE_CONFIG: settingsFile.path, ADMIN_PASSWORD: 'a password of the tests' },
    ...{ TRAVEL_API_URL: travel.url, TRAVEL_API_KEY: travel.key },
  };
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  await travel.close();
  settingsFile.remove();
  for (const folder of [data(), ...others.splice(0)]) rmSync(folder, { recursive: true });
});

/** Data folders that the test has left for another one. */
const others: string[] = [];
const data = () => environment['JETBRIDGE_DATA'] ?? '';

async function serve(): Promise<Service> {
  service = await start(readSettings(await withTestDatabase(environment), home));
  return service;
}

async function stop(): Promise<void> {
  await service?.close();
  service = undefined;
}

async function scim(method: string, path: string, body?: object): Promise<{ status: number; id: string }> {
  const response = await fetch(`${service?.url}/scim/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    body: body ? JSON.stringify(body) : null,
  });
  const text = await response.text();
  return { status: response.status, id: text === '' ? '' : JSON.parse(text).id };
}

const person = (name: string, extra: object = {}) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: `${name}@corp.example`,
  name: { givenName: name, familyName: 'Smith' },
  emails: [{ value: `${name}@corp.example`, type: 'work', primary: true }],
  active: true,
  ...extra,
});

const patch = (value: object) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op: 'replace', value }],
});

const travelerOf = (name: string) => travel.traveler(`${name}@corp.example`);

async function stopAndCopy(): Promise<Restore> {
  await stop();
  const restore = await backUp(data());
  await serve();
  return restore;
}

/** Runs the command while the IdP creates one person after the other. The backup is restored into another, empty place. */
async function backUpUnderLoad(): Promise<Restore> {
  const file = join(data(), 'one.backup');
  let isMade = false;
  const making = runCommandLine(['backup', file], environment).finally(() => {
    isMade = true;
  });
  let created = 0;
  for (; !isMade || created < 20; created += 1)
    expect((await scim('POST', '/Users', person(`load${created}`))).status).toBe(201);
  expect(await making).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringContaining('It was read again, and is whole.'),
  });
  return async () => {
    others.push(data());
    environment['JETBRIDGE_DATA'] = createDataFolder('jetbridge-');
    expect(await runCommandLine(['restore', file], environment)).toMatchObject({
      ...{ code: 0, err: '', out: expect.stringContaining('The travelers stay as they are') },
    });
  };
}

/**
 * Makes a backup with four people, then archives one of them, deletes another, takes a role from the third and creates a fifth. Ends with
 * the server stopped, and returns the function that puts the backup in place.
 */
async function changeAfterBackup(
  makeBackup = stopAndCopy,
): Promise<{ restore: Restore; ids: Record<string, string> }> {
  await serve();
  const ids: Record<string, string> = {};
  const create = async (name: string, extra: object = {}) => {
    ids[name] = (await scim('POST', '/Users', person(name, extra))).id;
  };
  await create('leaver');
  await create('deleted');
  await create('demoted', { roles: [{ value: 'premium' }] });
  await create('unchanged');
  const restore = await makeBackup();
  await scim('PATCH', `/Users/${ids['leaver']}`, patch({ active: false }));
  await scim('DELETE', `/Users/${ids['deleted']}`);
  await scim('PUT', `/Users/${ids['demoted']}`, person('demoted'));
  await create('since');
  await service?.identities('default');
  expect(travelerOf('leaver')?.archived).toBe(true);
  expect(travelerOf('deleted')).toBeUndefined();
  expect(travelerOf('demoted')?.roles ?? []).toEqual([]);
  await stop();
  // The next start imports although less than an hour has passed.
  await letTimePass(data(), 2 * 3_600_000);
  travel.calls.length = 0;
  return { restore, ids };
}

/** Waits until all travelers are read, and expects that nothing was sent. */
async function expectReportOnly(): Promise<void> {
  await eventually(async () => {
    const people = (await service?.identities('default')) ?? [];
    const found = people
      .filter(({ claimed }) => claimed)
      .map(({ desired, findings }) => [
        String(desired.userName).replace(/@.*/, ''),
        findings.map(({ code }) => code).join(),
      ]);
    expect(Object.fromEntries(found.filter(([name = '']) => !name.startsWith('load')))).toEqual({
      leaver: 'restored',
      deleted: 'restored',
      demoted: 'restored',
      unchanged: '',
    });
  });
  expect(travel.writes()).toEqual([]);
}

const removeFile = () => rmSync(join(data(), isOnPostgres() ? 'postgresql.writes' : 'jetbridge.writes'));

const waysToTell: [title: string, restored: (restore: Restore) => Promise<void>][] = [
  [
    'the file beside the data tells',
    async (restore) => {
      await restore();
      await serve();
    },
  ],
  [
    'the operator tells before the start',
    async (restore) => {
      await restore();
      removeFile();
      expect((await runCommandLine(['restored'], environment)).code).toBe(0);
      await serve();
    },
  ],
  ...(isOnPostgres()
    ? ([
        [
          'a running replica tells',
          async (restore) => {
            await serve();
            removeFile();
            await restore();
          },
        ],
      ] as [string, (restore: Restore) => Promise<void>][])
    : []),
];

test('a backup that was made under load gives nobody access back in an empty place', async () => {
  const { restore } = await changeAfterBackup(backUpUnderLoad);
  const before = travel.travelers();
  await restore();
  await serve();
  await expectReportOnly();
  expect((await scim('POST', '/Users', person('since'))).status).toBe(201);
  await service?.identities('default');
  expect(travel.travelers()).toEqual(before);
});

test.each(waysToTell)('a restored backup does no harm: %s', async (_, restored) => {
  const { restore, ids } = await changeAfterBackup();
  await restored(restore);
  await expectReportOnly();
  expect((await runCommandLine(['doctor'], environment)).out).toContain(
    'The database was restored from a backup, and 3 travelers differ from it',
  );
  // The identity provider sends everybody again.
  await scim('PATCH', `/Users/${ids['leaver']}`, patch({ active: false }));
  await scim('DELETE', `/Users/${ids['deleted']}`);
  await scim('PUT', `/Users/${ids['demoted']}`, person('demoted'));
  expect((await scim('POST', '/Users', person('since'))).status).toBe(201);
  await eventually(async () => {
    const people = (await service?.identities('default')) ?? [];
    expect(people.map(({ state }) => state)).toEqual(people.map(() => 'synced'));
  });
  // All that is left is as the identity provider has stated it.
  const sendAgain = ['people', 'send-again', '--connection', 'default', '--yes'];
  expect((await runCommandLine(sendAgain, environment)).out).toBe('0 people are due now\n');
  expect(travelerOf('leaver')?.archived).toBe(true);
  expect(travelerOf('deleted')).toBeUndefined();
  expect(travelerOf('demoted')?.roles ?? []).toEqual([]);
  expect(travel.travelers().filter(({ email }) => email.startsWith('since'))).toHaveLength(1);
});
