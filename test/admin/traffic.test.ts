import { parseScenario } from '../../src/replay/scenario.ts';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { eventually } from '../fixtures/eventually.ts';

let fixture: AdminFixture;
/** The SCIM id of Grace, whom the first request creates. */
let grace: string;

beforeAll(async () => {
  fixture = await startAdmin();
  grace = (await scim('POST', '/Users', user('grace', 'Grace Hopper'), { 'X-Request-Id': 'first' })).id;
  await scim('PATCH', `/Users/${grace}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'name.givenName', value: 'Gracie' }],
  });
  await scim('GET', '/Groups');
  await scim('GET', '/Users/nobody');
  await listed(4, 'direction=scim');
});
afterAll(() => fixture.close());

function user(name: string, displayName: string): object {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: `${name}@corp.example`,
    displayName,
    name: { givenName: name, familyName: 'Hopper' },
    emails: [{ value: `${name}@corp.example`, type: 'work', primary: true }],
    password: 'hush-hush-1906',
  };
}

/** Sends a SCIM request and returns the body of the answer. */
async function scim(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const { url, scimToken } = fixture.service;
  const response = await fetch(`${url}/scim/v2${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${scimToken}`,
      'Content-Type': 'application/scim+json',
      'User-Agent': 'Okta SCIM Client 1.0.0',
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return Object(await response.json());
}

/** Waits until the log has that number of matching exchanges, and returns the answer of the admin API. */
function listed(count: number, query = '') {
  return eventually(async () => {
    const { status, body } = await fixture.viewer('GET', `/exchanges?limit=100&${query}`);
    expect(status).toBe(200);
    expect(body.exchanges).toHaveLength(count);
    return body;
  });
}

test('both directions are listed, the newest first, with the program of the IdP and the name of the person', async () => {
  const { exchanges, next } = await listed(4, `person=${grace}`);
  expect(next).toBeUndefined();
  const seen = exchanges.map(
    (one: { direction: string; method: string }) => `${one.direction} ${one.method}`,
  );
  expect(seen).toEqual(['scim PATCH', 'travel PATCH', 'scim POST', 'travel POST']);
  expect(exchanges[2]).toMatchObject({
    ...{ connection: 'default', person: { id: grace, name: 'Grace Hopper' } },
    ...{ userAgent: 'Okta SCIM Client 1.0.0', requestId: 'first', path: '/scim/v2/Users', status: 201 },
    at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});

// The service also makes calls of its own, such as those of an import, so each query leaves those out.
test.each([
  ['direction=scim', 4],
  ['direction=travel&method=post', 1],
  ['direction=scim&method=patch', 1],
  ['direction=scim&status=failed', 1],
  ['direction=scim&status=4xx', 1],
  ['direction=scim&status=2xx', 3],
  ['direction=scim&status=404', 1],
  ['direction=scim&path=/scim/v2/users/nobody', 1],
  ['status=5xx', 0],
  ['path=/SCIM/v2/Groups', 1],
  ['connection=nosuch', 0],
  ['since=2099-01-01T00:00:00Z', 0],
  ['direction=travel&hidesPolls=true', 2],
  ['hidesPolls=true&direction=scim', 4],
  ['direction=scim&until=2099-01-01T00:00:00Z', 4],
  ['direction=scim&until=2020-01-01T00:00:00Z', 0],
])('%s selects %i exchanges', async (query, count) => {
  await listed(count, query);
});

test('pages follow each other, and with the head of an earlier page only what is new is answered', async () => {
  const page = (query: string) => fixture.viewer('GET', `/exchanges?person=${grace}&${query}`);
  const first = (await page('limit=3')).body;
  const second = (await page(`limit=3&before=${first.next}`)).body;
  expect([first.exchanges.length, second.exchanges.length, second.next]).toEqual([3, 1, undefined]);
  expect(Number(first.exchanges[2].position)).toBeGreaterThan(Number(second.exchanges[0].position));
  const { head } = await listed(0, `direction=scim&after=${first.head}`);
  await scim('GET', '/ServiceProviderConfig');
  const [news] = (await listed(1, `after=${head}&path=/scim/v2/Service`)).exchanges;
  expect(news.path).toBe('/scim/v2/ServiceProviderConfig');
});

test('an exchange has its headers and bodies without secrets, and the calls that it caused', async () => {
  const [{ position }] = (await listed(2, `person=${grace}&direction=scim`)).exchanges.slice(-1);
  const { body } = await fixture.viewer('GET', `/exchanges/${position}`);
  expect(body.request.headers).toEqual({
    'content-type': 'application/scim+json',
    'user-agent': 'Okta SCIM Client 1.0.0',
  });
  expect(JSON.parse(body.request.body.text)).toMatchObject({ displayName: 'Grace Hopper', password: '*' });
  expect(JSON.parse(body.response.body.text)).toMatchObject({ id: grace });
  expect(body.related).toEqual([
    expect.objectContaining({ direction: 'travel', method: 'POST', requestId: 'first' }),
  ]);
  const call = (await fixture.viewer('GET', `/exchanges/${body.related[0].position}`)).body;
  expect(call.related).toEqual([expect.objectContaining({ direction: 'scim', position })]);
  expect((await fixture.viewer('GET', '/exchanges/first')).body.position).toBe(position);
});

test('an exchange that is not in the log is answered 404', async () => {
  for (const position of ['999999', '0', '-1', '1.5', 'nosuch']) {
    const { status, body } = await fixture.viewer('GET', `/exchanges/${position}`);
    expect([status, body.code]).toEqual([404, 'notFound']);
  }
});

describe('a scenario', () => {
  const since = '2020-01-01T00:00:00Z';

  test('of a time has its requests with invented people', async () => {
    const { status, body } = await fixture.viewer('POST', '/scenarios', {
      body: { connection: 'default', since },
    });
    expect(status).toBe(200);
    expect(body.scenarios).toHaveLength(1);
    const scenario = parseScenario(body.scenarios[0], 'downloaded.json');
    expect(scenario.steps.map(({ request }) => request.method).slice(0, 2)).toEqual(['POST', 'PATCH']);
    expect(JSON.stringify(body)).not.toMatch(/grace|hopper|hush/i);
  });

  test('of a person has the writes about the person', async () => {
    const { body } = await fixture.viewer('POST', '/scenarios', {
      body: { connection: 'default', person: grace, since },
    });
    expect(JSON.stringify(body.scenarios[0].steps.slice(0, 2))).toContain('PATCH');
    expect(JSON.stringify(body)).not.toContain('/Groups');
  });

  test('of a time without requests is none, and of an unknown connection is answered 404', async () => {
    const none = await fixture.viewer('POST', '/scenarios', {
      body: { connection: 'default', since, until: '2020-01-02T00:00:00Z' },
    });
    expect(none.body).toEqual({ scenarios: [], leftOut: [] });
    const unknown = await fixture.viewer('POST', '/scenarios', { body: { connection: 'nosuch', since } });
    expect(unknown.status).toBe(404);
  });
});

describe('the bodies of reads', () => {
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  const path = '/connections/default/read-bodies';

  test('are kept until the chosen time, which the log and the audit log tell', async () => {
    const until = inMs(60_000);
    const { status } = await fixture.admin('PUT', path, { body: { until } });
    expect(status).toBe(204);
    const { body } = await fixture.viewer('GET', '/traffic');
    expect(body).toEqual({ keepDays: 14, connections: [{ id: 'default', readBodiesUntil: until }] });
    const [entry] = (await fixture.viewer('GET', '/audit?action=keepReadBodies')).body.entries;
    expect(entry.details).toEqual({ connection: 'default', until });
  });

  test.each([
    ['the past', -1_000],
    ['more than a day', 25 * 60 * 60_000],
  ])('are not kept for %s', async (_name, ms) => {
    const { status, body } = await fixture.admin('PUT', path, { body: { until: inMs(ms) } });
    expect([status, body.faults[0].field]).toEqual([422, 'until']);
  });

  test('of an unknown connection cannot be kept', async () => {
    const { status } = await fixture.admin('PUT', '/connections/nosuch/read-bodies', {
      body: { until: inMs(60_000) },
    });
    expect(status).toBe(404);
  });
});
