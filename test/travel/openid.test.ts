import { generateKeyPair, SignJWT } from 'jose';
import { openidCredentials } from '../../src/travel/openid.ts';
import {
  AUDIENCE,
  type OpenidProvider,
  openidProvider,
  type SomeClaims,
} from '../support/openid-provider.ts';
import { type RunningService, startService } from '../support/service.ts';
import { settingsFile } from '../support/settings-file.ts';
import { type House, openHouse } from './house.ts';

const EMAIL = 'ada@corp.example';

let house: House;
let provider: OpenidProvider;
let ada: string;
let warned: string[];
let shift: number;
beforeEach(async () => {
  house = await openHouse();
  provider = await openidProvider();
  ada = (await house.make('/users', { email: 'Ada@corp.example', roles: ['admin'] })).id;
  warned = [];
  shift = 0;
});
afterEach(async () => {
  await provider.close();
  await house.close();
});

const open = (more: { issuer?: string; jwksUri?: string } = {}) =>
  openidCredentials({
    issuer: provider.issuer,
    audience: AUDIENCE,
    reading: house.surroundings.store,
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
  expect(provider.asked).toEqual(['/.well-known/openid-configuration', '/keys']);
  provider.asked.length = 0;
  expect(await open({ jwksUri: `${provider.issuer}/keys` })(await provider.token(EMAIL))).toBeDefined();
  expect(provider.asked).toEqual(['/keys']);
});

it('a discovery document of another issuer is not believed', async () => {
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
    await house.make('/users', { email: 'guest@corp.example', roles: ['guest'] });
    expect(await admit(await provider.token('guest@corp.example'))).toBeUndefined();
    await house.send('patch', `/users/${ada}`, { data: { archived: true } });
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

  it('that looks like none, without anybody being asked', async () => {
    const admit = open();
    for (const token of ['travel_abc', 'a.b.c', 'eyJ.x', `eyJ${'x'.repeat(9_000)}`])
      expect(await admit(token)).toBeUndefined();
    expect(provider.asked).toEqual([]);
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
      expect(warned).toEqual(['the keys of the OpenID provider cannot be had; its tokens are refused']);
      expect(provider.asked).toHaveLength(1);
      provider.answerWith(undefined);
      expect(await admit(token)).toBeUndefined();
      shift = 5_000;
      expect(await admit(token)).toBeDefined();
    },
  );

  it('that never answers is waited for some seconds, and not by those who come after', async () => {
    const admit = open();
    const token = await provider.token(EMAIL);
    provider.answerWith('nothing');
    expect(await admit(token)).toBeUndefined();
    expect(await admit(token)).toBeUndefined();
    expect(provider.asked).toHaveLength(1);
    expect(warned).toHaveLength(1);
  });
});

describe('in the running service', () => {
  let settings: ReturnType<typeof settingsFile>;
  let service: RunningService;
  beforeEach(async () => {
    const openid = { issuer: provider.issuer, audience: AUDIENCE };
    settings = settingsFile({ travelService: { openid } });
    service = await startService({ JETBRIDGE_CONFIG: settings.path }, { background: false });
  });
  afterEach(async () => {
    await service.close();
    settings.remove();
  });

  it('tokens of the provider stand beside keys, which work without it', async () => {
    const whoami = (token: string) =>
      fetch(`${service.url}/api/whoami`, { headers: { Authorization: `Bearer ${token}` } });
    const good = await whoami(await provider.token('admin@jetbridge.local'));
    expect([good.status, Object(await good.json()).data.email]).toEqual([200, 'admin@jetbridge.local']);
    expect((await whoami(await provider.token(EMAIL))).status).toBe(401);
    await provider.rotate();
    provider.answerWith({ status: 500, body: '' });
    const bad = await whoami(await provider.token('admin@jetbridge.local'));
    expect([bad.status, await bad.text()]).toEqual([401, '']);
    expect((await whoami(service.travelApiKey)).status).toBe(200);
  });
});
