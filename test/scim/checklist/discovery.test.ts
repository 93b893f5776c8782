import { urns } from '../../../src/schema/resource.ts';
import { type ScimService, scimService } from '../../fixtures/scim-service.ts';

let scim: ScimService;
beforeAll(async () => {
  scim = await scimService();
});
afterAll(() => scim.close());

const listUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

test('11. GET /ServiceProviderConfig is 200 with patch, bulk, filter, changePassword, sort, etag, authenticationSchemes', async () => {
  const { status, body } = await scim.send('GET', '/ServiceProviderConfig');
  expect(status).toBe(200);
  expect(body).toEqual(
    expect.objectContaining({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
      patch: { supported: expect.any(Boolean) },
      bulk: {
        supported: expect.any(Boolean),
        maxOperations: expect.any(Number),
        maxPayloadSize: expect.any(Number),
      },
      filter: { supported: expect.any(Boolean), maxResults: expect.any(Number) },
      changePassword: { supported: expect.any(Boolean) },
      sort: { supported: expect.any(Boolean) },
      etag: { supported: expect.any(Boolean) },
      authenticationSchemes: [
        expect.objectContaining({
          type: 'oauthbearertoken',
          name: expect.any(String),
          description: expect.any(String),
        }),
      ],
    }),
  );
});

test('12. bulk.supported is false, and the other values match the behaviour of the service', async () => {
  const { body } = await scim.send('GET', '/ServiceProviderConfig');
  expect(body.bulk).toEqual({ supported: false, maxOperations: 0, maxPayloadSize: 0 });
  const Operations = [{ method: 'POST', path: '/Users', bulkId: 'a', data: { userName: 'ada' } }];
  expect((await scim.send('POST', '/Bulk', { Operations })).status).toBe(501);
  expect(await scim.found('/Users', 'userName eq "ada"', 'id')).toEqual([]);
});

test('13. GET /ResourceTypes is a 200 ListResponse, /ResourceTypes/{id} is 200', async () => {
  const { status, body } = await scim.send('GET', '/ResourceTypes');
  expect([status, body.schemas, body.totalResults]).toEqual([200, [listUrn], 3]);
  for (const type of body.Resources) {
    const one = await scim.send('GET', `/ResourceTypes/${type.id}`);
    expect([one.status, one.body]).toEqual([200, type]);
    expect((await fetch(type.meta.location, { headers: bearer() })).status).toBe(200);
  }
});

test('14. a ResourceType has name, endpoint, schema, schemaExtensions[{schema,required}]', async () => {
  const { body } = await scim.send('GET', '/ResourceTypes');
  expect(
    body.Resources.map(
      ({ schemas, id, name, endpoint, schema, schemaExtensions }: Record<string, unknown>) => ({
        schemas,
        id,
        name,
        endpoint,
        schema,
        schemaExtensions,
      }),
    ),
  ).toEqual([
    {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
      id: 'User',
      name: 'User',
      endpoint: '/Users',
      schema: urns.user,
      schemaExtensions: [
        { schema: urns.enterprise, required: false },
        { schema: urns.travel, required: false },
      ],
    },
    {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
      id: 'Group',
      name: 'Group',
      endpoint: '/Groups',
      schema: urns.group,
      schemaExtensions: [],
    },
    {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
      id: 'Role',
      name: 'Role',
      endpoint: '/Roles',
      schema: urns.role,
      schemaExtensions: [],
    },
  ]);
});

test('15. GET /Schemas is a 200 ListResponse, /Schemas/{urn} is 200, an unknown one 404', async () => {
  const { status, body } = await scim.send('GET', '/Schemas');
  expect([status, body.schemas, body.totalResults]).toEqual([200, [listUrn], 8]);
  for (const schema of body.Resources) {
    expect(schema.schemas).toEqual(['urn:ietf:params:scim:schemas:core:2.0:Schema']);
    const one = await scim.send('GET', `/Schemas/${schema.id}`);
    expect([one.status, one.body]).toEqual([200, schema]);
    expect((await fetch(schema.meta.location, { headers: bearer() })).status).toBe(200);
  }
  expect((await scim.send('GET', '/Schemas/urn:ietf:params:scim:schemas:core:2.0:Nothing')).status).toBe(404);
});

test('16. every attribute definition states all its characteristics, without nulls', async () => {
  const { body } = await scim.send('GET', '/Schemas');
  expect(JSON.stringify(body)).not.toContain('null');
  interface Definition {
    type: string;
    subAttributes?: Definition[];
    [characteristic: string]: unknown;
  }
  const all = (definitions: Definition[]): Definition[] =>
    definitions.flatMap((one) => [one, ...all(one.subAttributes ?? [])]);
  const definitions = all(
    body.Resources.flatMap((schema: { attributes: Definition[] }) => schema.attributes),
  );
  expect(definitions.length).toBeGreaterThan(80);
  for (const one of definitions) {
    expect(one).toEqual(
      expect.objectContaining({
        name: expect.stringMatching(/^\$?[A-Za-z][\w-]*$/),
        type: expect.stringMatching(/^(string|boolean|decimal|integer|dateTime|reference|binary|complex)$/),
        multiValued: expect.any(Boolean),
        description: expect.any(String),
        required: expect.any(Boolean),
        caseExact: expect.any(Boolean),
        mutability: expect.stringMatching(/^(readOnly|readWrite|immutable|writeOnly)$/),
        returned: expect.stringMatching(/^(always|never|default|request)$/),
        uniqueness: expect.stringMatching(/^(none|server|global)$/),
      }),
    );
    expect(one.type === 'complex').toBe(one.subAttributes !== undefined);
    if (one.type === 'reference')
      expect(one['referenceTypes']).toEqual(expect.arrayContaining([expect.any(String)]));
  }
});

test('17. a filter on the discovery endpoints is 403', async () => {
  for (const path of ['/Schemas', '/ResourceTypes', '/ServiceProviderConfig', `/Schemas/${urns.user}`])
    expect((await scim.send('GET', `${path}?filter=name+eq+%22User%22`)).body).toMatchObject({
      status: '403',
    });
});

test('18. discovery needs a token (a deviation: it SHOULD work without one, and may be restricted)', async () => {
  for (const path of ['/Schemas', '/ResourceTypes', '/ServiceProviderConfig'])
    expect((await scim.send('GET', path, undefined, { Authorization: '' })).status).toBe(401);
});

function bearer() {
  return { Authorization: `Bearer ${scim.service.scimToken}` };
}
