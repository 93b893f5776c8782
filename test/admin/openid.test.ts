import { currentEncryptionKey, encryption } from '../../src/store/credentials/encryption.ts';
import { type AdminFixture, adminClient, signIn, startAdmin } from '../fixtures/admin.ts';
import { clock } from '../fixtures/clock.ts';
import type { SomeClaims } from '../fixtures/openid-provider.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { CLIENT, type SignInProvider, signInProvider } from '../fixtures/sign-in-provider.ts';

let provider: SignInProvider;
let settings: ReturnType<typeof writeSettingsFile>;
let fixture: AdminFixture;
/** The minutes in which refusals are summed up pass by it. */
const time = clock();
const environment = {
  ADMIN_OPENID_CLIENT_SECRET: CLIENT.clientSecret,
  JETBRIDGE_KEY: '6f1d9e0b4c7a2835d6e1f09b8c7a65432f1e0d9c8b7a69584736251403f2e1d0',
  PUBLIC_URL: 'https://bridge.example',
};
beforeAll(async () => {
  provider = await signInProvider();
  const openid = {
    ...{ label: 'Corp', issuer: provider.issuer, clientId: CLIENT.clientId, timeoutMs: 30_000 },
    admins: { claim: 'groups', values: ['travel admins'] },
    viewers: { claim: 'email', values: ['joan@corp.example'] },
  };
  settings = writeSettingsFile({ adminPage: { openid } });
  fixture = await startAdmin({ JETBRIDGE_CONFIG: settings.path, ...environment }, { strangerClock: time });
});
afterAll(async () => {
  await fixture.close();
  await provider.close();
  settings.remove();
});

const ada = { sub: 'ada', preferred_username: 'ada@corp.example', groups: ['all', 'travel admins'] };

/** A browser: it follows redirects by itself, one at a time, and keeps the cookies of the service. */
function browser() {
  const cookies = new Map<string, string>();
  const go = async (url: string, service = fixture.service.url) => {
    const isProvider = url.startsWith(provider.issuer);
    const path = url.replace(environment.PUBLIC_URL, '');
    const Cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(isProvider ? url : service + path, {
      redirect: 'manual',
      headers: isProvider ? {} : { Cookie },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get('location');
    return { status: response.status, location: location ?? '', cookies: response.headers.getSetCookie() };
  };
  /** Goes to the provider, and to where it sends the browser back. */
  const toReturn = async (query = '') => {
    const begun = await go(`/admin/api/sign-in/openid${query}`);
    return (await go(begun.location)).location;
  };
  return {
    go,
    cookies,
    toReturn,
    signIn: async (query = '') => go(await toReturn(query)),
    client: () => adminClient(fixture.service.url, { Cookie: `jetbridge=${cookies.get('jetbridge')}` }),
  };
}

/** The text that the sign-in form shows for an address. */
async function failureAt(location: string): Promise<string> {
  const failure = new URL(location, fixture.service.url).searchParams.get('signInFailure');
  return (await fixture.anonymous('GET', `/sign-in?failure=${failure}`)).body.failure;
}

/** What is shown behind the names of people whom the provider has identified. */
const issuerHost = () => new URL(provider.issuer).host;

async function latestEntry() {
  time.advance(60_000);
  const { body } = await fixture.viewer('GET', '/audit?limit=1&action=signInWithOpenid');
  return body.entries[0];
}

test('the sign-in form learns the name of the provider', async () => {
  const { body } = await fixture.anonymous('GET', '/sign-in');
  expect(body).toEqual({ password: true, openid: { label: 'Corp' } });
  expect((await fixture.anonymous('GET', '/sign-in?failure=nosuch')).body).toEqual(body);
});

test('a person whose claim has a value of the rule signs in with its role, and returns to the address of the beginning', async () => {
  provider.behave({ claims: ada });
  const person = browser();
  const begun = await person.go('/admin/api/sign-in/openid?returnTo=%2Fadmin%2Fdecisions%3Fcause%3Dguarded');
  expect(begun.status).toBe(303);
  expect(begun.cookies).toEqual([
    expect.stringMatching(
      /^jetbridge-openid=1\.[\w.-]+; Max-Age=600; Path=\/; Expires=.*; HttpOnly; SameSite=Lax$/,
    ),
  ]);
  const returned = await person.go((await person.go(begun.location)).location);
  expect([returned.status, returned.location]).toEqual([303, '/admin/decisions?cause=guarded']);
  expect(returned.cookies).toEqual([
    expect.stringMatching(/^jetbridge-openid=; /),
    expect.stringMatching(/^jetbridge=session_[\w-]{43}; Max-Age=43200; Path=\/; .*HttpOnly; SameSite=Lax$/),
  ]);
  const { body } = await person.client()('GET', '/session');
  expect(body).toMatchObject({
    name: 'ada@corp.example',
    role: 'admin',
    kind: 'account',
  });
  expect(await latestEntry()).toMatchObject({
    ...{ actor: `ada@corp.example (${issuerHost()})`, address: '127.0.0.1', status: 303 },
    details: { subject: `${provider.issuer} ada`, role: 'admin' },
  });
});

test('a token that names this service as the client that requested it is accepted', async () => {
  provider.behave({ claims: { ...ada, azp: CLIENT.clientId } });
  expect((await browser().signIn()).location).toBe('/admin');
});

test('the way to the provider has state, nonce and the challenge of PKCE, each new', async () => {
  const [first, second] = await Promise.all(
    [1, 2].map(async () => new URL((await browser().go('/admin/api/sign-in/openid')).location).searchParams),
  );
  expect(first?.get('redirect_uri')).toBe('https://bridge.example/admin/api/sign-in/openid/callback');
  expect([first?.get('scope'), first?.get('code_challenge_method')]).toEqual([
    'openid profile email',
    'S256',
  ]);
  for (const name of ['state', 'nonce', 'code_challenge']) {
    expect(first?.get(name)).toMatch(/^[\w-]{43}$/);
    expect(first?.get(name)).not.toBe(second?.get(name));
  }
});

test('the role follows the claims at each sign-in, also of the other sessions of the person', async () => {
  const joan = { sub: 'joan', preferred_username: 'Joan', email: 'joan@corp.example', email_verified: true };
  provider.behave({ claims: { ...joan, groups: ['travel admins'] } });
  const first = browser();
  await first.signIn();
  expect((await first.client()('GET', '/session')).body.role).toBe('admin');
  provider.behave({ claims: { ...joan, preferred_username: 'Joan Clarke' } });
  await browser().signIn();
  expect((await first.client()('GET', '/session')).body).toMatchObject({
    name: 'Joan Clarke',
    role: 'viewer',
  });
});

describe('nobody gets in', () => {
  const refusals: [string, SomeClaims, string, number][] = [
    ['without a role', { sub: 'eve', preferred_username: 'Eve', groups: ['all'] }, 'noRole', 403],
    [
      'by an address that is not verified',
      { sub: 'eve', preferred_username: 'Eve', email: 'joan@corp.example' },
      'noRole',
      403,
    ],
    ['without a name', { ...ada, preferred_username: undefined }, 'noName', 403],
    ['with the nonce of another sign-in', { ...ada, nonce: 'x' }, 'invalidAnswer', 401],
    ['without a nonce', { ...ada, nonce: undefined }, 'invalidAnswer', 401],
    ['with a token for another client', { ...ada, aud: 'other' }, 'invalidAnswer', 401],
    ['with a token that another client requested', { ...ada, azp: 'other' }, 'invalidAnswer', 401],
    [
      'with a token for several clients that another one requested',
      { ...ada, aud: [CLIENT.clientId, 'other'], azp: 'other' },
      'invalidAnswer',
      401,
    ],
    ['with a token of another issuer', { ...ada, iss: 'https://other.example' }, 'invalidAnswer', 401],
    ['with an expired token', { ...ada, exp: 1_700_000_000 }, 'invalidAnswer', 401],
  ];
  test.each(refusals)('%s', async (_title, claims, code, status) => {
    provider.behave({ claims });
    const person = browser();
    const { location, cookies } = await person.signIn('?returnTo=/admin/people');
    expect(location).toBe(`/admin/people?signInFailure=${code}`);
    expect(cookies).toEqual([expect.stringMatching(/^jetbridge-openid=; /)]);
    expect(await latestEntry()).toMatchObject({ status, details: { refused: code } });
  });

  test('with a token whose signature is wrong', async () => {
    provider.behave({ claims: ada, isForged: true });
    expect((await browser().signIn()).location).toBe('/admin?signInFailure=invalidAnswer');
  });

  test('with the state of another sign-in', async () => {
    provider.behave({ claims: ada });
    const [person, other] = [browser(), browser()];
    await person.toReturn();
    expect((await person.go(await other.toReturn())).location).toBe('/admin?signInFailure=expired');
  });

  test('with the return of another browser', async () => {
    provider.behave({ claims: ada });
    expect((await browser().go(await browser().toReturn())).location).toBe('/admin?signInFailure=expired');
  });

  test('after the time for a sign-in is over', async () => {
    provider.behave({ claims: ada });
    const person = browser();
    const returned = await person.toReturn();
    const { encrypt, decrypt } = encryption(currentEncryptionKey(fixture.service.settings));
    const place = 'cookie of a sign-in';
    const attempt = JSON.parse(decrypt(person.cookies.get('jetbridge-openid') ?? '', place) ?? '');
    const late = { ...attempt, expiresAt: Date.now() };
    person.cookies.set('jetbridge-openid', encrypt(JSON.stringify(late), place));
    expect((await person.go(returned)).location).toBe('/admin?signInFailure=expired');
  });

  test('with a code that was used before', async () => {
    provider.behave({ claims: ada });
    const person = browser();
    const returned = await person.toReturn();
    const cookies = new Map(person.cookies);
    expect((await person.go(returned)).location).toBe('/admin');
    const again = browser();
    for (const [name, value] of cookies) again.cookies.set(name, value);
    expect((await again.go(returned)).location).toBe('/admin?signInFailure=expired');
    expect(again.cookies.has('jetbridge')).toBe(false);
  });

  test('with the return and the cookies of a sign-in that has come back before, even if the provider would accept its code', async () => {
    provider.behave({ claims: ada, instead: { path: '/token', status: 500 } });
    const [person, copy] = [browser(), browser()];
    const returned = await person.toReturn();
    for (const [name, value] of person.cookies) copy.cookies.set(name, value);
    expect((await person.go(returned)).location).toBe('/admin?signInFailure=unavailable');
    provider.behave({ claims: ada });
    expect((await copy.go(returned)).location).toBe('/admin?signInFailure=expired');
    expect(copy.cookies.has('jetbridge')).toBe(false);
  });

  test('while the provider does not exchange codes', async () => {
    provider.behave({ claims: ada, instead: { path: '/token', status: 500 } });
    const { location } = await browser().signIn();
    expect(await failureAt(location)).toBe(
      'The OpenID provider does not answer. Try again later; passwords work meanwhile.',
    );
  });

  test('whom the provider refuses', async () => {
    provider.behave({ error: 'access_denied' });
    const { location } = await browser().signIn();
    expect(await failureAt(location)).toBe(
      'The OpenID provider did not let you in, or you cancelled the sign-in.',
    );
  });
});

test.each([
  'https://evil.example/admin',
  '//evil.example/admin',
  '/\\evil.example/admin',
  '/admin/..//evil.example',
  '/admin/api/openapi.json',
  'javascript:alert(1)',
  '/administrator',
])('the return to %s leads to the page', async (returnTo) => {
  provider.behave({ claims: ada });
  const { location } = await browser().signIn(`?returnTo=${encodeURIComponent(returnTo)}`);
  expect(location).toBe('/admin');
});

test('who loses the role at the provider is signed out everywhere by the next sign-in, and the tokens are revoked', async () => {
  const alan = { sub: 'alan', preferred_username: 'alan', groups: ['travel admins'] };
  provider.behave({ claims: alan });
  const first = browser();
  await first.signIn();
  const { csrfToken } = (await first.client()('GET', '/session')).body;
  const { body } = await first.client()('POST', '/admin-tokens', {
    body: { name: 'of Alan', role: 'admin' },
    headers: { 'X-CSRF-Token': csrfToken },
  });
  const script = adminClient(fixture.service.url, { Authorization: `Bearer ${body.token}` });
  expect((await script('GET', '/session')).status).toBe(200);
  provider.behave({ claims: { ...alan, groups: [] } });
  await browser().signIn();
  expect((await first.client()('GET', '/session')).status).toBe(401);
  expect((await script('GET', '/session')).status).toBe(401);
});

test('a person whose name looks like that of the built-in admin is shown with the issuer, in the lists and in the audit log', async () => {
  // Full-width letters, which are read as those of the other name.
  provider.behave({ claims: { ...ada, sub: 'other', preferred_username: 'ａｄｍｉｎ' } });
  const person = browser();
  await person.signIn();
  const { csrfToken } = (await person.client()('GET', '/session')).body;
  const made = await person.client()('POST', '/admin-tokens', {
    body: { name: 'of the other admin', role: 'viewer' },
    headers: { 'X-CSRF-Token': csrfToken },
  });
  const shown = `admin (${issuerHost()})`;
  expect((await latestEntry()).actor).toBe(shown);
  const { tokens } = (await fixture.viewer('GET', '/admin-tokens')).body;
  expect(tokens.find(({ id }: { id: string }) => id === made.body.id).maker).toBe(shown);
  const { sessions } = (await person.client()('GET', '/sessions')).body;
  expect(sessions.find(({ isCurrent }: { isCurrent: boolean }) => isCurrent).name).toBe(shown);
});

test('a session ends at the sign-out, and by then the way back in is a new one', async () => {
  provider.behave({ claims: ada });
  const person = browser();
  await person.signIn();
  const client = person.client();
  const { csrfToken } = (await client('GET', '/session')).body;
  await client('DELETE', '/session', { headers: { 'X-CSRF-Token': csrfToken } });
  expect((await client('GET', '/session')).status).toBe(401);
});

test('a navigation with parameters that are not declared is still answered with a redirect', async () => {
  const person = browser();
  const begun = await person.go('/admin/api/sign-in/openid?iss=x&returnTo=a&returnTo=b');
  expect([begun.status, begun.location.startsWith(provider.issuer)]).toEqual([303, true]);
  const returned = await browser().go('/admin/api/sign-in/openid/callback?code=x&code=y&nosuch=1');
  expect([returned.status, returned.location]).toEqual([303, '/admin?signInFailure=expired']);
});

test('any replica answers the return', async () => {
  provider.behave({ claims: ada });
  const replica = await startAdmin({ JETBRIDGE_CONFIG: settings.path, ...environment });
  const person = browser();
  const returned = await person.go(await person.toReturn(), replica.service.url);
  expect([returned.location, person.cookies.has('jetbridge')]).toEqual(['/admin', true]);
  await replica.close();
});

test('a service whose provider is down starts, says so, and lets passwords in', async () => {
  provider.behave({ instead: { path: '/.well-known/openid-configuration', status: 500 } });
  const alone = await startAdmin({ JETBRIDGE_CONFIG: settings.path, ...environment });
  const begun = await browser().go('/admin/api/sign-in/openid?returnTo=/admin/people', alone.service.url);
  expect(begun.location).toBe('/admin/people?signInFailure=unavailable');
  await signIn(alone.anonymous, 'admin', alone.password);
  await alone.close();
});

test('however many sign-ins of an address fail, a person still signs in from it', async () => {
  provider.behave({ error: 'access_denied' });
  time.advance(60_000);
  for (let attempt = 1; attempt <= 51; attempt += 1)
    expect((await browser().signIn()).location).toBe('/admin?signInFailure=denied');
  const { entries } = (await fixture.viewer('GET', '/audit?limit=5&action=signInWithOpenid')).body;
  const ofDenied = entries.filter(
    ({ details }: { details: { refused?: string } }) => details.refused === 'denied',
  );
  expect(ofDenied).toHaveLength(1);
  provider.behave({ claims: ada });
  expect((await browser().signIn()).location).toBe('/admin');
  await signIn(fixture.anonymous, 'admin', fixture.password);
});
