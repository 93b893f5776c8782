import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openSqlite } from '../../src/store/sql/sqlite-file.ts';
import { certificateFiles } from '../fixtures/certificate.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { createDatabaseIn } from '../fixtures/data-folder.ts';
import { eventually } from '../fixtures/eventually.ts';
import {
  type JetbridgeServer,
  runJetbridge,
  serveJetbridge,
  temporaryFolder,
} from '../fixtures/jetbridge.ts';
import { shownCertificate } from '../fixtures/plain-and-tls.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { describeOnSqlite } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

const home = join(__dirname, '..', '..');
const example = join(home, 'config/jetbridge.example.json');

/** An empty data folder for each test, and files in it. */
let folder: ReturnType<typeof temporaryFolder>;
let data: { JETBRIDGE_DATA: string };
beforeEach(() => {
  folder = temporaryFolder();
  data = { JETBRIDGE_DATA: join(folder.path, 'data') };
});
afterEach(() => folder.remove());

function file(name: string, content: unknown): string {
  const path = join(folder.path, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** The example settings with a travel API and an OpenID provider that do not answer; check would look up the names of its mappings there. */
function unreachable(): string {
  const text = readFileSync(example, 'utf8').replaceAll(/(travel|login)\.example\.com/g, '127.0.0.1:1');
  return file('example.json', text.replaceAll('mappings/', join(home, 'config/mappings/')));
}

/** The address of a travel API that does not answer. */
const nobody = { TRAVEL_API_URL: 'http://127.0.0.1:1', TRAVEL_API_KEY: 'nobody-will-ask-for-it' };

describe('wrong use exits with 2 and a message', () => {
  it.each<[string[], string]>([
    [[], 'Usage: npx jetbridge'],
    [['fly'], "unknown command 'fly'"],
    [['check', '--loud'], "unknown option '--loud'"],
    [['preview'], 'give either --input <file> or --people'],
    [['preview', '--people', '--input', 'x'], 'give either --input <file> or --people'],
    [['preview', '--input', 'x', '--limit', '3'], '--limit goes with --people'],
    [['preview', '--people', '--limit', '-1'], 'must be a whole number'],
    [['replay', 'x', '--token', 't'], "required option '--url <url>'"],
    [['replay', 'x', '--token', 't', '--url', 'localhost'], 'must be a URL'],
    [
      ['replay', 'x', '--token', 't', '--url', 'http://h', '--variable', 'seed'],
      'must be of the form name=value',
    ],
    [['tokens'], 'Usage: npx jetbridge tokens'],
    [['tokens', 'create', '--days', 'soon'], 'must be a whole number of days'],
    [['tokens', 'revoke'], "missing required argument 'id'"],
    [['connections'], 'Usage: npx jetbridge connections'],
    [['connections', 'forget'], "missing required argument 'name'"],
    [['api-keys'], 'Usage: npx jetbridge api-keys'],
    [['api-keys', 'create'], "required option '--user <email>'"],
    [['api-keys', 'revoke'], "missing required argument 'id'"],
    [['oauth-clients'], 'Usage: npx jetbridge oauth-clients'],
    [['oauth-clients', 'create'], 'give either --connection <id> or --travel-admin <email>'],
    [['oauth-clients', 'create', '--connection', 'a', '--travel-admin', 'b'], 'give either --connection'],
    [
      ['oauth-clients', 'create', '--connection', 'a', '--jwks-uri', 'http://idp.example/keys'],
      'must be an https URL',
    ],
    [
      ['oauth-clients', 'create', '--connection', 'a', '--jwks-uri', 'https://i.example', '--jwks-file', 'f'],
      'give one of --jwks-uri and --jwks-file',
    ],
    [['oauth-clients', 'revoke'], "missing required argument 'id'"],
    [['sample-data', '--users', '0'], 'must be a whole number from 1 to 1000000.'],
    [['sample-data', '--users', '-5'], 'must be a whole number from 1 to 1000000.'],
    [['sample-data', '--users', 'many'], 'must be a whole number from 1 to 1000000.'],
    [['sample-data', '--trips', '100001'], 'must be a whole number from 0 to 100000.'],
    [['sample-data', '--seed', '1.5'], 'must be a whole number from 0 to 2147483648.'],
    [['sample-data', '--now', '2026-02-30'], 'must be a day of this century such as 2026-11-20.'],
    [['sample-data', '--now', '9999-12-31'], 'must be a day of this century such as 2026-11-20.'],
    [
      ['sample-data', '--users', '1', '--trips', '101'],
      '101 trips are too many for one person: at most 100 each',
    ],
  ])('jetbridge %j', async (args, text) => {
    const ran = await runCommandLine(args, data);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(text);
  });
});

it('--help names every command', async () => {
  const ran = await runJetbridge(['--help']);
  expect(ran).toMatchObject({ code: 0, err: '' });
  for (const command of [
    'serve',
    'check',
    'preview',
    'replay',
    'import',
    'tokens',
    'oauth-clients',
    'api-keys',
    'holds',
    'demo',
  ])
    expect(ran.out).toMatch(new RegExp(`^  ${command} `, 'm'));
});

it('--version prints the version of the package', async () => {
  expect(await runJetbridge(['--version'])).toEqual({ code: 0, out: '0.1.0\n', err: '' });
});

describe('check', () => {
  it('prints the settings in effect, with the secrets hidden', async () => {
    const secrets = {
      SCIM_TOKEN: 'token-of-the-parent',
      TRAVEL_API_KEY: 'key-of-the-parent',
      SUBSIDIARY_SCIM_TOKEN: 'token-of-the-subsidiary',
      SUBSIDIARY_TRAVEL_API_KEY: 'key-of-the-subsidiary',
      ADMIN_OPENID_CLIENT_SECRET: 'secret-of-the-client',
      ALERTS_SLACK_URL: 'https://hooks.slack.com/services/T0/B0/secret-of-slack',
      ALERTS_TEAMS_URL: 'https://teams.example.com/workflows/1?sig=secret-of-teams',
      ALERTS_SMTP_URL: 'smtps://jetbridge:secret-of-mail@mail.example.com',
      ALERTS_WEBHOOK_SECRET: `whsec_${Buffer.from('the secret of the alarms').toString('base64')}`,
    };
    const { code, out, err } = await runCommandLine(['check'], {
      ...secrets,
      PUBLIC_URL: 'https://bridge.example',
      JETBRIDGE_CONFIG: unreachable(),
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('connection subsidiary\n');
    expect(out).toContain('https://127.0.0.1:1, credential ********');
    expect(out).toContain('were not checked for connection subsidiary: the travel API cannot be asked');
    expect(out).toContain('policies     onExistingUser refuse, deprovision archive');
    expect(out).toContain('The OpenID provider of the admin page was not checked: it does not answer');
    expect(out.trimEnd().split('\n').at(-1)).toBe('The settings and mappings are in order.');
    for (const secret of Object.values(secrets)) expect(out).not.toContain(secret);
  });

  it('refuses a travel API by plain HTTP over a network unless TRAVEL_API_INSECURE allows it, and then mentions it', async () => {
    const settings = writeSettingsFile(
      {},
      { default: { mapping: join(home, 'config/mappings/default.json') } },
    );
    const environment = {
      JETBRIDGE_CONFIG: settings.path,
      TRAVEL_API_URL: 'http://travel.example.com',
      TRAVEL_API_KEY: 'key-of-the-travel-service',
    };
    const refused = await runCommandLine(['check', '--offline'], environment);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('set TRAVEL_API_INSECURE=true')]);
    const allowed = await runCommandLine(['check', '--offline'], {
      ...environment,
      TRAVEL_API_INSECURE: 'true',
    });
    settings.remove();
    expect([allowed.code, allowed.err]).toEqual([0, '']);
    expect(allowed.out).toContain('plain HTTP   to it, as TRAVEL_API_INSECURE allows');
  });

  it('prints whether plain HTTP is allowed and which proxies are trusted', async () => {
    const files = await certificateFiles();
    const https = { TLS_CERT: files.cert, TLS_KEY: files.key, TRUSTED_PROXIES: '10.0.0.0/8, loopback' };
    const { out } = await runCommandLine(['check'], { ...https, HOST: '0.0.0.0' });
    files.remove();
    expect(out).toContain('serves HTTPS on 0.0.0.0:8080');
    expect(out).toMatch(/certificate {2}until 20\d\d-/);
    expect(out).toContain('plain HTTP   from other machines is refused');
    expect(out).toContain('proxies      trusted: 10.0.0.0/8, loopback');
    expect((await runCommandLine(['check'])).out).toContain('serves HTTP on 127.0.0.1:8080');
  });
});

describe('preview', () => {
  beforeEach(() => createDatabaseIn(data.JETBRIDGE_DATA));

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
    const server = await serveJetbridge(data);
    expect(server.welcome).toContain('travel API key  travel_');
    const beside = await runCommandLine(['preview', '--input', file('ada.json', ada)], data);
    await server.stop();
    expect(beside).toEqual(ran);
  });

  it.each<[string, string | object, string]>([
    ['no JSON', '{"userName": }', 'is not JSON (Unexpected token'],
    ['a list', [], 'must hold one JSON object'],
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
  beforeEach(() => createDatabaseIn(data.JETBRIDGE_DATA));

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

  async function joined(server: JetbridgeServer, user: object): Promise<void> {
    const response = await fetch(`${server.url}/scim/v2/Users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets.SCIM_TOKEN}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], ...user }),
    });
    expect(response.status).toBe(201);
  }

  /** Starts a server with three people. */
  async function servedPeople(): Promise<JetbridgeServer> {
    const server = await serveJetbridge({
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
    await server.stop();
    expect(ran).toMatchObject({ code: 0, err: '' });
    // A bidi control would reorder the rest of the line, so it is escaped.
    expect(
      ran.out.replace(other, 'other.json'),
    ).toBe(`Connection default: other.json, beside the present mapping. Nothing was written or sent.

3 people looked at:
       2  would change in the travel service
       1  would get a traveler at last
       0  would get no traveler any more
       0  would be out of scope, and their travelers stay as they are

┌───────────┬───────────────┬──────────┬────────────┬──────────┐
│ field     │ another value │ no value │ sent again │ given up │
├───────────┼───────────────┼──────────┼────────────┼──────────┤
│ lang      │ 2             │ 0        │ 0          │ 0        │
├───────────┼───────────────┼──────────┼────────────┼──────────┤
│ Job title │ 1             │ 0        │ 0          │ 0        │
└───────────┴───────────────┴──────────┴────────────┴──────────┘

┌─────────────────────┬───────┬─────┬──────┐
│ finding             │ field │ new │ gone │
├─────────────────────┼───────┼─────┼──────┤
│ transformFailed     │ email │ 2   │ 0    │
├─────────────────────┼───────┼─────┼──────┤
│ languageUnsupported │ lang  │ 0   │ 1    │
├─────────────────────┼───────┼─────┼──────┤
│ emailInvalid        │ email │ 0   │ 1    │
├─────────────────────┼───────┼─────┼──────┤
│ noEmail             │ email │ 0   │ 1    │
└─────────────────────┴───────┴─────┴──────┘

Examples (3 of 3):

ada@corp.example
  lang: nothing → "fr"
  Job title: "Buyer" → "BUYER"
  + email "ada@corp.example": The transforms of the rule give no value: the map of the rule has no entry for it. [transformFailed]
  - lang "de": The travel service speaks English and French. [languageUnsupported]

bob\\u{202e}@corp.example
  lang: nothing → "fr"
  + email "bob<U+202E>@corp.example": The transforms of the rule give no value: the map of the rule has no entry for it. [transformFailed]

reception gets a traveler
  archived: nothing → false
  email: nothing → "desk@corp.example"
  lang: nothing → "fr"
  - email "reception": This is not an email address. [emailInvalid]
  - email: There is no usable email address, and no traveler can exist without one. [noEmail]
`);
    expect(again.out).toContain('Examples (1 of 3):');
  });

  it('prints what an edited mapping would change when the server starts with it', async () => {
    const server = await servedPeople();
    const edited = settingsWith({ scimUserMapping: [{ ...title, transforms: ['uppercase'] }] });
    const environment = { ...data, ...secrets, ...edited };
    const beside = await runCommandLine(['preview', '--people'], environment);
    expect(beside).toMatchObject({ code: 0, err: '' });
    expect(beside.out).toContain('the present mapping, beside what was sent. Nothing was written or sent.');
    expect(beside.out).toContain('1  would change in the travel service');
    expect(beside.out).toContain('ada@corp.example\n  Job title: "Buyer" → "BUYER"\n');
    await server.stop();
    expect(await runCommandLine(['preview', '--people'], environment)).toEqual(beside);
  });

  it('reports that there are no people, and a connection that the settings do not have', async () => {
    await runCommandLine(['sample-data', '--users', '1', '--trips', '0'], data);
    const nobodyThere = await runCommandLine(['preview', '--people'], data);
    expect(nobodyThere).toMatchObject({ code: 0, err: '' });
    expect(nobodyThere.out).toContain('0 people looked at:');
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

describe('serve', () => {
  it('prints the created secrets once, and exits with 0 on SIGTERM', async () => {
    const first = await serveJetbridge(data);
    const token = /SCIM token {6}(scim_\S{43})\n/.exec(first.welcome)?.[1] ?? '';
    const key = /travel API key {2}(travel_\S{43})\n/.exec(first.welcome)?.[1] ?? '';
    expect(await statusOf(first, token)).toBe(200);
    expect(await first.stop()).toMatchObject({ code: 0, out: '' });

    const second = await serveJetbridge(data);
    expect(second.welcome).not.toMatch(/scim_|travel_/);
    expect(await statusOf(second, token)).toBe(200);
    const travel = await fetch(`${second.url}/api/whoami`, { headers: { Authorization: `Bearer ${key}` } });
    expect(travel.status).toBe(200);
    expect((await second.stop()).code).toBe(0);
  });

  it('names the variable whose credential the travel API refuses, and serves nevertheless', async () => {
    const refusing = createServer((_request, response) => response.writeHead(401).end());
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const { port } = refusing.address() as AddressInfo;
    const settings = { TRAVEL_API_URL: `http://127.0.0.1:${port}`, TRAVEL_API_KEY: 'not-the-key-of-anyone' };
    const server = await serveJetbridge({ ...data, ...settings });
    expect(await statusOf(server, 'wrong')).toBe(401);
    await eventually(async () =>
      expect(server.errors()).toContain('refuses the credential in TRAVEL_API_KEY (401)'),
    );
    expect(await server.stop()).toMatchObject({ code: 0 });
    refusing.close();
  });

  it('goes on after SIGHUP without a certificate', async () => {
    const server = await serveJetbridge(data);
    server.signal('SIGHUP');
    expect(await statusOf(server, 'wrong')).toBe(401);
    expect(await server.stop()).toMatchObject({ code: 0 });
  });

  it('serves HTTPS, and a renewed certificate after SIGHUP', async () => {
    const files = await certificateFiles();
    const server = await serveJetbridge({ ...data, TLS_CERT: files.cert, TLS_KEY: files.key });
    expect(server.url).toMatch(/^https:/);
    const before = await shownCertificate(server.url);
    await files.renew();
    server.signal('SIGHUP');
    await eventually(async () => expect(await shownCertificate(server.url)).not.toBe(before));
    expect(await server.stop()).toMatchObject({ code: 0 });
    files.remove();
  });

  it('a port in use ends it with one line, and the next start shows the secrets', async () => {
    const other = await serveJetbridge({ JETBRIDGE_DATA: join(folder.path, 'other') });
    const ran = await runJetbridge(['serve'], { ...data, PORT: new URL(other.url).port });
    await other.stop();
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/^listen EADDRINUSE.* set PORT to another port\.\n$/);
    const server = await serveJetbridge(data);
    expect(server.welcome).toMatch(/scim_\S+/);
    await server.stop();
  });
});

describeOnSqlite('serve, with a data folder', () => {
  it('a data folder that another server uses, or that is a file, ends it with one line', async () => {
    const server = await serveJetbridge(data);
    const second = await runJetbridge(['serve'], data);
    await server.stop();
    expect(second).toMatchObject({ code: 1, out: '' });
    expect(second.err).toMatch(/is in use by another Jetbridge\. Stop it, or .*\n$/);
    const none = await runJetbridge(['serve'], { JETBRIDGE_DATA: file('file', '') });
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('JETBRIDGE_DATA must be a folder.') });
  });

  it('a database file with other content ends it with one line', async () => {
    file('jetbridge.db', 'x'.repeat(5000));
    const ran = await runJetbridge(['serve'], { JETBRIDGE_DATA: folder.path });
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/^The database in JETBRIDGE_DATA cannot be used: file is not a database\. .*\n$/);
  });

  it('a database of another version of Jetbridge ends it with one line', async () => {
    const database = await openSqlite(join(folder.path, 'jetbridge.db'));
    database.exec(
      `create table write_probe (id integer); create table kysely_migration (name text, timestamp text);
        insert into kysely_migration values ('0001-bridge', '')`,
    );
    database.close();
    const ran = await runJetbridge(['serve'], { JETBRIDGE_DATA: folder.path });
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/^.* was written by an earlier version of Jetbridge\. .* JETBRIDGE_DATA .*\n$/);
  });
});

describe('tokens', () => {
  it('a running server accepts a created token at once, and refuses it once it is revoked', async () => {
    const server = await serveJetbridge(data);
    const made = await runCommandLine(['tokens', 'create', '--name', 'okta', '--days', '365'], data);
    expect(made).toMatchObject({ code: 0, err: 'Keep it: it is shown only now.\n' });
    const token = made.out.trim();
    expect(await statusOf(server, token)).toBe(200);

    const listed = await runCommandLine(['tokens', 'list'], data);
    expect(listed.code).toBe(0);
    expect(listed.out).not.toContain(token);
    expect(listed.out).toMatch(/│ first token +│ default +│ .* │ never +│/);
    const id = /│ (\S+) +│ okta +│/.exec(listed.out)?.[1] ?? '';

    expect(await runCommandLine(['tokens', 'revoke', id], data)).toEqual({
      code: 0,
      out: 'revoked\n',
      err: '',
    });
    expect(await statusOf(server, token)).toBe(401);
    expect((await runCommandLine(['tokens', 'list'], data)).out).toMatch(/okta .* revoked \d{4}-/);
    const again = await runCommandLine(['tokens', 'revoke', id], data);
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('revoked before') });
    await server.stop();
  });

  it('an unknown connection is reported with the names of the known ones', async () => {
    await (await serveJetbridge(data)).stop();
    expect(await runCommandLine(['tokens', 'create', '--connection', 'acme'], data)).toEqual({
      code: 1,
      out: '',
      err: 'There is no connection acme; the settings have default.\n',
    });
  });
});

describe('replay', () => {
  const scenario = (userName: string) => ({
    name: 'joiner',
    steps: [
      {
        request: {
          method: 'POST',
          path: '/Users',
          headers: { Authorization: 'Bearer {{token}}', 'Content-Type': 'application/scim+json' },
          body: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: '{{who}}@corp.example' },
        },
        expect: { status: [201], bodyMatches: { userName } },
      },
    ],
  });

  it('exits with 0 if every answer is as recorded, else with 1 and the differences', async () => {
    const server = await serveJetbridge({ ...data, SCIM_TOKEN: 'token-of-the-replay' });
    const at = ['--url', `${server.url}/scim/v2/`, '--token', 'token-of-the-replay'];
    const good = file('good.json', scenario('{{who}}@corp.example'));
    const bad = file('bad.json', scenario('someone.else@corp.example'));
    expect(await runCommandLine(['replay', good, ...at, '--variable', 'who=ada'], data)).toEqual({
      code: 0,
      out: 'passed   joiner (1 step)\n1 scenario: 1 passed, 0 failed, 0 skipped\n',
      err: '',
    });
    const differs = await runCommandLine(['replay', bad, ...at, '--variable', 'who=grace'], data);
    await server.stop();
    expect(differs).toMatchObject({ code: 1, err: '' });
    expect(differs.out).toContain('FAILED   joiner');
    expect(differs.out).toContain('expected "someone.else@corp.example"');
    expect(differs.out).toContain('but was  "grace@corp.example"');
  });

  it('an invalid scenario is reported with its file and exits with 1', async () => {
    const at = ['--url', 'http://127.0.0.1:1/scim/v2', '--token', 't'];
    const path = join(folder.path, 'nothing');
    expect(await runCommandLine(['replay', path, ...at])).toEqual({
      code: 1,
      out: '',
      err: `${path} $: does not exist. Create it, or correct its name.\n`,
    });
    const broken = file('broken.json', '{');
    expect(await runCommandLine(['replay', broken, ...at])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining(`${broken} $: is not JSON`),
    });
  });
});

describe('import', () => {
  beforeEach(() => createDatabaseIn(data.JETBRIDGE_DATA));

  it('reads the travelers of every connection', async () => {
    expect(await runCommandLine(['import'], data)).toEqual({
      code: 0,
      out: 'default: 1 traveler read\n',
      err: '',
    });
  });

  it('a travel API that does not answer is reported and exits with 1', async () => {
    const ran = await runCommandLine(['import'], { ...data, ...nobody });
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/^default: the travelers could not be read: .*check TRAVEL_API_URL/);
  });
});

describe('demo', () => {
  it('shows for each person the requests of the IdP, the traveler, and the findings with their reasons', async () => {
    const ran = await runJetbridge(['demo'], data);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain('2 scenarios: 2 passed, 0 failed, 0 skipped');
    const text = ran.out.replace(/\s*│\n│ +│\s*/g, ' ');
    for (const words of [
      'Olive',
      'Nora is hired again',
      'Department: Marketing',
      'manager: Mary Major',
      'archived: yes',
    ])
      expect(text).toContain(words);
    expect(ran.out).toMatch(/phoneNumber "[^"]+": /);
  });
});

/** Returns the status with which the SCIM service answers a token. */
async function statusOf({ url }: JetbridgeServer, token: string): Promise<number> {
  const answer = await fetch(`${url}/scim/v2/Users?count=1`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  await answer.text();
  return answer.status;
}
