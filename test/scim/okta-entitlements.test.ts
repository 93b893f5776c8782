import { type Json, type JsonObject, urns } from '../../src/schema/resource.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

const listUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

let service: RunningService;
let send: ScimClient['send'];

beforeAll(async () => {
  service = await startService();
  send = scimClient(service.url, service.scimToken).send;
});

afterAll(() => service.close());

/** Calls the travel API with the key of an admin, and returns the resource in its answer. */
async function travel(method: string, path: string, data?: JsonObject): Promise<JsonObject> {
  const headers = {
    Authorization: `Bearer ${service.travelApiKey}`,
    ...(data ? { 'Content-Type': 'application/json' } : {}),
  };
  const body = data ? JSON.stringify({ data }) : null;
  const response = await fetch(`${service.url}/api${path}`, { method, headers, body });
  expect({ path, isOk: response.ok }).toEqual({ path, isOk: true });
  return JSON.parse(await response.text()).data;
}

describe("the questions of Okta's entitlement test", () => {
  let status: number;
  let body: JsonObject;

  beforeAll(async () => {
    // Okta finds the endpoint by the URN of its schema.
    const { Resources: types } = (await send('GET', '/ResourceTypes')).body;
    const { endpoint } = types.find(({ schema }: JsonObject) => schema === urns.role);
    ({ status, body } = await send('GET', `${endpoint}?count=1&startIndex=1`));
  });

  test('the status is 200', () => expect(status).toBe(200));
  test('the body is a ListResponse', () => expect(body['schemas']).toEqual([listUrn]));
  test('Resources is not empty', () => expect(body['Resources']).toHaveLength(1));
  test('startIndex is a number', () => expect(body['startIndex']).toBe(1));
  test('totalResults is a number', () => expect(body['totalResults']).toBe(6));
  test('itemsPerPage is 1', () => expect(body['itemsPerPage']).toBe(1));
});

describe('/Roles', () => {
  const ids = async (query = ''): Promise<Json[]> => {
    const { body } = await send('GET', `/Roles${query}`);
    return body.Resources.map(({ id }: JsonObject) => id);
  };
  const filtered = (filter: string) => `?filter=${encodeURIComponent(filter)}`;

  test('lists the roles that the mapping lets the identity provider give, with names in words', async () => {
    const { body } = await send('GET', '/Roles');
    const listed = body.Resources.map(({ id, displayName }: JsonObject) => [id, displayName]);
    expect(listed).toEqual([
      ['accountant', 'Accountant'],
      ['guest', 'Guest'],
      ['guestCreator', 'Guest creator'],
      ['manager', 'Manager'],
      ['organizer', 'Organizer'],
      ['premium', 'Premium'],
    ]);
  });

  test('a role is read by its id, at the URL in its meta.location', async () => {
    const { status, headers, body } = await send('GET', '/Roles/premium');
    const location = `${service.url}/scim/v2/Roles/premium`;
    expect([status, headers.get('content-location')]).toEqual([200, location]);
    expect(body).toEqual({
      schemas: [urns.role],
      id: 'premium',
      displayName: 'Premium',
      meta: { resourceType: 'Role', location },
    });
    expect((await send('GET', '/Roles/premium?attributes=displayName')).body).toEqual({
      schemas: [urns.role],
      id: 'premium',
      displayName: 'Premium',
    });
  });

  test.each(['nothing', 'PREMIUM', 'admin'])(
    'a GET of %s is 404, since no such role can be given',
    async (id) => {
      const { status, body } = await send('GET', `/Roles/${id}`);
      expect([status, body.status]).toEqual([404, '404']);
    },
  );

  test('lists have pages by index and by cursor', async () => {
    expect(await ids('?startIndex=5&count=5')).toEqual(['organizer', 'premium']);
    expect(await ids('?startIndex=7')).toEqual([]);
    const first = (await send('GET', '/Roles?cursor=&count=4')).body;
    expect(first.Resources.map(({ id }: JsonObject) => id).at(-1)).toBe('manager');
    const second = (await send('GET', `/Roles?count=4&cursor=${first.nextCursor}`)).body;
    expect(second.Resources.map(({ id }: JsonObject) => id)).toEqual(['organizer', 'premium']);
    expect([second.totalResults, second.nextCursor]).toEqual([6, undefined]);
  });

  test('lists have filters, in the URL and in a search', async () => {
    expect(await ids(filtered('displayName eq "guest CREATOR"'))).toEqual(['guestCreator']);
    expect(await ids(filtered('id eq "Premium"'))).toEqual([]);
    const searchRequest = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';
    const search = { schemas: [searchRequest], filter: 'displayName sw "guest"', attributes: ['id'] };
    const { body } = await send('POST', '/Roles/.search', search);
    expect(body.Resources).toEqual(['guest', 'guestCreator'].map((id) => ({ schemas: [urns.role], id })));
    expect((await send('GET', `/Roles${filtered('userName pr')}`)).body).toMatchObject({
      status: '400',
      scimType: 'invalidFilter',
    });
  });

  test.each([
    ['POST', '/Roles'],
    ['PUT', '/Roles/premium'],
    ['PATCH', '/Roles/premium'],
    ['DELETE', '/Roles/premium'],
  ])('%s %s is 405, because roles are only read', async (method, path) => {
    const { status, headers } = await send(
      method,
      path,
      method === 'DELETE' ? undefined : { displayName: 'x' },
    );
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('roles of users', () => {
  const user = (name: string, roles: Json): JsonObject => ({
    schemas: [urns.user],
    userName: `${name}@corp.example`,
    name: { givenName: 'Kim', familyName: 'Doe' },
    emails: [{ value: `${name}@corp.example`, type: 'work', primary: true }],
    active: true,
    roles,
  });
  /** The roles of a traveler, whose order has no meaning. */
  const rolesOf = async (travelId: string) => {
    const { roles = [] } = await travel('GET', `/users/${travelId}`);
    return [roles].flat().sort();
  };

  test('the ids of roles give the traveler these roles, and a PUT without one takes it away', async () => {
    const given = [
      { value: 'premium', display: 'Premium' },
      { value: 'guestCreator', display: 'Guest creator' },
    ];
    const { body } = await send('POST', '/Users', user('entitled', given));
    const { travelUserId } = body[urns.travel];
    expect(await rolesOf(travelUserId)).toEqual(['guestCreator', 'premium']);
    await send('PUT', `/Users/${body.id}`, user('entitled', given.slice(0, 1)));
    expect(await rolesOf(travelUserId)).toEqual(['premium']);
  });

  test('a traveler with roles of the travel service, which Okta has read, gets those of Okta as well', async () => {
    const traveler = await travel('POST', '/users', {
      ...{ email: 'known@corp.example', firstName: 'Known', lastName: 'Doe', roles: ['manager'] },
    });
    const filter = encodeURIComponent('userName eq "known@corp.example"');
    const [read] = (await send('GET', `/Users?filter=${filter}`)).body.Resources;
    const { status } = await send('PUT', `/Users/${read.id}`, { ...read, roles: [{ value: 'premium' }] });
    expect([status, await rolesOf(String(traveler['id']))]).toEqual([200, ['manager', 'premium']]);
  });

  test('a role that the mapping does not allow is not given', async () => {
    const { body } = await send('POST', '/Users', user('not.allowed', [{ value: 'admin' }]));
    expect(await rolesOf(body[urns.travel].travelUserId)).toEqual([]);
    const operation = { op: 'add', path: 'roles', value: [{ value: 'organizer' }] };
    await send('PATCH', `/Users/${body.id}`, patchOp(operation));
    expect(await rolesOf(body[urns.travel].travelUserId)).toEqual(['organizer']);
  });
});
