import { patchOp } from '../fixtures/scim.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';

let scim: ScimService;
beforeEach(async () => {
  scim = await scimService();
});
afterEach(() => scim.close());

const config = async () => (await scim.send('GET', '/ServiceProviderConfig')).body;
const list = async (query: string) => (await scim.send('GET', `/Users?${query}`)).body;

async function create(...names: string[]): Promise<string> {
  let id = '';
  for (const userName of names) id = (await scim.send('POST', '/Users', { userName })).body.id;
  return `/Users/${id}`;
}

test('says what this service can do and nothing else (RFC 7643 §5, RFC 9865 §4)', async () => {
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

test('patch: a PATCH changes what it names', async () => {
  const path = await create('ada');
  const change = patchOp({ op: 'add', path: 'title', value: 'T' });
  expect((await scim.send('PATCH', path, change)).body).toMatchObject({ userName: 'ada', title: 'T' });
});

test('bulk: not supported', async () => {
  expect((await scim.send('POST', '/Bulk', { Operations: [] })).status).toBe(501);
});

test('changePassword: a password is thrown away', async () => {
  const path = await create('ada');
  const change = patchOp({ op: 'replace', path: 'password', value: 'secret' });
  const { meta } = (await scim.send('GET', path)).body;
  expect((await scim.send('PATCH', path, change)).body.meta).toEqual(meta);
});

test('sort: lists are sorted by what is asked', async () => {
  await create('cleo', 'Ada', 'bob');
  const names = async (query: string) =>
    (await list(query)).Resources.map(({ userName }: { userName: string }) => userName).join(' ');
  expect(await names('')).toBe('cleo Ada bob');
  expect(await names('sortBy=userName')).toBe('Ada bob cleo');
  expect(await names('sortBy=userName&sortOrder=descending&count=2')).toBe('cleo bob');
});

test('etag: a version that is no more is refused', async () => {
  const path = await create('ada');
  const answer = await scim.send('PUT', path, { userName: 'bob' }, { 'If-Match': 'W/"0"' });
  expect(answer.status).toBe(412);
});

test('filter and pagination: the sizes, the default and both ways are as told', async () => {
  const { filter, pagination } = await config();
  const names = Array.from({ length: pagination.maxPageSize + 5 }, (_, n) => `user ${1000 + n}`);
  await create(...names);
  const found = 'filter=userName+sw+%22user%22';
  expect((await list('')).Resources).toHaveLength(pagination.defaultPageSize);
  expect((await list('count=1000')).Resources).toHaveLength(pagination.maxPageSize);
  expect((await list('cursor=')).Resources).toHaveLength(pagination.defaultPageSize);
  expect((await list('cursor=&count=1000')).Resources).toHaveLength(pagination.maxPageSize);
  expect((await list(`${found}&count=1000`)).Resources).toHaveLength(filter.maxResults);

  const byDefault = await list('count=3');
  expect([byDefault.startIndex, byDefault.nextCursor]).toEqual([1, undefined]);
  expect(pagination.defaultPaginationMethod).toBe('index');

  const seen = { index: [] as string[], cursor: [] as string[] };
  const namesOf = (body: { Resources: { userName: string }[] }) =>
    body.Resources.map(({ userName }) => userName);
  for (let startIndex = 1; startIndex <= names.length; startIndex += 50)
    seen.index.push(...namesOf(await list(`startIndex=${startIndex}&count=50`)));
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = await list(`cursor=${cursor}&count=50`);
    expect(page.startIndex).toBeUndefined();
    seen.cursor.push(...namesOf(page));
    cursor = page.nextCursor;
  }
  expect(seen).toEqual({ index: names, cursor: names });
}, 120_000);

test('authenticationSchemes: a bearer token in the Authorization header is what lets in', async () => {
  const [scheme] = (await config()).authenticationSchemes;
  expect(scheme).toMatchObject({ type: 'oauthbearertoken', primary: true });
  const ask = (headers: Record<string, string>) => fetch(`${scim.service.url}/scim/v2/Users`, { headers });
  expect((await ask({ Authorization: `Bearer ${scim.service.scimToken}` })).status).toBe(200);
  expect((await ask({})).status).toBe(401);
});
