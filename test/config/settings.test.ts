import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SettingsFault } from '../../src/config/faults.ts';
import { readSettings } from '../../src/config/settings.ts';
import { type CertificateFiles, certificateFiles } from '../fixtures/certificate.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';

const home = join(__dirname, '..', '..');
const secret = 'correct-horse-battery-staple';
const KEY = '89faff02a3fed2ade8256581cc47d9f3d0bef56c29797f5f4b1cb0b8d07d74be';

interface Given {
  /** File contents by name, for a new folder; `settings.json` is the settings file. */
  files?: Record<string, unknown>;
  environment?: Record<string, string>;
}

/** Returns the faults of settings as lines, without the name of the folder. */
function faultsOf(given: Given): string[] {
  const files = fixture(given);
  try {
    readSettings(files.environment, home);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsFault)) throw error;
    return error.message.replaceAll(`${files.path}/`, '').split('\n');
  } finally {
    files.remove();
  }
}

function fixture({ files = {}, environment = {} }: Given) {
  const { path, remove } = temporaryFolder();
  for (const [name, content] of Object.entries({ 'map.json': {}, ...files })) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    const isRaw = typeof content === 'string' || content instanceof Uint8Array;
    writeFileSync(join(path, name), isRaw ? content : JSON.stringify(content));
  }
  const named = files['settings.json'] === undefined ? {} : { JETBRIDGE_CONFIG: join(path, 'settings.json') };
  return { path, remove, environment: { ...named, ...environment } };
}

/** Returns settings with one connection. */
function one(connection: object): Record<string, unknown> {
  return { 'settings.json': { connections: { default: { mapping: 'map.json', ...connection } } } };
}

/** Returns settings with a receiver of alerts. */
function alarmed(webhookUrl: string, secretEnv?: string): object {
  return { ...Object(one({})['settings.json']), alerts: { webhookUrl, secretEnv } };
}

/** Returns settings with these channels of alerts. */
function alerting(alerts: object): Record<string, unknown> {
  return { ...mapped({}), 'settings.json': { ...Object(one({})['settings.json']), alerts } };
}

/** An OpenID provider of the admin page. */
const openidOfPage = {
  ...{ label: 'Okta', issuer: 'https://idp.example', clientId: 'x' },
  admins: { claim: 'groups', values: ['travel-admins'] },
};

/** Returns valid settings with this mapping file. */
function mapped(mapping: unknown): Record<string, unknown> {
  return { ...one({}), 'map.json': mapping };
}

describe('settings without a fault', () => {
  it('may have every channel of alerts, whose secrets come from the environment', () => {
    const email = { from: 'a@corp.example', to: ['b@corp.example'] };
    const files = fixture({
      files: alerting({ after: 15, slack: {}, teams: { urlEnv: 'ACME_TEAMS' }, pagerduty: {}, email }),
      environment: {
        ALERTS_SLACK_URL: 'https://hooks.slack.com/services/T0/B0/x',
        ACME_TEAMS: 'https://prod.example.com/workflows/1/triggers/manual/paths/invoke?sig=x',
        ALERTS_SMTP_URL: 'smtps://user:pass%2Fword@mail.example.com',
        ALERTS_PAGERDUTY_KEY: '0123456789abcdef0123456789ABCDEF',
      },
    });
    expect(readSettings(files.environment, home).alerts).toEqual({
      afterMs: 15 * 60_000,
      webhook: undefined,
      slackUrl: 'https://hooks.slack.com/services/T0/B0/x',
      teamsUrl: 'https://prod.example.com/workflows/1/triggers/manual/paths/invoke?sig=x',
      pagerduty: {
        url: 'https://events.pagerduty.com/v2/enqueue',
        key: '0123456789abcdef0123456789ABCDEF',
      },
      email: { ...email, weeklyTo: [], smtpUrl: 'smtps://user:pass%2Fword@mail.example.com' },
    });
    files.remove();
  });

  it.each([
    ['on this machine by plain HTTP', 'http://127.0.0.1:8081', undefined],
    ['on this machine by its name', 'http://localhost:8081', undefined],
    ['on this machine by IPv6', 'http://[::1]:8081', undefined],
    ['by HTTPS', 'https://travel.example.com', undefined],
    ['on another machine by plain HTTP where that is allowed', 'http://travel.example.com', 'true'],
  ])('a travel API may be %s', (_title, url, allowed) => {
    const environment = {
      TRAVEL_API_KEY: secret,
      ...(allowed === undefined ? {} : { TRAVEL_API_INSECURE: allowed }),
    };
    expect(faultsOf({ files: one({}), environment: { ...environment, TRAVEL_API_URL: url } })).toEqual([]);
    expect(faultsOf({ files: one({ travelApi: { url } }), environment })).toEqual([]);
  });

  it('a travel API by plain HTTP on another machine is warned of where it is allowed', () => {
    const environment = { TRAVEL_API_KEY: secret, TRAVEL_API_INSECURE: 'true' };
    const warningsOf = (TRAVEL_API_URL: string) =>
      readSettings({ ...environment, TRAVEL_API_URL }, home).warnings;
    expect(warningsOf('http://travel.example.com')).toEqual([
      'TRAVEL_API_URL is plain HTTP to another machine, so the credential can be read on the way',
    ]);
    expect(warningsOf('http://127.0.0.1:8081')).toEqual([]);
  });

  it('no variable needs to be set', () => {
    const settings = readSettings({}, home);
    expect(settings).toMatchObject({ port: 8080, host: '127.0.0.1', data: './data', writeBudgetMs: 800 });
    expect(settings.connections).toMatchObject([
      { id: 'default', scimToken: undefined, travelApi: { url: 'embedded', concurrency: 8 } },
    ]);
  });

  it('an empty variable counts as not set', () => {
    const settings = readSettings(
      { PORT: '', SCIM_TOKEN: '', TRAVEL_API_URL: '', JETBRIDGE_CONFIG: '' },
      home,
    );
    expect(settings).toMatchObject({ port: 8080, connections: [{ scimToken: undefined }] });
  });

  it('a file may begin with a byte order mark', () => {
    expect(
      faultsOf({
        files: {
          'settings.json': '\uFEFF{"connections": {"default": {"mapping": "mappings/default.json"}}}',
        },
        environment: {},
      }),
    ).toEqual([
      'settings.json connections.default.mapping: names mappings/default.json, which does not exist. Create it, or name another; the name is relative to the settings file.',
    ]);
    expect(faultsOf({ files: mapped('\uFEFF{}') })).toEqual([]);
  });

  it('PostgreSQL is used if DATABASE_URL is set, with 10 connections by default', () => {
    const url = 'postgres://jetbridge:password@db.example.com/jetbridge?sslmode=verify-full';
    const environment = { DATABASE_URL: url, JETBRIDGE_KEY: KEY };
    expect(readSettings(environment, home).postgres).toEqual({ url, connections: 10 });
    const fewer = readSettings({ ...environment, DATABASE_CONNECTIONS: '3' }, home);
    expect(fewer.postgres).toEqual({ url, connections: 3 });
    expect(readSettings({}, home).postgres).toBeUndefined();
  });

  it('the host of DATABASE_URL may be the folder of a socket', () => {
    const url = 'postgresql://jetbridge@/jetbridge?host=/run/postgresql';
    expect(readSettings({ DATABASE_URL: url, JETBRIDGE_KEY: KEY }, home).postgres?.url).toBe(url);
  });

  it('all faults of the environment and the settings file are told at once, each variable once', () => {
    const environment = {
      PORT: 'x',
      DATABASE_URL: 'postgres://jetbridge@db.example.com/jetbridge',
      TLS_CERT: 'cert.pem',
      TRAVEL_API_URL: 'http://travel.example.com',
    };
    expect(faultsOf({ environment }).map((line) => line.split(':')[0])).toEqual([
      'environment PORT',
      'environment JETBRIDGE_KEY',
      'environment TLS_KEY',
      'environment TRAVEL_API_URL',
      'config/jetbridge.json connections.default.travelApi.keyEnv',
    ]);
    const faulty = faultsOf({ environment: { ...environment, JETBRIDGE_KEY: 'short' } });
    expect(faulty.filter((line) => line.includes('JETBRIDGE_KEY:'))).toEqual([
      'environment JETBRIDGE_KEY: is no key of 32 bytes. Give what "openssl rand -hex 32" prints.',
    ]);
  });

  it('JETBRIDGE_KEY is 32 bytes in hexadecimal or base64', () => {
    const bytes = Buffer.from('thirty-two bytes that are a key.');
    for (const key of [bytes.toString('hex'), bytes.toString('base64')]) {
      expect(readSettings({ JETBRIDGE_KEY: key }, home).key).toBe(key);
    }
    expect(readSettings({}, home).key).toBeUndefined();
  });

  it('webhooks may have private addresses only if allowPrivate is true', () => {
    expect(readSettings({}, home).travelService.webhooks.allowPrivate).toBe(false);
    const files = fixture({
      files: {
        'settings.json': {
          ...Object(one({})['settings.json']),
          travelService: { webhooks: { allowPrivate: true } },
        },
        'map.json': {},
      },
    });
    expect(readSettings(files.environment, home).travelService.webhooks.allowPrivate).toBe(true);
    files.remove();
  });

  it('each connection has its own token, credential and account', () => {
    const files = fixture({
      files: {
        'settings.json': {
          connections: {
            default: { mapping: 'map.json' },
            acme: {
              mapping: 'map.json',
              scimTokenEnv: 'ACME_TOKEN',
              travelApi: { url: 'https://travel.example.com', keyEnv: 'ACME_KEY' },
            },
          },
        },
      },
      environment: { ACME_TOKEN: secret, ACME_KEY: 'short' },
    });
    const { connections } = readSettings(files.environment, home);
    files.remove();
    expect(connections).toMatchObject([
      { id: 'default', account: 'embedded', scimToken: undefined },
      {
        id: 'acme',
        account: '1NTThKTCblWd',
        scimToken: secret,
        travelApi: { key: 'short' },
      },
    ]);
  });
});

describe('a fault is one line: file, place, problem, remedy', () => {
  it.each<[string, Given, string]>([
    [
      'a port that is none',
      { environment: { PORT: 'http' } },
      'environment PORT: is no port. Give a number from 0 to 65535; 0 takes any free one.',
    ],
    [
      'a key that is too short',
      { environment: { JETBRIDGE_KEY: 'secret' } },
      'environment JETBRIDGE_KEY: is no key of 32 bytes. Give what "openssl rand -hex 32" prints.',
    ],
    [
      'a previous key that is none',
      { environment: { JETBRIDGE_KEY_PREVIOUS: 'secret' } },
      'environment JETBRIDGE_KEY_PREVIOUS: is no key of 32 bytes. Give what "openssl rand -hex 32" prints.',
    ],
    [
      'alarms without the secret to sign them with',
      { files: { ...mapped({}), 'settings.json': alarmed('https://alerts.example.com/x') } },
      'settings.json alerts.secretEnv: names ALERTS_WEBHOOK_SECRET, which is not set. ' +
        'Set it to "whsec_" and what "openssl rand -base64 32" prints.',
    ],
    [
      'a secret of alarms that is none',
      {
        files: { ...mapped({}), 'settings.json': alarmed('https://alerts.example.com/x', 'ACME_SECRET') },
        environment: { ACME_SECRET: secret },
      },
      'environment ACME_SECRET: is no secret of a webhook. ' +
        'Set it to "whsec_" and what "openssl rand -base64 32" prints.',
    ],
    ...['alerts.example.com', 'ftp://alerts.example.com', 'https://me:pass@alerts.example.com'].map(
      (url): [string, Given, string] => [
        `alarms to ${url}`,
        { files: { ...mapped({}), 'settings.json': alarmed(url) } },
        'settings.json alerts.webhookUrl: is no URL without a password. ' +
          'Give e.g. "https://alerts.example.com/jetbridge".',
      ],
    ),
    [
      'alerts to Slack without the URL',
      { files: alerting({ slack: {} }) },
      'settings.json alerts.slack.urlEnv: names ALERTS_SLACK_URL, which is not set. ' +
        'Set it to the URL that Slack shows, e.g. https://hooks.slack.com/services/….',
    ],
    ...['http://hooks.slack.com/services/secret', 'hooks.slack.com', 'https://a:b@hooks.slack.com/x'].map(
      (url): [string, Given, string] => [
        `alerts to Slack at ${url}`,
        { files: alerting({ slack: { urlEnv: 'ACME_SLACK' } }), environment: { ACME_SLACK: url } },
        'environment ACME_SLACK: is no URL of an incoming webhook. ' +
          'Set it to the URL that Slack shows, e.g. https://hooks.slack.com/services/….',
      ],
    ),
    [
      'alerts to Teams by plain HTTP',
      {
        files: alerting({ teams: {} }),
        environment: { ALERTS_TEAMS_URL: 'http://teams.example.com/secret' },
      },
      'environment ALERTS_TEAMS_URL: is no URL of a workflow. ' +
        'Set it to the https URL that Teams shows after the workflow is made.',
    ],
    [
      'alerts to PagerDuty with the key of its REST API',
      {
        files: alerting({ pagerduty: {} }),
        environment: { ALERTS_PAGERDUTY_KEY: 'u+a1b2c3d4e5f6g7h8i9' },
      },
      'environment ALERTS_PAGERDUTY_KEY: is no integration key of PagerDuty. ' +
        'Set it to the 32 letters and digits that PagerDuty shows for an integration of Events API V2.',
    ],
    [
      'alerts to PagerDuty by plain HTTP',
      {
        files: alerting({ pagerduty: { url: 'http://events.example.com/v2/enqueue' } }),
        environment: { ALERTS_PAGERDUTY_KEY: '0123456789abcdef0123456789abcdef' },
      },
      'settings.json alerts.pagerduty.url: would send the key without encryption. Write a URL with https.',
    ],
    ...[
      'https://mail.example.com',
      'smtp:user@mail.example.com',
      'smtps://mail.example.com?logger=true',
      'smtp://user:pass/word@mail.example.com',
    ].map((url): [string, Given, string] => [
      `a mail server at ${url}`,
      {
        files: alerting({ email: { from: 'a@corp.example', to: ['b@corp.example'] } }),
        environment: { ALERTS_SMTP_URL: url },
      },
      'environment ALERTS_SMTP_URL: is no URL of a mail server. Set it to e.g. smtps://user:password@mail.example.com ' +
        'or smtp://mail.example.com:587, with @, : and / in the password as %40, %3A and %2F.',
    ]),
    [
      'alerts to nobody',
      {
        files: alerting({ email: { from: 'a@corp.example', to: [] } }),
        environment: { ALERTS_SMTP_URL: 'smtp://mail.example.com' },
      },
      'settings.json alerts.email.to: has no address. Write at least one, e.g. ["on-call@corp.example"].',
    ],
    [
      'alerts to two addresses in one text',
      {
        files: alerting({ email: { from: 'a@corp.example', to: ['b@corp.example,c@corp.example'] } }),
        environment: { ALERTS_SMTP_URL: 'smtp://mail.example.com' },
      },
      'settings.json alerts.email.to[0]: is no address of mail. Write one without a name, e.g. "on-call@corp.example".',
    ],
    [
      'a permission that is neither yes nor no',
      {
        files: {
          ...mapped({}),
          'settings.json': {
            ...Object(one({})['settings.json']),
            travelService: { webhooks: { allowPrivate: 'yes' } },
          },
        },
      },
      'settings.json travelService.webhooks.allowPrivate: is neither true nor false. Write true or false.',
    ],
    [
      'a port that is too high',
      { environment: { PORT: '99999' } },
      'environment PORT: is no port. Give a number from 0 to 65535; 0 takes any free one.',
    ],
    [
      'a public URL without a scheme',
      { environment: { PUBLIC_URL: 'bridge.example.com' } },
      'environment PUBLIC_URL: is no URL. Give e.g. https://bridge.example.com.',
    ],
    [
      'a travel API without a scheme',
      { environment: { TRAVEL_API_URL: 'travel.example.com', TRAVEL_API_KEY: secret } },
      'environment TRAVEL_API_URL: is no URL. Give "embedded", or e.g. "https://travel.example.com".',
    ],
    [
      'a travel API on another machine by plain HTTP',
      {
        files: one({}),
        environment: { TRAVEL_API_URL: 'http://travel.example.com', TRAVEL_API_KEY: secret },
      },
      'environment TRAVEL_API_URL: is plain HTTP to another machine, so the credential can be read on the way. Give an https URL, or set TRAVEL_API_INSECURE=true where the network itself is safe.',
    ],
    [
      'a travel API of a connection by plain HTTP',
      {
        files: one({ travelApi: { url: 'http://10.0.0.7:8080' } }),
        environment: { TRAVEL_API_KEY: secret, TRAVEL_API_INSECURE: 'false' },
      },
      'settings.json connections.default.travelApi.url: is plain HTTP to another machine, so the credential can be read on the way. Give an https URL, or set TRAVEL_API_INSECURE=true where the network itself is safe.',
    ],
    [
      'a permission for plain HTTP that is neither true nor false',
      { environment: { TRAVEL_API_INSECURE: 'maybe' } },
      'environment TRAVEL_API_INSECURE: is neither true nor false. Give true or false.',
    ],
    [
      'a travel API without a credential',
      { files: one({}), environment: { TRAVEL_API_URL: 'https://travel.example.com' } },
      'settings.json connections.default.travelApi.keyEnv: names TRAVEL_API_KEY, which is not set. Set it to the credential of the travel API.',
    ],
    [
      'a travel API with the path that every path begins with',
      {
        files: one({}),
        environment: { TRAVEL_API_URL: 'https://travel.example.com/api/', TRAVEL_API_KEY: secret },
      },
      'settings.json connections.default.travelApi.url: is https://travel.example.com/api/, with /api at the end. Leave /api out, as the paths begin with it: https://travel.example.com.',
    ],
    [
      'a level of the log that there is not',
      { environment: { LOG_LEVEL: 'verbose' } },
      'environment LOG_LEVEL: is no level of the log. Give one of fatal, error, warn, info, debug, trace and silent.',
    ],
    [
      'a token that could be guessed',
      { environment: { SCIM_TOKEN: 'secret' } },
      'environment SCIM_TOKEN: has less than 16 characters. Give one as "openssl rand -hex 32" prints it.',
    ],
    ...[
      ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'has fewer than 6 different characters'],
      ['abcdeabcdeedcbaabcdeaabb', 'has fewer than 6 different characters'],
      ['abcdefghabcdefgh', 'repeats its first 8 characters'],
      ['password1password1password1pass', 'repeats its first 9 characters'],
    ].flatMap(([value = '', weakness]): [string, Given, string][] =>
      ['SCIM_TOKEN', 'TRAVEL_API_KEY'].map((name) => [
        `${name}=${value}`,
        { environment: { [name]: value } },
        `environment ${name}: ${weakness}, so it could be guessed. Give one as "openssl rand -hex 32" prints it.`,
      ]),
    ),
    [
      'a weak token of another connection',
      {
        files: { 'map.json': {}, ...one({ scimTokenEnv: 'ACME_TOKEN' }) },
        environment: { ACME_TOKEN: 'xyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxy' },
      },
      'environment ACME_TOKEN: has fewer than 6 different characters, so it could be guessed. Give one as "openssl rand -hex 32" prints it.',
    ],
    ...['0f'.repeat(32), '0123456789abcdef'.repeat(4), Buffer.alloc(32, 7).toString('base64')].map(
      (key): [string, Given, string] => [
        `JETBRIDGE_KEY=${key}`,
        { environment: { JETBRIDGE_KEY: key } },
        'environment JETBRIDGE_KEY: repeats itself or has too few different characters, so it could be guessed. Give what "openssl rand -hex 32" prints; the old key goes into JETBRIDGE_KEY_PREVIOUS.',
      ],
    ),
    [
      'a weak secret of alarms',
      {
        files: { ...mapped({}), 'settings.json': alarmed('https://alerts.example.com/x') },
        environment: { ALERTS_WEBHOOK_SECRET: `whsec_${Buffer.alloc(33, 'abc').toString('base64')}` },
      },
      'environment ALERTS_WEBHOOK_SECRET: has fewer than 6 different characters, so it could be guessed. ' +
        'Set it to "whsec_" and what "openssl rand -base64 32" prints.',
    ],
    [
      'a token that no header can carry',
      { environment: { SCIM_TOKEN: 'correct horse battery staple' } },
      'environment SCIM_TOKEN: has characters that a bearer token cannot have. Give one as "openssl rand -hex 32" prints it.',
    ],
    [
      'an embedded credential that could be guessed',
      { environment: { TRAVEL_API_KEY: 'secret' } },
      'environment TRAVEL_API_KEY: has less than 16 characters. Give one as "openssl rand -hex 32" prints it.',
    ],
    [
      'a database that is not PostgreSQL',
      { environment: { DATABASE_URL: 'mysql://root:secret@db/x', JETBRIDGE_KEY: KEY } },
      'environment DATABASE_URL: is no URL of a PostgreSQL database. Give e.g. postgres://jetbridge:password@db.example.com/jetbridge.',
    ],
    [
      'a URL of a database with a port that is no number',
      { environment: { DATABASE_URL: 'postgres://db:secret/x', JETBRIDGE_KEY: KEY } },
      'environment DATABASE_URL: is no URL of a PostgreSQL database. Give e.g. postgres://jetbridge:password@db.example.com/jetbridge.',
    ],
    [
      'no connections to the database',
      { environment: { DATABASE_CONNECTIONS: '0' } },
      'environment DATABASE_CONNECTIONS: is no whole number from 1 to 999. Give one, e.g. 10.',
    ],
    [
      'PostgreSQL without a key that all processes share',
      { environment: { DATABASE_URL: 'postgres://db/x' } },
      'environment JETBRIDGE_KEY: is not set, and DATABASE_URL is. Set it to what "openssl rand -hex 32" prints, the same for all processes that use the database.',
    ],
    [
      'a certificate without a key',
      { environment: { TLS_CERT: 'cert.pem' } },
      'environment TLS_KEY: is not set, and TLS_CERT is. Set both, or neither.',
    ],
    [
      'a key without a certificate',
      { environment: { TLS_KEY: 'key.pem' } },
      'environment TLS_CERT: is not set, and TLS_KEY is. Set both, or neither.',
    ],
    [
      'a word for whether HTTPS is required',
      { environment: { REQUIRE_HTTPS: 'maybe' } },
      'environment REQUIRE_HTTPS: is neither true nor false. Give true or false.',
    ],
    [
      'a proxy by its name',
      { environment: { TRUSTED_PROXIES: 'loopback, proxy.example.com' } },
      'environment TRUSTED_PROXIES: has "proxy.example.com", which is no address or range. Give e.g. "10.0.0.7", "10.0.0.0/8", "loopback" or "private", with commas between several.',
    ],
    [
      'a range that is too wide for its address',
      { environment: { TRUSTED_PROXIES: '10.0.0.0/33' } },
      'environment TRUSTED_PROXIES: has "10.0.0.0/33", which is no address or range. Give e.g. "10.0.0.7", "10.0.0.0/8", "loopback" or "private", with commas between several.',
    ],
    [
      'a provider whose keys could be changed on the way',
      {
        files: {
          'settings.json': { travelService: { openid: { issuer: 'http://idp.example', audience: 'x' } } },
        },
      },
      'settings.json travelService.openid.issuer: is no https URL. Give e.g. "https://login.example.com".',
    ],
    [
      'a provider that anybody could have a token of',
      {
        files: { 'settings.json': { travelService: { openid: { issuer: 'https://idp.example' } } } },
      },
      'settings.json travelService.openid.audience: is missing. Write a string.',
    ],
    [
      'a subject of a provider without an address',
      {
        files: {
          'settings.json': {
            travelService: {
              openid: { issuer: 'https://idp.example', audience: 'x', subjects: { s1: 'ada' } },
            },
          },
        },
      },
      'settings.json travelService.openid.subjects.s1: is no address. Give the email of an admin of the travel service, e.g. "ada@corp.example".',
    ],
    ...(
      [
        [
          'sign-in with a provider of all tenants',
          { issuer: 'https://login.microsoftonline.com/common/v2.0' },
          '.issuer: is the issuer of all tenants, whose admins could give themselves any role. Give that of one tenant, "https://login.microsoftonline.com/<tenant id>/v2.0".',
        ],
        [
          'sign-in with a provider by plain HTTP',
          { issuer: 'http://idp.example' },
          '.issuer: is no https URL. Give e.g. "https://login.example.com".',
        ],
        [
          'sign-in without a rule who may',
          { admins: undefined },
          ': lets nobody in. Add e.g. "admins": {"claim": "groups", "values": ["travel-admins"]}.',
        ],
        [
          'sign-in by a rule without values',
          { admins: { claim: 'groups', values: [] } },
          '.admins.values: has no value. Name at least one, e.g. ["travel-admins"].',
        ],
        [
          'sign-in with scopes that give no ID token',
          { scope: 'profile' },
          '.scope: lacks "openid". Write e.g. "openid profile email groups".',
        ],
        [
          'sign-in without the secret of the client',
          {},
          '.clientSecretEnv: names ADMIN_OPENID_CLIENT_SECRET, which is not set. Set it to the secret that the provider has made for the client.',
        ],
      ] as const
    ).map(([title, openid, fault]): [string, Given, string] => [
      title,
      {
        files: { 'settings.json': { adminPage: { openid: { ...openidOfPage, ...openid } } } },
        environment: { PUBLIC_URL: 'https://bridge.example.com' },
      },
      `settings.json adminPage.openid${fault}`,
    ]),
    [
      'sign-in through a provider that would send people back to the host of a header',
      {
        files: { 'settings.json': { adminPage: { openid: openidOfPage } } },
        environment: { ADMIN_OPENID_CLIENT_SECRET: 'secret of the client' },
      },
      'environment PUBLIC_URL: is not set, and adminPage.openid in settings.json is. Set it to the address at which browsers open the admin page, e.g. https://bridge.example.com.',
    ],
    [
      'a password with which nobody could sign in',
      { environment: { ADMIN_PASSWORD: 'correct horse battery '.repeat(10) } },
      'environment ADMIN_PASSWORD: has more than 200 characters, with which nobody can sign in. Give a shorter one.',
    ],
    [
      'a page that nobody could sign in to',
      { files: { 'settings.json': { adminPage: { passwordSignIn: false } } } },
      'settings.json adminPage.passwordSignIn: is false, and adminPage.openid is not set, so nobody could sign in. Add adminPage.openid, or remove this.',
    ],
    [
      'a settings file that is not there',
      { environment: { JETBRIDGE_CONFIG: '/nowhere/jetbridge.json' } },
      '/nowhere/jetbridge.json $: does not exist. Create it, or correct JETBRIDGE_CONFIG.',
    ],
    [
      'a settings file that is a folder',
      { environment: { JETBRIDGE_CONFIG: join(home, 'config') } },
      'config $: is a folder, not a file. Name a file that Jetbridge may read.',
    ],
    [
      'an empty settings file',
      { files: { 'settings.json': '\n' } },
      'settings.json $: is empty. Write one JSON object, at least {}.',
    ],
    [
      'what is not JSON',
      { files: { 'settings.json': '{\n  "connections": {\n    default: {}\n  }\n}' } },
      'settings.json $: is not JSON, line 3, column 5. Correct it there: names and texts stand in double quotes, commas between entries.',
    ],
    [
      'a text in UTF-16, as Windows PowerShell writes it',
      { files: { 'settings.json': Buffer.from('\uFEFF{}', 'utf16le') } },
      'settings.json $: is not text in UTF-8, but in UTF-16. Save it as UTF-8.',
    ],
    [
      'a text in another encoding',
      { files: { 'settings.json': Buffer.from('{ "$schema": "Düsseldorf" }', 'latin1') } },
      'settings.json $: is not text in UTF-8. Save it as UTF-8.',
    ],
    [
      'a comma after the last entry',
      { files: { 'settings.json': '{\n  "connections": { "default": { "mapping": "a,}" } },\n}' } },
      'settings.json $: has a comma after the last entry, line 2, column 53. Remove that comma.',
    ],
    [
      'a comment',
      { files: { 'settings.json': '{\n  "$schema": "https://x/y", // ours\n  "connections": {} }' } },
      'settings.json $: has a comment, line 2, column 29. Remove it: JSON has no comments.',
    ],
    [
      'a list for the settings',
      { files: { 'settings.json': [] } },
      'settings.json $: expected object, received array. Write an object.',
    ],
    [
      'an unknown key, far from any',
      { files: { 'settings.json': { colour: 'blue' } } },
      'settings.json colour: unknown key. Known here: $schema, writeBudgetMs, maxConnections, connections, emailSwap, import, retention, requestLog, alerts, adminPage, oauthClients, travelService.',
    ],
    [
      'a misspelled key',
      { files: one({ polices: {} }) },
      'settings.json connections.default.polices: unknown key. Did you mean policies? Known here: mapping, scimTokenEnv, travelApi, mode, pilot, scim, policies, federation, requestsPerSecond, allowFrom.',
    ],
    [
      'a misspelled key below',
      { files: one({ policies: { deprovison: 'delete' } }) },
      'settings.json connections.default.policies.deprovison: unknown key. Did you mean deprovision? Known here: deprovision, drift, safetyValve.',
    ],
    [
      'a travel API of a connection without a scheme',
      { files: one({ travelApi: { url: 'travel.example.com' } }) },
      'settings.json connections.default.travelApi.url: is no URL. Give "embedded", or e.g. "https://travel.example.com".',
    ],
    [
      'a misspelled path',
      { files: one({ travelApi: { paths: { costCentres: '/x' } } }) },
      'settings.json connections.default.travelApi.paths.costCentres: unknown key. Did you mean costCenters? Known here: whoami, users, events, billingProfiles, costCenters, customFields, customFieldOptions, travelPolicies, scimUserMappings.',
    ],
    [
      'a word that is not one of a few',
      { files: one({ policies: { deprovision: 'remove' } }) },
      'settings.json connections.default.policies.deprovision: is not one of the known values. Write one of "archive", "delete".',
    ],
    [
      'a mode that does not exist',
      { files: one({ mode: 'dry-run' }) },
      'settings.json connections.default.mode: is not one of the known values. Write one of "live", "shadow".',
    ],
    [
      'a pilot that is no SCIM filter',
      { files: one({ mode: 'shadow', pilot: 'department is Sales' }) },
      'settings.json connections.default.pilot: is not a SCIM filter: an operator was expected (at 11). Write a SCIM filter, e.g. userType eq "Contractor".',
    ],
    [
      'a pilot of a connection that begins live',
      { files: one({ pilot: 'groups[display eq "Pilot"]' }) },
      'settings.json connections.default.pilot: is a pilot of a connection that does not begin in shadow mode. Write "mode": "shadow" beside it, or remove it.',
    ],
    [
      'a number for a text',
      { files: one({ mapping: 7 }) },
      'settings.json connections.default.mapping: expected string, received number. Write a string.',
    ],
    [
      'a number that is too high',
      { files: one({ travelApi: { concurrency: 1000 } }) },
      'settings.json connections.default.travelApi.concurrency: is no whole number from 1 to 64. Write one, e.g. 8.',
    ],
    [
      'a text for a number',
      { files: { 'settings.json': { writeBudgetMs: '800' } } },
      'settings.json writeBudgetMs: is no whole number from 0 to 10000. Write one, e.g. 800.',
    ],
    [
      'so few connections that one identity provider would fill them',
      { files: { 'settings.json': { maxConnections: 1 } } },
      'settings.json maxConnections: is no whole number from 16 to 100000. Write one, e.g. 1000.',
    ],
    [
      'a limit of no request',
      { files: { 'settings.json': { connections: { default: { requestsPerSecond: 0 } } } } },
      'settings.json connections.default.requestsPerSecond: is no whole number from 1 to 10000. Write one, e.g. 25.',
    ],
    [
      'an issuer over plain HTTP',
      {
        files: {
          'settings.json': {
            connections: {
              default: { federation: [{ issuer: 'http://idp.example', subject: 's', audience: 'a' }] },
            },
          },
        },
      },
      'settings.json connections.default.federation[0].issuer: is no https URL. Give e.g. "https://login.example.com".',
    ],
    [
      'a workload without a subject',
      {
        files: {
          'settings.json': {
            connections: {
              default: { federation: [{ issuer: 'https://idp.example', subject: ' ', audience: 'a' }] },
            },
          },
        },
      },
      'settings.json connections.default.federation[0].subject: is no text. Copy it from the identity provider.',
    ],
    [
      'a list without a workload',
      { files: { 'settings.json': { connections: { default: { federation: [] } } } } },
      'settings.json connections.default.federation: is no list of workloads. Write at least one, e.g. [{"issuer": "https://login.microsoftonline.com/<tenant id>/v2.0", "subject": "…", "audience": "api://…"}].',
    ],
    [
      'an address that is a name',
      {
        files: {
          'settings.json': { connections: { default: { allowFrom: ['10.0.0.0/8', 'idp.example'] } } },
        },
      },
      'settings.json connections.default.allowFrom[1]: is neither an address nor a range. Write e.g. "203.0.113.7", "203.0.113.0/24", "2001:db8::/32", "loopback" or "private".',
    ],
    [
      'a range that is too long',
      { files: { 'settings.json': { adminPage: { allowFrom: ['10.0.0.0/33'] } } } },
      'settings.json adminPage.allowFrom[0]: is neither an address nor a range. Write e.g. "203.0.113.7", "203.0.113.0/24", "2001:db8::/32", "loopback" or "private".',
    ],
    [
      'a list without an address',
      { files: { 'settings.json': { adminPage: { allowFrom: [] } } } },
      'settings.json adminPage.allowFrom: is no list of addresses. Write at least one address or range, e.g. ["203.0.113.7", "2001:db8::/32"].',
    ],
    [
      'a path without its slash',
      { files: one({ travelApi: { paths: { costCenters: 'cost-centers' } } }) },
      'settings.json connections.default.travelApi.paths.costCenters: is no path. Begin with a slash, e.g. "/api/cost-centers".',
    ],
    [
      'a path that has no place for the custom field',
      { files: one({ travelApi: { paths: { customFieldOptions: '/api/options' } } }) },
      'settings.json connections.default.travelApi.paths.customFieldOptions: has no place for the custom field. Write e.g. "/api/custom-fields/{id}/options".',
    ],
    [
      'a connection with capitals',
      { files: { 'settings.json': { connections: { Acme: {} } } } },
      'settings.json connections.Acme: is no name of a connection. Write at most 40 lower-case letters, digits and hyphens, beginning with a letter.',
    ],
    [
      'no connection',
      { files: { 'settings.json': { connections: {} } } },
      'settings.json connections: has no connection. Leave it out, or name one, e.g. "default": {}.',
    ],
    [
      'a secret where the name of a variable belongs',
      { files: one({ scimTokenEnv: 'scim_abc' }) },
      'settings.json connections.default.scimTokenEnv: is no name of an environment variable. Write capitals, digits and _, e.g. "ACME_SCIM_TOKEN".',
    ],
    [
      'the name of a variable that is not set',
      { files: one({ scimTokenEnv: 'ACME_TOKEN' }) },
      'settings.json connections.default.scimTokenEnv: names ACME_TOKEN, which is not set. Set it, or remove scimTokenEnv and use "npx jetbridge tokens create --connection default".',
    ],
    [
      'two connections with one token',
      {
        files: {
          'settings.json': {
            connections: {
              default: { mapping: 'map.json' },
              acme: { mapping: 'map.json', scimTokenEnv: 'ACME_TOKEN' },
            },
          },
        },
        environment: { SCIM_TOKEN: secret, ACME_TOKEN: secret },
      },
      'settings.json connections.acme: has the same token (ACME_TOKEN) as connections.default. Give each connection a token of its own: it tells them apart.',
    ],
    [
      'a mapping that is not there',
      { files: one({ mapping: 'maps/mine.json' }) },
      'settings.json connections.default.mapping: names maps/mine.json, which does not exist. Create it, or name another; the name is relative to the settings file.',
    ],
    [
      'a mapping with a comma too many',
      { files: mapped('{ "scimUserMapping": [], }') },
      'map.json $: has a comma after the last entry, line 1, column 24. Remove that comma.',
    ],
    [
      'a misspelled key of a mapping',
      { files: mapped({ scimUserMappings: [] }) },
      'map.json scimUserMappings: unknown key. Did you mean scimUserMapping? Known here: $schema, scimUserMapping, scope, outOfScope, defaults, roles, manager, phone, language.',
    ],
    [
      'a rule without a target',
      { files: mapped({ scimUserMapping: [{ scimAttribute: 'title' }] }) },
      'map.json scimUserMapping[0]: has no target. Give exactly one of customFieldId, customField and userAttribute.',
    ],
    [
      'rules that are no list',
      { files: mapped({ scimUserMapping: {} }) },
      'map.json scimUserMapping: expected array, received object. Write an array.',
    ],
    [
      'a rule without an attribute',
      { files: mapped({ scimUserMapping: [{ customField: 'x' }] }) },
      'map.json scimUserMapping[0].scimAttribute: is missing. Give exactly one of scimAttribute, sources and template.',
    ],
    [
      'a field that travelers do not have',
      { files: mapped({ language: { default: 'de' } }) },
      'map.json language.default: is not one of the known values. Write one of "en", "fr".',
    ],
  ])('%s', (_title, given, line) => {
    expect(faultsOf(given)).toEqual([line]);
  });

  it('several faults are several lines, of environment, settings and mappings together', () => {
    const faults = faultsOf({
      environment: { PORT: 'x', DATABASE_URL: 'z', LOG_LEVEL: 'y' },
      files: mapped({ colour: 1, language: { default: 'de' } }),
    });
    expect(faults.map((line) => line.split(':')[0])).toEqual([
      'environment PORT',
      'environment DATABASE_URL',
      'environment LOG_LEVEL',
      'map.json language.default',
      'map.json colour',
    ]);
  });

  it('a value never breaks the line', () => {
    const [line, ...more] = faultsOf({ files: mapped({ 'a\nb': 1 }) });
    expect(more).toEqual([]);
    expect(line).toContain('unknown key');
  });
});

describe('HTTPS', () => {
  let files: CertificateFiles;
  let other: CertificateFiles;
  beforeAll(async () => {
    files = await certificateFiles();
    other = await certificateFiles();
  });
  afterAll(() => {
    files.remove();
    other.remove();
  });

  const faultWith = (cert: string, key: string) =>
    faultsOf({ environment: { TLS_CERT: cert, TLS_KEY: key } }).map((line) =>
      line.replaceAll(files.cert, 'cert.pem').replaceAll(files.key, 'key.pem'),
    );

  it('a certificate and its key are read', () => {
    const settings = readSettings({ TLS_CERT: files.cert, TLS_KEY: files.key }, home);
    expect(settings.tls?.certificate.cert).toBe(files.pem);
    expect(settings.tls?.certificate.validTo).toBeGreaterThan(Date.now());
  });

  it('is required unless HOST is a loopback address', () => {
    const required = (environment: Record<string, string>) => readSettings(environment, home).requireHttps;
    for (const HOST of ['127.0.0.1', '127.8.9.1', '::1', 'localhost'])
      expect([HOST, required({ HOST })]).toEqual([HOST, false]);
    for (const HOST of ['0.0.0.0', '::', '192.168.1.5', 'bridge.example.com'])
      expect([HOST, required({ HOST })]).toEqual([HOST, true]);
    for (const REQUIRE_HTTPS of ['true', 'on', '1']) expect(required({ REQUIRE_HTTPS })).toBe(true);
    for (const REQUIRE_HTTPS of ['false', 'off', '0'])
      expect(required({ REQUIRE_HTTPS, HOST: '0.0.0.0' })).toBe(false);
  });

  it('proxies are separated by commas', () => {
    const { trustedProxies } = readSettings({ TRUSTED_PROXIES: ' loopback,10.0.0.0/8 , fd00::1,' }, home);
    expect(trustedProxies).toEqual(['loopback', '10.0.0.0/8', 'fd00::1']);
    expect(readSettings({}, home).trustedProxies).toEqual([]);
  });

  it('a missing certificate file and a folder are faults', () => {
    expect(faultWith('/nowhere/cert.pem', home)).toEqual([
      'environment TLS_CERT: names /nowhere/cert.pem, which does not exist. Name a file that Jetbridge may read.',
      `environment TLS_KEY: names ${home}, which cannot be read (EISDIR). Name a file that Jetbridge may read.`,
    ]);
  });

  it('a certificate without a key, and a key without a certificate, are faults', () => {
    expect(faultWith(files.key, files.cert)).toEqual([
      'environment TLS_CERT: names key.pem, which holds no certificate in PEM. Name a file that has a line -----BEGIN CERTIFICATE-----.',
      'environment TLS_KEY: names cert.pem, which holds no private key without a passphrase in PEM. Name a file that has a line -----BEGIN PRIVATE KEY-----.',
    ]);
  });

  it('a key that does not belong to the certificate is a fault', () => {
    expect(faultWith(files.cert, other.key)).toEqual([
      'environment TLS_KEY: does not belong to the certificate in TLS_CERT. Name the key that the certificate was made with; in TLS_CERT the own certificate stands before its chain.',
    ]);
  });
});

describe('the command line', () => {
  it.each(['serve', 'check', 'import'])(
    '%s prints the faults to stderr and exits with 1',
    async (command) => {
      const files = fixture({
        files: mapped({ colour: 1 }),
        environment: { JETBRIDGE_DATA: 'unused', PORT: 'x' },
      });
      const ran = await runCommandLine([command], files.environment);
      files.remove();
      expect(ran).toMatchObject({ code: 1, out: '' });
      const lines = ran.err.trimEnd().split('\n');
      expect(lines).toHaveLength(2);
      expect(lines[0]).toBe(
        'environment PORT: is no port. Give a number from 0 to 65535; 0 takes any free one.',
      );
      expect(lines[1]).toMatch(/map\.json colour: unknown key\. Known here: /);
    },
  );
});
