import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { helpPages } from '../../src/admin/ui/help.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { documentsBelow, home } from './documents.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startService({}, { documents: join(home, 'dist/docs') });
});
afterAll(() => service.close());

interface Page {
  status: number;
  text: string;
  ids: Set<string>;
}

/** Reads all pages that links lead to, from the index on. */
async function readAll(): Promise<Map<string, Page>> {
  const pages = new Map<string, Page>();
  const waiting = ['/docs/'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue;
    const response = await fetch(service.url + path);
    const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
    const text = isPage ? await response.text() : '';
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
    pages.set(path, { status: response.status, text, ids });
    waiting.push(...linksOf(path, text).map(({ to }) => to));
  }
  return pages;
}

/** The links of a page to others of the service, pictures and style sheets included. */
function linksOf(path: string, text: string): { to: string; anchor: string }[] {
  return [...text.matchAll(/ (?:href|src)="([^"]+)"/g)].flatMap(([, link = '']) => {
    const url = new URL(link, service.url + path);
    if (url.origin !== service.url || url.pathname === '/admin') return [];
    return [{ to: url.pathname, anchor: decodeURIComponent(url.hash.slice(1)) }];
  });
}

test('the index leads to every document of operations and mappings, and each link to an existing page and heading', async () => {
  const pages = await readAll();
  expect([...pages].filter(([, { status }]) => status !== 200)).toEqual([]);
  const documents = ['operations', 'mappings'].flatMap((name) => documentsBelow(`docs/${name}`));
  for (const path of documents.map((file) => `/${file.replace(/\.md$/, '.html')}`))
    expect([...pages.keys()]).toContain(path);
  expect([...pages.keys()].filter((path) => /decisions|architecture/.test(path))).toEqual([]);
  const broken = [...pages].flatMap(([path, { text }]) =>
    linksOf(path, text).filter(({ to, anchor }) => anchor !== '' && !pages.get(to)?.ids.has(anchor)),
  );
  expect(broken).toEqual([]);
  for (const help of Object.values(helpPages)) {
    const [file, anchor] = help.split('#');
    const page = pages.get(`/docs/${file}`);
    expect([help, page?.status]).toEqual([help, 200]);
    if (anchor !== undefined) expect([help, page?.ids.has(anchor)]).toEqual([help, true]);
  }
});

test('the documents need no sign-in, and have the policy of the page, scripts, styles and frames included', async () => {
  const { status, headers } = await fetch(`${service.url}/docs/operations/alerts.html`);
  expect(status).toBe(200);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none';script-src 'self';style-src 'self' 'nonce-[\w+/=]{24}';/);
  expect(policy).toContain("frame-ancestors 'none'");
  for (const [path, { text }] of await readAll())
    expect([
      path,
      /<script|<style| style=| on\w+=/i.exec(text.replace(/<code[\s\S]*?<\/code>/g, '')),
    ]).toEqual([path, null]);
});

test('/docs leads to the index, a page is also found without its ending, and nothing beside the folder is served', async () => {
  const get = (path: string) => fetch(service.url + path, { redirect: 'manual' });
  const { status, headers } = await get('/docs');
  expect([status, headers.get('location')]).toEqual([301, '/docs/']);
  expect((await get('/docs/operations/alerts')).status).toBe(200);
  for (const path of ['/docs/nosuch', '/docs/%2e%2e/main.js', '/docs/..%2fmain.js'])
    expect((await get(path)).ok).toBe(false);
});

test('HTML in a document is shown as text, and a link to no document is its text', async () => {
  const markdown = [
    '# Title <script>alert(1)</script>',
    '<!-- a comment -->',
    '<img src=x onerror=alert(1)>',
    '[script](javascript:alert(1)), [source](../src/main.ts), [there](operations.md#a "b")',
  ].join('\n\n');
  const program = `import { renderDocument } from './scripts/documents.mjs';
    const pages = new Map([['docs/settings.md', 'settings.html'], ['docs/operations.md', 'operations.html']]);
    process.stdout.write(renderDocument(${JSON.stringify(markdown)}, { file: 'docs/settings.md', pages }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: home,
  });
  const [, main = ''] = /<main>\n([\s\S]*)<\/main>/.exec(stdout) ?? [];
  expect(main).toContain('Title &lt;script&gt;alert(1)&lt;/script&gt;</h1>');
  expect(main).not.toContain('a comment');
  expect(main).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(main).toContain('<p>script, source, <a href="operations.html#a">there</a></p>');
});
