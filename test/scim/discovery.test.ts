import { urns } from '../../src/schema/resource.ts';
import type { Definition } from '../fixtures/published.ts';
import { patchOp, scimFixture } from '../fixtures/scim.ts';
import type { ScimClient } from '../fixtures/scim-client.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';

const core = 'urn:ietf:params:scim:schemas:core:2.0';

let scim: ScimService;
const open = async () => {
  scim = await scimService();
};
const close = () => scim.close();

describe('/Schemas and /ResourceTypes', () => {
  beforeAll(open);
  afterAll(close);

  test('the User schema tells provisioning tools which attributes and types to map', async () => {
    const { body } = await scim.send('GET', `/Schemas/${urns.user}`);
    const attributes: Definition[] = body.attributes;
    const types = (name: string) =>
      attributes
        .find((attribute) => attribute.name === name)
        ?.subAttributes?.find((attribute) => attribute.name === 'type')?.canonicalValues;
    const required = attributes.filter((attribute) => attribute.required);
    expect(required.map(({ name }) => name)).toEqual(['userName', 'name', 'emails']);
    expect(types('emails')).toEqual(['work', 'home', 'other']);
    expect(types('phoneNumbers')).toEqual(['work', 'mobile', 'fax', 'home', 'other', 'pager']);
    expect(types('addresses')).toEqual(['work', 'home', 'other']);
    expect(types('roles')).toBeUndefined();
  });

  test('GET /Schemas also lists the schemas of the discovery endpoints (RFC 7643 §8.7.2)', async () => {
    const { body } = await scim.send('GET', '/Schemas');
    const ids = body.Resources.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining([`${core}:User`, `${core}:Group`]));
    expect(ids.slice(4)).toEqual([
      urns.role,
      `${core}:ServiceProviderConfig`,
      `${core}:ResourceType`,
      `${core}:Schema`,
    ]);
    expect([body.totalResults, body.itemsPerPage]).toEqual([8, 8]);
  });

  test('GET /ResourceTypes lists only the resource types that clients use', async () => {
    const { body } = await scim.send('GET', '/ResourceTypes');
    expect(body.Resources.map(({ id }: { id: string }) => id)).toEqual(['User', 'Group', 'Role']);
    expect(body.totalResults).toBe(3);
  });

  test('the Group schema lists externalId', async () => {
    const { body } = await scim.send('GET', `/Schemas/${core}:Group`);
    const found = body.attributes.find(({ name }: Definition) => name === 'externalId');
    expect(found).toMatchObject({
      type: 'string',
      caseExact: true,
      mutability: 'readWrite',
      required: false,
    });
  });

  // The schema of Schema describes one level of sub-attributes fewer than it has itself, as in RFC 7643.
  test.each([
    ['ServiceProviderConfig', '/ServiceProviderConfig'],
    ['ResourceType', '/ResourceTypes/User'],
    ['Schema', `/Schemas/${core}:User`],
  ])('the schema of %s describes the whole response of %s', async (name, path) => {
    const schema = (await scim.send('GET', `/Schemas/${core}:${name.toUpperCase()}`)).body;
    expect(schema).toMatchObject({
      id: `${core}:${name}`,
      meta: { resourceType: 'Schema', location: expect.stringContaining(`/scim/v2/Schemas/${core}:${name}`) },
    });
    const { schemas, meta, ...body } = (await scim.send('GET', path)).body;
    expect([schemas, meta.resourceType]).toEqual([[`${core}:${name}`], name]);
    expect(schemaFaults(body, schema.attributes)).toEqual([]);
  });
});

describe('/ServiceProviderConfig', () => {
  beforeEach(open);
  afterEach(close);

  const config = async () => (await scim.send('GET', '/ServiceProviderConfig')).body;
  const list = async (query: string, { send }: ScimClient = scim) =>
    (await send('GET', `/Users?${query}`)).body;

  async function create(...names: string[]): Promise<string> {
    let id = '';
    for (const userName of names) id = (await scim.send('POST', '/Users', { userName })).body.id;
    return `/Users/${id}`;
  }

  test('describes the features of this service and nothing else (RFC 7643 §5, RFC 9865 §4)', async () => {
    expect(await config()).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
      patch: { supported: true },
      bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
      filter: { supported: true, maxResults: 200 },
      changePassword: { supported: false },
      sort: { supported: true },
      etag: { supported: true },
      pagination: {
        cursor: true,
        index: true,
        defaultPaginationMethod: 'index',
        defaultPageSize: 200,
        maxPageSize: 200,
      },
      authenticationSchemes: [
        {
          type: 'oauthbearertoken',
          name: 'OAuth Bearer Token',
          description: 'A bearer token in the Authorization header.',
          specUri: 'https://www.rfc-editor.org/info/rfc6750',
          primary: true,
        },
      ],
      meta: {
        resourceType: 'ServiceProviderConfig',
        location: `${scim.service.url}/scim/v2/ServiceProviderConfig`,
      },
    });
  });

  test('patch: a PATCH changes the attribute that it names', async () => {
    const path = await create('ada');
    const change = patchOp({ op: 'add', path: 'title', value: 'T' });
    expect((await scim.send('PATCH', path, change)).body).toMatchObject({ userName: 'ada', title: 'T' });
  });

  test('bulk: not supported', async () => {
    expect((await scim.send('POST', '/Bulk', { Operations: [] })).status).toBe(501);
  });

  test('changePassword: no schema lists a password, and one that is sent is dropped', async () => {
    const { Resources } = (await scim.send('GET', '/Schemas')).body;
    const names = Resources.flatMap(({ attributes }: { attributes: { name: string }[] }) =>
      attributes.map(({ name }) => name),
    );
    expect(names).not.toContain('password');
    const path = await create('ada');
    const change = patchOp({ op: 'replace', path: 'password', value: 'secret' });
    const { meta } = (await scim.send('GET', path)).body;
    expect((await scim.send('PATCH', path, change)).body.meta).toEqual(meta);
  });

  test('sort: lists are sorted as the request asks', async () => {
    await create('cleo', 'Ada', 'bob');
    const names = async (query: string) =>
      (await list(query)).Resources.map(({ userName }: { userName: string }) => userName).join(' ');
    expect(await names('')).toBe('cleo Ada bob');
    expect(await names('sortBy=userName')).toBe('Ada bob cleo');
    expect(await names('sortBy=userName&sortOrder=descending&count=2')).toBe('cleo bob');
  });

  test('etag: a write with an outdated version is refused', async () => {
    const path = await create('ada');
    const response = await scim.send('PUT', path, { userName: 'bob' }, { 'If-Match': 'W/"0"' });
    expect(response.status).toBe(412);
  });

  test('filter and pagination: the sizes, the default and both methods are as published', async () => {
    const { filter, pagination } = await config();
    // No traveler takes part, and there are many users.
    const fixture = await scimFixture();
    const listed = (query: string) => list(query, fixture);
    const names = Array.from({ length: pagination.maxPageSize + 5 }, (_, n) => `user ${1000 + n}`);
    for (const userName of names) await fixture.send('POST', '/Users', { userName });
    const filtered = 'filter=userName+sw+%22user%22';
    expect((await listed('')).Resources).toHaveLength(pagination.defaultPageSize);
    expect((await listed('count=1000')).Resources).toHaveLength(pagination.maxPageSize);
    expect((await listed('cursor=')).Resources).toHaveLength(pagination.defaultPageSize);
    expect((await listed('cursor=&count=1000')).Resources).toHaveLength(pagination.maxPageSize);
    expect((await listed(`${filtered}&count=1000`)).Resources).toHaveLength(filter.maxResults);

    const byDefault = await listed('count=3');
    expect([byDefault.startIndex, byDefault.nextCursor]).toEqual([1, undefined]);
    expect(pagination.defaultPaginationMethod).toBe('index');

    const found = { index: [] as string[], cursor: [] as string[] };
    const namesOf = (body: { Resources: { userName: string }[] }) =>
      body.Resources.map(({ userName }) => userName);
    for (let startIndex = 1; startIndex <= names.length; startIndex += 50)
      found.index.push(...namesOf(await listed(`startIndex=${startIndex}&count=50`)));
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await listed(`cursor=${cursor}&count=50`);
      expect(page.startIndex).toBeUndefined();
      found.cursor.push(...namesOf(page));
      cursor = page.nextCursor;
    }
    expect(found).toEqual({ index: names, cursor: names });
    await fixture.close();
  });

  test('authenticationSchemes: a bearer token in the Authorization header authenticates', async () => {
    const [scheme] = (await config()).authenticationSchemes;
    expect(scheme).toMatchObject({ type: 'oauthbearertoken', primary: true });
    const send = (headers: Record<string, string>) => fetch(`${scim.service.url}/scim/v2/Users`, { headers });
    expect((await send({ Authorization: `Bearer ${scim.service.scimToken}` })).status).toBe(200);
    expect((await send({})).status).toBe(401);
  });
});

/** Lists the attributes of an object that its schema does not define, that are missing, or that have another type. */
function schemaFaults(object: Record<string, unknown>, definitions: Definition[], parent = ''): string[] {
  const unknown = Object.keys(object).filter((key) => !definitions.some(({ name }) => name === key));
  const wrong = definitions.flatMap((definition) => {
    const path = `${parent}.${definition.name}`;
    const value = object[definition.name];
    if (value === undefined) return definition.required ? [`${path} is missing`] : [];
    if (Array.isArray(value) !== definition.multiValued) return [`${path} has the wrong number of values`];
    return [value].flat().flatMap((element) => valueFaults(element, definition, path));
  });
  return [...unknown.map((key) => `${parent}.${key} is not defined`), ...wrong];
}

function valueFaults(value: unknown, { type, subAttributes = [] }: Definition, path: string): string[] {
  const expected = { boolean: 'boolean', integer: 'number', complex: 'object' }[type] ?? 'string';
  if (typeof value !== expected) return [`${path} is not ${type}`];
  return expected === 'object' ? schemaFaults(value as Record<string, unknown>, subAttributes, path) : [];
}
