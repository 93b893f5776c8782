import { runs } from '../fixtures/runs.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimAnswer, type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

/** The number of times that each request is sent to each service, all concurrently: ten in CI. */
const TIMES = Math.min(runs(20).numRuns, 10);

/** A service whose name occurs in all its data and URLs. */
interface Own {
  name: string;
  service: RunningService;
  scim: ScimClient;
  /** A user and a group that no request deletes. */
  user: string;
  group: string;
}

let fixtures: Own[];
beforeAll(async () => {
  fixtures = [await open('alpha'), await open('bravo')];
});
afterAll(async () => {
  for (const { service } of fixtures) await service.close();
});

async function open(name: string): Promise<Own> {
  const token = `the-token-of-${name}`;
  const environment = { SCIM_TOKEN: token, PUBLIC_URL: `https://${name}.example` };
  const service = await startService(environment, { background: false });
  const scim = scimClient(service.url, token);
  const user = (await scim.send('POST', '/Users', { userName: `${name}-stays`, title: name })).body.id;
  const members = [{ value: user }];
  const group = (await scim.send('POST', '/Groups', { displayName: `${name}-stays`, members })).body.id;
  return { name, service, scim, user, group };
}

type Ask = [method: string, path: string, body?: unknown, headers?: Record<string, string>];

/** One request for every method and endpoint, with the expected status. */
function everyKind({ name, user, group }: Own, round: number): [number, ...Ask][] {
  const filter = `displayName sw "${name}" or userName sw "${name}"`;
  const searchRequest = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';
  return [
    [200, 'GET', `/Users/${user}`],
    [200, 'GET', `/Users?filter=${encodeURIComponent(`userName eq "${name}-stays"`)}`],
    [200, 'GET', '/Users?count=3'],
    [200, 'GET', '/'],
    [200, 'POST', '/Users/.search', { schemas: [searchRequest], filter: `title eq "${name}"` }],
    [201, 'POST', '/Users', { userName: `${name}-${round}`, title: name }],
    [200, 'PUT', `/Users/${user}`, { userName: `${name}-stays`, title: name, nickName: `${name} ${round}` }],
    [200, 'PATCH', `/Users/${user}`, patchOp({ op: 'add', path: 'nickName', value: `${name} ${round}` })],
    [200, 'GET', `/Groups/${group}`],
    [200, 'GET', '/Groups'],
    [201, 'POST', '/Groups', { displayName: `${name}-${round}` }],
    [200, 'PATCH', `/Groups/${group}`, patchOp({ op: 'add', path: 'externalId', value: `${name} ${round}` })],
    [200, 'PUT', `/Groups/${group}`, { displayName: `${name}-stays`, members: [{ value: user }] }],
    [200, 'GET', '/Schemas'],
    [200, 'GET', '/ResourceTypes/User'],
    [200, 'GET', '/ServiceProviderConfig'],
    [400, 'GET', `/Users?filter=${encodeURIComponent(`${filter} and`)}`],
    [400, 'POST', '/Users', { title: name }],
    [401, 'GET', '/Users', undefined, { Authorization: `Bearer ${name}-is-no-token` }],
    [403, 'GET', '/Schemas?filter=x'],
    [404, 'GET', `/Users/${name}-nobody`],
    [405, 'PUT', '/Users', {}],
    [409, 'POST', '/Users', { userName: `${name}-stays` }],
    [412, 'PATCH', `/Groups/${group}`, patchOp({ op: 'remove', path: 'externalId' }), { 'If-Match': '"x"' }],
    [415, 'POST', '/Groups', 'x', { 'Content-Type': 'text/plain' }],
    [501, 'POST', '/Bulk', {}],
  ];
}

test('two services in one process return only their own URLs and data under concurrent requests', async () => {
  const rounds = Array.from({ length: TIMES }, (_, round) => round);
  const asked = rounds.flatMap((round) => {
    const [one = [], other = []] = fixtures.map((fixture) =>
      everyKind(fixture, round).map(([status, ...ask]) => ({ fixture, status, ask })),
    );
    return one.flatMap((request, index) => [request, ...other.slice(index, index + 1)]);
  });
  const answers = await Promise.all(
    asked.map(async (request) => ({ ...request, answer: await request.fixture.scim.send(...request.ask) })),
  );
  for (const { fixture, status, ask, answer } of answers) {
    expect({ ask, status: answer.status, body: answer.body }).toMatchObject({ status });
    expectOwn(fixture, answer);
  }
  for (const { scim } of fixtures) {
    expect((await scim.send('GET', '/Users?count=0')).body.totalResults).toBe(TIMES + 1);
    expect((await scim.send('GET', '/Groups?count=0')).body.totalResults).toBe(TIMES + 1);
  }
});

function expectOwn({ name }: Own, { body, headers }: ScimAnswer): void {
  const text = JSON.stringify([body, ...headers]);
  const foreign = name === 'alpha' ? 'bravo' : 'alpha';
  expect(text).not.toContain(foreign);
  for (const [url] of text.matchAll(/https?:\/\/[^"]*\/scim\/v2/g))
    expect(url).toBe(`https://${name}.example/scim/v2`);
  if (body?.meta) expect(body.meta.location).toContain(`https://${name}.example/scim/v2/`);
  for (const header of ['location', 'content-location']) {
    const url = headers.get(header);
    if (url !== null) expect(url).toBe(body.meta.location);
  }
}

test('a token or id of one service is not valid at the other', async () => {
  const [one, other] = fixtures as [Own, Own];
  for (const path of ['/Users', `/Users/${other.user}`, '/Schemas'])
    expect((await scimClient(other.service.url, 'the-token-of-alpha').send('GET', path)).status).toBe(401);
  for (const path of [`/Users/${other.user}`, `/Groups/${other.group}`]) {
    expect((await one.scim.send('GET', path)).status).toBe(404);
    expect((await one.scim.send('DELETE', path)).status).toBe(404);
  }
  expect((await other.scim.send('GET', `/Groups/${other.group}`)).body.members).toHaveLength(1);
});

test('a service continues when the other one is closed', async () => {
  const [one, other] = fixtures as [Own, Own];
  const user = await one.scim.send('GET', `/Users/${one.user}`);
  await other.service.close();
  fixtures = [one];
  expect((await one.scim.send('GET', `/Users/${one.user}`)).body).toEqual(user.body);
  expect((await one.scim.send('POST', '/Users', { userName: 'alpha-last' })).status).toBe(201);
});
