import request from 'supertest';
import { openFixture } from '../fixtures/travel.ts';

test('the page is served without a credential, as HTML that may run the scripts and load the parts of this service only', async () => {
  const fixture = await openFixture();
  const { status, type, text, headers } = await request(fixture.app).get('/api/docs');
  await fixture.close();
  expect([status, type]).toEqual([200, 'text/html']);
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|https?:/i);
  const targets = [...text.matchAll(/(?:href|src|spec-url)="([^"]+)"/g)].map(([, target]) => target);
  expect(new Set(targets)).toEqual(
    new Set(['../docs/openapi-explorer/openapi-explorer.js', 'openapi.json', '../docs/travel-api']),
  );
});
