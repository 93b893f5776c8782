import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { type AdminFixture, signInPerson, startAdmin } from '../fixtures/admin.ts';
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
  expect(body).toEqual({ embedded: true, others: [], admins: ['admin@jetbridge.local'] });
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
    ...{ name: 'reports', email: 'admin@jetbridge.local', id: created.id, isReadOnly: false },
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
  const created = await admin('POST', '/travel-api/webhooks', { body: { data: sent } });
  expect(created).toMatchObject({
    status: 201,
    body: { data: { ...sent, disabled: false, secret: expect.stringMatching(/^whsec_/) } },
  });
  const { id, secret, createdAt } = created.body.data;
  const path = `/travel-api/webhooks/${id}`;
  const changed = await admin('PATCH', path, {
    body: { data: { events: null, description: null, disabled: true } },
  });
  expect(changed.body.data).toEqual({ ...{ id, type: 'webhook', createdAt, url: sent.url, disabled: true } });
  const listed = await viewer('GET', '/travel-api/webhooks');
  expect(listed.body.data).toContainEqual({ ...changed.body.data, url: 'https://expenses.example.com/*' });
  expect((await admin('DELETE', path)).status).toBe(200);
  expect((await admin('DELETE', path)).status).toBe(404);
  expect((await admin('PATCH', path, { body: { data: { disabled: false } } })).status).toBe(404);
  const events = await viewer('GET', '/travel-api/events?limit=3&order=desc');
  expect(events.body.data.map(({ kind }: { kind: string }) => kind)).toEqual([
    ...['webhook.deleted', 'webhook.updated', 'webhook.created'],
  ]);
  const audit = await changes();
  expect(audit.slice(0, 5).map(({ status, details }) => [status, details])).toEqual([
    [404, { method: 'PATCH', path: `/webhooks/${id}`, fields: ['disabled'] }],
    [404, { method: 'DELETE', path: `/webhooks/${id}` }],
    [200, { method: 'DELETE', path: `/webhooks/${id}`, id }],
    [200, { method: 'PATCH', path: `/webhooks/${id}`, id, fields: ['events', 'description', 'disabled'] }],
    [201, { method: 'POST', path: '/webhooks', id, fields: ['url', 'events', 'description'] }],
  ]);
  expect(audit[0]).toMatchObject({ actor: 'admin of tests', actorKind: 'token', address: '127.0.0.1' });
  expect(JSON.stringify([listed.body, audit])).not.toContain(secret);
});

/** The entries of changes through the travel API, the newest first. */
async function changes(): Promise<{ status: number; details: object }[]> {
  return (await fixture.viewer('GET', '/audit?action=changeTravelData')).body.entries;
}

test('the audit log has no URL of a webhook, which may be a secret, also if it was refused', async () => {
  const { admin } = fixture;
  const create = (url: string) =>
    admin('POST', '/travel-api/webhooks', { body: { data: { url, disabled: true } } });
  const { id } = (await create('https://127.0.0.1:9/in?token=HUSH&team=1#HUSH')).body.data;
  const path = `/travel-api/webhooks/${id}`;
  const changed = await admin('PATCH', path, { body: { data: { url: 'https://127.0.0.1:9/out?HUSH' } } });
  expect(changed.status).toBe(200);
  for (const url of ['https://ada:HUSH@127.0.0.1:9/in', 'https://x y/?HUSH', 'HUSH:x'])
    expect([url, (await create(url)).status]).toEqual([url, 422]);
  const audit = await changes();
  expect(audit.slice(0, 5).map(({ status }) => status)).toEqual([422, 422, 422, 200, 201]);
  expect(JSON.stringify(audit)).not.toContain('HUSH');
  // The URL itself is what an admin has given.
  const listed = (await admin('GET', '/travel-api/webhooks')).body.data;
  expect(listed).toContainEqual(expect.objectContaining({ url: 'https://127.0.0.1:9/out?HUSH' }));
  await admin('DELETE', path);
});

test('a viewer sees the URL of a webhook without what may be a secret, also in its events', async () => {
  const { admin, viewer } = fixture;
  const data = { url: 'https://127.0.0.1:9/HUSH/in?token=HUSH', disabled: true };
  const { secret: _, ...webhook } = (await admin('POST', '/travel-api/webhooks', { body: { data } })).body
    .data;
  const path = `/travel-api/webhooks/${webhook.id}`;
  await admin('PATCH', path, { body: { data: { url: 'https://127.0.0.1:9/out?HUSH' } } });
  const shown = { ...webhook, url: 'https://127.0.0.1:9/*' };
  const [one, listed] = [await viewer('GET', path), await viewer('GET', '/travel-api/webhooks')];
  expect(one.body.data).toEqual(shown);
  expect(listed.body.data).toContainEqual(shown);
  const query = '/travel-api/events?limit=2&order=desc';
  const events = await viewer('GET', query);
  expect(events.body.data[0]).toMatchObject({
    data: { id: webhook.id, url: 'https://127.0.0.1:9/*' },
    previousAttributes: { url: 'https://127.0.0.1:9/*' },
  });
  const event = await viewer('GET', `/travel-api/events/${events.body.data[0].id}`);
  expect(JSON.stringify([one.body, listed.body, events.body, event.body])).not.toContain('HUSH');
  expect(JSON.stringify((await admin('GET', query)).body)).toContain('in?token=HUSH');
  await admin('DELETE', path);
});

test.each([
  ['GET', '/cost-centers?limit=5'],
  ['GET', '/cost-centers?nosuch=1'],
  ['GET', '/users/nosuch'],
  ['GET', '/nosuch'],
  ['PUT', '/cost-centers'],
  ['POST', '/webhooks', { url: 'https://ada:secret@expenses.example.com' }],
  ['POST', '/webhooks', { url: 'https://a.example', events: ['nosuch'] }],
  ['POST', '/cost-centers', { name: '' }],
])('%s %s is answered as by the travel API itself', async (method, path, ...[data]: object[]) => {
  const same = await travel(method, path, data);
  const answered = await fixture.admin(method, `/travel-api${path}`, data ? { body: { data } } : {});
  const body = JSON.parse(JSON.stringify(answered.body).replaceAll('/admin/api/travel-api', '/api'));
  expect([answered.status, body]).toEqual([same.status, same.body]);
});

test('only admins write, with the token of the page; a refusal is no change', async () => {
  const { anonymous, viewer, service } = fixture;
  const before = await changes();
  const body = { data: { name: 'Nobody' } };
  expect((await anonymous('GET', '/travel-api/cost-centers')).status).toBe(401);
  expect((await anonymous('POST', '/travel-api/cost-centers', { body })).status).toBe(401);
  const refused = await viewer('POST', '/travel-api/cost-centers', { body });
  expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
  const { client, headers } = await signInPerson(service, { name: 'Grace', role: 'admin' });
  const other = { ...headers, 'X-CSRF-Token': 'another' };
  const foreign = await anonymous('POST', '/travel-api/cost-centers', { body, headers: other });
  expect([foreign.status, foreign.body.code]).toEqual([403, 'invalidCsrfToken']);
  expect(await changes()).toEqual(before);
  const made = await client('POST', '/travel-api/cost-centers', { body });
  expect(made.status).toBe(201);
  const { details, ...entry } = (await changes())[0] ?? {};
  expect([entry, details]).toMatchObject([
    { actor: 'Grace (idp.example)', status: 201 },
    { path: '/cost-centers' },
  ]);
  // The request log says who called, also by a session, and leaves out what the page reads.
  await client('GET', '/travel-api/cost-centers');
  await eventually(async () => {
    const { exchanges } = (await viewer('GET', '/exchanges?direction=api&path=/admin&limit=5')).body;
    expect(exchanges[0]).toMatchObject({
      ...{ method: 'POST', path: '/admin/api/travel-api/cost-centers', status: 201 },
      user: 'Grace (idp.example)',
    });
  });
});

test('a webhook is tested, and its deliveries are listed and repeated', async () => {
  const { admin, viewer } = fixture;
  const { port } = receiver.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const made = await travel('POST', '/webhooks', { url, events: ['costCenter.created'] });
  const { id, secret } = made.body.data;
  const path = `/travel-api/webhooks/${id}`;
  expect(JSON.stringify((await viewer('GET', path)).body)).not.toContain(secret);

  receiverStatus = 204;
  expect((await admin('POST', `${path}/test`)).body.data).toMatchObject({ status: 204 });
  receiverStatus = 500;
  const failed = await admin('POST', `${path}/test`);
  expect(failed.body.data).toMatchObject({ status: 500, error: expect.any(String) });

  receiverStatus = 204;
  await travel('POST', '/cost-centers', { name: 'Research' });
  const succeeded = async () => (await viewer('GET', `${path}/deliveries?status=succeeded`)).body.data;
  await eventually(async () => expect(await succeeded()).toHaveLength(1));
  const [delivery] = await succeeded();
  expect(delivery).toMatchObject({ kind: 'costCenter.created', attempts: [{ status: 204 }] });
  const again = await admin('POST', `${path}/deliveries/${delivery.id}/redeliver`);
  expect(again.body.data).toMatchObject({ kind: 'costCenter.created', eventId: delivery.eventId });
  await eventually(async () => expect(await succeeded()).toHaveLength(2));
});

test('the secret of a webhook is renewed and shown once; for a day the one before signs too', async () => {
  const { admin } = fixture;
  const { port } = receiver.address() as AddressInfo;
  receiverStatus = 204;
  const data = { url: `http://127.0.0.1:${port}/` };
  const made = (await admin('POST', '/travel-api/webhooks', { body: { data } })).body.data;
  const path = `/travel-api/webhooks/${made.id}`;
  const renewed = await admin('POST', `${path}/secret`);
  expect(renewed).toMatchObject({
    status: 200,
    body: { data: { secret: expect.stringMatching(/^whsec_/) } },
  });
  const { secret } = renewed.body.data;
  expect(secret).not.toBe(made.secret);
  await admin('POST', `${path}/test`);
  const test = received.findLast(({ body }) => JSON.parse(body).kind === 'webhook.updated');
  for (const one of [made.secret, secret])
    expect(new Webhook(one).verify(test?.body ?? '', test?.headers ?? {})).toMatchObject({
      kind: 'webhook.updated',
    });
  const audit = await changes();
  expect(audit[1]).toMatchObject({
    status: 200,
    details: { method: 'POST', path: `/webhooks/${made.id}/secret`, id: made.id },
  });
  expect(JSON.stringify(audit)).not.toContain(secret);
  expect((await admin('POST', '/travel-api/webhooks/nosuch/secret')).status).toBe(404);
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
  const ofUser = (
    await fixture.viewer('GET', `/exchanges?user=${email}&status=404&path=/api/users&details=true`)
  ).body;
  expect(ofUser.exchanges[0]).toMatchObject({
    ...{ direction: 'api', path: '/api/users/nosuch', response: { body: { isCut: false } } },
  });
  const { status, body } = await fixture.viewer('GET', '/exchanges?user=nobody@jetbridge.local');
  expect([status, body.faults[0].field]).toEqual([422, 'user']);
});

test('sample data that is not there cannot be removed', async () => {
  const { body } = await fixture.viewer('GET', '/travel/sample-data');
  expect(body).toEqual({
    ...{ company: 'Corvanne', domain: 'corvanne.example', isPresent: false, users: 200, trips: 500 },
  });
  const removal = await fixture.admin('DELETE', '/travel/sample-data');
  expect([removal.status, removal.body.message]).toEqual([404, 'Corvanne is not in the travel service.']);
});
