import { join } from 'node:path';
import { runCommandLine } from '../fixtures/command-line.ts';
import { folderForEachTest } from '../fixtures/folder-for-each-test.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

const { folder, data, file } = folderForEachTest();

/** The address of a travel API that does not answer. */
const nobody = { TRAVEL_API_URL: 'http://127.0.0.1:1', TRAVEL_API_KEY: 'nobody-will-ask-for-it' };

describe('preview', () => {
  const ada = { userName: 'ada@corp.example', name: { givenName: 'Ada', familyName: 'King' }, title: ' Dr ' };

  it('shows the mapping of a user rule by rule, with the lookups of the embedded travel service', async () => {
    const ran = await runCommandLine(['preview', '--input', file('ada.json', ada)], data);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain('email      = "ada@corp.example"\n');
    expect(ran.out).toContain('set by default rule userName: "ada@corp.example" → "ada@corp.example"\n');
    expect(ran.out).toContain('No findings.');
  });

  it('uses another mapping file, and prints which names it cannot find', async () => {
    const mapping = file('mapping.json', {
      scimUserMapping: [
        { scimAttribute: 'title', userAttribute: 'lastName', transforms: ['trim'] },
        { scimAttribute: 'userName', customField: 'Login' },
      ],
    });
    const ran = await runCommandLine(
      ['preview', '--input', file('ada.json', ada), '--mapping', mapping],
      data,
    );
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain('set by file rule title | trim: " Dr " → "Dr"');
    expect(ran.out).toContain('The travel service has no custom field called "Login". [customFieldUnknown]');
  });

  it('works while a server runs, and creates no secrets', async () => {
    const ran = await runCommandLine(['preview', '--input', file('ada.json', ada)], data);
    expect(ran.code).toBe(0);
    const server = await startService(data);
    expect(server.travelApiKey).toMatch(/^travel_/);
    const beside = await runCommandLine(['preview', '--input', file('ada.json', ada)], data);
    await server.close();
    expect(beside).toEqual(ran);
  });

  it.each<[string, string | object, string]>([
    ['no JSON', '{"userName": }', 'is not JSON (Unexpected token'],
    ['a list', [], 'must be a JSON object'],
    ['no userName', {}, 'userName is required'],
    ['another resource', { schemas: ['urn:x:Robot'], userName: 'r' }, 'schemas must list'],
  ])('%s is reported with the file, and exits with 1', async (_title, content, text) => {
    const input = file('user.json', content);
    const ran = await runCommandLine(['preview', '--input', input], data);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain(`${input}: ${text}`);
    expect(ran.err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('a mapping with faults, a missing file and a travel API that does not answer exit with 1', async () => {
    const input = file('ada.json', ada);
    const faulty = file('mapping.json', { scimUserMapping: [{}], colour: 'blue' });
    const mapping = await runCommandLine(['preview', '--input', input, '--mapping', faulty], data);
    expect(mapping).toMatchObject({ code: 1, out: '' });
    expect(mapping.err.trimEnd().split('\n').length).toBeGreaterThan(1);
    const missing = await runCommandLine(['preview', '--input', join(folder.path, 'nobody.json')], data);
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('nobody.json: does not exist') });
    const silent = await runCommandLine(['preview', '--input', input], { ...data, ...nobody });
    expect(silent).toMatchObject({ code: 1, err: expect.stringContaining('check TRAVEL_API_URL') });
  });
});

describe('preview --people', () => {
  const title = { scimAttribute: 'title', customField: 'Job title' };
  const secrets = {
    SCIM_TOKEN: 'a-token-that-the-operator-chose',
    TRAVEL_API_KEY: 'a-key-that-the-operator-chose',
  };

  /** Writes settings whose default connection has this mapping. */
  function settingsWith(mapping: object): { JETBRIDGE_CONFIG: string } {
    const config = { connections: { default: { mapping: file('own-mapping.json', mapping) } } };
    return { JETBRIDGE_CONFIG: file('jetbridge.json', config) };
  }

  async function joined(server: RunningService, user: object): Promise<void> {
    const response = await fetch(`${server.url}/scim/v2/Users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets.SCIM_TOKEN}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], ...user }),
    });
    expect(response.status).toBe(201);
  }

  /** Starts a server with three people. */
  async function servedPeople(): Promise<RunningService> {
    const server = await startService({
      ...data,
      ...secrets,
      ...settingsWith({ scimUserMapping: [title] }),
    });
    const admin = travelAdmin(server.url, secrets.TRAVEL_API_KEY);
    await admin.make('/custom-fields', { name: 'Job title', dataType: 'text', resourceType: 'user' });
    await joined(server, { userName: 'ada@corp.example', title: 'Buyer', preferredLanguage: 'de' });
    await joined(server, { userName: 'bob\u202e@corp.example', emails: [{ value: 'bob@corp.example' }] });
    await joined(server, { userName: 'reception' });
    return server;
  }

  it('prints what another mapping would change while a server runs, and changes nothing', async () => {
    const server = await servedPeople();
    const upper = { ...title, transforms: ['uppercase'] };
    const desk = [{ map: { reception: 'desk@corp.example' } }];
    const email = { scimAttribute: 'userName', userAttribute: 'email', transforms: desk };
    const other = file('other.json', {
      scimUserMapping: [upper, email],
      language: { default: 'fr' },
    });
    const present = settingsWith({ scimUserMapping: [title] });
    const args = ['preview', '--people', '--mapping', other];
    const ran = await runCommandLine(args, { ...data, ...secrets, ...present });
    const again = await runCommandLine([...args, '--limit', '1'], { ...data, ...secrets, ...present });
    await server.close();
    expect(ran).toMatchObject({ code: 0, err: '' });
    // A bidi control would reorder the rest of the line, so it is escaped.
    expect(
      ran.out.replace(other, 'other.json'),
    ).toBe(`Connection default: other.json. Nothing is written or sent by this.

This would change 2 of 3 people: 2 languages, 1 Job title. 1 would get a traveler at last.

┌─────────────────────┬───────────────┬─────┬──────┐
│ finding             │ field         │ new │ gone │
├─────────────────────┼───────────────┼─────┼──────┤
│ transformFailed     │ Email address │ 2   │ 0    │
├─────────────────────┼───────────────┼─────┼──────┤
│ languageUnsupported │ Language      │ 0   │ 1    │
├─────────────────────┼───────────────┼─────┼──────┤
│ emailInvalid        │ Email address │ 0   │ 1    │
├─────────────────────┼───────────────┼─────┼──────┤
│ noEmail             │ Email address │ 0   │ 1    │
└─────────────────────┴───────────────┴─────┴──────┘

3 examples:

ada@corp.example
  Language: nothing → fr
  Job title: Buyer → BUYER
  + Email address ada@corp.example: The transforms of the rule give no value: the map of the rule has no entry for it. [transformFailed]
  - Language de: The travel service speaks English and French. [languageUnsupported]

bob\\u{202e}@corp.example
  Language: nothing → fr
  + Email address bob<U+202E>@corp.example: The transforms of the rule give no value: the map of the rule has no entry for it. [transformFailed]

reception gets a traveler
  Archived: nothing → no
  Email address: nothing → desk@corp.example
  Language: nothing → fr
  - Email address reception: This is not an email address. [emailInvalid]
  - Email address: There is no usable email address, and no traveler can exist without one. [noEmail]
`);
    expect(again.out).toContain('1 example:');
  });

  it('prints what an edited mapping would change when the server starts with it', async () => {
    const server = await servedPeople();
    const edited = settingsWith({ scimUserMapping: [{ ...title, transforms: ['uppercase'] }] });
    const environment = { ...data, ...secrets, ...edited };
    const beside = await runCommandLine(['preview', '--people'], environment);
    expect(beside).toMatchObject({ code: 0, err: '' });
    expect(beside.out).toContain('the mapping in force, beside what was sent. Nothing is written or sent');
    expect(beside.out).toContain('This would change 1 of 3 people: 1 Job title.');
    expect(beside.out).toContain('ada@corp.example\n  Job title: Buyer → BUYER\n');
    await server.close();
    expect(await runCommandLine(['preview', '--people'], environment)).toEqual(beside);
  });

  it('reports that there are no people, and a connection that the settings do not have', async () => {
    await runCommandLine(['sample-data', '--users', '1', '--trips', '0'], data);
    const nobodyThere = await runCommandLine(['preview', '--people'], data);
    expect(nobodyThere).toMatchObject({ code: 0, err: '' });
    expect(nobodyThere.out).toContain('This would change nobody of 0 people.');
    const unknown = await runCommandLine(['preview', '--people', '--connection', 'mars'], data);
    expect(unknown).toEqual({
      code: 1,
      out: '',
      err: 'There is no connection mars; the settings have default.\n',
    });
  });

  it('a mapping with faults and a travel API that does not answer exit with 1', async () => {
    const faulty = file('mapping.json', { colour: 'blue' });
    const mapping = await runCommandLine(['preview', '--people', '--mapping', faulty], data);
    expect(mapping).toMatchObject({ code: 1, out: '', err: expect.stringContaining('colour: unknown key') });
    await runCommandLine(['sample-data', '--users', '1', '--trips', '0'], data);
    const silent = await runCommandLine(['preview', '--people'], { ...data, ...nobody });
    expect(silent).toMatchObject({ code: 1, out: '', err: expect.stringContaining('check TRAVEL_API_URL') });
  });
});
