import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '../../src/cli/check.ts';
import { applyFile } from '../../src/cli/mapping/mapping.ts';
import { preview, previewPeople } from '../../src/cli/mapping/preview.ts';
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

const chosen = { mapping: undefined, connection: undefined, json: undefined };

describe('preview --input', () => {
  test('shows each user of a ListResponse below the userName, also as JSON', async () => {
    const input = file('users.json', listOf({ userName: 'ada@corp.example' }, { userName: 'bob' }));
    const shell = await recordedShell(data);
    expect(await preview(shell, { ...chosen, input })).toBe(0);
    const [ada, adaFields, bob, bobFields] = shell.out;
    expect([ada, bob]).toEqual(['ada@corp.example\n', 'bob\n']);
    expect(adaFields).toContain('email     = "ada@corp.example"');
    expect(bobFields).toContain('[emailInvalid]');
    const json = await recordedShell(data);
    await preview(json, { ...chosen, input, json: true });
    expect(json.out.map((line) => JSON.parse(line))).toMatchObject([
      { userName: 'ada@corp.example', fields: { email: { value: 'ada@corp.example' } }, findings: [] },
      { userName: 'bob', findings: [{ code: 'emailInvalid' }] },
    ]);
  });

  test.each([
    ['a faulty user', listOf({ userName: 'ada' }, {}), 'Resources[1]: userName is required'],
    ['a text in place of a user', listOf('ada'), 'Resources[0]: must be a JSON object, a SCIM user.'],
    ['no user', listOf(), 'its Resources are empty: there is no user to preview.'],
  ])('%s in a ListResponse is reported with its place', async (_, content, fault) => {
    const shell = await recordedShell(data);
    const input = file('users.json', content);
    expect(await preview(shell, { ...chosen, input })).toBe(1);
    expect(shell.out).toEqual([]);
    expect(shell.err).toEqual([expect.stringContaining(`${input}: ${fault}`)]);
  });

  test('uses the mapping of the chosen connection', async () => {
    const mapping = file('mapping.json', { language: { default: 'fr' } });
    const settings = writeSettingsFile({}, { default: {}, acme: { mapping } });
    const input = file('ada.json', { userName: 'ada@corp.example' });
    const run = async (connection: string | undefined) => {
      const shell = await recordedShell({ ...data, JETBRIDGE_CONFIG: settings.path });
      const code = await preview(shell, { ...chosen, input, connection });
      return { code, out: shell.out.join(''), err: shell.err };
    };
    expect((await run('acme')).out).toContain('lang      = "fr"');
    expect((await run(undefined)).out).not.toContain('"fr"');
    expect(await run('mars')).toEqual({
      code: 1,
      out: '',
      err: ['There is no connection mars; the settings have default, acme.'],
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
  expect(await previewPeople(shell, { connection: 'okta', limit: 10 })).toBe(0);
  expect(shell.out[0]).toMatch(/^Connection okta: the present mapping/);
  expect(await check(shell)).toBe(0);
  expect(shell.out.join()).toContain('connection okta');
  const mapping = file('okta.json', {});
  expect(await applyFile(shell, mapping, { connection: 'okta', yes: true })).toBe(0);
  expect(shell.out.join()).toContain('In force for connection okta');
  const audited = await runCommandLine(['audit', '--action', 'applyMapping', '--limit', '1', '--json'], data);
  expect(JSON.parse(audited.out)).toMatchObject({
    ...{ actorKind: 'command', status: 200 },
    details: { connection: 'okta', mapping, version: 1, before: 0 },
  });
});

describe('preview --people', () => {
  test('says of the mapping in force that nothing has to be sent, what is left out, and what to ask next', async () => {
    const service = await startService(data);
    const join = (user: object) =>
      fetch(`${service.url}/scim/v2/Users`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${service.scimToken}`, 'Content-Type': 'application/scim+json' },
        body: JSON.stringify(user),
      });
    await join({ userName: 'ada@corp.example', preferredLanguage: 'de' });
    await join({ userName: 'eva@corp.example', preferredLanguage: 'de' });
    const shell = await recordedShell(data);
    expect(await previewPeople(shell, { connection: 'default', limit: 10 })).toBe(0);
    const same = await recordedShell(data);
    const mapping = file('same.json', {});
    await previewPeople(same, { connection: 'default', mapping, limit: 10 });
    await service.close();
    expect(
      shell.out.join('\n'),
    ).toBe(`Connection default: the present mapping, beside what was sent. Nothing was written or sent.

The travelers of all 2 people are as the mapping in force wants; nothing has to be sent.

Left out at present ("npx jetbridge people --finding FINDING" lists the people):

┌─────────────────────┬───────┬────────┐
│ finding             │ field │ people │
├─────────────────────┼───────┼────────┤
│ languageUnsupported │ lang  │ 2      │
└─────────────────────┴───────┴────────┘

"npx jetbridge explain PERSON" shows every field of a person, "npx jetbridge mapping preview FILE" what another mapping would change.`);
    expect(same.out.join('\n')).toContain(
      `${mapping} has the same effect as the mapping in force: nothing would change for 2 people.`,
    );
  });
});
