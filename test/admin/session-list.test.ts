import { SESSION_IDLE_MS } from '../../src/admin/sign-in/sessions.ts';
import { type AdminFixture, adminClient, signIn, signInPerson, startAdmin } from '../fixtures/admin.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

test('the built-in admin sees the sessions of everybody, the newest first: who, when, from where, with which browser, and which is this one', async () => {
  const { service, password } = fixture;
  const from = (userAgent: string) => adminClient(service.url, { 'User-Agent': userAgent });
  const browser = await signIn(from(FIREFOX), 'admin', password);
  await signIn(from(`curl/8.0 ${'x'.repeat(300)}`), 'admin', password);
  await signInPerson(service, { name: 'Joan', role: 'viewer' });
  const seen = {
    ...{ id: expect.stringMatching(/^\w{16}$/), address: '127.0.0.1' },
    ...{ createdAt: expect.stringMatching(/Z$/), lastSeenAt: expect.stringMatching(/Z$/) },
  };
  const own = { ...seen, name: 'admin', role: 'admin', isOwn: true };
  const { sessions } = (await browser('GET', '/sessions')).body;
  expect(sessions.slice(0, 3)).toEqual([
    { ...seen, name: 'Joan (idp.example)', role: 'viewer', isOwn: false, isCurrent: false },
    { ...own, userAgent: `curl/8.0 ${'x'.repeat(191)}`, isCurrent: false },
    { ...own, userAgent: FIREFOX, isCurrent: true },
  ]);
});

test('a viewer sees and ends the own sessions only', async () => {
  const grace = { name: 'Grace', role: 'viewer' } as const;
  const first = (await signInPerson(fixture.service, grace)).client;
  const second = (await signInPerson(fixture.service, { ...grace, userAgent: 'second' })).client;
  const { sessions } = (await first('GET', '/sessions')).body;
  expect(sessions).toMatchObject([
    { userAgent: 'second', isCurrent: false },
    { isOwn: true, isCurrent: true },
  ]);
  const all = (await fixture.admin('GET', '/sessions')).body.sessions;
  const { id: ofAdmin } = all.find(({ name }: { name: string }) => name === 'admin');
  expect((await first('DELETE', `/sessions/${ofAdmin}`)).status).toBe(404);
  expect((await first('DELETE', `/sessions/${sessions[0].id}`)).status).toBe(204);
  expect((await second('GET', '/session')).status).toBe(401);
  expect((await fixture.viewer('GET', '/sessions')).body).toEqual({ sessions: [] });
});

test('an admin ends the session of somebody else, and the audit log says which', async () => {
  const { admin, service } = fixture;
  const mary = await signInPerson(service, { name: 'Mary', role: 'admin', userAgent: 'of Mary' });
  const { sessions } = (await admin('GET', '/sessions')).body;
  const { id } = sessions.find(({ userAgent }: { userAgent: string }) => userAgent === 'of Mary');
  expect((await admin('DELETE', `/sessions/${id}`)).status).toBe(204);
  expect((await mary.client('GET', '/session')).status).toBe(401);
  expect((await admin('DELETE', `/sessions/${id}`)).status).toBe(404);
  const { entries } = (await fixture.viewer('GET', '/audit?action=endSession&limit=2')).body;
  expect(entries).toMatchObject([
    { actor: 'admin of tests', details: { id }, status: 404 },
    {
      actor: 'admin of tests',
      details: { id, name: 'Mary (idp.example)', userAgent: 'of Mary' },
      status: 204,
    },
  ]);
});

test('a session that is over is not listed', async () => {
  const vera = { name: 'Vera', role: 'viewer' } as const;
  const { client } = await signInPerson(fixture.service, vera);
  const second = await signInPerson(fixture.service, { ...vera, userAgent: 'signs out' });
  await signInPerson(fixture.service, { ...vera, userAgent: 'is idle' });
  await second.client('DELETE', '/session');
  const database = await openTestDatabase(fixture.service.data);
  const hourAgo = { last_seen_at: Date.now() - SESSION_IDLE_MS };
  await database.db.updateTable('admin_session').set(hourAgo).where('user_agent', '=', 'is idle').execute();
  await database.close();
  expect((await client('GET', '/sessions')).body.sessions).toMatchObject([{ isCurrent: true }]);
});
