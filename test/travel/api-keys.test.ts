import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { apiKeyAuthenticator, createApiKey, listApiKeys } from '../../src/travel/authentication/api-keys.ts';
import type { ApiKeys } from '../../src/travel/ports.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type Fixture, NOON, openFixture } from '../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const deps = () => ({
  keys: fixture.keys,
  reader: fixture.runtime.store,
  now: fixture.runtime.now,
  newId: randomUUID,
});
const statusOf = async (key: string) =>
  (await request(fixture.app).get('/api/whoami').set('Authorization', `Bearer ${key}`)).status;

test('an API key is created for an existing admin, whose email is compared without case', async () => {
  const { id: userId } = await fixture.make('/users', { email: 'Ada@corp.example', roles: ['admin'] });
  const { id, key } = await createApiKey(deps(), { email: 'ADA@corp.example', name: 'reports' });
  expect(await statusOf(key)).toBe(200);
  const listed = (await listApiKeys(deps())).find((one) => one.id === id);
  expect(listed).toMatchObject({ id, name: 'reports', userId, email: 'Ada@corp.example', createdAt: NOON });
  expect(JSON.stringify(listed)).not.toContain(key);
});

test.each<[string, object, string]>([
  [
    'nobody',
    { email: 'other@corp.example' },
    'No user of the travel service has the address ada@corp.example.',
  ],
  [
    'who is no admin',
    { email: 'ada@corp.example', roles: ['authAdmin'] },
    'The user ada@corp.example has not the role admin.',
  ],
  [
    'who is archived',
    { email: 'ada@corp.example', roles: ['admin'], archived: true },
    'The user ada@corp.example is archived.',
  ],
])('no API key is created for %s', async (_title, user, message) => {
  await fixture.make('/users', { ...user });
  const before = await fixture.keys.list();
  await expect(createApiKey(deps(), { email: 'ada@corp.example', name: 'x' })).rejects.toThrow(message);
  expect(await fixture.keys.list()).toEqual(before);
});

test('a revoked API key is refused from then on; other keys stay valid', async () => {
  const { id, key } = await createApiKey(deps(), { email: 'admin@jetbridge.local', name: 'x' });
  expect(await fixture.keys.revoke(id, NOON)).toBe(true);
  expect(await statusOf(key)).toBe(401);
  expect(await statusOf(fixture.key)).toBe(200);
});

test('a key that can only read is 403 for every change, which then has no effect', async () => {
  const about = { email: 'admin@jetbridge.local', name: 'reports', isReadOnly: true };
  const { id, key } = await createApiKey(deps(), about);
  expect((await listApiKeys(deps())).find((one) => one.id === id)).toMatchObject({ isReadOnly: true });
  expect(await statusOf(key)).toBe(200);
  const webhook = await fixture.make('/webhooks', { url: 'https://example.com' });
  const before = await fixture.dump();
  for (const [method, path] of [
    ['post', '/cost-centers'],
    ['patch', `/users/${fixture.admin}`],
    ['put', `/webhooks/${webhook.id}`],
    ['delete', `/webhooks/${webhook.id}`],
    ['post', `/webhooks/${webhook.id}/test`],
  ] as const) {
    const answer = await fixture
      .send(method, path, { data: { name: 'x' } })
      .set('Authorization', `Bearer ${key}`);
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
  }
  expect(await fixture.dump()).toBe(before);
});

test('deleting a user deletes their API keys', async () => {
  const { id: userId } = await fixture.make('/users', { email: 'ada@corp.example', roles: ['admin'] });
  const { id, key } = await createApiKey(deps(), { email: 'ada@corp.example', name: 'x' });
  expect((await fixture.send('delete', `/users/${userId}`)).status).toBe(200);
  expect(await statusOf(key)).toBe(401);
  expect((await fixture.keys.list()).map((one) => one.id)).not.toContain(id);
});

describe('the time of the last use of a key', () => {
  const lastUsed = async () => (await fixture.keys.list())[0]?.lastUsedAt;

  it('is written after the response, at most once a minute', async () => {
    expect(await lastUsed()).toBeUndefined();
    await statusOf(fixture.key);
    await eventually(async () => expect(await lastUsed()).toBe(NOON));
    fixture.advanceClock(59_999);
    await statusOf(fixture.key);
    fixture.advanceClock(1);
    await statusOf(fixture.key);
    await eventually(async () => expect(await lastUsed()).toBe(NOON + 60_000));
  });

  it('is written once for many concurrent requests', async () => {
    const written: number[] = [];
    const counted: ApiKeys = {
      ...fixture.keys,
      recordUse: async (_id, at) => {
        written.push(at);
      },
    };
    const admit = apiKeyAuthenticator({ keys: counted, now: () => NOON, log: { error: () => {} } });
    const admissions = await Promise.all([1, 2, 3, 4].map(() => admit(fixture.key)));
    expect(written).toEqual([]);
    for (const admission of admissions) admission?.onResponseClosed?.();
    expect(written).toEqual([NOON]);
  });

  it('is logged as an error if it cannot be written, and the request succeeds', async () => {
    const failing: ApiKeys = {
      ...fixture.keys,
      recordUse: async () => Promise.reject(new Error('disk on fire')),
    };
    const logged: string[] = [];
    const log = { error: (_fields: object, message: string) => logged.push(message) };
    const admission = await apiKeyAuthenticator({ keys: failing, now: () => NOON, log })(fixture.key);
    admission?.onResponseClosed?.();
    await eventually(async () => expect(logged).toEqual(['the last use of an API key could not be saved']));
    expect(admission).toMatchObject({
      userId: fixture.admin,
      credential: expect.stringMatching(/^apiKey:[\w-]+$/),
    });
  });
});
