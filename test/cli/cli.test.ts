import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateFiles } from '../fixtures/certificate.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { folderForEachTest } from '../fixtures/folder-for-each-test.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const home = join(__dirname, '..', '..');
const example = join(home, 'config/jetbridge.example.json');

const { folder, data, file } = folderForEachTest();

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
    [['tokens', 'create', '--days', 'soon'], 'must be a whole number from 1 to 3650.'],
    [['tokens', 'revoke'], "missing required argument 'id'"],
    [['connections'], 'Usage: npx jetbridge connections'],
    [['connections', 'forget'], "missing required argument 'name'"],
    [['api-keys'], 'Usage: npx jetbridge api-keys'],
    [['api-keys', 'create'], "required option '--user <email>'"],
    [['api-keys', 'revoke'], "missing required argument 'id'"],
    [['oauth-clients'], 'Usage: npx jetbridge oauth-clients'],
    [['oauth-clients', 'create', '--travel-admin', 'b'], 'must be an email address'],
    [
      ['oauth-clients', 'create', '--connection', 'a', '--jwks-uri', 'http://idp.example/keys'],
      'must be an https URL',
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

it.each(['explain', 'holds list'])('help %s is the help of the command', async (command) => {
  const words = command.split(' ');
  const { out } = await runCommandLine(['help', ...words]);
  expect(out).toMatch(new RegExp(`^Usage: npx jetbridge ${command} \\[options\\]`));
  expect(await runCommandLine([...words, '--help'])).toEqual({ code: 0, out, err: '' });
});

it('--help names every command', async () => {
  const ran = await runCommandLine(['--help']);
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
      ALERTS_PAGERDUTY_KEY: '0123456789abcdef0123456789abcdef',
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
    expect(out).toContain('policies     deprovision archive, drift report');
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

describe('tokens', () => {
  it('a running server accepts a created token at once, and refuses it once it is revoked', async () => {
    const server = await startService(data);
    const made = await runCommandLine(['tokens', 'create', '--name', 'okta', '--days', '365'], data);
    expect(made).toMatchObject({ code: 0, err: 'Keep it: it is shown only now.\n' });
    const token = made.out.trim();
    expect(await statusOf(server, token)).toBe(200);

    const listed = await runCommandLine(['tokens', 'list'], data);
    expect(listed.code).toBe(0);
    expect(listed.out).not.toContain(token);
    expect(listed.out).toMatch(/│ first token +│ default +│ active +│ .* │ - +│/);
    const id = /│ (\S+) +│ okta +│/.exec(listed.out)?.[1] ?? '';

    expect(await runCommandLine(['tokens', 'revoke', id], data)).toEqual({
      code: 0,
      out: 'revoked\n',
      err: '',
    });
    expect(await statusOf(server, token)).toBe(401);
    expect((await runCommandLine(['tokens', 'list'], data)).out).toMatch(/okta .*│ revoked │/);
    const again = await runCommandLine(['tokens', 'revoke', id], data);
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('revoked before') });
    await server.close();
  });

  it('an unknown connection is reported with the names of the known ones', async () => {
    await (await startService(data)).close();
    expect(await runCommandLine(['tokens', 'create', '--connection', 'acme'], data)).toEqual({
      code: 1,
      out: '',
      err: 'The input is not valid.\n  connection: is not in the settings, which have default\n',
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
    const server = await startService({ ...data, SCIM_TOKEN: 'token-of-the-replay' });
    const at = ['--url', `${server.url}/scim/v2/`, '--token', 'token-of-the-replay'];
    const good = file('good.json', scenario('{{who}}@corp.example'));
    const bad = file('bad.json', scenario('someone.else@corp.example'));
    expect(await runCommandLine(['replay', good, ...at, '--variable', 'who=ada'], data)).toEqual({
      code: 0,
      out: 'passed   joiner (1 step)\n1 scenario: 1 passed, 0 failed, 0 skipped\n',
      err: '',
    });
    const differs = await runCommandLine(['replay', bad, ...at, '--variable', 'who=grace'], data);
    await server.close();
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
    const ran = await runCommandLine(['demo', '--once'], data);
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
async function statusOf({ url }: RunningService, token: string): Promise<number> {
  const answer = await fetch(`${url}/scim/v2/Users?count=1`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  await answer.text();
  return answer.status;
}
