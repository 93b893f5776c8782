import { type AdminFixture, adminClient, earlierToken, signIn, startAdmin } from '../fixtures/admin.ts';
import { clock } from '../fixtures/clock.ts';
import { answerAfterWait } from '../fixtures/refusals.ts';

let fixture: AdminFixture;
const time = clock();
beforeAll(async () => {
  fixture = await startAdmin({}, { strangerClock: time });
});
afterAll(() => fixture.close());

test('a new role applies to the next request of a running session', async () => {
  const { admin, anonymous } = fixture;
  const { body: made } = await admin('POST', '/accounts', { body: { name: 'Rosa', role: 'viewer' } });
  const rosa = await signIn(anonymous, 'rosa', made.password);
  const add = () => rosa('POST', '/accounts', { body: { name: 'Friend of Rosa', role: 'viewer' } });
  expect((await add()).status).toBe(403);
  expect((await admin('PATCH', `/accounts/${made.id}`, { body: { role: 'admin' } })).status).toBe(204);
  expect((await add()).status).toBe(200);
});

test('a revoked account is signed out, can no longer sign in, and is revoked only once', async () => {
  const { admin, anonymous } = fixture;
  const { body: made } = await admin('POST', '/accounts', { body: { name: 'Tess', role: 'viewer' } });
  const tess = await signIn(anonymous, 'tess', made.password);
  expect((await admin('DELETE', `/accounts/${made.id}`)).status).toBe(204);
  expect((await tess('GET', '/session')).status).toBe(401);
  const again = anonymous('POST', '/sign-in', { body: { name: 'tess', password: made.password } });
  expect((await answerAfterWait(time, again)).status).toBe(401);
  expect((await admin('DELETE', `/accounts/${made.id}`)).status).toBe(404);
});

test('an account changes its own password with the present one, and its other sessions end', async () => {
  const { admin, anonymous } = fixture;
  const { body: made } = await admin('POST', '/accounts', { body: { name: 'Vera', role: 'viewer' } });
  const own = await signIn(anonymous, 'vera', made.password);
  const other = await signIn(anonymous, 'vera', made.password);
  const change = (current: string, password: string) =>
    own('PUT', '/session/password', { body: { current, password } });
  const wrong = await answerAfterWait(time, change('not the present one', 'a-new-password-of-vera'));
  expect([wrong.status, wrong.body.faults]).toEqual([422, [{ field: 'current', message: 'is wrong' }]]);
  const short = await change(made.password, 'short');
  expect(short.body.faults).toEqual([{ field: 'password', message: 'has at least 12 characters' }]);
  expect((await change(made.password, 'a-new-password-of-vera')).status).toBe(204);
  expect([(await own('GET', '/session')).status, (await other('GET', '/session')).status]).toEqual([
    200, 401,
  ]);
  await signIn(anonymous, 'vera', 'a-new-password-of-vera');
});

test('a token is shown once, works until it is revoked, and the audit log names it', async () => {
  const { admin, viewer, service } = fixture;
  const body = { name: 'nightly report', role: 'viewer', days: 30 };
  const { body: made } = await admin('POST', '/admin-tokens', { body });
  const script = adminClient(service.url, { Authorization: `Bearer ${made.token}` });
  expect((await script('GET', '/session')).body).toMatchObject({ name: 'nightly report', kind: 'token' });
  const listed = (await viewer('GET', '/admin-tokens')).body.tokens;
  expect(JSON.stringify(listed)).not.toContain(made.token);
  expect((await admin('DELETE', `/admin-tokens/${made.id}`)).status).toBe(204);
  expect((await script('GET', '/session')).status).toBe(401);
  expect((await admin('DELETE', `/admin-tokens/${made.id}`)).status).toBe(404);
  const { entries } = (await viewer('GET', '/audit?action=revokeAdminToken&limit=2')).body;
  expect(entries).toMatchObject([
    { details: { id: made.id, name: 'nightly report' }, status: 404 },
    { details: { id: made.id, name: 'nightly report' }, status: 204 },
  ]);
});

test('the description of the API marks the operations that the audit log records', async () => {
  const { body } = await fixture.anonymous('GET', '/openapi.json');
  expect(body.paths['/admin/api/accounts'].post['x-recorded']).toBe(true);
  expect(body.paths['/admin/api/accounts'].get['x-recorded']).toBeUndefined();
});

test('two admins who revoke each other at the same time do not leave the page without an admin', async () => {
  // The tokens of the fixture would be revoked with the account that made them.
  const admin = await earlierToken(fixture.service, 'of an earlier version');
  for (const name of ['Nora', 'Olga'])
    expect((await admin('POST', '/accounts', { body: { name, role: 'admin' } })).status).toBe(200);
  const readAdmins = async () => {
    const { accounts } = (await admin('GET', '/accounts')).body;
    return accounts.filter(
      ({ role, revokedAt }: { role: string; revokedAt?: string }) => role === 'admin' && !revokedAt,
    );
  };
  const revoked = await Promise.all(
    (await readAdmins()).map(({ id }: { id: string }) => admin('DELETE', `/accounts/${id}`)),
  );
  const refused = revoked.filter(({ status }) => status !== 204);
  expect(refused.map(({ body }) => body.message)).toEqual([
    'This is the only account with the role admin and a password. Create another one first.',
  ]);
  const left = await readAdmins();
  expect(left).toHaveLength(1);
  const demoted = await admin('PATCH', `/accounts/${left[0].id}`, { body: { role: 'viewer' } });
  expect(demoted.status).toBe(409);
});
