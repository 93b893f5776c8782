import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

let service: RunningService;
beforeAll(async () => {
  const documents = createDataFolder('documents-');
  const script = pathToFileURL(join(__dirname, '../../scripts/documents.mjs'));
  const program = `import { renderDocuments } from '${script}'; renderDocuments(process.argv[1]);`;
  execFileSync(process.execPath, ['--input-type=module', '-e', program, documents]);
  service = await startService({}, { documents });
});
afterAll(() => service.close());

const search = async (query: string) => {
  const response = await fetch(`${service.url}/docs/search?${new URLSearchParams({ q: query })}`);
  const text = await response.text();
  const results = [...text.matchAll(/<li><a href="([^"]*)">(.*?)<\/a><p>(.*?)<\/p>/g)].map(
    ([, address = '', name = '', excerpt = '']) => ({ address, name, excerpt }),
  );
  return { response, text, results };
};

test('a search tells documents with their headings, and an excerpt with the words marked', async () => {
  const { response, results } = await search('acknowledge quiet');
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';script-src 'self';/);
  expect(results[0]).toEqual({
    address: 'operations/alerts.html#acknowledge-and-keep-quiet',
    name: 'How do I get alerts? › Acknowledge, and keep quiet',
    excerpt: expect.stringContaining('<mark>acknowledge</mark>'),
  });
  expect(results.length).toBeLessThanOrEqual(20);
});

test('each result is a heading of a page that is there', async () => {
  for (const { address } of (await search('travel')).results) {
    const [page, id = ''] = address.split('#');
    const response = await fetch(`${service.url}/docs/${page}`);
    expect([address, response.status]).toEqual([address, 200]);
    expect(await response.text()).toContain(` id="${decodeURIComponent(id)}"`);
  }
});

test('words in any case and names of settings are found, and all must be there', async () => {
  expect((await search('ALERTS.email.weeklyto')).results[0]?.address).toMatch(
    /^(settings|operations\/alerts)\.html#/,
  );
  for (const query of ['travel xyzzy', '?!'])
    expect((await search(query)).text).toContain('Nothing was found.');
});

test('the query is shown as text, and one that is no text or empty finds nothing', async () => {
  const { text } = await search('"><script>alert(1)</script> $& {{results}}');
  expect(text).not.toContain('<script>');
  expect(text).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt; $&amp; {{results}}"');
  for (const query of ['', '?q=', '?q[a]=b', '?q=x&q=y']) {
    const response = await fetch(`${service.url}/docs/search${query}`);
    expect([query, response.status]).toEqual([query, 200]);
    expect(await response.text()).not.toContain('<li>');
  }
});

test('each page has the search, which a browser sends without a script', async () => {
  for (const [page, action] of [
    ['index', 'search'],
    ['operations/alerts', '../search'],
  ])
    expect(await (await fetch(`${service.url}/docs/${page}.html`)).text()).toContain(
      `<form role="search" action="${action}">`,
    );
});
