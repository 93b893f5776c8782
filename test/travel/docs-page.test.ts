import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import request from 'supertest';
import { catalog } from '../../src/travel/catalog.ts';
import { renderDocsPage } from '../../src/travel/docs-page/page.ts';
import { describeApi } from '../../src/travel/openapi/document.ts';
import { openFixture } from '../fixtures/travel.ts';
import { operations, partAt } from './contract.ts';

const api = describeApi(catalog);
const page = renderDocsPage(api);

/** The HTML section with this id. */
function sectionOf(id: string): string {
  const begin = page.indexOf(`id="${id}"`);
  const end = page.indexOf('</section>', begin);
  return begin < 0 ? '' : page.slice(begin, end);
}

/** A text as the page contains it. */
function shown(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

test('is served without a credential, as HTML that may neither load nor run anything', async () => {
  const fixture = await openFixture();
  const answer = await request(fixture.app).get('/api/docs');
  await fixture.close();
  expect([answer.status, answer.type, answer.text]).toEqual([200, 'text/html', page]);
  const [, style = ''] = page.match(/<style>(.*?)<\/style>/s) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  expect(answer.get('Content-Security-Policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
});

test('has no scripts, no style attributes, and no external resources', () => {
  expect(page).not.toMatch(/<script|<link|<img|<iframe|\sstyle=|\son\w+=|javascript:|url\(|@import/i);
  const targets = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, target = '']) => target);
  expect(new Set(targets.filter((target) => !target.startsWith('#')))).toEqual(new Set(['openapi.json']));
  const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const target of targets.filter((one) => one.startsWith('#'))) expect(ids).toContain(target.slice(1));
});

test.each(operations)('shows $id with its parameters, its answer, its failures, and a call', (operation) => {
  const section = sectionOf(operation.id);
  const { summary } = partAt(operation.pointer);
  expect(section).toContain(shown(String(summary)));
  expect(section).toContain(`<code>${operation.path}</code>`);
  for (const { name } of operation.parameters) expect(section).toContain(`<td><code>${name}</code></td>`);
  for (const status of operation.statuses) expect(section).toContain(`>${status}<`);
  expect(section).toContain(shown('-H "Authorization: Bearer $TRAVEL_API_KEY"'));
  expect(page).toContain(`<li><a href="#${operation.id}">`);
});

test('shows every field, including nested ones, with its type and allowed values', () => {
  const [users, policies, trips] = ['users', 'travel-policies', 'trip-projects'].map((id) => {
    const begin = page.indexOf(`<section id="${id}">`);
    return page.slice(begin, page.indexOf('<section class="operation"', begin));
  });
  expect(users).toContain(
    '<td class="in-0"><code>email</code></td><td>string (email)</td><td>required</td><td>always</td>',
  );
  expect(users).toContain('<td class="in-1"><code>countryCode</code></td>');
  expect(users).toContain('<td class="in-2"><code>customFieldOptionId</code></td>');
  expect(users).toContain('<code>guestCreator</code>');
  expect(policies).toContain('<td class="in-4"><code>cabinClass</code></td>');
  expect(trips).toContain('<code>returnpPlace</code>');
  expect(trips).not.toContain('required');
});

test('shows the request that a webhook receives for each kind of event', () => {
  const section = sectionOf('deliveries-sent');
  for (const kind of Object.keys(partAt('#/webhooks')))
    expect(section).toContain(`<summary><code>${kind}</code>`);
  expect(section).toContain('<code>webhook-signature</code>');
  expect(section).toContain(shown('"kind": "tripProject.booking.failed"'));
});

test('escapes the texts of the OpenAPI document', () => {
  const hostile = '<script>alert("&\'")</script>';
  const tags = [{ name: 'Users', description: hostile }];
  const told = renderDocsPage({ ...api, title: hostile, description: hostile, tags });
  expect(told).not.toContain('<script');
  expect(told).toContain(shown(hostile));
});

describe('a call', () => {
  test('quotes its body for the shell, and has a variable for each id', () => {
    expect(callOf('updateUser')).toBe(`curl -sS -X PATCH "$JETBRIDGE/api/users/$USER_ID" \\
  -H "Authorization: Bearer $TRAVEL_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{
  "data": {
    "email": "Ada.Lovelace@example.com",
    "billingProfileId": null
  }
}'`);
    expect(callOf('retrieveCustomFieldOption')).toContain(
      '/api/custom-fields/$CUSTOM_FIELD_ID/options/$CUSTOM_FIELD_OPTION_ID"',
    );
  });

  test('works when pasted into a shell', async () => {
    const fixture = await openFixture();
    const server = fixture.app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const env = { ...process.env, JETBRIDGE: `http://127.0.0.1:${port}`, TRAVEL_API_KEY: fixture.key };
    for (const { id, path, statuses } of operations.filter((one) => !one.path.includes('{'))) {
      const call = `${callOf(id)} -o /dev/null -w '%{http_code}'`;
      const { stdout } = await promisify(execFile)('bash', ['-euc', call], { env });
      expect([id, path, stdout]).toEqual([id, path, statuses[0]]);
    }
    server.close();
    await fixture.close();
  });
});

/** The curl call of an operation, as copied from a browser. */
function callOf(id: string): string {
  const [, call = ''] = sectionOf(id).match(/<pre class="curl"><code>(.*?)<\/code>/s) ?? [];
  return call.replace(/&#(\d+);/g, (_whole, code) => String.fromCharCode(Number(code)));
}
