import type { Federation } from '../../src/oauth/federation.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { folderForEachTest } from '../fixtures/folder-for-each-test.ts';
import { type OAuthFixture, oauthFixture } from '../fixtures/oauth.ts';
import { type OpenidProvider, openidProvider, type SomeClaims } from '../fixtures/openid-provider.ts';
import { startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const AUDIENCE = 'api://b5ba7a93-4452-4522-aeb4-a2b5da870c16';
const SUBJECT = 'd2f8ee76-c549-45b8-a143-f5b640669704';

let issuer: OpenidProvider;
let trusted: Record<string, Federation[]>;
let fixture: OAuthFixture;
beforeAll(async () => {
  issuer = await openidProvider();
});
afterAll(() => issuer.close());
beforeEach(async () => {
  issuer.answerWith(undefined);
  issuer.requestedPaths.length = 0;
  trusted = { default: [federation()], other: [] };
  fixture = await oauthFixture(undefined, () =>
    Object.entries(trusted).map(([connection, entries]) => ({
      ...{ connection, federation: entries },
      isGuarded: true,
    })),
  );
});
afterEach(() => fixture.close());

const federation = (more: Partial<Federation> = {}): Federation => ({
  ...{ issuer: issuer.issuer, subject: SUBJECT, audience: AUDIENCE },
  ...more,
});

/** An assertion as Entra ID issues them, without `jti`. */
const assertion = (claims: SomeClaims = {}, algorithm?: string, header?: object) =>
  issuer.token(
    'unused@corp.example',
    {
      ...{ email: undefined, email_verified: undefined, sub: SUBJECT, aud: AUDIENCE },
      ...{ iat: seconds(0), nbf: seconds(0), exp: seconds(3_900) },
      ...claims,
    },
    algorithm,
    header,
  );

/** An assertion that anybody can make. */
const unsigned = (claims: object) => {
  const [head, payload] = [{ alg: 'none' }, claims].map((value) =>
    Buffer.from(JSON.stringify(value)).toString('base64url'),
  );
  return `${head}.${payload}.`;
};

const seconds = (ahead: number) => Math.floor(fixture.now() / 1000) + ahead;

const form = (text: string, more: Record<string, string> = {}) => ({
  grant_type: 'client_credentials',
  client_id: 'default',
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: text,
  scope: 'scim',
  ...more,
});

let latest: string | null;
const ask: OAuthFixture['ask'] = async (...request) => {
  const answer = await fixture.ask(...request);
  latest = answer.headers.get('x-request-id');
  return answer;
};

const statusOf = async (text: string, more: Record<string, string> = {}) => {
  const { status, body } = await ask(form(text, more));
  return status === 200 ? 200 : `${status} ${body['error']}`;
};

/** The reason that the log has for the latest request. */
const reason = () =>
  eventually(async () => {
    const line = fixture.requestLines.find(({ requestId }) => requestId === latest);
    expect(line).toMatchObject({ status: 401 });
    return line?.['reason'];
  });

test.each(['RS256', 'PS256', 'ES256', 'EdDSA'])(
  'an assertion of the issuer, signed with %s, gets a token of the connection',
  async (algorithm) => {
    const { status, body } = await ask(form(await assertion({}, algorithm)));
    expect([status, body['expires_in'], body['scope']]).toEqual([200, 3600, 'scim']);
    expect(await fixture.opened(body['access_token'])).toEqual({ kind: 'scim', connection: 'default' });
  },
);

test('the client_id is the name of the connection, or the subject, or left out', async () => {
  const text = await assertion();
  const { client_id: _left, ...without } = form(text);
  expect((await ask(without)).status).toBe(200);
  expect(await statusOf(text, { client_id: SUBJECT })).toBe(200);
  expect(await statusOf(text, { client_id: 'other' })).toBe('401 invalid_client');
  expect(await reason()).toBe(`assertion refused: its issuer is "${issuer.issuer}", expected none`);
  expect(await statusOf(text, { client_id: 'else' })).toBe('401 invalid_client');
  expect(await reason()).toBe(
    'assertion refused: its client_id is "else", and no connection of this name has a federation',
  );
});

test('a workload that several connections trust must name one', async () => {
  trusted['other'] = [federation()];
  const text = await assertion();
  expect((await ask({ ...form(text), client_id: '' })).status).toBe(401);
  expect(await reason()).toBe(
    'assertion refused: several connections trust it (default, other), and no client_id names one',
  );
  const { body } = await ask(form(text, { client_id: 'other' }));
  expect(await fixture.opened(body['access_token'])).toEqual({ kind: 'scim', connection: 'other' });
});

describe('an assertion is refused, the log says what was expected and what came, and the client learns nothing', () => {
  it.each<[string, () => SomeClaims, string]>([
    [
      'of another subject',
      () => ({ sub: 'somebody' }),
      `its subject is "somebody" and its audience "${AUDIENCE}", expected subject "${SUBJECT}" with audience "${AUDIENCE}"`,
    ],
    [
      'whose subject differs in case',
      () => ({ sub: SUBJECT.toUpperCase() }),
      `its subject is "${SUBJECT.toUpperCase()}" and its audience "${AUDIENCE}", expected subject "${SUBJECT}" with audience "${AUDIENCE}"`,
    ],
    [
      'for another audience',
      () => ({ aud: [`${AUDIENCE}/.default`] }),
      `its subject is "${SUBJECT}" and its audience "${AUDIENCE}/.default", expected subject "${SUBJECT}" with audience "${AUDIENCE}"`,
    ],
    [
      'for no audience',
      () => ({ aud: undefined }),
      `its subject is "${SUBJECT}" and its audience none, expected subject "${SUBJECT}" with audience "${AUDIENCE}"`,
    ],
    [
      'of another issuer',
      () => ({ iss: 'https://login.example/other' }),
      'its issuer is "https://login.example/other", expected "ISSUER"',
    ],
    ['that has ended', () => ({ exp: seconds(-61) }), 'its claim exp is EXP, and now it is NOW'],
    ['that has not begun', () => ({ nbf: seconds(61) }), 'its claim nbf is NBF, and now it is NOW'],
    ['that is issued in the future', () => ({ iat: seconds(61) }), 'its claim iat is IAT, and now it is NOW'],
    ['without an end', () => ({ exp: undefined }), 'its claim exp is missing or wrong'],
    ['for more than a day', () => ({ exp: seconds(86_401) }), 'it ends more than a day ahead'],
    ['without a subject', () => ({ sub: undefined }), 'its claim sub is missing or wrong'],
  ])('%s', async (_title, wrong, expected) => {
    const { status, body } = await ask(form(await assertion(wrong())));
    expect([status, body]).toEqual([
      401,
      {
        error: 'invalid_client',
        error_description: 'The client is not known, or did not prove who it is.',
      },
    ]);
    const text = expected
      .replace('ISSUER', issuer.issuer)
      .replace('EXP', String(seconds(-61)))
      .replace(/NBF|IAT/, String(seconds(61)))
      .replace('NOW', String(seconds(0)));
    expect(await reason()).toBe(`assertion refused: ${text}`);
    expect(await statusOf(await assertion())).toBe(200);
  });

  it('signed by another key of the same name', async () => {
    const other = await openidProvider();
    await other.rotate();
    const forged = await other.token('a', { iss: issuer.issuer, sub: SUBJECT, aud: AUDIENCE }, 'RS256', {
      kid: 'first RS256',
    });
    expect(await statusOf(forged)).toBe('401 invalid_client');
    expect(await reason()).toBe('assertion refused: its signature is wrong');
    await other.close();
  });

  it('that is not signed', async () => {
    const claims = { iss: issuer.issuer, sub: SUBJECT, aud: AUDIENCE, exp: seconds(60) };
    expect(await statusOf(unsigned(claims))).toBe('401 invalid_client');
    expect(await reason()).toBe('assertion refused: its algorithm is none of RS256, PS256, ES256, EdDSA');
  });

  it.each<{ claim: unknown }>(
    [null, 7, true, {}, { length: 999 }, { toString: 1 }, [null], ['x']].map((claim) => ({ claim })),
  )('whose issuer is $claim, and one whose subject is', async ({ claim }) => {
    for (const claims of [{ iss: claim, sub: SUBJECT }, { iss: issuer.issuer, sub: claim }, { sub: claim }])
      expect(await statusOf(unsigned(claims))).toBe('401 invalid_client');
  });

  it('with texts of any length', async () => {
    expect(await statusOf(await assertion({ sub: 'x'.repeat(5_000) }))).toBe('401 invalid_client');
    expect(String(await reason()).length).toBeLessThan(700);
  });
});

test('an assertion with a jti is accepted once, and one without until it ends, as Entra ID sends it again', async () => {
  const once = await assertion({ jti: 'a' });
  expect(await statusOf(once)).toBe(200);
  expect(await statusOf(once)).toBe('401 invalid_client');
  expect(await reason()).toBe('assertion refused: it was used before');
  const again = await assertion();
  expect([await statusOf(again), await statusOf(again)]).toEqual([200, 200]);
});

test('the keys are found by the metadata of the issuer, read once, and read again for an unknown key once in 30 seconds', async () => {
  const read = () => issuer.requestedPaths.filter((path) => path === '/keys').length;
  for (let sent = 0; sent < 3; sent += 1) expect(await statusOf(await assertion())).toBe(200);
  expect(issuer.requestedPaths).toEqual(['/.well-known/openid-configuration', '/keys']);
  for (let sent = 0; sent < 3; sent += 1)
    expect(await statusOf(await assertion({}, 'RS256', { kid: 'unknown' }))).toBe('401 invalid_client');
  expect(await reason()).toBe('assertion refused: no key of its issuer is the one that it names');
  expect(read()).toBe(1);
  fixture.pass(30_000);
  for (let sent = 0; sent < 3; sent += 1)
    expect(await statusOf(await assertion({}, 'RS256', { kid: 'unknown' }))).toBe('401 invalid_client');
  expect(read()).toBe(2);
});

test('an issuer that cannot be reached refuses the client, with a line in the log', async () => {
  issuer.answerWith({ status: 503, body: '{}' });
  expect(await statusOf(await assertion())).toBe('401 invalid_client');
  expect(await reason()).toBe('assertion refused: its keys could not be fetched');
  expect(fixture.lines).toEqual([{ msg: 'the public keys of an OAuth client could not be fetched' }]);
});

test.each([
  [
    'that names keys over plain HTTP',
    (url: string) => ({ issuer: url, jwks_uri: 'http://keys.example/keys' }),
  ],
  ['that is of another issuer', (url: string) => ({ issuer: `${url}/`, jwks_uri: `${url}/keys` })],
])('metadata %s is refused', async (_title, metadata) => {
  issuer.answerWith({ status: 200, body: JSON.stringify(metadata(issuer.issuer)) });
  expect(await statusOf(await assertion())).toBe('401 invalid_client');
  expect(issuer.requestedPaths).toEqual(['/.well-known/openid-configuration']);
});

test.each([
  [true, '401 invalid_client'],
  [false, 200],
])(
  'an issuer at a private address: chosen by an admin of the page %s, answered %s',
  async (isGuarded, expected) => {
    await fixture.close();
    const guard = {
      resolve: async () => [{ address: '127.0.0.1', family: 4 as const }],
      allowPrivate: false,
    };
    fixture = await oauthFixture(guard, () => [
      { connection: 'default', federation: [federation()], isGuarded },
    ]);
    expect(await statusOf(await assertion())).toBe(expected);
  },
);

describe('as a setting', () => {
  const { data } = folderForEachTest();

  /** Starts a service with these workloads of the default connection, on the database of the services before it. */
  const start = async (entries: Federation[]) => {
    const settings = writeSettingsFile({}, { default: { federation: entries } });
    const environment = { JETBRIDGE_CONFIG: settings.path, ...data };
    const service = await startService(environment, { background: false });
    settings.remove();
    return service;
  };
  const tokenOf = async (url: string) => {
    const body = new URLSearchParams(form(await assertion()));
    const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body });
    return Object(await answer.json()).access_token;
  };
  const statusAt = async (url: string, token: string) =>
    (await fetch(url, { headers: { Authorization: `Bearer ${token}` } })).status;

  test('it gives tokens for SCIM alone, which end with the entry; its requests are in the log of exchanges', async () => {
    const first = await start([federation({ subject: 'another' }), federation()]);
    const token = await tokenOf(first.url);
    expect(await statusAt(`${first.url}/scim/v2/Users`, token)).toBe(200);
    expect(await statusAt(`${first.url}/api/whoami`, token)).toBe(401);
    const requests = ['requests', 'list', '--json', '--direction', 'oauth'];
    await eventually(async () => {
      const { out } = await runCommandLine(requests, { JETBRIDGE_DATA: first.settings.data });
      expect(JSON.parse(out)).toMatchObject({ status: 200, connection: 'default' });
    });
    await first.close();
    const second = await start([federation({ subject: 'another' })]);
    expect(await statusAt(`${second.url}/scim/v2/Users`, token)).toBe(401);
    expect(await tokenOf(second.url)).toBeUndefined();
    await second.close();
  });
});
