import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';

const page = temporaryFolder();
let fixture: AdminFixture;
beforeAll(async () => {
  mkdirSync(join(page.path, 'assets'));
  writeFileSync(join(page.path, 'index.html'), '<!doctype html><title>Jetbridge</title>');
  fixture = await startAdmin({}, { background: false, page: page.path });
});
afterAll(async () => {
  await fixture.close();
  page.remove();
});

/** Sends a request with the credential of the travel service or of SCIM, as the path in lower case says. */
async function send(path: string, method = 'GET') {
  const { url, travelApiKey, scimToken } = fixture.service;
  const token = /^\/+scim/i.test(path) ? scimToken : travelApiKey;
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(url + path, { method, headers, redirect: 'manual' });
  return { status: response.status, text: await response.text() };
}

/** The path with one segment in upper case, once for each segment that this changes. */
function variantsOf(path: string): string[] {
  const segments = path.split('/');
  return segments.flatMap((segment, at) => {
    if (segment.startsWith('{') || segment.toUpperCase() === segment) return [];
    return [
      segments
        .with(at, segment.toUpperCase())
        .join('/')
        .replace(/\{\w+\}/g, 'x'),
    ];
  });
}

test.each([
  ['GET', '/healthz', 200],
  ['GET', '/readyz', 200],
  ['GET', '/metrics', 200],
  ['GET', '/admin', 200],
  ['GET', '/api/users', 200],
  ['GET', '/api/docs', 200],
  ['POST', '/oauth/token', 400],
] as const)('%s %s is found in one case only', async (method, path, status) => {
  expect((await send(path, method)).status).toBe(status);
  for (const variant of variantsOf(path))
    expect([variant, (await send(variant, method)).status]).toEqual([variant, 404]);
});

test('/metrics is not found with a slash at its end, which a proxy that guards /metrics would let pass', async () => {
  expect((await send('/metrics/')).status).toBe(404);
});

/** The paths of an OpenAPI document in other cases, below the first segments, which make them unknown to their interface. */
const documented = (document: { paths: object }, base: string) =>
  Object.keys(document.paths).flatMap((path) =>
    variantsOf(path).filter((variant) => variant.startsWith(base)),
  );

test('no path of the travel service is found in another case', async () => {
  const variants = documented(JSON.parse((await send('/api/openapi.json')).text), '/api/');
  expect(variants.length).toBeGreaterThan(30);
  for (const variant of variants) {
    const { status, text } = await send(variant);
    expect([variant, status, text]).toEqual([variant, 404, expect.stringContaining('There is nothing at')]);
  }
});

test('no path of the admin API is found in another case, or answered with the page', async () => {
  const base = '/admin/api/';
  const variants = documented((await fixture.admin('GET', '/openapi.json')).body, base);
  expect(variants.length).toBeGreaterThan(60);
  for (const variant of variants) {
    const { status, body } = await fixture.admin('GET', variant.slice(base.length - 1));
    const text = JSON.stringify(body);
    expect([variant, status, text]).toEqual([variant, 404, expect.stringContaining('admin API has no')]);
  }
  expect(await send('/admin/API/me')).toMatchObject({ status: 404 });
  expect(await send('/ADMIN/api/me')).toMatchObject({ status: 404 });
});

test('the paths of SCIM are found in every case, with a credential only, and count as SCIM in the metrics', async () => {
  for (const path of ['/SCIM/V2/USERS', '/Scim/v2/users', '//scim/V2//Groups'])
    expect([path, (await send(path)).status]).toEqual([path, 200]);
  expect((await fetch(`${fixture.service.url}/SCIM/V2/USERS`)).status).toBe(401);
  const { text } = await send('/metrics');
  const counted = [
    ...text.matchAll(/jetbridge_http_requests_total\{area="scim",route="(.+?)",.*"200"\} (\d+)/g),
  ];
  expect(counted.map(([, route, count]) => [route, count])).toEqual([
    ['/scim/v2/Users', '2'],
    ['/scim/v2/Groups', '1'],
  ]);
});

test('a path that only begins like that of SCIM is not SCIM', async () => {
  for (const path of ['/scim/v20/Users', '/scim/v2x', '/x/scim/v2/Users'])
    expect(await send(path)).toMatchObject({
      status: 404,
      text: expect.stringContaining('There is nothing at'),
    });
});
