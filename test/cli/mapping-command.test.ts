import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../src/cli/cli.ts';
import { createLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { recordedShell } from '../fixtures/shell.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

const TRAVEL_API_KEY = 'the-key-of-the-first-administrator';
const SCIM_TOKEN = 'the-token-of-the-identity-provider';

let folder: ReturnType<typeof temporaryFolder>;
let settings: ReturnType<typeof writeSettingsFile>;
let environment: Record<string, string>;
let server: RunningService | undefined;
let lines: JsonObject[];
beforeEach(() => {
  folder = temporaryFolder();
  useSettings({ default: { mapping: undefined } });
});
afterEach(async () => {
  await stopped();
  settings.remove();
  folder.remove();
});

async function stopped(): Promise<void> {
  await server?.close();
  server = undefined;
}

function useSettings(connections: Record<string, object>): void {
  settings = writeSettingsFile({}, connections);
  environment = {
    ...{ TRAVEL_API_KEY, SCIM_TOKEN },
    JETBRIDGE_DATA: join(folder.path, 'data'),
    JETBRIDGE_CONFIG: settings.path,
  };
}

const mapping = (...args: string[]) => runCommandLine(['mapping', ...args], environment);

/** Writes a mapping file whose first name comes from another attribute. */
function mappingFile(scimAttribute: string, name = `${scimAttribute}.json`): string {
  const path = join(folder.path, name);
  writeFileSync(path, JSON.stringify({ scimUserMapping: [{ scimAttribute, userAttribute: 'firstName' }] }));
  return path;
}

const ada = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'ada@corp.example',
  name: { givenName: 'Ada', familyName: 'Smith' },
  nickName: 'Addie',
  emails: [{ value: 'ada@corp.example', type: 'work' }],
};

async function served(): Promise<{ firstNames(): Promise<string[]>; changeTitle(): Promise<void> }> {
  lines = [];
  server = await startService(environment, { log: createLog('info', parseLinesInto(lines)) });
  const { send } = scimClient(server.url, SCIM_TOKEN);
  const created = await send('POST', '/Users', ada);
  expect(created.status).toBe(201);
  const admin = travelAdmin(server.url, TRAVEL_API_KEY);
  let changes = 0;
  return {
    firstNames: async () =>
      (await admin.travelers())
        .filter(({ email }) => email === 'ada@corp.example')
        .map(({ firstName }) => String(firstName)),
    changeTitle: async () => {
      changes += 1;
      const body = {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: [{ op: 'replace', path: 'title', value: `Buyer ${changes}` }],
      };
      expect((await send('PATCH', `/Users/${created.body.id}`, body)).status).toBe(200);
    },
  };
}

test('a mapping is put in force while the server runs, listed, shown and taken back', async () => {
  const { firstNames, changeTitle } = await served();
  expect(await firstNames()).toEqual(['Ada']);
  const file = mappingFile('nickName');
  const preview = await mapping('preview', file);
  expect(preview).toMatchObject({ code: 0 });
  expect(preview.out).toMatch(
    /^Connection default: .*nickName\.json\. Nothing is written or sent by this\.\n/,
  );
  expect(preview.out).toContain('This would change 1 of 1 person: 1 first name.');
  expect(preview.out).toContain('First name: Ada → Addie');
  expect(await mapping('check', file)).toMatchObject({ code: 0, out: `${file} is in order.\n` });

  expect(await mapping('apply', file)).toMatchObject({
    code: 2,
    out: expect.stringContaining('First name: Ada → Addie'),
    err: expect.stringContaining('give --yes'),
  });
  expect(JSON.parse((await mapping('show')).out)).toEqual({ scimUserMapping: [] });
  const applied = await mapping('apply', file, '--yes');
  expect(applied).toMatchObject({ code: 0 });
  expect(applied.out).toMatch(/\nIn force, as version 2\. A running server .* within two seconds.*\n$/);
  await changeTitle();
  await eventually(async () => expect(await firstNames()).toEqual(['Addie']));
  expect(JSON.parse((await mapping('show')).out)).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  const all = (await mapping('show', '--all')).out;
  expect(all).toContain('{"scimAttribute":"nickName","userAttribute":"firstName"}');
  expect(all).toContain(
    '{"scimAttribute":"name.familyName","userAttribute":"lastName"}\n    then name.formatted',
  );
  expect(all).toMatch(
    /\nFields whose default rule is not used, because a rule above sets them:\n {2}firstName\n$/,
  );
  const { rules } = JSON.parse((await mapping('show', '--all', '--json')).out);
  expect(rules).toContainEqual(expect.objectContaining({ field: 'firstName', use: 'replaced' }));

  const history = (await mapping('history', '--json')).out.trim().split('\n');
  const versions = history.map((line) => JSON.parse(line) as { number: number });
  expect(versions).toEqual([
    expect.objectContaining({ number: 2, source: 'command', author: expect.any(String) }),
    expect.objectContaining({ number: 1, source: 'default' }),
  ]);
  expect((await mapping('history')).out).toMatch(/│ 1 +│ [\d: -]+│ default +│ - +│ 0 +│/);
  expect(JSON.parse((await mapping('show', '1')).out)).toEqual({ scimUserMapping: [] });
  expect(await mapping('show', '3')).toMatchObject({
    ...{ code: 1, err: expect.stringContaining('The mapping has no version 3') },
  });
  expect(await mapping('restore', '1', '--yes')).toMatchObject({
    code: 0,
    out: expect.stringContaining('First name: Addie → Ada'),
  });
  await changeTitle();
  await eventually(async () => expect(await firstNames()).toEqual(['Ada']));

  await stopped();
  expect(await mapping('apply', file, '--yes')).toMatchObject({ code: 0 });
  server = await startService(environment);
  expect(JSON.parse((await mapping('show')).out)).toEqual(JSON.parse(readFileSync(file, 'utf8')));
});

test('a file with faults is refused with all of them, and the mapping in force stays', async () => {
  await served();
  const file = join(folder.path, 'faulty.json');
  const refused = async (content: string, ...faults: RegExp[]) => {
    writeFileSync(file, content);
    for (const command of [['check'], ['preview'], ['apply', '--yes']]) {
      const [name = '', ...flags] = command;
      const ran = await mapping(name, file, ...flags);
      const said = `${ran.out}${ran.err}`;
      expect(faults.filter((fault) => !fault.test(said))).toEqual([]);
      if (name !== 'preview') expect(ran).toMatchObject({ code: 1, out: '' });
    }
  };
  await refused('{', /faulty\.json \$: /);
  await refused(
    JSON.stringify({
      colour: 1,
      scimUserMapping: [{ scimAttribute: 'nickName', userAttribute: 'firstname' }],
    }),
    ...[/colour: unknown key/, /scimUserMapping\[0\]\.userAttribute: /],
  );
  await refused(
    JSON.stringify({ scimUserMapping: [{ scimAttribute: 'nickName', customField: 'No such field' }] }),
    /scimUserMapping\[0\]\.customField: .*No such field/,
  );
  const checked = await mapping('check', file, '--json');
  expect(checked.code).toBe(1);
  expect(JSON.parse(checked.out).faults).toEqual([
    expect.objectContaining({ path: 'scimUserMapping[0].customField' }),
  ]);
  expect(JSON.parse((await mapping('show')).out)).toEqual({ scimUserMapping: [] });
});

test('a name that a known extension does not have is a warning of check, preview and apply', async () => {
  await served();
  const attribute = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:departement';
  const file = mappingFile(attribute, 'misspelled.json');
  const warning =
    /warning: .*misspelled\.json scimUserMapping\[0\]\.scimAttribute: .* Did you mean department\?\n/;
  for (const command of [['check'], ['preview'], ['apply', '--yes']]) {
    const [name = '', ...flags] = command;
    expect(await mapping(name, file, ...flags)).toMatchObject({
      code: 0,
      err: expect.stringMatching(warning),
    });
  }
  expect((await mapping('check', file)).out).toBe(`${file} is in order, except for the warnings.\n`);
  expect(JSON.parse((await mapping('check', file, '--json')).out)).toMatchObject({
    faults: [],
    warnings: [{ path: 'scimUserMapping[0].scimAttribute', remedy: 'Did you mean department?' }],
  });
});

test('of two admins who apply at once, the second learns what the first has changed, and loses nothing', async () => {
  await served();
  const shell = await recordedShell(environment);
  const file = mappingFile('displayName');
  const apply = (ask: () => Promise<string>, ...flags: string[]) =>
    runCommand(['mapping', 'apply', file, ...flags], { ...shell, ask });
  const changeFirst = async () => {
    await mapping('apply', mappingFile('nickName'), '--yes');
    return 'y';
  };
  expect(await apply(changeFirst)).toBe(1);
  expect(shell.err.join('\n')).toMatch(
    /^\S+ has put another mapping in force at .* \(version \d+\)\. Nothing was applied: .*\n {2}scimUserMapping: added {"scimAttribute":"nickName","userAttribute":"firstName"}/,
  );
  expect((await mapping('show')).out).toContain('nickName');
  expect(await apply(async () => 'n')).toBe(1);
  expect(shell.err.at(-1)).toBe('Nothing was changed.');
  expect(await apply(async () => 'y', '--json')).toBe(0);
  expect(JSON.parse(shell.out.at(-1) ?? '')).toMatchObject({ outcome: 'applied', version: 3 });
  expect((await mapping('show')).out).toContain('displayName');
});

test('no database is created, and one of several connections must be named', async () => {
  expect(await mapping('show')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^There is no data in .*start the server once/),
  });
  settings.remove();
  useSettings({ okta: {}, entra: {} });
  server = await startService(environment);
  expect(await mapping('show')).toMatchObject({
    code: 1,
    err: expect.stringContaining('name one with --connection. The settings have okta, entra.'),
  });
  expect(await mapping('show', '--connection', 'aws')).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no connection aws'),
  });
});

test('a reload, as by SIGHUP, applies a changed mapping file, and refuses a faulty one as a whole', async () => {
  const file = mappingFile('displayName', 'mapping.json');
  const plain = settings;
  useSettings({ default: { mapping: file } });
  const { firstNames, changeTitle } = await served();
  const reload = async (line: string) => {
    await server?.reloadMappingFiles();
    expect(lines.map(({ msg }) => msg)).toContain(line);
  };
  // These settings do not name the faulty file.
  const others = { ...environment, JETBRIDGE_CONFIG: plain.path };
  const inForce = async () => JSON.parse((await runCommandLine(['mapping', 'show'], others)).out);
  const first = JSON.parse(readFileSync(file, 'utf8'));

  await reload('the mapping file has not changed');
  writeFileSync(file, '{"colour": "blue", "phone": {"defaultCountry": "Atlantis"}}');
  await reload('the mapping file has faults; the mapping in force stays');
  expect(lines.find(({ faults }) => faults !== undefined)?.['faults']).toEqual([
    expect.stringContaining('phone.defaultCountry: '),
    expect.stringContaining('colour: unknown key'),
  ]);
  expect(await inForce()).toEqual(first);

  const second = JSON.parse(readFileSync(mappingFile('nickName', 'mapping.json'), 'utf8'));
  await reload('the mapping file has come into force');
  expect(await inForce()).toEqual(second);
  await changeTitle();
  await eventually(async () => expect(await firstNames()).toEqual(['Addie']));

  const other = mappingFile('title');
  expect(await mapping('apply', other, '--yes')).toMatchObject({
    code: 0,
    err: expect.stringContaining('mapping.json, which replaces this mapping when its content changes.'),
  });
  await reload('the mapping file has not changed; the mapping that has replaced it stays in force');
  expect(await inForce()).toEqual(JSON.parse(readFileSync(other, 'utf8')));
  plain.remove();
});
