import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '../../src/cli/service/check.ts';
import { readSettings } from '../../src/config/settings.ts';
import { openDatabase } from '../../src/store/sql/open-database.ts';
import { addStoredConnection } from '../../src/store/stored-connections.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { recordedShell } from '../fixtures/shell.ts';
import { NOW } from '../fixtures/store.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

let folder: ReturnType<typeof temporaryFolder>;
let data: { JETBRIDGE_DATA: string };
beforeAll(async () => {
  folder = temporaryFolder();
  data = { JETBRIDGE_DATA: join(folder.path, 'data') };
  await (await openTestDatabase(data.JETBRIDGE_DATA)).close();
});
afterAll(() => folder.remove());

function file(name: string, content: unknown): string {
  const path = join(folder.path, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const listOf = (...Resources: unknown[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
  totalResults: Resources.length,
  Resources,
});

const preview = (args: string[], more: Record<string, string> = {}) =>
  runCommandLine(['preview', ...args], { ...data, ...more });

describe('preview --input', () => {
  test('shows each user of a ListResponse below the userName, also as JSON', async () => {
    const input = file('users.json', listOf({ userName: 'ada@corp.example' }, { userName: 'bob' }));
    const { code, out } = await preview(['--input', input]);
    expect(code).toBe(0);
    const [ada = '', bob = ''] = out.split('\nbob\n\n');
    expect(ada).toMatch(/^ada@corp\.example\n\n/);
    expect(ada).toContain('email     = "ada@corp.example"');
    expect(bob).toContain('[emailInvalid]');
    const json = (await preview(['--input', input, '--json'])).out.trim().split('\n');
    expect(json.map((line) => JSON.parse(line))).toMatchObject([
      {
        userName: 'ada@corp.example',
        fields: expect.arrayContaining([
          expect.objectContaining({ field: 'email', outcome: 'value', value: 'ada@corp.example' }),
        ]),
        findings: [],
      },
      { userName: 'bob', findings: [{ code: 'emailInvalid' }] },
    ]);
  });

  test.each([
    ['a faulty user', listOf({ userName: 'ada' }, {}), 'Resources[1]: userName is required'],
    ['a text in place of a user', listOf('ada'), 'Resources[0]: must be a JSON object, a SCIM user.'],
    ['no user', listOf(), 'its Resources are empty: there is no user to preview.'],
  ])('%s in a ListResponse is reported with its place', async (_, content, fault) => {
    const input = file('users.json', content);
    const { code, out, err } = await preview(['--input', input]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(`${input}: ${fault}`);
  });

  test('uses the mapping of the chosen connection', async () => {
    const mapping = file('mapping.json', { language: { default: 'fr' } });
    const settings = writeSettingsFile({}, { default: {}, acme: { mapping } });
    const input = file('ada.json', { userName: 'ada@corp.example' });
    const run = (...connection: string[]) =>
      preview(['--input', input, ...connection], { JETBRIDGE_CONFIG: settings.path });
    expect((await run('--connection', 'acme')).out).toContain('lang      = "fr"');
    expect((await run('--connection', 'default')).out).not.toContain('"fr"');
    expect((await run()).err).toBe(
      'There are several connections: name one with --connection. The settings have default, acme.\n',
    );
    expect(await run('--connection', 'mars')).toEqual({
      code: 1,
      out: '',
      err: 'There is no connection mars; the settings have default, acme.\n',
    });
    settings.remove();
  });
});

test('preview, check and mapping know the connections of the database', async () => {
  const shell = await recordedShell(data);
  const database = await openDatabase(readSettings(shell.environment, shell.home), { exclusive: false });
  const settings = { travelApi: { url: 'embedded' } };
  const connection = { id: 'okta', account: 'okta' };
  await addStoredConnection(database, { connection, settings, now: NOW });
  await database.close();
  const people = await preview(['--people', '--connection', 'okta']);
  expect(people.out).toMatch(/^Connection okta: the mapping in force/);
  expect(await check(shell)).toBe(0);
  expect(shell.out.join()).toContain('connection okta');
  const mapping = file('okta.json', {});
  const applied = await runCommandLine(['mapping', 'apply', mapping, '--connection', 'okta', '--yes'], data);
  expect(applied.out).toContain('In force, as version 1.');
  const audited = await runCommandLine(['audit', '--action', 'applyMapping', '--limit', '1', '--json'], data);
  expect(JSON.parse(audited.out)).toMatchObject({
    ...{ actorKind: 'command', status: 200 },
    details: { connection: 'okta', version: 1, before: 0 },
  });
});

describe('preview --people', () => {
  test('says of the mapping in force, and of one with the same effect, that nobody would change', async () => {
    const service = await startService(data);
    const join = (user: object) =>
      fetch(`${service.url}/scim/v2/Users`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${service.scimToken}`, 'Content-Type': 'application/scim+json' },
        body: JSON.stringify(user),
      });
    await join({ userName: 'ada@corp.example', preferredLanguage: 'de' });
    await join({ userName: 'eva@corp.example', preferredLanguage: 'de' });
    const present = await preview(['--people', '--connection', 'default']);
    const mapping = file('same.json', {});
    const same = await preview(['--people', '--connection', 'default', '--mapping', mapping]);
    await service.close();
    const nobody = 'This would change nobody of 2 people.';
    expect(present.out).toBe(
      `Connection default: the mapping in force, beside what was sent. Nothing is written or sent by this.\n\n${nobody}\n`,
    );
    expect(same.out).toContain(`${mapping}. Nothing is written or sent by this.\n\n${nobody}`);
  });
});
