import { hashPassword } from '../../src/admin/sign-in/passwords.ts';
import { adminPassword, adminSessions } from '../../src/store/credentials/admins.ts';
import { type AdminFixture, signIn, startAdmin } from '../fixtures/admin.ts';
import { clock } from '../fixtures/clock.ts';
import { eventually } from '../fixtures/eventually.ts';
import { answerAfterWait } from '../fixtures/refusals.ts';
import { startService } from '../fixtures/service.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

let fixture: AdminFixture;
const time = clock();
beforeAll(async () => {
  fixture = await startAdmin({}, { strangerClock: time });
});
afterAll(() => fixture.close());

test('the first start makes a password once, and the built-in admin signs in with it', async () => {
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
  const attempt = (body: object) => answerAfterWait(time, anonymous('POST', '/sign-in', { body }));
  const wrong = await attempt({ name: 'admin', password: `${password}x` });
  const unknown = await attempt({ name: 'nobody', password });
  expect(wrong.status).toBe(401);
  expect(wrong.body).toEqual({ code: 'notSignedIn', message: 'The name or the password is wrong.' });
  expect(unknown.body).toEqual(wrong.body);
});

test('after many refusals for a name from an address, its right password is still answered at once from there', async () => {
  const { anonymous, password } = fixture;
  for (let attempt = 1; attempt <= 12; attempt += 1) {
    const body = { name: 'admin', password: `wrong ${attempt}` };
    expect((await answerAfterWait(time, anonymous('POST', '/sign-in', { body }))).status).toBe(401);
  }
  const before = time.now();
  await signIn(anonymous, 'admin', password);
  expect(time.now()).toBe(before);
});

test('the right password is answered while so many refusals of the address wait that further ones are answered 429 at once', async () => {
  const { anonymous, password } = fixture;
  const attempt = (number: number) =>
    anonymous('POST', '/sign-in', { body: { name: `eve ${number}`, password: 'wrong' } });
  const attempts = Array.from({ length: 21 }, (_, number) => attempt(number));
  // Time does not pass, so that only a refusal without a wait can be answered.
  const first = await Promise.race(attempts);
  expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1']);
  expect(first.body.message).toBe('Too many failed attempts. Wait a second before the next one.');
  await signIn(anonymous, 'admin', password);
  const answers = await answerAfterWait(time, Promise.all(attempts));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(20);
});

test('the refused sign-ins of an address are one entry for each minute, without names that are unknown', async () => {
  const { anonymous, viewer, password, service } = fixture;
  const countRefused = async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    return Number(/^jetbridge_sign_ins_refused_total\{way="password"\} (\d+)$/m.exec(metrics)?.[1]);
  };
  time.advance(60_000);
  const refuse = (name: string) =>
    answerAfterWait(time, anonymous('POST', '/sign-in', { body: { name, password: 'wrong' } }));
  const latest = async () => (await viewer('GET', '/audit?limit=1&action=signIn')).body.entries[0];
  await refuse(password);
  expect(await latest()).toMatchObject({
    ...{ actor: '', actorKind: 'nobody', address: '127.0.0.1', status: 401 },
    details: { attempts: 1 },
  });
  time.advance(60_000);
  const counted = await countRefused();
  const attempts = [password, 'Admin', 'nobody'].map((name) =>
    anonymous('POST', '/sign-in', { body: { name, password: 'wrong' } }),
  );
  // While time does not pass, they wait for their answers, and are counted.
  await eventually(async () => expect(await countRefused()).toBe(counted + 3));
  await answerAfterWait(time, Promise.all(attempts));
  time.advance(60_000);
  await eventually(async () =>
    expect(await latest()).toMatchObject({ actor: 'admin', details: { attempts: 3 } }),
  );
  const all = await viewer('GET', '/audit?limit=200');
  expect(JSON.stringify(all.body)).not.toContain(password);
});

test('sign-ins under way while the password is replaced leave no session', async () => {
  // With these costs, a tenth of those of production, most passwords are still being checked when the password is replaced.
  const passwordCosts = { N: 2 ** 13, r: 8, p: 1 };
  const slow = await startAdmin({}, { strangerClock: time, passwordCosts });
  const { anonymous, password, service } = slow;
  const database = await openTestDatabase(service.data);
  const passwordHash = await hashPassword('the new password', passwordCosts);
  const attempts = Array.from({ length: 8 }, () =>
    anonymous('POST', '/sign-in', { body: { name: 'admin', password } }),
  );
  // The others are checked against the old hash by then, or wait for it.
  await Promise.race(attempts);
  await adminPassword(database).replace({ id: 'new', hash: passwordHash });
  await answerAfterWait(time, Promise.all(attempts));
  expect(await adminSessions(database).list()).toEqual([]);
  await database.close();
  await signIn(anonymous, 'admin', 'the new password');
  await slow.close();
});

test('a sign-in reads 4 KB, ten levels deep', async () => {
  const { anonymous } = fixture;
  const large = await anonymous('POST', '/sign-in', { body: { name: 'admin', password: 'x'.repeat(4_096) } });
  expect([large.status, large.body]).toEqual([
    413,
    { code: 'tooLarge', message: 'The body is larger than 4 KB.' },
  ]);
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const attempt = (levels: number) =>
    anonymous('POST', '/sign-in', { body: `{"name": ${nested(levels)}, "password": "x"}` });
  expect((await attempt(9)).status).toBe(422);
  expect(await attempt(10)).toMatchObject({
    status: 400,
    body: { message: 'The body is nested deeper than 10 levels.' },
  });
  expect((await attempt(1_900)).status).toBe(400);
});

test('a session must send its CSRF token with each change', async () => {
  const { anonymous, password } = fixture;
  const browser = await signIn(anonymous, 'admin', password);
  const body = { name: 'Ada', role: 'viewer' };
  const forged = await browser('POST', '/admin-tokens', { body, headers: { 'X-CSRF-Token': 'forged' } });
  expect([forged.status, forged.body.code]).toEqual([403, 'invalidCsrfToken']);
  expect((await browser('POST', '/admin-tokens', { body })).status).toBe(200);
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

test('every change is in the audit log with who, from where, and how it ended', async () => {
  const { admin, viewer } = fixture;
  const { body: made } = await admin('POST', '/admin-tokens', { body: { name: 'Mary', role: 'viewer' } });
  expect((await admin('DELETE', '/admin-tokens/nosuch')).status).toBe(404);
  const { body } = await viewer('GET', '/audit?limit=2');
  expect(body.entries).toMatchObject([
    { actor: 'admin of tests', actorKind: 'token', address: '127.0.0.1', status: 404 },
    { actor: 'admin of tests', action: 'createAdminToken', details: { name: 'Mary' }, status: 200 },
  ]);
  expect(JSON.stringify(body)).not.toContain(made.token);
  const older = await viewer('GET', `/audit?limit=200&before=${body.next}`);
  expect(older.body.entries.map((entry: { action: string }) => entry.action)).toContain('signIn');
});

test('the audit log is filtered by a part of the name, the action and the time, which can be chosen', async () => {
  const { viewer } = fixture;
  const entriesOf = async (query: string) => (await viewer('GET', `/audit?limit=200&${query}`)).body.entries;
  const all = await entriesOf('');
  const [newest] = await entriesOf('actor=DMI&action=signIn');
  expect(newest).toMatchObject({ actor: 'admin', action: 'signIn', people: [] });
  expect(await entriesOf('actor=d_in')).toEqual([]);
  const since = await entriesOf(`since=${newest.at}`);
  const until = await entriesOf(`until=${newest.at}`);
  expect([...since, ...until]).toEqual(all);
  expect(since).toContainEqual(newest);
  const { body } = await viewer('GET', '/audit/choices');
  expect(body.actors).toContain('admin');
  expect(body.actions).toEqual([...new Set(all.map(({ action }: { action: string }) => action))].toSorted());
});
