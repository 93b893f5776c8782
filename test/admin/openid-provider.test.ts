import { type OpenidClient, openidProvider } from '../../src/admin/openid/provider.ts';
import type { SomeClaims } from '../fixtures/openid-provider.ts';
import { CLIENT, type SignInProvider, signInProvider } from '../fixtures/sign-in-provider.ts';

let provider: SignInProvider;
beforeAll(async () => {
  provider = await signInProvider();
});
afterAll(() => provider.close());

const attempt = {
  state: 'state',
  nonce: 'nonce',
  codeVerifier: 'verifier-verifier-verifier-verifier-verifier',
};
const DOCUMENT = '/.well-known/openid-configuration';
const RETURN = 'https://bridge.example/return';

function clientOf(changes: Partial<OpenidClient> = {}): OpenidClient {
  return { issuer: provider.issuer, ...CLIENT, scope: 'openid', timeoutMs: 30_000, ...changes };
}

/** Goes to the provider and back, and returns what the library found. */
async function signIn(client = clientOf()) {
  const openid = openidProvider(client, () => 0);
  const begun = await openid.authorizationUrl(attempt, RETURN);
  const returned = (await fetch(begun, { redirect: 'manual' })).headers.get('location') ?? '';
  return openid.readClaims(attempt, new URL(returned));
}

describe('a provider that cannot be used', () => {
  const broken: [string, Parameters<SignInProvider['behave']>[0], string, string | RegExp][] = [
    ['answers 500', { instead: { path: DOCUMENT, status: 500 } }, 'unavailable', 'it answers 500'],
    ['answers 429', { instead: { path: DOCUMENT, status: 429 } }, 'unavailable', 'it answers 429'],
    ['answers 404', { instead: { path: DOCUMENT, status: 404 } }, 'misconfigured', 'it answers 404'],
    [
      'answers with a redirect',
      { instead: { path: DOCUMENT, status: 302 } },
      'misconfigured',
      'it answers 302',
    ],
    [
      'is another one',
      { description: { issuer: 'https://other.example' } },
      'misconfigured',
      'its answer is not valid: OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED (issuer)',
    ],
    [
      'sends people to plain HTTP',
      { description: { authorization_endpoint: 'http://idp.example/authorize' } },
      'misconfigured',
      'it names no https authorization_endpoint',
    ],
    [
      'names no place to sign in',
      { description: { authorization_endpoint: undefined } },
      'misconfigured',
      'it names no https authorization_endpoint',
    ],
  ];
  test.each(broken)('%s', async (_title, behaviour, code, message) => {
    provider.behave(behaviour);
    const openid = openidProvider(clientOf(), () => 0);
    await expect(openid.authorizationUrl(attempt, RETURN)).rejects.toMatchObject({ code, message });
  });

  test('spells its issuer otherwise', async () => {
    provider.behave({});
    const openid = openidProvider(clientOf({ issuer: `${provider.issuer}/` }), () => 0);
    await expect(openid.authorizationUrl(attempt, RETURN)).rejects.toMatchObject({
      code: 'misconfigured',
      message: `its issuer is "${provider.issuer}"`,
    });
  });

  test('is slow', async () => {
    provider.behave({ instead: { path: DOCUMENT, status: 'nothing' } });
    const openid = openidProvider(clientOf({ timeoutMs: 100 }), () => 0);
    await expect(openid.authorizationUrl(attempt, RETURN)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'it does not answer (TimeoutError)',
    });
  });

  test('is not there', async () => {
    const gone = await signInProvider();
    await gone.close();
    const openid = openidProvider(clientOf({ issuer: gone.issuer }), () => 0);
    await expect(openid.authorizationUrl(attempt, RETURN)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'it does not answer (ECONNREFUSED)',
    });
  });
});

test('a failed provider is asked again after five seconds, and its description is read once an hour', async () => {
  let now = 0;
  const openid = openidProvider(clientOf(), () => now);
  const begin = () =>
    openid
      .authorizationUrl(attempt, RETURN)
      .then(() => 'begun')
      .catch(({ code }) => code);
  provider.behave({ instead: { path: DOCUMENT, status: 500 } });
  expect(await begin()).toBe('unavailable');
  provider.behave({});
  expect(await begin()).toBe('unavailable');
  now = 5_000;
  provider.requestedPaths.length = 0;
  expect([await begin(), await begin()]).toEqual(['begun', 'begun']);
  expect(provider.requestedPaths).toEqual([DOCUMENT]);
  now += 60 * 60_000;
  await begin();
  expect(provider.requestedPaths).toEqual([DOCUMENT, DOCUMENT]);
});

describe('a token', () => {
  test('is accepted after all checks', async () => {
    provider.behave({ claims: { sub: 'ada' } });
    expect(await signIn()).toMatchObject({ iss: provider.issuer, sub: 'ada', aud: CLIENT.clientId });
  });

  const invalid: [string, SomeClaims, string][] = [
    ['nonce', { nonce: 'another' }, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED (nonce)'],
    ['audience', { aud: 'another' }, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED (aud)'],
    ['issuer', { iss: 'https://other.example' }, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED (iss)'],
    ['expiry', { exp: 1_700_000_000 }, 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED (exp)'],
  ];
  test.each(invalid)('with the wrong %s is refused', async (_title, claims, text) => {
    provider.behave({ claims });
    await expect(signIn()).rejects.toMatchObject({
      code: 'invalidAnswer',
      message: `its answer is not valid: ${text}`,
    });
  });

  test('with a wrong signature is refused', async () => {
    provider.behave({ isForged: true });
    await expect(signIn()).rejects.toMatchObject({ code: 'invalidAnswer' });
  });

  test('of an algorithm that the provider does not list is refused', async () => {
    provider.behave({ description: { id_token_signing_alg_values_supported: ['ES256'] } });
    await expect(signIn()).rejects.toMatchObject({ code: 'invalidAnswer' });
  });

  test('without a signature is refused, even if the provider lists that', async () => {
    provider.behave({ isUnsigned: true, description: { id_token_signing_alg_values_supported: ['none'] } });
    await expect(signIn()).rejects.toMatchObject({ code: 'invalidAnswer' });
  });
});

test.each([
  ['access_denied', 'denied'],
  ['temporarily_unavailable', 'unavailable'],
  ['unauthorized_client', 'misconfigured'],
])('the error %s of the provider means %s', async (error, code) => {
  provider.behave({ error });
  await expect(signIn()).rejects.toMatchObject({ code, message: `it answers "${error}"` });
});

test('a secret that the provider refuses is told from a fault of the person', async () => {
  provider.behave({});
  await expect(signIn(clientOf({ clientSecret: 'wrong' }))).rejects.toMatchObject({
    code: 'misconfigured',
    message: 'it answers 401 "invalid_client"',
  });
});

test('a provider that prefers the secret in the body gets it there', async () => {
  provider.behave({ description: { token_endpoint_auth_methods_supported: ['client_secret_post'] } });
  expect(await signIn()).toMatchObject({ sub: 's1' });
});
