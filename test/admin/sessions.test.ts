import type { Database } from '../../src/store/sql/database.ts';
import { type AdminClient, type AdminFixture, signIn, startAdmin } from '../fixtures/admin.ts';
import { certificateFiles } from '../fixtures/certificate.ts';
import { ask } from '../fixtures/plain-and-tls.ts';
import { startService } from '../fixtures/service.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let fixture: AdminFixture;
let database: Database;
beforeAll(async () => {
  fixture = await startAdmin();
  database = await openTestDatabase(fixture.service.data);
});
afterAll(async () => {
  await database.close();
  await fixture.close();
});

/** Signs in, and dates the session back. Returns the status of the next request. */
async function statusAfter({ unusedMs, ageMs }: { unusedMs: number; ageMs: number }): Promise<number> {
  const browser: AdminClient = await signIn(fixture.anonymous, 'admin', fixture.password);
  const now = Date.now();
  await database.db
    .updateTable('admin_session')
    .set({ created_at: now - ageMs, last_seen_at: now - unusedMs })
    .execute();
  return (await browser('GET', '/session')).status;
}

test('a session ends after half an hour without use', async () => {
  expect(await statusAfter({ unusedMs: 29 * MINUTE_MS, ageMs: HOUR_MS })).toBe(200);
  expect(await statusAfter({ unusedMs: 30 * MINUTE_MS, ageMs: HOUR_MS })).toBe(401);
});

test('a session ends twelve hours after the sign-in, even if it is in use', async () => {
  expect(await statusAfter({ unusedMs: 0, ageMs: 12 * HOUR_MS - MINUTE_MS })).toBe(200);
  expect(await statusAfter({ unusedMs: 0, ageMs: 12 * HOUR_MS })).toBe(401);
});

test('each sign-in has a session of its own, and the database has no secret of one', async () => {
  const { anonymous, password } = fixture;
  const cookieOf = async () => {
    const { headers } = await anonymous('POST', '/sign-in', { body: { name: 'admin', password } });
    return /session_[\w-]{43}/.exec(headers.get('set-cookie') ?? '')?.[0] ?? '';
  };
  const [one, other] = [await cookieOf(), await cookieOf()];
  expect(one).not.toBe(other);
  const stored = JSON.stringify(await database.db.selectFrom('admin_session').selectAll().execute());
  for (const secret of [one, other]) expect(stored).not.toContain(secret.slice('session_'.length));
});

test('a secret that the browser brings along does not become that of the session', async () => {
  const { anonymous, password } = fixture;
  const chosen = `session_${'a'.repeat(43)}`;
  const headers = { Cookie: `jetbridge=${chosen}` };
  const signedIn = await anonymous('POST', '/sign-in', { body: { name: 'admin', password }, headers });
  expect(signedIn.headers.get('set-cookie')).not.toContain(chosen);
  expect((await anonymous('GET', '/session', { headers })).status).toBe(401);
});

test('over HTTPS the cookie of a session has the prefix __Host- and is sent over HTTPS only', async () => {
  const files = await certificateFiles();
  const password = 'a password of this test';
  const service = await startService({
    ...{ TLS_CERT: files.cert, TLS_KEY: files.key, ADMIN_PASSWORD: password },
  });
  await service.makeFirstAdmin();
  const { headers } = await ask(`${service.url}/admin/api/sign-in`, {
    ...{ method: 'POST', ca: files.pem, headers: { 'Content-Type': 'application/json' } },
    body: JSON.stringify({ name: 'admin', password }),
  });
  expect(headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^__Host-jetbridge=session_[\w-]{43}; .*Path=\/; .*HttpOnly; Secure; SameSite=Lax$/,
    ),
  ]);
  await service.close();
  files.remove();
});
