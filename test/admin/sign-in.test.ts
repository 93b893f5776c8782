import { type AdminFixture, signIn, startAdmin } from '../fixtures/admin.ts';
import { startService } from '../fixtures/service.ts';

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

test('the first start makes a password once, and the account admin signs in with it', async () => {
  const { service, anonymous, password } = fixture;
  expect(password).toMatch(/^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/);
  expect(await service.makeFirstAdmin()).toBeUndefined();
  const { status, headers, body } = await anonymous('POST', '/sign-in', {
    body: { name: 'Admin', password },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ name: 'admin', role: 'admin', kind: 'account' });
  expect(headers.get('set-cookie')).toMatch(
    /^jetbridge=session_[\w-]{43}; Max-Age=43200; Path=\/; .*HttpOnly; SameSite=Lax$/,
  );
});

test('of replicas that start together on an empty database one makes the password', async () => {
  const service = await startService();
  const made = await Promise.all([service.makeFirstAdmin(), service.makeFirstAdmin()]);
  expect(made.filter((password) => password !== undefined)).toHaveLength(1);
  await service.close();
});

test('a wrong password and an unknown name are refused with the same text', async () => {
  const { anonymous, password } = fixture;
  const wrong = await anonymous('POST', '/sign-in', { body: { name: 'admin', password: `${password}x` } });
  const unknown = await anonymous('POST', '/sign-in', { body: { name: 'nobody', password } });
  expect(wrong.status).toBe(401);
  expect(wrong.body).toEqual({ code: 'notSignedIn', message: 'The name or the password is wrong.' });
  expect(unknown.body).toEqual(wrong.body);
});

test('after ten attempts for a name an address waits, and other names may still sign in from it', async () => {
  const { anonymous, admin } = fixture;
  const { body: other } = await admin('POST', '/accounts', { body: { name: 'Grace', role: 'viewer' } });
  const attempts = [];
  for (let attempt = 1; attempt <= 11; attempt += 1)
    attempts.push(await anonymous('POST', '/sign-in', { body: { name: 'eve', password: 'wrong' } }));
  expect(attempts.map(({ status }) => status)).toEqual([...Array(10).fill(401), 429]);
  expect(Number(attempts[10]?.headers.get('retry-after'))).toBeGreaterThan(500);
  expect(attempts[10]?.body.message).toBe('Too many failed attempts. Try again in 10 minutes.');
  await signIn(anonymous, 'grace', other.password);
});

test('a session must send its CSRF token with each change', async () => {
  const { anonymous, password } = fixture;
  const browser = await signIn(anonymous, 'admin', password);
  const body = { name: 'Ada', role: 'viewer' };
  const forged = await browser('POST', '/accounts', { body, headers: { 'X-CSRF-Token': 'forged' } });
  expect([forged.status, forged.body.code]).toEqual([403, 'invalidCsrfToken']);
  expect((await browser('POST', '/accounts', { body })).status).toBe(200);
});

test('a session ends when it signs out, wherever its cookie is used', async () => {
  const { anonymous, password } = fixture;
  const browser = await signIn(anonymous, 'admin', password);
  expect((await browser('GET', '/session')).status).toBe(200);
  const out = await browser('DELETE', '/session');
  expect(out.status).toBe(204);
  expect(out.headers.get('set-cookie')).toMatch(/^jetbridge=; .*Expires=Thu, 01 Jan 1970/);
  expect((await browser('GET', '/session')).status).toBe(401);
});

test('a new password ends all sessions of the account', async () => {
  const { anonymous, admin } = fixture;
  const { body: made } = await admin('POST', '/accounts', { body: { name: 'Joan', role: 'viewer' } });
  const browser = await signIn(anonymous, 'joan', made.password);
  const reset = await admin('POST', `/accounts/${made.id}/password`);
  expect((await browser('GET', '/session')).status).toBe(401);
  await signIn(anonymous, 'joan', reset.body.password);
});

test('the last account with the role admin can be neither revoked nor made a viewer', async () => {
  const { admin } = fixture;
  const { body } = await admin('GET', '/accounts');
  const first = body.accounts.find((account: { name: string }) => account.name === 'admin');
  expect((await admin('DELETE', `/accounts/${first.id}`)).status).toBe(409);
  expect((await admin('PATCH', `/accounts/${first.id}`, { body: { role: 'viewer' } })).status).toBe(409);
});

test('every change is in the audit log with who, from where, and how it ended', async () => {
  const { admin, viewer } = fixture;
  await admin('POST', '/accounts', { body: { name: 'Mary', role: 'viewer' } });
  expect((await admin('POST', '/accounts', { body: { name: 'mary', role: 'viewer' } })).status).toBe(409);
  const { body } = await viewer('GET', '/audit?limit=2&action=createAccount');
  expect(body.entries).toMatchObject([
    { actor: 'admin of tests', actorKind: 'token', address: '127.0.0.1', status: 409 },
    { actor: 'admin of tests', action: 'createAccount', details: { name: 'Mary' }, status: 200 },
  ]);
  expect(JSON.stringify(body)).not.toContain('password');
  const older = await viewer('GET', `/audit?limit=200&before=${body.next}`);
  expect(older.body.entries.map((entry: { action: string }) => entry.action)).toContain('signIn');
});

test('the audit log is filtered by a part of the name, the action and the time, which can be chosen', async () => {
  const { viewer } = fixture;
  const entriesOf = async (query: string) => (await viewer('GET', `/audit?limit=200&${query}`)).body.entries;
  const all = await entriesOf('');
  const [newest] = await entriesOf('actor=DMI&action=createAdminToken');
  expect(newest).toMatchObject({ actor: 'admin', action: 'createAdminToken', people: [] });
  expect(await entriesOf('actor=d_in')).toEqual([]);
  const since = await entriesOf(`since=${newest.at}`);
  const until = await entriesOf(`until=${newest.at}`);
  expect([...since, ...until]).toEqual(all);
  expect(since).toContainEqual(newest);
  const { body } = await viewer('GET', '/audit/choices');
  expect(body.actors).toContain('admin');
  expect(body.actions).toEqual([...new Set(all.map(({ action }: { action: string }) => action))].toSorted());
});
