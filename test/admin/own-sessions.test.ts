import { SESSION_IDLE_MS } from '../../src/admin/sessions.ts';
import { openDatabase } from '../../src/store/sql/open-database.ts';
import { type AdminClient, type AdminFixture, adminClient, signIn, startAdmin } from '../fixtures/admin.ts';

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** Creates an account, and signs in with it from each of these browsers. */
async function signedIn(name: string, userAgents: string[]): Promise<AdminClient[]> {
  const { admin, service } = fixture;
  const { body } = await admin('POST', '/accounts', { body: { name, role: 'viewer' } });
  const from = (userAgent: string) => adminClient(service.url, { 'User-Agent': userAgent });
  const browsers = [];
  for (const userAgent of userAgents) browsers.push(await signIn(from(userAgent), name, body.password));
  return browsers;
}

const sessionsOf = async (browser: AdminClient | undefined) =>
  (await browser?.('GET', '/sessions'))?.body.sessions;

test('an account sees its own sessions, the newest first: when, from where, with which browser, and which is this one', async () => {
  await signedIn('Somebody else', ['curl']);
  const [first] = await signedIn('Ada', [FIREFOX, `curl/8.0 ${'x'.repeat(300)}`]);
  const seen = {
    ...{ id: expect.stringMatching(/^\w{16}$/), address: '127.0.0.1' },
    ...{ createdAt: expect.stringMatching(/Z$/), lastUsedAt: expect.stringMatching(/Z$/) },
  };
  expect(await sessionsOf(first)).toEqual([
    { ...seen, userAgent: `curl/8.0 ${'x'.repeat(191)}`, isCurrent: false },
    { ...seen, userAgent: FIREFOX, isCurrent: true },
  ]);
});

test('an account ends one of its sessions, and the audit log says which', async () => {
  const [first, second] = await signedIn('Grace', ['first', 'second']);
  const [other] = await sessionsOf(first);
  expect((await first?.('DELETE', `/sessions/${other.id}`))?.status).toBe(204);
  expect((await second?.('GET', '/session'))?.status).toBe(401);
  expect(await sessionsOf(first)).toMatchObject([{ userAgent: 'first', isCurrent: true }]);
  expect((await first?.('DELETE', `/sessions/${other.id}`))?.status).toBe(404);
  const { entries } = (await fixture.viewer('GET', '/audit?action=endOwnSession&limit=2')).body;
  expect(entries).toMatchObject([
    { actor: 'Grace', details: { id: other.id }, status: 404 },
    { actor: 'Grace', details: { id: other.id, address: '127.0.0.1', userAgent: 'second' }, status: 204 },
  ]);
});

test('no account ends the session of another one, and a token has none', async () => {
  const [joan] = await signedIn('Joan', ['of Joan']);
  const [mary] = await signedIn('Mary', ['of Mary']);
  const [ofJoan] = await sessionsOf(joan);
  expect((await mary?.('DELETE', `/sessions/${ofJoan.id}`))?.status).toBe(404);
  expect((await fixture.admin('DELETE', `/sessions/${ofJoan.id}`)).status).toBe(404);
  expect((await joan?.('GET', '/session'))?.status).toBe(200);
  expect(await sessionsOf(fixture.admin)).toEqual([]);
});

test('a session that is over is not listed', async () => {
  const [vera, second] = await signedIn('Vera', ['of Vera', 'signs out', 'is idle']);
  await second?.('DELETE', '/session');
  const database = await openDatabase(fixture.service.settings, { exclusive: false });
  const hourAgo = { last_seen_at: Date.now() - SESSION_IDLE_MS };
  await database.db.updateTable('admin_session').set(hourAgo).where('user_agent', '=', 'is idle').execute();
  await database.close();
  expect(await sessionsOf(vera)).toMatchObject([{ userAgent: 'of Vera' }]);
});
