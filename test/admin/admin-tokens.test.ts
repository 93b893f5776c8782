import {
  type AdminClient,
  type AdminFixture,
  adminClient,
  signInPerson,
  startAdmin,
} from '../fixtures/admin.ts';

const DAY_MS = 24 * 60 * 60_000;

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

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

test('the list shows who made a token, and a token that another token made has the same maker', async () => {
  const { client } = await signInPerson(fixture.service, { name: 'Ada', role: 'admin' });
  const script = await scriptOf(client, { name: 'deployment', role: 'admin' });
  await scriptOf(script, { name: 'made by a script', role: 'viewer' });
  const maker = 'Ada (idp.example)';
  expect(await listed('deployment')).toMatchObject({ maker, expiresAt: expect.any(String) });
  expect(await listed('made by a script')).toMatchObject({ maker });
  expect(await listed('admin of tests')).toMatchObject({ maker: 'admin' });
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
  expect(body.paths['/admin/api/admin-tokens'].post['x-recorded']).toBe(true);
  expect(body.paths['/admin/api/admin-tokens'].get['x-recorded']).toBeUndefined();
});
