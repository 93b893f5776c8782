import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

let service: RunningService;
beforeAll(async () => {
  const page = createDataFolder('page-');
  mkdirSync(join(page, 'assets'));
  writeFileSync(join(page, 'index.html'), '<title>Jetbridge</title><script nonce="{{nonce}}"></script>');
  writeFileSync(join(page, 'assets/index-1.js'), 'void 0;');
  service = await startService({}, { page });
});
afterAll(() => service.close());

const get = (path: string) => fetch(`${service.url}${path}`, { redirect: 'manual' });

test('the root leads to the page', async () => {
  const { status, headers } = await get('/');
  expect([status, headers.get('location')]).toEqual([302, '/admin']);
});

test('the address of each view is answered with the page, with a policy that allows nothing from elsewhere', async () => {
  for (const path of ['/admin', '/admin/', '/admin/people/01a2-b3', '/admin/people?state=held']) {
    const response = await get(path);
    const policy = response.headers.get('content-security-policy') ?? '';
    const [, nonce] = /style-src 'self' 'nonce-([^']+)'/.exec(policy) ?? [];
    expect(await response.text()).toContain(`nonce="${nonce}"`);
    expect(policy).toMatch(/^default-src 'none';script-src 'self';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  }
});

test('the page names no address to other sites, and no site can show it in a frame', async () => {
  const { headers } = await get('/admin/people');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
});

test('each response has a nonce of its own', async () => {
  const [one, other] = [await (await get('/admin')).text(), await (await get('/admin')).text()];
  expect(one).not.toBe(other);
});

test('an asset may be stored for ever, and a missing one is 404, not the page', async () => {
  const asset = await get('/admin/assets/index-1.js');
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect((await get('/admin/assets/index-2.js')).status).toBe(404);
  expect((await get('/admin/assets/../index.html')).status).toBe(404);
  expect((await get('/admin/favicon.ico')).status).toBe(404);
});

test('an unknown path of the API is answered by the API', async () => {
  const response = await get('/admin/api/nosuch');
  expect([response.status, await response.json()]).toEqual([
    404,
    expect.objectContaining({ code: 'notFound' }),
  ]);
});
