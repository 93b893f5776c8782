import { fetchLimited } from '../../src/http/limited-fetch.ts';
import { travelServer } from '../adapter/travel-server.ts';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

/** 20 KB of nested arrays. */
const arrays = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;

test('a nested body of the admin API is refused with a clear text', async () => {
  const bodies = [`{"text":"{}","user":{"a":${arrays}}}`, `{"text":${arrays}}`];
  for (const body of bodies) {
    const answer = await fixture.viewer('POST', '/mappings/default/preview-person', { body });
    expect([answer.status, answer.body.message]).toEqual([400, 'The body is nested deeper than 64 levels.']);
  }
  const signIn = await fixture.anonymous('POST', '/sign-in', { body: `{"name":${arrays},"password":"x"}` });
  // A sign-in reads 4 KB.
  expect(signIn.status).toBe(413);
});

test('a nested body of the travel service is refused with a clear text, also beside its data', async () => {
  const { url, travelApiKey } = fixture.service;
  for (const body of [`{"data":{"name":${arrays}}}`, `{"data":{"name":"x"},"more":${arrays}}`]) {
    const answer = await fetch(`${url}/api/cost-centers`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${travelApiKey}`, 'Content-Type': 'application/json' },
      body,
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('The body is nested deeper than 64 levels.');
  }
});

test('keys and descriptions of an OpenID provider that are nested deeper are not used', async () => {
  const server = await travelServer((_request, response) => response.end(`{"keys":${arrays}}`));
  try {
    await expect(fetchLimited(server.url, {}, 10_000)).rejects.toThrow('is nested deeper than 64 levels');
  } finally {
    await server.close();
  }
});
