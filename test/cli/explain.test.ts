import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../fixtures/command-line.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

let service: RunningService;
let idp: ScimClient;
beforeAll(async () => {
  service = await startService();
  idp = scimClient(service.url, service.scimToken);
});
afterAll(() => service.close());

async function provision(userName: string, extra: object = {}): Promise<string> {
  const { status, body } = await idp.send('POST', '/Users', { userName, active: true, ...extra });
  expect(status).toBe(201);
  return body.id;
}

const run = (...args: string[]) => runCommandLine(['explain', ...args], { JETBRIDGE_DATA: service.data });

/** Runs the command and returns its standard output. */
async function explain(person: string): Promise<string> {
  const { code, out } = await run(person);
  expect(code).toBe(0);
  return out;
}

/** Runs a command that is refused, and returns its standard error. */
async function refusalOf(...args: string[]): Promise<string> {
  const { code, out, err } = await run(...args);
  expect([code, out]).toEqual([1, '']);
  return err;
}

test('a person who is in step is explained by userName, with the rule and value of each field', async () => {
  const id = await provision('ada@corp.example', { name: { givenName: 'Ada', familyName: 'King' } });
  const text = await explain('ADA@corp.example');
  expect(text).toMatch(/^ada@corp\.example: in step\.\nConnection default; last change by the identity/);
  expect(text).toContain('\n\nNo findings.\n\nFields\n');
  expect(text).toContain('  First name: Ada\n    rule           default rule name.givenName\n');
  expect(text).toContain(`\n  SCIM id   ${id}\n`);
});

test('a person without a traveler is explained by the reason, with the remedy', async () => {
  await provision('bob');
  const text = await explain('bob');
  expect(text).toMatch(/^bob: incomplete, because /);
  expect(text).toContain('    → ');
  expect(text).toMatch(/traveler +none/);
});

test('a value that is left out is a finding, and its field shows what the IdP said and the rule', async () => {
  await provision('cyd@corp.example', { phoneNumbers: [{ value: '+33 6', type: 'mobile' }] });
  const text = await explain('cyd@corp.example');
  expect(text).toMatch(/^cyd@corp\.example: in step, with 1 finding\.\n/);
  expect(text).toMatch(/ {2}Phone number \+33 6: .* \[phoneUnreadable\]\n {4}→ /);
  expect(text).toMatch(
    / {2}Phone number: left out, see the findings\n {4}IdP said +\+33 6\n {4}rule +default rule phoneNumbers/,
  );
});

test('of a rule with a fixed value the mapping says it, as the identity provider has said nothing', async () => {
  const folder = temporaryFolder();
  const mapping = join(folder.path, 'mapping.json');
  const rule = { template: 'doubloon', userAttribute: 'currency' };
  writeFileSync(mapping, JSON.stringify({ scimUserMapping: [rule], language: { default: 'fr' } }));
  const settings = writeSettingsFile({}, { default: { mapping } });
  const own = await startService({ JETBRIDGE_CONFIG: settings.path });
  try {
    const client = scimClient(own.url, own.scimToken);
    const { status } = await client.send('POST', '/Users', { userName: 'eve@corp.example', active: true });
    expect(status).toBe(201);
    const environment = { JETBRIDGE_DATA: own.data, JETBRIDGE_CONFIG: settings.path };
    const { out: text } = await runCommandLine(['explain', 'eve@corp.example'], environment);
    expect(text).toMatch(/ {2}Currency: left out, see the findings\n {4}mapping says +doubloon\n/);
    expect(text).toMatch(/ {4}IdP said +active: true\n/);
  } finally {
    await own.close();
    settings.remove();
    folder.remove();
  }
});

test('a misspelled userName is answered with the nearest ones', async () => {
  await provision('dorothy.hodgkin@corp.example');
  await provision('dorothea.hodgkin@corp.example');
  await provision('dora@corp.example');
  expect(await refusalOf('dorothy.hodgkn@corp.example')).toMatch(
    /^Nobody has .* Did you mean dorothy\.hodgkin@corp\.example\?\n$/,
  );
  expect(await refusalOf('dorothey.hodgkin@corp.example')).toMatch(
    /Did you mean dorothea\.hodgkin@corp\.example or dorothy\.hodgkin@corp\.example\?\n$/,
  );
  expect(await refusalOf('unlike@elsewhere.example')).not.toContain('Did you mean');
});

test('the beginning of a userName or of a name is answered with the people whom it may mean', async () => {
  await provision('emmy.noether@corp.example', { displayName: 'Amalie Noether' });
  for (const person of ['emmy.noether', 'Amalie Noe'])
    expect(await refusalOf(person)).toMatch(/Did you mean emmy\.noether@corp\.example\?\n$/);
});

test('managers are shown: resolved with the name, or waiting for a user', async () => {
  const boss = await provision('boss@corp.example');
  await provision('dan@corp.example', { [enterprise]: { manager: { value: boss } } });
  await provision('eva@corp.example', { [enterprise]: { manager: { value: 'nobody-yet' } } });
  expect(await explain('dan@corp.example')).toContain(
    `  ${boss} → boss@corp.example (${boss}): resolved, tra`,
  );
  expect(await explain('eva@corp.example')).toContain('  nobody-yet: waiting: no user has this id');
});

test('a deactivated person is archived', async () => {
  const id = await provision('fay@corp.example');
  await idp.send('PATCH', `/Users/${id}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'active', value: false }],
  });
  const text = await explain(id);
  expect(text).toMatch(
    /^fay@corp\.example: archived, because the identity provider has deactivated the user\.\n/,
  );
  expect(text).toContain('  Archived: yes\n    IdP said       active: false\n');
});

test('a live person is chosen before a deleted one with the same name, which is mentioned', async () => {
  const first = await provision('gil@corp.example', { externalId: 'g-1' });
  await idp.send('DELETE', `/Users/${first}`);
  expect(await explain('gil@corp.example')).toMatch(
    /^gil@corp\.example \(deleted\): archived, because the identity provider has deleted the user\. Since /,
  );
  const second = await provision('gil@corp.example', { externalId: 'g-1' });
  const { out, err } = await run('gil@corp.example');
  expect(out).toContain(second);
  expect(err).toMatch(new RegExp(`^Deleted before: ${first} \\(gil@corp.example, connection default`));
});

test('several people with one address are listed, with how to choose', async () => {
  const emails = [{ value: 'shared@corp.example', type: 'work' }];
  const [one, other] = [await provision('hal', { emails }), await provision('ivy', { emails })];
  const refusal = await refusalOf('shared@corp.example');
  expect(refusal).toContain('names several people. Give the SCIM id of one, or add --connection:\n');
  expect(refusal).toContain(`  ${one} (hal, connection default, synced)`);
  expect(refusal).toContain(`  ${other} (ivy, connection default, pending)`);
});

test('an unknown person or connection ends with 1, and says what was searched', async () => {
  expect(await refusalOf('nobody')).toBe(
    'Nobody has the userName, email address, SCIM id or travel user id nobody. Searched, deleted people included: default. "npx jetbridge people" lists everybody.\n',
  );
  expect(await refusalOf('ada', '--connection', 'okta')).toBe(
    'There is no connection okta in the database; it has default.\n',
  );
});

test('--json has the same as one object, and the traveler is found by its id', async () => {
  await provision('jan@corp.example');
  const explained = JSON.parse((await run('jan@corp.example', '--json')).out);
  expect(explained).toMatchObject({
    ...{ userName: 'jan@corp.example', state: 'synced', verdict: { status: 'synced' }, version: 1 },
    findings: [],
  });
  expect(explained.fields).toContainEqual(
    expect.objectContaining({ field: 'email', standing: 'same', sent: 'jan@corp.example' }),
  );
  expect(JSON.parse((await run(explained.travelId, '--json')).out).id).toBe(explained.id);
});
