import { type RunningService, startService } from '../fixtures/service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startService({}, { background: false });
});
afterAll(() => service.close());

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const get = (path: string, headers: Record<string, string>) => fetch(service.url + path, { headers });

test.each(['/scim/v2', '/scim/v2/', '/SCIM/v2'])(
  'a browser gets a page at %s that says what it is',
  async (path) => {
    const response = await get(path, { Accept: browser });
    const text = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).toContain('base URL');
    for (const page of ['/docs/connect-okta', '/docs/connect-entra', '/admin'])
      expect(text).toContain(`href="${service.url}${page}"`);
  },
);

test.each<[string, Record<string, string>]>([
  ['/scim/v2', {}],
  ['/scim/v2', { Accept: '*/*' }],
  ['/scim/v2', { Accept: 'application/scim+json' }],
  ['/scim/v2', { Accept: browser, Authorization: 'Bearer wrong' }],
  ['/scim/v2/Users', { Accept: browser }],
])('%s with %j is 401 in SCIM, as before', async (path, headers) => {
  const response = await get(path, headers);
  expect([response.status, response.headers.get('content-type')]).toEqual([401, 'application/scim+json']);
});
