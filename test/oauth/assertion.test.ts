import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { type OAuthFixture, oauthFixture } from '../fixtures/oauth.ts';

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
const pairs = new Map<string, Pair>();
beforeAll(async () => {
  for (const algorithm of ALGORITHMS)
    pairs.set(algorithm, await generateKeyPair(algorithm, { extractable: true }));
});

let fixture: OAuthFixture;
beforeEach(async () => {
  fixture = await oauthFixture();
});
afterEach(() => fixture.close());

function pairOf(algorithm: string): Pair {
  const pair = pairs.get(algorithm);
  if (!pair) throw new Error(`no keys of ${algorithm}`);
  return pair;
}

const jwks = async (...algorithms: string[]) => ({
  keys: await Promise.all(
    algorithms.map(async (alg) => ({ ...(await exportJWK(pairOf(alg).publicKey)), alg, kid: alg })),
  ),
});

const register = async (algorithm = 'ES256') =>
  fixture.register({ kind: 'jwks', jwks: await jwks(algorithm) });

/** Claims, some of which may be undefined. */
type SomeClaims = { [name in keyof JWTPayload]: JWTPayload[name] | undefined };

/** Valid claims (RFC 7523 §3). Undefined ones are left out of the token. */
const claimsOf = (id: string, more: SomeClaims = {}): SomeClaims => ({
  iss: id,
  sub: id,
  aud: fixture.audience,
  exp: Math.floor(fixture.now() / 1000) + 300,
  jti: 'first',
  ...more,
});

const signed = (claims: SomeClaims, alg = 'ES256') =>
  new SignJWT(claims as JWTPayload).setProtectedHeader({ alg, kid: alg }).sign(pairOf(alg).privateKey);

const form = (assertion: string, more: Record<string, string> = {}) => ({
  grant_type: 'client_credentials',
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: assertion,
  ...more,
});

const statusOf = async (assertion: string, more: Record<string, string> = {}) => {
  const { status, body } = await fixture.ask(form(assertion, more));
  return status === 200 ? 200 : `${status} ${body['error']}`;
};

it.each(ALGORITHMS)('an assertion signed with %s authenticates its client', async (algorithm) => {
  const { id } = await register(algorithm);
  const { status, body } = await fixture.ask(form(await signed(claimsOf(id), algorithm)));
  expect(status).toBe(200);
  expect(await fixture.opened(body['access_token'])).toEqual({ kind: 'scim', connection: 'default' });
});

it('the client_id must be the client of the assertion (RFC 7521 §4.2)', async () => {
  const { id } = await register();
  expect(await statusOf(await signed(claimsOf(id)), { client_id: 'other' })).toBe('401 invalid_client');
  expect(await statusOf(await signed(claimsOf(id)), { client_id: id })).toBe(200);
});

it('an assertion is accepted once, with a jti or without (RFC 7523 §3)', async () => {
  const { id } = await register();
  for (const claims of [claimsOf(id), claimsOf(id, { jti: undefined })]) {
    const assertion = await signed(claims);
    expect(await statusOf(assertion)).toBe(200);
    expect(await statusOf(assertion)).toBe('401 invalid_client');
  }
  expect(await statusOf(await signed(claimsOf(id, { exp: fixture.now() / 1000 + 60 })))).toBe(
    '401 invalid_client',
  );
  expect(await statusOf(await signed(claimsOf(id, { jti: 'second' })))).toBe(200);
});

it('one of two concurrent uses is accepted', async () => {
  const { id } = await register();
  const assertion = await signed(claimsOf(id));
  const statuses = await Promise.all([1, 2, 3, 4].map(() => statusOf(assertion)));
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
});

describe('an assertion is refused', () => {
  it.each<[string, (id: string) => SomeClaims]>([
    ['for another audience', () => ({ aud: 'https://other.example/oauth/token' })],
    ['for no audience', () => ({ aud: undefined })],
    ['by another issuer', () => ({ iss: 'somebody' })],
    ['without an issuer', () => ({ iss: undefined })],
    ['without an end', () => ({ exp: undefined })],
    ['that has ended', () => ({ exp: Math.floor(fixture.now() / 1000) - 61 })],
    ['that has not begun', () => ({ nbf: Math.floor(fixture.now() / 1000) + 61 })],
    ['that is issued more than a minute ahead', () => ({ iat: Math.floor(fixture.now() / 1000) + 61 })],
    ['for more than a day', () => ({ exp: Math.floor(fixture.now() / 1000) + 86_500 })],
    ['without a subject', () => ({ sub: undefined })],
    ['with an unknown subject', () => ({ sub: 'somebody', iss: 'somebody' })],
  ])('%s', async (_title, wrong) => {
    const { id } = await register();
    expect(await statusOf(await signed(claimsOf(id, wrong(id))))).toBe('401 invalid_client');
    expect(await statusOf(await signed(claimsOf(id)))).toBe(200);
  });

  it('an assertion is accepted within a minute of its validity, as clocks differ', async () => {
    const { id } = await register();
    const seconds = Math.floor(fixture.now() / 1000);
    expect(await statusOf(await signed(claimsOf(id, { exp: seconds - 50 })))).toBe(200);
    const ahead = { nbf: seconds + 50, iat: seconds + 50, jti: 'b' };
    expect(await statusOf(await signed(claimsOf(id, ahead)))).toBe(200);
  });

  it('signed with another key', async () => {
    const { id } = await register('RS256');
    const { privateKey } = await generateKeyPair('RS256');
    const forged = new SignJWT(claimsOf(id) as JWTPayload).setProtectedHeader({ alg: 'RS256', kid: 'RS256' });
    expect(await statusOf(await forged.sign(privateKey))).toBe('401 invalid_client');
  });

  it('signed with the public key as a secret', async () => {
    const { id } = await register('RS256');
    const known = JSON.stringify((await jwks('RS256')).keys[0]);
    const forged = new SignJWT(claimsOf(id) as JWTPayload).setProtectedHeader({ alg: 'HS256', kid: 'RS256' });
    expect(await statusOf(await forged.sign(new TextEncoder().encode(known)))).toBe('401 invalid_client');
  });

  it('that is not signed', async () => {
    const { id } = await register();
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    expect(await statusOf(`${part({ alg: 'none' })}.${part(claimsOf(id))}.`)).toBe('401 invalid_client');
  });

  it('that is not a JWT', async () => {
    for (const text of ['x', 'a.b', 'a.b.c', '..', 'eyJ.eyJ.x'])
      expect(await statusOf(text)).toBe('401 invalid_client');
  });

  it('of another type, or half of it', async () => {
    const { id } = await register();
    const assertion = await signed(claimsOf(id));
    const other = 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer';
    expect(await statusOf(assertion, { client_assertion_type: other })).toBe('401 invalid_client');
    expect(await statusOf(assertion, { client_assertion_type: '' })).toBe('400 invalid_request');
    expect(await statusOf('')).toBe('400 invalid_request');
  });

  it('of a client with a secret; a secret does not help a client with keys either', async () => {
    const { id } = await fixture.register();
    expect(await statusOf(await signed(claimsOf(id)))).toBe('401 invalid_client');
    const keyed = await register();
    const { status } = await fixture.ask({
      grant_type: 'client_credentials',
      client_id: keyed.id,
      client_secret: keyed.secret,
    });
    expect(status).toBe(401);
  });
});

describe('keys at a URL', () => {
  let server: Server;
  let asked: number;
  let answer: () => { status: number; body: string; location?: string };
  beforeEach(async () => {
    asked = 0;
    const keys = JSON.stringify(await jwks('ES256'));
    answer = () => ({ status: 200, body: keys });
    server = createServer((_request, response) => {
      asked += 1;
      const { status, body, location } = answer();
      const headers = { 'Content-Type': 'application/json', ...(location && { Location: location }) };
      response.writeHead(status, headers).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const uri = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;

  it('are read once for many assertions', async () => {
    const { id } = await fixture.register({ kind: 'jwksUri', uri: uri() });
    for (const jti of ['a', 'b', 'c']) expect(await statusOf(await signed(claimsOf(id, { jti })))).toBe(200);
    expect(asked).toBe(1);
  });

  describe('at a private address', () => {
    const refusing = async (address: string, uri: string) => {
      await fixture.close();
      const family = address.includes(':') ? 6 : 4;
      fixture = await oauthFixture({ resolve: async () => [{ address, family }], allowPrivate: false });
      const { id } = await fixture.register({ kind: 'jwksUri', uri });
      expect(await statusOf(await signed(claimsOf(id)))).toBe('401 invalid_client');
      expect(asked).toBe(0);
      expect(fixture.lines).toEqual([{ msg: 'the public keys of an OAuth client could not be fetched' }]);
    };
    const port = () => (server.address() as AddressInfo).port;

    it.each(['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]'])(
      'are not read if the URL names it: %s',
      (host) => refusing('127.0.0.1', `http://${host}:${port()}/keys`),
    );

    it.each(['127.0.0.1', '::ffff:127.0.0.1'])('are not read if the name resolves to it: %s', (address) =>
      refusing(address, `http://keys.example:${port()}/keys`),
    );

    it('are read if the settings allow it, from the address that was checked', async () => {
      await fixture.close();
      const resolved: string[] = [];
      const resolve = async (host: string) => {
        resolved.push(host);
        return [{ address: '127.0.0.1', family: 4 as const }];
      };
      fixture = await oauthFixture({ resolve, allowPrivate: true });
      const { id } = await fixture.register({ kind: 'jwksUri', uri: `http://keys.example:${port()}/keys` });
      expect(await statusOf(await signed(claimsOf(id)))).toBe(200);
      expect([resolved, asked]).toEqual([['keys.example'], 1]);
    });

    it('are not read by a redirect', async () => {
      const { id } = await fixture.register({ kind: 'jwksUri', uri: uri() });
      const good = answer;
      answer = () => ({ ...good(), status: 302, location: uri() });
      expect(await statusOf(await signed(claimsOf(id)))).toBe('401 invalid_client');
      expect(asked).toBe(1);
    });
  });

  it('of more than 1 MB are refused', async () => {
    const { id } = await fixture.register({ kind: 'jwksUri', uri: uri() });
    answer = () => ({ status: 200, body: JSON.stringify({ keys: [], x: 'x'.repeat(1_100_000) }) });
    expect(await statusOf(await signed(claimsOf(id)))).toBe('401 invalid_client');
    expect(fixture.lines).toHaveLength(1);
  });

  it('that cannot be read refuse the client with a log line, and are read again some seconds later', async () => {
    const { id } = await fixture.register({ kind: 'jwksUri', uri: uri() });
    const good = answer;
    answer = () => ({ status: 503, body: '{}' });
    expect(await statusOf(await signed(claimsOf(id)))).toBe('401 invalid_client');
    expect(await statusOf(await signed(claimsOf(id)))).toBe('401 invalid_client');
    expect(asked).toBe(1);
    expect(fixture.lines).toEqual([{ msg: 'the public keys of an OAuth client could not be fetched' }]);
    answer = good;
    fixture.pass(5_000);
    expect(await statusOf(await signed(claimsOf(id)))).toBe(200);
  });
});
