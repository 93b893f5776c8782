import { rawExchange, requestText } from '../fixtures/raw-http.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startService({}, { background: false });
});
afterAll(() => service.close());

const scim = () => ({
  Authorization: `Bearer ${service.scimToken}`,
  'Content-Type': 'application/scim+json',
});
const travel = () => ({
  Authorization: `Bearer ${service.travelApiKey}`,
  'Content-Type': 'application/json',
});
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

const user = (name: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: `${name}@corp.example`,
});

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

function ask(path: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${service.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: text }),
    redirect: 'manual',
  });
}

/** The headers of a response about caching and content type. */
function rulesIn({ status, headers }: Response) {
  return [status, headers.get('cache-control'), headers.get('x-content-type-options')];
}

describe('a response without a version has no-store and nosniff:', () => {
  it.each<[string, number, string, () => Sent]>([
    ['a list of users', 200, '/scim/v2/Users', () => ({ headers: scim() })],
    [
      'a search',
      200,
      '/scim/v2/Users/.search',
      () => ({
        method: 'POST',
        headers: scim(),
        body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'] },
      }),
    ],
    ['the discovery of SCIM', 200, '/scim/v2/ServiceProviderConfig', () => ({ headers: scim() })],
    ['SCIM without a credential', 401, '/scim/v2/Users', () => ({})],
    ['a user that does not exist', 404, '/scim/v2/Users/nobody', () => ({ headers: scim() })],
    ['a path of SCIM that is not there', 404, '/scim/v2/nothing', () => ({ headers: scim() })],
    [
      'a SCIM body that cannot be read',
      400,
      '/scim/v2/Users',
      () => ({ method: 'POST', headers: scim(), body: '{' }),
    ],
    ['what SCIM does not offer', 501, '/scim/v2/Bulk', () => ({ method: 'POST', headers: scim(), body: {} })],
    [
      'a new webhook with its secret',
      201,
      '/api/webhooks',
      () => ({ method: 'POST', headers: travel(), body: { data: { url: 'https://example.com' } } }),
    ],
    ['the travel service without a credential', 401, '/api/users', () => ({})],
    ['a traveler that does not exist', 404, '/api/users/nobody', () => ({ headers: travel() })],
    [
      'a travel body that cannot be read',
      400,
      '/api/users',
      () => ({ method: 'POST', headers: travel(), body: '{' }),
    ],
    ['the contract', 200, '/api/openapi.json', () => ({})],
    ['the page of documentation', 200, '/api/docs', () => ({})],
    [
      'a client without a secret',
      401,
      '/oauth/token',
      () => ({
        method: 'POST',
        headers: form,
        body: 'grant_type=client_credentials&client_id=a&client_secret=b',
      }),
    ],
    ['the token endpoint asked by GET', 405, '/oauth/token', () => ({})],
    ['health', 200, '/healthz', () => ({})],
    ['readiness', 200, '/readyz', () => ({})],
    ['the metrics', 200, '/metrics', () => ({})],
    ['a page that is not there', 404, '/nothing', () => ({})],
    ['a path that cannot be read', 400, '/api/users/%zz', () => ({ headers: travel() })],
  ])('%s', async (_title, status, path, sent) => {
    expect(rulesIn(await ask(path, sent()))).toEqual([status, 'no-store', 'nosniff']);
  });

  it('a deleted user', async () => {
    const made = Object(
      await (await ask('/scim/v2/Users', { method: 'POST', headers: scim(), body: user('ed') })).json(),
    );
    const gone = await ask(`/scim/v2/Users/${made.id}`, { method: 'DELETE', headers: scim() });
    expect(rulesIn(gone)).toEqual([204, 'no-store', 'nosniff']);
  });

  it.each([
    ['a request that is no HTTP', 'this is not HTTP\r\n\r\n'],
    [
      'headers that are too large',
      requestText({ method: 'GET', target: '/scim/v2/Users', headers: { 'X-Filler': 'x'.repeat(20_000) } }),
    ],
    [
      'an expectation that cannot be met',
      requestText({ method: 'POST', target: '/scim/v2/Users', headers: { Expect: 'magic' }, body: '{}' }),
    ],
    ['a request without Host', 'GET /scim/v2/Users HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ])('%s', async (_title, text) => {
    const answer = await rawExchange(Number(new URL(service.url).port), text);
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).toMatch(/\r\nCache-Control: no-store\r\n/i);
    expect(answer).toMatch(/\r\nX-Content-Type-Options: nosniff\r\n/i);
  });
});

describe('a response with an ETag may be stored by its client, which must revalidate it:', () => {
  it.each<[string, number, string, () => Sent]>([
    ['a list of travelers', 200, '/api/users', () => ({ headers: travel() })],
    [
      'a new cost center',
      201,
      '/api/cost-centers',
      () => ({ method: 'POST', headers: travel(), body: { data: { name: 'north' } } }),
    ],
  ])('%s', async (_title, status, path, sent) => {
    const answer = await ask(path, sent());
    expect(rulesIn(answer)).toEqual([status, 'private, no-cache', 'nosniff']);
    expect(answer.headers.get('etag')).toMatch(/^"[\w-]+"$/);
  });

  it.each(['Users', 'Groups'])('the resources of %s, read and written', async (type) => {
    const body =
      type === 'Users'
        ? user('flo')
        : { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Flo' };
    const made = await ask(`/scim/v2/${type}`, { method: 'POST', headers: scim(), body });
    const path = `/scim/v2/${type}/${Object(await made.json()).id}`;
    const read = await ask(path, { headers: scim() });
    const etag = read.headers.get('etag') ?? '';
    const patch = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'displayName', value: 'F' }],
    };
    const answers = [
      [201, made],
      [200, read],
      [304, await ask(path, { headers: { ...scim(), 'If-None-Match': etag } })],
      [200, await ask(path, { method: 'HEAD', headers: scim() })],
      [200, await ask(path, { method: 'PATCH', headers: scim(), body: patch })],
      [200, await ask(path, { method: 'PUT', headers: scim(), body })],
    ] as const;
    for (const [status, answer] of answers) {
      expect(answer.headers.get('etag')).toMatch(/^W\/"/);
      expect(rulesIn(answer)).toEqual([status, 'private, no-cache', 'nosniff']);
    }
    const refused = await ask(path, { method: 'PUT', headers: { ...scim(), 'If-Match': etag }, body });
    expect(rulesIn(refused)).toEqual([412, 'no-store', 'nosniff']);
  });
});

test.each([
  '/scim/v2/Users',
  '/api/users',
  '/oauth/token',
  '/admin/api/session',
  '/healthz',
  '/metrics',
  '/nothing',
])('%s lets no other site read a response', async (path) => {
  const origin = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' };
  const answers = [await ask(path, { headers: origin })];
  answers.push(await ask(path, { method: 'OPTIONS', headers: origin }));
  for (const { headers } of answers)
    expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
});
