import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { eventually } from '../fixtures/eventually.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

// Webhooks may lead to this machine.
const settings = writeSettingsFile({ travelService: { webhooks: { allowPrivate: true } } });
let fixture: AdminFixture;
let apiKey: string;
/** The statuses that the receiver of the webhook answers with. */
let receiverStatus = 204;
/** The last request that the receiver got. */
/** The deliveries, in the order of their arrival: those of events come in the background. */
const received: { body: string; headers: Record<string, string> }[] = [];
const receiver = createServer(async (request, response) => {
  // The headers that are looked at occur once.
  received.push({ body: await text(request), headers: request.headers as Record<string, string> });
  response.writeHead(receiverStatus).end();
});
beforeAll(async () => {
  fixture = await startAdmin({ JETBRIDGE_CONFIG: settings.path });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const created = await createKey();
  apiKey = created.body.key;
});
afterAll(async () => {
  receiver.close();
  await fixture.close();
  settings.remove();
});

function createKey(body: object = {}) {
  return fixture.admin('POST', '/travel/api-keys', {
    body: { name: 'expenses', email: 'admin@jetbridge.local', ...body },
  });
}

/** Calls the travel API with the key. */
async function travel(method: string, path: string, data?: object, key = apiKey) {
  const response = await fetch(`${fixture.service.url}/api${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(data && { body: JSON.stringify({ data }) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

test('the travel service says that it is embedded, and which admins a key can belong to', async () => {
  const { body } = await fixture.viewer('GET', '/travel');
  expect(body).toMatchObject({ embedded: true, others: [], admins: ['admin@jetbridge.local'] });
  expect(body.eventKinds).toContain('user.created');
});

test('a created API key calls the travel API until it is revoked; its value is in no list and in no audit entry', async () => {
  const { status, body: created } = await createKey({ name: 'reports' });
  expect(status).toBe(200);
  expect((await travel('GET', '/whoami', undefined, created.key)).status).toBe(200);
  const listed = await fixture.viewer('GET', '/travel/api-keys');
  expect(listed.body.keys).toContainEqual(
    expect.objectContaining({ id: created.id, name: 'reports', email: 'admin@jetbridge.local' }),
  );
  expect((await fixture.admin('DELETE', `/travel/api-keys/${created.id}`)).status).toBe(204);
  expect((await travel('GET', '/whoami', undefined, created.key)).status).toBe(401);
  expect((await fixture.admin('DELETE', `/travel/api-keys/${created.id}`)).status).toBe(404);
  const audit = await fixture.viewer('GET', '/audit?action=createTravelApiKey');
  expect(audit.body.entries[0].details).toEqual({
    ...{ name: 'reports', email: 'admin@jetbridge.local', id: created.id },
  });
  expect(JSON.stringify([listed.body, audit.body])).not.toContain(created.key);
});

test('a key for an address without an admin is refused with the reason', async () => {
  const unknown = await createKey({ email: 'nobody@corp.example' });
  expect([unknown.status, unknown.body.code]).toEqual([404, 'notFound']);
  await travel('POST', '/users', { email: 'eve@corp.example', firstName: 'Eve', lastName: 'X' });
  const noAdmin = await createKey({ email: 'eve@corp.example' });
  expect([noAdmin.status, noAdmin.body.message]).toEqual([
    409,
    'The user eve@corp.example has not the role admin.',
  ]);
});

test('a webhook is created with a secret that is shown once, changed and deleted', async () => {
  const { admin, viewer } = fixture;
  const sent = {
    url: 'https://expenses.example.com/hook',
    events: ['user.created'],
    description: 'Expenses',
  };
  const created = await admin('POST', '/travel/webhooks', { body: sent });
  expect(created.body).toMatchObject({
    webhook: { ...sent, disabled: false },
    secret: expect.stringMatching(/^whsec_/),
  });
  const { webhook, secret } = created.body;
  const path = `/travel/webhooks/${webhook.id}`;
  const changed = await admin('PATCH', path, { body: { events: null, description: null, disabled: true } });
  expect(changed.body).toEqual({
    ...{ id: webhook.id, createdAt: webhook.createdAt, url: sent.url, disabled: true },
  });
  const listed = await viewer('GET', '/travel/webhooks');
  expect(listed.body.webhooks).toContainEqual({ ...changed.body, url: 'https://expenses.example.com/*' });
  expect((await admin('DELETE', path)).status).toBe(204);
  expect((await admin('DELETE', path)).status).toBe(404);
  expect((await admin('PATCH', path, { body: { disabled: false } })).status).toBe(404);
  const events = await viewer('GET', '/travel/events?limit=3');
  expect(events.body.events.map(({ kind }: { kind: string }) => kind)).toEqual([
    ...['webhook.deleted', 'webhook.updated', 'webhook.created'],
  ]);
  const audit = await viewer('GET', '/audit?action=createTravelWebhook');
  expect(audit.body.entries[0].details).toEqual({
    ...{ ...sent, id: webhook.id, url: 'https://expenses.example.com/*' },
  });
  expect(JSON.stringify([listed.body, audit.body])).not.toContain(secret);
});

test('the audit log has the URL of a webhook without what may be a secret, also if it was refused', async () => {
  const { admin, viewer } = fixture;
  const create = (url: string) => admin('POST', '/travel/webhooks', { body: { url, disabled: true } });
  const { webhook } = (await create('https://127.0.0.1:9/in?token=HUSH&team=1#HUSH')).body;
  const path = `/travel/webhooks/${webhook.id}`;
  expect((await admin('PATCH', path, { body: { url: 'https://127.0.0.1:9/out?HUSH' } })).status).toBe(200);
  for (const url of [
    'https://ada:HUSH@127.0.0.1:9/in',
    'http:HUSH@127.0.0.1:9',
    'https://x y/?HUSH',
    'HUSH:x',
  ])
    expect([url, (await create(url)).status]).toEqual([url, 422]);
  const entries = async (action: string): Promise<{ details: object }[]> =>
    (await viewer('GET', `/audit?action=${action}&limit=5`)).body.entries;
  const [updated, created] = [await entries('updateTravelWebhook'), await entries('createTravelWebhook')];
  expect(updated[0]?.details).toMatchObject({ url: 'https://127.0.0.1:9/*' });
  expect(created.map(({ details }) => details)).toEqual([
    { url: '*', disabled: true },
    { url: '*', disabled: true },
    { url: 'http://*@127.0.0.1:9/', disabled: true },
    { url: 'https://*@127.0.0.1:9/*', disabled: true },
    { url: 'https://127.0.0.1:9/*', disabled: true, id: webhook.id },
  ]);
  // The URL itself is what an admin has given.
  const listed = (await admin('GET', '/travel/webhooks')).body.webhooks;
  expect(listed).toContainEqual(expect.objectContaining({ url: 'https://127.0.0.1:9/out?HUSH' }));
  await admin('DELETE', path);
});

test('a viewer sees the URL of a webhook without what may be a secret, also in its events', async () => {
  const { admin, viewer } = fixture;
  const body = { url: 'https://127.0.0.1:9/HUSH/in?token=HUSH', disabled: true };
  const { webhook } = (await admin('POST', '/travel/webhooks', { body })).body;
  const path = `/travel/webhooks/${webhook.id}`;
  await admin('PATCH', path, { body: { url: 'https://127.0.0.1:9/out?HUSH' } });
  const [listed, events] = [await viewer('GET', '/travel/webhooks'), await viewer('GET', '/travel/events')];
  expect(listed.body.webhooks).toContainEqual({ ...webhook, url: 'https://127.0.0.1:9/*' });
  expect(events.body.events[0]).toMatchObject({
    data: { id: webhook.id, url: 'https://127.0.0.1:9/*' },
    previousAttributes: { url: 'https://127.0.0.1:9/*' },
  });
  expect(JSON.stringify([listed.body, events.body])).not.toContain('HUSH');
  expect(JSON.stringify((await admin('GET', '/travel/events')).body)).toContain('in?token=HUSH');
  await admin('DELETE', path);
});

test.each([
  ['an address that is no URL', { url: 'expenses' }, 'url'],
  ['a URL with credentials', { url: 'https://ada:secret@expenses.example.com' }, 'url'],
  ['an unknown kind of event', { url: 'https://a.example', events: ['nosuch'] }, 'events.0'],
  ['a list without a kind', { url: 'https://a.example', events: [] }, 'events'],
])('a webhook with %s is refused with the check of the travel API', async (_title, body, field) => {
  const refused = await fixture.admin('POST', '/travel/webhooks', { body });
  const [fault] = refused.body.faults;
  expect([refused.status, fault.field]).toEqual([422, field]);
  const same = await travel('POST', '/webhooks', body);
  expect(same.body.invalid[0]).toMatchObject({ field, message: `"${field}" ${fault.message}` });
});

test('a webhook is tested, and its deliveries are listed and repeated', async () => {
  const { port } = receiver.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const made = await travel('POST', '/webhooks', { url, events: ['costCenter.created'] });
  expect(made.status).toBe(201);
  const { id, secret } = made.body.data;
  const listed = await fixture.viewer('GET', '/travel/webhooks');
  expect(listed.body.webhooks).toMatchObject([{ id, url, disabled: false, events: ['costCenter.created'] }]);
  expect(JSON.stringify(listed.body)).not.toContain(secret);

  receiverStatus = 204;
  expect((await fixture.admin('POST', `/travel/webhooks/${id}/test`)).body).toMatchObject({ status: 204 });
  receiverStatus = 500;
  const failed = await fixture.admin('POST', `/travel/webhooks/${id}/test`);
  expect(failed.body).toMatchObject({ status: 500, error: expect.any(String) });

  receiverStatus = 204;
  await travel('POST', '/cost-centers', { name: 'Research' });
  const deliveries = (query = '') => fixture.viewer('GET', `/travel/webhooks/${id}/deliveries${query}`);
  await eventually(async () =>
    expect((await deliveries('?status=succeeded')).body.deliveries).toHaveLength(1),
  );
  const [delivery] = (await deliveries()).body.deliveries;
  expect(delivery).toMatchObject({ kind: 'costCenter.created', attempts: [{ status: 204 }] });
  const again = await fixture.admin('POST', `/travel/webhooks/${id}/deliveries/${delivery.id}/redeliver`);
  expect(again.body).toMatchObject({ kind: 'costCenter.created', eventId: delivery.eventId });
  await eventually(async () =>
    expect((await deliveries('?status=succeeded')).body.deliveries).toHaveLength(2),
  );
  const first = await deliveries('?limit=1');
  expect(first.body.deliveries).toMatchObject([{ id: again.body.id }]);
  const second = await deliveries(`?limit=1&after=${first.body.next}`);
  expect(second.body.deliveries).toMatchObject([{ id: delivery.id }]);
  expect((await deliveries('?after=nonsense')).status).toBe(422);
  expect((await fixture.viewer('GET', '/travel/webhooks/nosuch/deliveries')).status).toBe(404);
});

test('the secret of a webhook is renewed and shown once; for a day the one before signs too', async () => {
  const { admin, viewer } = fixture;
  const { port } = receiver.address() as AddressInfo;
  receiverStatus = 204;
  const made = await admin('POST', '/travel/webhooks', { body: { url: `http://127.0.0.1:${port}/` } });
  const path = `/travel/webhooks/${made.body.webhook.id}`;
  const renewed = await admin('POST', `${path}/secret`);
  expect(renewed).toMatchObject({ status: 200, body: { secret: expect.stringMatching(/^whsec_/) } });
  expect(renewed.body.secret).not.toBe(made.body.secret);
  await admin('POST', `${path}/test`);
  const test = received.findLast(({ body }) => JSON.parse(body).kind === 'webhook.updated');
  for (const secret of [made.body.secret, renewed.body.secret])
    expect(new Webhook(secret).verify(test?.body ?? '', test?.headers ?? {})).toMatchObject({
      kind: 'webhook.updated',
    });
  const audit = await viewer('GET', '/audit?action=renewTravelWebhookSecret');
  expect(audit.body.entries).toMatchObject([{ status: 200, details: { id: made.body.webhook.id } }]);
  expect(JSON.stringify(audit.body)).not.toContain(renewed.body.secret);
  expect((await admin('POST', '/travel/webhooks/nosuch/secret')).status).toBe(404);
  await admin('DELETE', path);
});

test('requests to the travel API are listed with the email address of the caller, and failed ones alone', async () => {
  const email = 'admin@jetbridge.local';
  await travel('GET', '/users/nosuch');
  const failed = 'direction=api&status=failed&path=/api/users';
  await eventually(async () => {
    const { body } = await fixture.viewer('GET', `/exchanges?${failed}`);
    expect(body.exchanges[0]).toMatchObject({
      ...{ method: 'GET', path: '/api/users/nosuch', status: 404, user: email },
    });
  });
  const ofUser = (await fixture.viewer('GET', `/exchanges?user=${email}&status=404&details=true`)).body;
  expect(ofUser.exchanges[0]).toMatchObject({
    ...{ direction: 'api', path: '/api/users/nosuch', response: { body: { isCut: false } } },
  });
  const { status, body } = await fixture.viewer('GET', '/exchanges?user=nobody@jetbridge.local');
  expect([status, body.faults[0].field]).toEqual([422, 'user']);
});

test('events are listed, the newest first', async () => {
  await travel('POST', '/cost-centers', { name: 'Apollo' });
  const { body } = await fixture.viewer('GET', '/travel/events?limit=1');
  expect(body).toMatchObject({
    events: [{ kind: 'costCenter.created', data: { name: 'Apollo' } }],
    next: expect.any(String),
  });
});
