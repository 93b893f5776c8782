import { createServer } from 'node:http';
import { generateKeyPair, SignJWT } from 'jose';
import {
  type OpenidProvider as OpenidSettings,
  openidAuthenticator,
} from '../../src/travel/authentication/authentication.ts';
import {
  AUDIENCE,
  type OpenidProvider,
  openidProvider,
  type SomeClaims,
} from '../fixtures/openid-provider.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

const EMAIL = 'ada@corp.example';

let fixture: Fixture;
let provider: OpenidProvider;
let ada: string;
let warned: string[];
let shift: number;
beforeEach(async () => {
  fixture = await openFixture();
  provider = await openidProvider();
  ada = (await fixture.make('/users', { email: 'Ada@corp.example', roles: ['admin'] })).id;
  warned = [];
  shift = 0;
});
afterEach(async () => {
  await provider.close();
  await fixture.close();
});

const open = (more: Partial<OpenidSettings> = {}) =>
  openidAuthenticator({
    issuer: provider.issuer,
    audience: AUDIENCE,
    reader: fixture.runtime.store,
    now: () => Date.now() + shift,
    log: { warn: (_fields, message) => warned.push(message) },
    ...more,
  });
const seconds = () => Math.floor(Date.now() / 1000);

it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])(
  'a token signed by %s is that of the admin with its email',
  async (algorithm) => {
    const admit = open();
    expect(await admit(await provider.token('ADA@corp.example', {}, algorithm))).toEqual({
      userId: ada,
      credential: 'openid:s1',
    });
  },
);

it('the keys are found by discovery, or where the settings say, and read once', async () => {
  const discovered = open();
  for (let asked = 0; asked < 3; asked += 1)
    expect(await discovered(await provider.token(EMAIL))).toBeDefined();
  expect(provider.requestedPaths).toEqual(['/.well-known/openid-configuration', '/keys']);
  provider.requestedPaths.length = 0;
  expect(await open({ jwksUri: `${provider.issuer}/keys` })(await provider.token(EMAIL))).toBeDefined();
  expect(provider.requestedPaths).toEqual(['/keys']);
});

it('a discovery document of another issuer is refused', async () => {
  const admit = open({ issuer: `${provider.issuer}/` });
  expect(await admit(await provider.token(EMAIL, { iss: `${provider.issuer}/` }))).toBeUndefined();
  expect(warned).toHaveLength(1);
});

describe('a token is refused', () => {
  it.each<[string, () => SomeClaims]>([
    ['of another issuer', () => ({ iss: 'https://other.example' })],
    ['for another audience', () => ({ aud: 'other' })],
    ['for no audience', () => ({ aud: undefined })],
    ['that has ended', () => ({ exp: seconds() - 61 })],
    ['without an end', () => ({ exp: undefined })],
    ['that has not begun', () => ({ nbf: seconds() + 65 })],
    ['without a subject', () => ({ sub: undefined })],
    ['without an email', () => ({ email: undefined })],
    ['whose email no database keeps', () => ({ email: `${EMAIL}\0` })],
    ['whose email is no text', () => ({ email: [EMAIL] })],
    ['whose email is not verified', () => ({ email_verified: false })],
    ['whose email is not verified, as some spell it', () => ({ email_verified: 'false' })],
    ['whose email nobody says is verified', () => ({ email_verified: undefined })],
    ['whose email is verified in no known way', () => ({ email_verified: 'yes' })],
    ['whose email another claim says is verified', () => ({ email_verified: undefined, xms_edov: true })],
    ['of somebody whom the travel service does not know', () => ({ email: 'eve@corp.example' })],
  ])('%s', async (_title, other) => {
    const admit = open();
    expect(await admit(await provider.token(EMAIL, other()))).toBeUndefined();
    expect(await admit(await provider.token(EMAIL, { email_verified: true }))).toBeDefined();
  });

  it('not within a minute of its end or beginning, as clocks differ', async () => {
    const admit = open();
    expect(await admit(await provider.token(EMAIL, { exp: seconds() - 50 }))).toBeDefined();
    expect(await admit(await provider.token(EMAIL, { nbf: seconds() + 50 }))).toBeDefined();
  });

  it('of a user who is no admin, or archived', async () => {
    const admit = open();
    await fixture.make('/users', { email: 'guest@corp.example', roles: ['guest'] });
    expect(await admit(await provider.token('guest@corp.example'))).toBeUndefined();
    await fixture.send('patch', `/users/${ada}`, { data: { archived: true } });
    expect(await admit(await provider.token(EMAIL))).toBeUndefined();
  });

  it('signed with a key of its own, with what is public, or not at all', async () => {
    const admit = open();
    expect(await admit(await provider.token(EMAIL))).toBeDefined();
    const claims = { iss: provider.issuer, aud: AUDIENCE, sub: 's1', email: EMAIL, exp: seconds() + 300 };
    const { privateKey } = await generateKeyPair('RS256');
    const own = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first RS256' });
    expect(await admit(await own.sign(privateKey))).toBeUndefined();
    const shared = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'first RS256' });
    const known = await (await fetch(`${provider.issuer}/keys`)).text();
    expect(await admit(await shared.sign(new TextEncoder().encode(known)))).toBeUndefined();
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    expect(await admit(`${part({ alg: 'none' })}.${part(claims)}.`)).toBeUndefined();
    expect(warned).toEqual([]);
  });

  it('that is not a JWT, without a request to the provider', async () => {
    const admit = open();
    for (const token of ['travel_abc', 'a.b.c', 'eyJ.x', `eyJ${'x'.repeat(9_000)}`])
      expect(await admit(token)).toBeUndefined();
    expect(provider.requestedPaths).toEqual([]);
  });
});

describe('the address of a token counts when', () => {
  const unverified = { email_verified: undefined };

  it.each<[string, SomeClaims]>([
    ['email_verified is true', { email_verified: true }],
    ['email_verified is the text "true"', { email_verified: 'true' }],
    ['the claim of the settings is true', { ...unverified, xms_edov: true }],
    ['the claim of the settings is the text "true"', { ...unverified, xms_edov: 'true' }],
    ['the claim of the settings is 1', { ...unverified, xms_edov: 1 }],
    ['the claim of the settings is the text "1"', { ...unverified, xms_edov: '1' }],
    ['the claim of the settings is true and email_verified false', { email_verified: false, xms_edov: true }],
  ])('%s', async (_title, claims) => {
    const admit = open({ verifiedClaim: 'xms_edov' });
    expect(await admit(await provider.token(EMAIL, claims))).toMatchObject({ userId: ada });
  });

  it.each<[string, SomeClaims]>([
    ['is missing', unverified],
    ['is false', { ...unverified, xms_edov: false }],
    ['is the text "false"', { ...unverified, xms_edov: 'false' }],
    ['is 0', { ...unverified, xms_edov: 0 }],
    ['is a list', { ...unverified, xms_edov: [true] }],
  ])('it does not when the claim of the settings %s', async (_title, claims) => {
    const admit = open({ verifiedClaim: 'xms_edov' });
    expect(await admit(await provider.token(EMAIL, claims))).toBeUndefined();
  });

  it('it does not when the claim of the settings is named like a member of every object', async () => {
    for (const verifiedClaim of ['constructor', '__proto__', 'toString'])
      expect(await open({ verifiedClaim })(await provider.token(EMAIL, unverified))).toBeUndefined();
  });
});

describe('a subject of the settings', () => {
  it('is the configured admin, whatever email the token has', async () => {
    const admit = open({ subjects: { s1: 'ADA@corp.example' } });
    for (const claims of [{ email: undefined }, { email: 'eve@corp.example', email_verified: false }])
      expect(await admit(await provider.token(EMAIL, claims))).toEqual({
        userId: ada,
        credential: 'openid:s1',
      });
  });

  it('takes precedence over a verified email', async () => {
    await fixture.make('/users', { email: 'bo@corp.example', roles: ['admin'] });
    const admit = open({ subjects: { s1: EMAIL } });
    expect(await admit(await provider.token('bo@corp.example'))).toMatchObject({ userId: ada });
  });

  it('is compared exactly, and those who are not in the settings need a verified address', async () => {
    const admit = open({ subjects: { s1: EMAIL } });
    for (const sub of ['S1', 's1 ', 'constructor', '__proto__']) {
      expect(await admit(await provider.token(EMAIL, { sub, email_verified: undefined }))).toBeUndefined();
      expect(await admit(await provider.token(EMAIL, { sub }))).toMatchObject({ userId: ada });
    }
  });

  it('that maps to a user without the role is refused', async () => {
    await fixture.make('/users', { email: 'guest@corp.example', roles: ['guest'] });
    expect(
      await open({ subjects: { s1: 'guest@corp.example' } })(await provider.token(EMAIL)),
    ).toBeUndefined();
  });
});

it('addresses are compared as NFC in lower case, and in no other way', async () => {
  const zoe = await fixture.make('/users', { email: 'zo\u00eb@corp.example', roles: ['admin'] });
  const admit = open();
  for (const email of ['ZOE\u0308@corp.example', 'zo\u00eb@CORP.example'])
    expect(await admit(await provider.token(email))).toMatchObject({ userId: zoe.id });
  for (const email of ['zoe@corp.example', '\uff5ao\u00eb@corp.example', 'a\ufb01@corp.example', ` ${EMAIL}`])
    expect(await admit(await provider.token(email))).toBeUndefined();
});

describe('of the tokens that a provider makes, access tokens are taken:', () => {
  it.each<[string, object, SomeClaims]>([
    ['without a type', {}, {}],
    ['of the type JWT', { typ: 'JWT' }, {}],
    ['of the type at+jwt', { typ: 'at+jwt' }, {}],
    ['of the type application/at+jwt, in any case', { typ: 'application/AT+jwt' }, {}],
    ['with a nonce and the type at+jwt', { typ: 'at+jwt' }, { nonce: 'n' }],
    ['with a nonce and a scope', {}, { nonce: 'n', scope: 'openid travel' }],
    ['with a nonce and scp', {}, { nonce: 'n', scp: ['travel'] }],
    ['with a nonce and azp', {}, { nonce: 'n', azp: 'client' }],
  ])('one %s', async (_title, header, claims) => {
    expect(await open()(await provider.token(EMAIL, claims, 'RS256', header))).toMatchObject({ userId: ada });
  });

  it.each<[string, object, SomeClaims]>([
    ['a logout token', { typ: 'logout+jwt' }, {}],
    ['a logout token by its full media type', { typ: 'application/logout+JWT' }, {}],
    ['a logout token that says JWT', { typ: 'JWT' }, { events: {} }],
    ['a security event', { typ: 'secevent+jwt' }, {}],
    ['a proof of possession', { typ: 'dpop+jwt' }, {}],
    ['a token whose type is no text', { typ: 5 }, {}],
    ['an ID token with at_hash', {}, { at_hash: 'h', scope: 'openid' }],
    ['an ID token with c_hash', { typ: 'at+jwt' }, { c_hash: 'h' }],
    ['an ID token with s_hash', {}, { s_hash: 'h' }],
    ['an ID token with a nonce', { typ: 'JWT' }, { nonce: 'n' }],
  ])('%s is refused', async (_title, header, claims) => {
    const admit = open({ subjects: { s1: EMAIL } });
    expect(await admit(await provider.token(EMAIL, claims, 'RS256', header))).toBeUndefined();
    expect(await admit(await provider.token(EMAIL))).toBeDefined();
  });
});

describe('keys that were read', () => {
  const MINUTE = 60_000;

  it('stay in use when a token with an unknown kid comes while the provider is down', async () => {
    const admit = open();
    const token = await provider.token(EMAIL);
    const unknown = await provider.token(EMAIL, {}, 'RS256', { kid: 'unknown' });
    expect(await admit(token)).toBeDefined();
    provider.answerWith({ status: 503, body: '' });
    shift = MINUTE;
    provider.requestedPaths.length = 0;
    for (let round = 0; round < 3; round += 1) {
      expect(await admit(unknown)).toBeUndefined();
      expect(await admit(token)).toBeDefined();
    }
    expect(provider.requestedPaths).toEqual(['/keys']);
    expect(warned).toHaveLength(1);
  });

  it('serve for an hour while the provider is down, and no longer', async () => {
    const admit = open();
    const token = await provider.token(EMAIL, { exp: seconds() + 24 * 3_600 });
    expect(await admit(token)).toBeDefined();
    provider.answerWith({ status: 503, body: '' });
    shift = 59 * MINUTE;
    expect(await admit(token)).toBeDefined();
    shift = 61 * MINUTE;
    expect(await admit(token)).toBeUndefined();
    provider.answerWith(undefined);
    shift += 5_000;
    expect(await admit(token)).toBeDefined();
  });

  it('are read again for an unknown kid, at most twice a minute', async () => {
    const admit = open();
    expect(await admit(await provider.token(EMAIL))).toBeDefined();
    const old = await provider.token(EMAIL);
    await provider.rotate();
    const token = await provider.token(EMAIL);
    provider.requestedPaths.length = 0;
    expect(await admit(token)).toBeUndefined();
    expect(provider.requestedPaths).toEqual([]);
    shift = 30_000;
    expect(await admit(token)).toBeDefined();
    expect(await admit(old)).toBeUndefined();
    expect(provider.requestedPaths).toEqual(['/keys']);
  });

  it('are read once for many tokens that come at once', async () => {
    const admit = open();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => provider.token(EMAIL)));
    const admitted = await Promise.all(tokens.map((token) => admit(token)));
    expect(admitted.every((one) => one?.userId === ada)).toBe(true);
    expect(provider.requestedPaths).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  it.each([
    ['is taken at 1 MB', 1024 * 1024, true],
    ['is refused above 1 MB', 1024 * 1024 + 1, false],
  ])('come in an answer that %s', async (_title, size, isTaken) => {
    const jwksUri = `${provider.issuer}/keys`;
    const body = await (await fetch(jwksUri)).text();
    provider.answerWith({ status: 200, body: body + ' '.repeat(size - body.length) });
    expect((await open({ jwksUri })(await provider.token(EMAIL))) !== undefined).toBe(isTaken);
    expect(warned).toHaveLength(isTaken ? 0 : 1);
  });

  it('come in an answer without an end, of which no more than some megabytes are sent', async () => {
    let sent = 0;
    const endless = createServer((_request, response) => {
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, ' '))) sent += 65_536;
      };
      response.on('drain', write);
      write();
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    const jwksUri = `http://127.0.0.1:${Object(endless.address()).port}/keys`;
    expect(await open({ jwksUri })(await provider.token(EMAIL))).toBeUndefined();
    expect(warned).toHaveLength(1);
    await new Promise((resolve) => endless.close(resolve));
    // The buffers of the sockets on both sides are included.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });
});

describe('a provider that is not there', () => {
  it.each<[string, { status: number; body: string }]>([
    ['answers 500', { status: 500, body: '{}' }],
    ['answers no JSON', { status: 200, body: '<html>' }],
    ['answers something else', { status: 200, body: '{}' }],
  ])(
    '%s: nobody is let in, a line is logged, and it is asked again some seconds later',
    async (_title, answer) => {
      const admit = open();
      const token = await provider.token(EMAIL);
      provider.answerWith(answer);
      expect(await admit(token)).toBeUndefined();
      expect(await admit(token)).toBeUndefined();
      expect(warned).toEqual([
        'the public keys of the OpenID provider could not be fetched; refusing its tokens',
      ]);
      expect(provider.requestedPaths).toHaveLength(1);
      provider.answerWith(undefined);
      expect(await admit(token)).toBeUndefined();
      shift = 5_000;
      expect(await admit(token)).toBeDefined();
    },
  );

  it('that never answers delays one request by some seconds, and no later ones', async () => {
    const admit = open();
    const token = await provider.token(EMAIL);
    provider.answerWith('nothing');
    expect(await admit(token)).toBeUndefined();
    expect(await admit(token)).toBeUndefined();
    expect(provider.requestedPaths).toHaveLength(1);
    expect(warned).toHaveLength(1);
  });
});

describe('in the running service', () => {
  let settings: ReturnType<typeof writeSettingsFile>;
  let service: RunningService;
  beforeEach(async () => {
    const openid = { issuer: provider.issuer, audience: AUDIENCE };
    settings = writeSettingsFile({ travelService: { openid } });
    service = await startService({ JETBRIDGE_CONFIG: settings.path }, { background: false });
  });
  afterEach(async () => {
    await service.close();
    settings.remove();
  });

  it('accepts tokens of the provider besides API keys, which work without it', async () => {
    const whoami = (token: string) =>
      fetch(`${service.url}/api/whoami`, { headers: { Authorization: `Bearer ${token}` } });
    const good = await whoami(await provider.token('admin@jetbridge.local'));
    expect([good.status, Object(await good.json()).data.email]).toEqual([200, 'admin@jetbridge.local']);
    expect((await whoami(await provider.token(EMAIL))).status).toBe(401);
    const unverified = { email_verified: undefined };
    expect((await whoami(await provider.token('admin@jetbridge.local', unverified))).status).toBe(401);
    const logout = { typ: 'logout+jwt' };
    expect((await whoami(await provider.token('admin@jetbridge.local', {}, 'RS256', logout))).status).toBe(
      401,
    );
    await provider.rotate();
    provider.answerWith({ status: 500, body: '' });
    const bad = await whoami(await provider.token('admin@jetbridge.local'));
    expect([bad.status, await bad.text()]).toEqual([401, '']);
    expect((await whoami(service.travelApiKey)).status).toBe(200);
  });
});
