import { eventually } from '../../fixtures/eventually.ts';
import { type ScimClient, scimClient } from '../../fixtures/scim-client.ts';
import { type RunningService, startService } from '../../fixtures/service.ts';
import { openFixture } from '../../fixtures/travel.ts';

test('1. every API call is executed on behalf of the admin user to whom the credential is attached', async () => {
  const fixture = await openFixture();
  const { id } = await fixture.make('/users', { email: 'ada@example.com', roles: ['admin'] });
  const key = await fixture.keyFor(id);
  // A caller may not delete themselves, so another admin calls.
  const asAda = (userId: string) =>
    fixture.send('delete', `/users/${userId}`).set('Authorization', `Bearer ${key}`);
  expect((await asAda(id)).status).toBe(403);
  expect((await asAda(fixture.admin)).status).toBe(200);
  expect((await fixture.send('get', '/whoami')).status).toBe(401);
  await fixture.close();
});

describe('SCIM', () => {
  let service: RunningService;
  let scim: ScimClient;
  beforeEach(async () => {
    service = await startService();
    scim = scimClient(service.url, service.scimToken);
  });
  afterEach(() => service.close());

  const ada = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'ada@corp.example',
    emails: [{ value: 'ada@corp.example', type: 'work' }],
    name: { givenName: 'Ada', familyName: 'King' },
    title: 'Analyst',
    nickName: 'Countess',
  };

  const api = async (method: string, path: string, data?: object) => {
    const headers = { Authorization: `Bearer ${service.travelApiKey}`, 'Content-Type': 'application/json' };
    const body = data === undefined ? {} : { body: JSON.stringify({ data }) };
    return JSON.parse(await (await fetch(`${service.url}/api${path}`, { method, headers, ...body })).text());
  };
  const traveler = async () => (await api('GET', '/users?emails=ada@corp.example')).data[0];
  /** Waits until the travel service reflects a SCIM response. */
  const becomes = (expected: object) =>
    eventually(async () => expect(await traveler()).toMatchObject(expected));
  const join = async () => (await scim.send('POST', '/Users', ada)).body.id;
  const replace = (path: string, value: unknown) => ({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path, value }],
  });

  test('the identity provider is the source of truth and initiates all changes', async () => {
    const id = await join();
    await becomes({ firstName: 'Ada' });
    const { id: travelId } = await traveler();
    await api('PATCH', `/users/${travelId}`, { firstName: 'Eve' });
    await scim.send('PATCH', `/Users/${id}`, replace('name.givenName', 'Augusta'));
    await becomes({ id: travelId, firstName: 'Augusta' });
  });

  test('`POST /Users` creates a user', async () => {
    const { status, body } = await scim.send('POST', '/Users', ada);
    expect([status, body.userName]).toEqual([201, 'ada@corp.example']);
    await becomes({ email: 'ada@corp.example', firstName: 'Ada', lastName: 'King', archived: false });
    expect((await fetch(`${service.url}/scim/v2/Users`)).status).toBe(401);
  });

  test('`PATCH /Users/{id}` updates a user', async () => {
    const id = await join();
    const { status } = await scim.send('PATCH', `/Users/${id}`, replace('name.familyName', 'Lovelace'));
    expect(status).toBe(200);
    await becomes({ firstName: 'Ada', lastName: 'Lovelace' });
  });

  test('a deactivation patch or `DELETE /Users/{id}` removes access', async () => {
    const id = await join();
    expect((await scim.send('PATCH', `/Users/${id}`, replace('active', false))).status).toBe(200);
    await becomes({ archived: true });
    await scim.send('PATCH', `/Users/${id}`, replace('active', true));
    await becomes({ archived: false });
    expect((await scim.send('DELETE', `/Users/${id}`)).status).toBe(204);
    await becomes({ archived: true });
    expect((await scim.send('GET', `/Users/${id}`)).status).toBe(404);
  });

  test('`POST`, `PATCH` and `DELETE` on `/Groups` are implemented, and have no effect', async () => {
    const id = await join();
    await becomes({ archived: false });
    const before = await api('GET', '/users');
    const events = (await api('GET', '/events')).meta.total;
    const group = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Staff' };
    const made = await scim.send('POST', '/Groups', { ...group, members: [{ value: id }] });
    expect(made.status).toBe(201);
    const path = `/Groups/${made.body.id}`;
    expect((await scim.send('PATCH', path, replace('displayName', 'Team'))).status).toBe(200);
    expect((await scim.send('DELETE', path)).status).toBe(204);
    expect(await api('GET', '/users')).toEqual(before);
    expect((await api('GET', '/events')).meta.total).toBe(events);
  });

  test('bulk operations and `/Me` endpoints are unsupported', async () => {
    for (const [method, path] of [
      ['POST', '/Bulk'],
      ['GET', '/Me'],
      ['PATCH', '/Me'],
    ] as const) {
      const { status } = await scim.send(method, path, method === 'GET' ? undefined : {});
      expect([path, status]).toEqual([path, 501]);
    }
    const { body } = await scim.send('GET', '/ServiceProviderConfig');
    expect(body.bulk.supported).toBe(false);
  });

  test('attributes a SCIM provider sends can be mapped to user attributes or custom fields with the scimUserMapping resource', async () => {
    const field = { dataType: 'text', name: 'Job title', resourceType: 'user' };
    const { data } = await api('POST', '/custom-fields', field);
    await api('POST', '/scim-user-mappings', { scimAttribute: 'title', customFieldId: data.id });
    await api('POST', '/scim-user-mappings', { scimAttribute: 'nickName', userAttribute: 'firstName' });
    await join();
    await becomes({
      customFields: [{ customFieldId: data.id, name: 'Job title', values: [{ data: 'Analyst' }] }],
      firstName: 'Countess',
    });
  });
});
