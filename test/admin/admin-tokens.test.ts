import { revokeAdmin } from '../../src/cli/admins.ts';
import {
  type AdminClient,
  type AdminFixture,
  adminClient,
  earlierToken,
  signIn,
  startAdmin,
} from '../fixtures/admin.ts';
import { recordedShell } from '../fixtures/shell.ts';

const DAY_MS = 24 * 60 * 60_000;

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

/** Creates an account with the role admin, and returns its id and its browser. */
async function newAdmin(name: string): Promise<{ id: string; browser: AdminClient }> {
  const { admin, anonymous } = fixture;
  const { body } = await admin('POST', '/accounts', { body: { name, role: 'admin' } });
  return { id: body.id, browser: await signIn(anonymous, name, body.password) };
}

/** Creates a token, and returns the client of a script that has it. */
async function scriptOf(maker: AdminClient, body: object): Promise<AdminClient> {
  const made = await maker('POST', '/admin-tokens', { body });
  expect(made.status).toBe(200);
  return adminClient(fixture.service.url, { Authorization: `Bearer ${made.body.token}` });
}

async function listed(name: string) {
  const { tokens } = (await fixture.viewer('GET', '/admin-tokens')).body;
  return tokens.find((token: { name: string }) => token.name === name);
}

test('a new token ends after 90 days unless a shorter or longer time is given, and after a year at most', async () => {
  const { admin } = fixture;
  const days = async (given: object) => {
    const name = `ends ${JSON.stringify(given)}`;
    const { status } = await admin('POST', '/admin-tokens', { body: { name, role: 'viewer', ...given } });
    if (status !== 200) return status;
    const { createdAt, expiresAt } = await listed(name);
    return `${(Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS} days`;
  };
  expect(await days({})).toBe('90 days');
  expect(await days({ days: 7 })).toBe('7 days');
  expect(await days({ days: 365 })).toBe('365 days');
  expect(await days({ days: 366 })).toBe(422);
  expect(await days({ days: null })).toBe(422);
});

test('the list shows who made a token, and a token that another token made belongs to the same account', async () => {
  const ada = await newAdmin('Ada');
  const script = await scriptOf(ada.browser, { name: 'deployment', role: 'admin' });
  await scriptOf(script, { name: 'made by a script', role: 'viewer' });
  const maker = { id: ada.id, name: 'Ada' };
  expect(await listed('deployment')).toMatchObject({ maker, expiresAt: expect.any(String) });
  expect(await listed('made by a script')).toMatchObject({ maker });
});

test('revoking an account revokes the tokens that it made, directly or by a token, and no others', async () => {
  const [joan, other] = [await newAdmin('Joan'), await newAdmin('Joan Clarke')];
  const script = await scriptOf(joan.browser, { name: 'of Joan', role: 'admin' });
  const second = await scriptOf(script, { name: 'of the script of Joan', role: 'viewer' });
  const stays = await scriptOf(other.browser, { name: 'of the other Joan', role: 'viewer' });
  const statuses = async () =>
    Promise.all([script, second, stays].map(async (one) => (await one('GET', '/session')).status));
  expect(await statuses()).toEqual([200, 200, 200]);
  expect((await fixture.admin('DELETE', `/accounts/${joan.id}`)).status).toBe(204);
  expect(await statuses()).toEqual([401, 401, 200]);
  expect(await listed('of Joan')).toMatchObject({ revokedAt: expect.any(String) });
  const { entries } = (await fixture.viewer('GET', '/audit?action=revokeAccount&limit=1')).body;
  expect(entries[0].details).toMatchObject({ name: 'Joan', tokens: ['of Joan', 'of the script of Joan'] });
});

test('the command that revokes an account revokes its tokens as well', async () => {
  const mary = await newAdmin('Mary');
  const script = await scriptOf(mary.browser, { name: 'of Mary', role: 'viewer' });
  expect(await revokeAdmin(await recordedShell({ JETBRIDGE_DATA: fixture.service.data }), 'mary')).toBe(0);
  expect((await script('GET', '/session')).status).toBe(401);
});

test('a token may do no more than its maker may at present', async () => {
  const vera = await newAdmin('Vera');
  const script = await scriptOf(vera.browser, { name: 'of Vera', role: 'admin' });
  const role = async () => (await script('GET', '/session')).body.role;
  expect(await role()).toBe('admin');
  await fixture.admin('PATCH', `/accounts/${vera.id}`, { body: { role: 'viewer' } });
  expect([await role(), (await listed('of Vera')).role]).toEqual(['viewer', 'viewer']);
  expect((await script('POST', '/accounts', { body: { name: 'X', role: 'viewer' } })).status).toBe(403);
  await fixture.admin('PATCH', `/accounts/${vera.id}`, { body: { role: 'admin' } });
  expect(await role()).toBe('admin');
});

test('a token without an end and without a known maker, from an earlier version, still works', async () => {
  const script = await earlierToken(fixture.service, 'old');
  expect((await script('GET', '/session')).body).toMatchObject({ name: 'old', role: 'admin' });
  const found = await listed('old');
  expect([found.maker, found.expiresAt]).toEqual([undefined, undefined]);
});
