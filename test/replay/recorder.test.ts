import type { RecordedExchange } from '../../src/replay/exchanges.ts';
import { recordScenarios } from '../../src/replay/recorder.ts';
import type { ScenarioDefinition } from '../../src/replay/scenario.ts';
import { testDemoDay } from './demo-day.ts';

const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
const START = Date.parse('2026-11-20T08:00:00Z');

/** An exchange with the details that a test names. */
function exchange(details: Partial<RecordedExchange> & { body?: object; answer?: object }): RecordedExchange {
  const { body, answer, ...rest } = details;
  return {
    at: START,
    connection: 'default',
    method: 'GET',
    path: '/Users',
    requestHeaders: {
      authorization: 'Bearer a-secret-token',
      cookie: 'session=1',
      'user-agent': 'Okta SCIM Client 1.0.0',
    },
    status: 200,
    responseHeaders: { 'content-type': 'application/scim+json; charset=utf-8', 'set-cookie': 'x' },
    ...(body ? { requestBody: JSON.stringify(body) } : {}),
    ...(answer ? { responseBody: JSON.stringify(answer) } : {}),
    ...rest,
  };
}

const ada = {
  schemas: [core],
  id: 'id-of-ada',
  userName: 'ada.king@corp.com',
  active: true,
  password: 'hunter2',
};
const created = exchange({ method: 'POST', status: 201, body: { ...ada, id: undefined }, answer: ada });
const left = exchange({
  at: START + 1_000,
  method: 'PATCH',
  path: '/Users/id-of-ada',
  body: { Operations: [{ op: 'replace', path: 'active', value: false }] },
  answer: { ...ada, active: false },
});

/** The steps of the only scenario, each as method, path and note. */
async function stepsOf(exchanges: RecordedExchange[]): Promise<string[]> {
  const { scenarios } = await recordScenarios(exchanges);
  return scenarios.flatMap(({ steps }) =>
    steps.map(
      ({ request, note }) => `${request.method} ${request.path}${note === undefined ? '' : `  ${note}`}`,
    ),
  );
}

async function only(exchanges: RecordedExchange[]): Promise<ScenarioDefinition> {
  const { scenarios } = await recordScenarios(exchanges);
  const [scenario] = scenarios;
  if (!scenario || scenarios.length > 1) throw new Error(`${scenarios.length} scenarios`);
  return scenario;
}

describe('a recording', () => {
  test('ids become variables, and what was created is deleted at the end', async () => {
    expect(await stepsOf([created, left])).toEqual([
      'POST /Users',
      'PATCH /Users/{{user1}}',
      'DELETE /Users/{{user1}}  clean-up',
    ]);
    expect((await only([created, left])).steps[0]).toMatchObject({
      capture: { user1: 'id' },
      expect: { status: [201] },
    });
  });

  test('a person who existed before is created first, as the recording shows the person', async () => {
    expect(await stepsOf([left])).toEqual([
      'POST /Users  set-up: existed before the recording',
      'PATCH /Users/{{user1}}',
      'DELETE /Users/{{user1}}  clean-up',
    ]);
    const [setUp, patch] = (await only([left])).steps;
    expect(setUp?.request.body).toMatchObject({
      schemas: [core],
      userName: expect.stringMatching(/@[a-z]+\.example$/),
    });
    expect(setUp?.request.body).not.toHaveProperty('active');
    expect(patch?.expect.bodyMatches).toMatchObject({ id: '{{user1}}', active: false });
  });

  test('somebody holds a name that was refused', async () => {
    const refused = exchange({
      method: 'POST',
      status: 409,
      body: { userName: 'ada.king@corp.com' },
      answer: {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: '409',
        scimType: 'uniqueness',
        detail: 'ada.king@corp.com is taken',
      },
    });
    const [setUp, conflict] = (await only([refused])).steps;
    expect(setUp?.request.body).toMatchObject({ userName: Object(conflict?.request.body).userName });
    expect(conflict?.expect.bodyMatches).toEqual({
      schemas: { $contains: 'urn:ietf:params:scim:api:messages:2.0:Error' },
      status: '409',
      scimType: 'uniqueness',
    });
    expect(JSON.stringify(await only([refused]))).not.toContain('ada');
  });

  test('credentials, cookies and passwords are not in the file', async () => {
    const text = JSON.stringify(await only([created, left]));
    for (const secret of ['a-secret-token', 'session=1', 'hunter2', 'set-cookie'])
      expect(text).not.toContain(secret);
    expect((await only([created])).steps[0]?.request.headers).toEqual({
      Authorization: 'Bearer {{token}}',
      'Content-Type': 'application/scim+json',
      'User-Agent': 'Okta SCIM Client 1.0.0',
    });
  });

  test('a request whose token was refused is played with a token that will be', async () => {
    const refused = exchange({ status: 401, answer: { status: '401' } });
    expect((await only([refused])).steps[0]?.request.headers).toMatchObject({
      Authorization: 'Bearer no-token',
    });
    const anonymous = exchange({ status: 401, answer: { status: '401' }, requestHeaders: {} });
    expect((await only([anonymous])).steps[0]?.request.headers).not.toHaveProperty('Authorization');
  });

  test('an ETag that an answer gave is passed on, and so is a cursor', async () => {
    const version = { ...ada, meta: { version: 'W/"7"' } };
    const read = exchange({ path: '/Users/id-of-ada', answer: version });
    const conditional = { ...left, at: START, requestHeaders: { 'if-match': 'W/"7"' } };
    const page = exchange({
      path: '/Users?cursor',
      answer: { schemas: [], Resources: [], nextCursor: 'abc=' },
    });
    const next = exchange({ path: '/Users?cursor=abc%3D&count=2', answer: { schemas: [], Resources: [] } });
    const [, first, second, third, fourth] = (await only([read, conditional, page, next])).steps;
    expect(first?.capture).toEqual({ version2: 'meta.version' });
    expect(second?.request.headers).toMatchObject({ 'If-Match': '{{version2}}' });
    expect(third?.capture).toEqual({ cursor4: 'nextCursor' });
    expect(fourth?.request.path).toBe('/Users?cursor={{cursor4}}&count=2');
  });

  test('the encoding of a filter stays as the IdP sends it', async () => {
    const plus = exchange({ path: "/Users?filter=userName+eq+%22sean.o'neil%2bx%40corp.example%22&count=1" });
    expect((await stepsOf([plus]))[0]).toMatch(
      /^GET \/Users\?filter=userName\+eq\+%22[a-z]+\.[a-z]+'[a-z]+%2b[a-z]+%40[a-z]+\.example%22&count=1$/,
    );
  });

  test('a scenario ends before a long pause, and after the most exchanges', async () => {
    const later = { ...left, at: START + 3_600_000 };
    const { scenarios } = await recordScenarios([created, later]);
    expect(scenarios.map(({ name }) => name)).toEqual(['okta-2026-11-20-0800', 'okta-2026-11-20-0900']);
    const [setUp] = scenarios[1]?.steps ?? [];
    expect(setUp?.request.body).toEqual({
      schemas: [core],
      userName: Object(scenarios[0]?.steps[0]?.request.body).userName,
      active: true,
      password: 'Removed-1',
    });
    expect(
      (await recordScenarios([created, left], { maximum: 1 })).scenarios.map(({ name }) => name),
    ).toEqual(['okta-2026-11-20-0800', 'okta-2026-11-20-0800-2']);
  });

  test('outages, and writes whose bodies are lost, are left out and told', async () => {
    const outage = exchange({ status: 503 });
    const { requestBody: _, ...lost } = left;
    const { scenarios, leftOut } = await recordScenarios([created, outage, lost]);
    expect(scenarios.flatMap(({ steps }) => steps)).toHaveLength(2);
    expect(leftOut.map(({ reason }) => reason)).toEqual([
      'the service was overloaded or out of order',
      'the log has no body of the request',
    ]);
  });

  test('a body that is no JSON is played as one', async () => {
    const broken = exchange({
      method: 'POST',
      status: 400,
      requestBody: '{"userName": "ada.king@corp.com",}',
    });
    const [step] = (await only([broken])).steps;
    expect(() => JSON.parse(step?.request.rawBody ?? '{}')).toThrow();
    expect(step?.request.rawBody).not.toMatch(/ada|king|corp/);
  });

  test('personal data in unusual places is replaced, too', async () => {
    const places = [
      exchange({ path: '/People/ada.king%40corp.com', status: 404 }),
      exchange({ path: '/ada.king@corp.com', status: 404 }),
      exchange({ path: '/Users?filter=ada.king%40corp.com', status: 400 }),
      exchange({ path: '/Users?filter=userName%20eq%20ada.king%40corp.com', status: 400 }),
      exchange({ path: '/Users?filter=userName%20eq%20%22ada.king%40corp.com', status: 400 }),
      exchange({
        path: '/Users?filter=emails%5Bvalue%20eq%20%22ada.king%40corp.com%22%5D&note=King&count=1',
      }),
      exchange({
        path: '/users/.search',
        method: 'POST',
        body: { filter: 'name.familyName co "kin"', count: 5 },
      }),
      exchange({
        method: 'PATCH',
        path: '/Users/9?attributes=userName',
        status: 400,
        body: {
          Operations: [
            { op: 'Add', path: 'emails[value eq "ada.king@corp.com"].display', value: 'King' },
            { op: 'Add', path: 'ada.king@corp.com', value: 'x' },
            {
              op: 'Add',
              value: { 'emails[value eq "ada.king@corp.com"].display': 'ADA KING', employeeNumber: 71042 },
            },
            { op: 'Add', path: 'roles', value: [{ value: '{"id":"king","displayName":"Ada King"}' }] },
            { op: 'Add', path: 'members', value: [{ $ref: 'https://scim.corp.com/scim/v2/Users/ada.king' }] },
          ],
        },
      }),
    ];
    const text = JSON.stringify((await recordScenarios(places)).scenarios);
    expect(text.match(/ada|king|corp|71042/gi)).toBeNull();
    expect(text).toContain('"path":"/Users?filter=emails%5Bvalue%20eq%20%22');
    expect(text).toMatch(/&[a-z]+=[A-Z][a-z]+&count=1"/);
  });

  test('roles that the caller names stay', async () => {
    const body = { ...ada, roles: [{ value: 'accountant' }, { value: 'Friend of Ada' }] };
    const { scenarios } = await recordScenarios([exchange({ method: 'POST', status: 201, body })], {
      vocabulary: ['accountant'],
    });
    const text = JSON.stringify(scenarios);
    expect(text).toContain('"accountant"');
    expect(text).not.toMatch(/Friend|Ada/);
  });
});

// The slow test of the same name plays the one of entra.
describe('the day of okta in the demo', () => testDemoDay('okta'));
