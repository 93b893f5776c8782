import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { eventually } from '../fixtures/eventually.ts';
import { openidProvider } from '../fixtures/openid-provider.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';

const key = 'b6f1c2d3e4f5a6978899aabbccddeeff';

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin({
    ...{
      TRAVEL_API_KEY: key,
      OTHER_KEY: key,
      OTHER_KEY_URL: 'http://127.0.0.1:1',
      NOT_SET_URL: 'https://travel.example.com',
    },
    ...{ PLAIN_KEY: key, PLAIN_KEY_URL: 'http://travel.example.com', UNDECLARED: 'abcabcabcabc' },
  });
});
afterAll(() => fixture.close());

const embedded = { url: 'embedded' };

function add(name: string, body: object = {}) {
  return fixture.admin('POST', '/connections', { body: { name, travelApi: embedded, ...body } });
}

async function listed(): Promise<{ id: string; source: string }[]> {
  return (await fixture.viewer('GET', '/connections')).body.connections;
}

/** Creates a token of a connection, and a SCIM client that has it. */
async function clientOf(connection: string): Promise<ScimClient> {
  const { status, body } = await fixture.admin('POST', '/tokens', { body: { connection, name: 'idp' } });
  expect(status).toBe(200);
  return scimClient(fixture.service.url, body.token);
}

async function policyOf(connection: string, name: string) {
  const { body } = await fixture.viewer('GET', `/connections/${connection}`);
  return body.policies.find((policy: { name: string }) => policy.name === name);
}

test('a connection of the settings file is shown with its policies and travel API, and cannot be changed', async () => {
  const { admin, viewer } = fixture;
  const { body } = await viewer('GET', '/connections/default');
  expect(body).toMatchObject({ source: 'file', isShadowed: false });
  expect(await policyOf('default', 'deprovision')).toEqual({
    name: 'deprovision',
    description: expect.stringMatching(/^Effect of a SCIM DELETE on the traveler\./),
    value: 'archive',
    text: 'When a user is deleted, the traveler is archived.',
    choices: [
      { value: 'archive', text: 'When a user is deleted, the traveler is archived.' },
      { value: 'delete', text: 'When a user is deleted, the traveler is deleted.' },
    ],
  });
  expect((await policyOf('default', 'safetyValve')).value).toEqual({
    ...{ share: 0.05, minimum: 20, windowMinutes: 60 },
  });
  expect(body.travelApi).toContainEqual({
    ...{ name: 'keyEnv', value: 'TRAVEL_API_KEY' },
    description: 'The environment variable with the credential of the travel API.',
  });
  for (const change of [
    await admin('PATCH', '/connections/default/policies', { body: { policies: { drift: 'correct' } } }),
    await admin('DELETE', '/connections/default'),
  ])
    expect([change.status, change.body.message]).toEqual([
      409,
      'The settings file has the connection default. Change it there, and restart.',
    ]);
  expect((await add('default')).status).toBe(409);
});

test('an added connection is served at once: a token of it provisions a traveler', async () => {
  expect((await add('subsidiary')).status).toBe(204);
  expect(await listed()).toContainEqual(expect.objectContaining({ id: 'subsidiary', source: 'database' }));
  const { send } = await clientOf('subsidiary');
  const { body } = await send('POST', '/Users', {
    userName: 'ada@corp.example',
    name: { givenName: 'Ada', familyName: 'King' },
  });
  await eventually(async () => {
    const person = await fixture.viewer('GET', `/people/subsidiary/${body.id}`);
    expect(person.body.verdict.status).toBe('synced');
  });
  const { body: audit } = await fixture.viewer('GET', '/audit?action=addConnection&limit=1');
  expect(audit.entries[0].details).toEqual({
    ...{ connection: 'subsidiary', account: 'embedded', travelApi: embedded, policies: {}, mode: 'live' },
  });
  expect((await add('subsidiary')).body.message).toBe('There is a connection subsidiary already.');
});

test('which SCIM requests a connection accepts is told, and changed for the next request', async () => {
  await add('exact', { policies: { drift: 'correct' }, scim: 'strict' });
  const { send } = await clientOf('exact');
  const create = async (userName: string) =>
    (await send('POST', '/Users', { userName, badgeNumber: '7' })).status;
  const told = async () => (await fixture.viewer('GET', '/connections/exact')).body.scim;
  expect(await create('one@corp.example')).toBe(400);
  expect(await told()).toMatchObject({
    ...{ name: 'scim', value: 'strict', choices: [{ value: 'interoperable' }, { value: 'strict' }] },
    text: 'What the SCIM interoperability profile forbids is refused, and the error says what would be right.',
  });
  const body = { scim: 'interoperable' };
  expect((await fixture.admin('PATCH', '/connections/exact/policies', { body })).status).toBe(204);
  expect([await create('one@corp.example'), (await told()).value]).toEqual([201, 'interoperable']);
  expect(await policyOf('exact', 'drift')).toMatchObject({ value: 'correct' });
  const wrong = { body: { scim: 'exact' } };
  expect((await fixture.admin('PATCH', '/connections/exact/policies', wrong)).status).toBe(422);
});

test('a changed policy takes effect with the next request, and the others stay', async () => {
  await add('policies', { policies: { drift: 'correct' } });
  const { send } = await clientOf('policies');
  const create = async (userName: string) =>
    (await send('POST', '/Users', { userName, name: { givenName: 'Grace', familyName: 'Hopper' } })).body;
  const remove = async (userName: string, status: string) => {
    const { id } = await create(userName);
    await send('DELETE', `/Users/${id}`);
    await eventually(async () => {
      const { body } = await fixture.viewer('GET', `/people/policies/${id}`);
      expect(body.verdict.status).toBe(status);
    });
  };
  const path = '/connections/policies/policies';
  const change = (policies: object) => fixture.admin('PATCH', path, { body: { policies } });
  await remove('archived@corp.example', 'archived');
  expect((await change({ deprovision: 'delete' })).status).toBe(204);
  expect(await policyOf('policies', 'deprovision')).toMatchObject({ value: 'delete' });
  expect(await policyOf('policies', 'drift')).toMatchObject({ value: 'correct' });
  await remove('deleted@corp.example', 'noTraveler');
  const headers = { Authorization: `Bearer ${fixture.service.travelApiKey}` };
  const users = await fetch(`${fixture.service.url}/api/users?limit=100`, { headers });
  const emails = Object(await users.json()).data.map(({ email }: { email: string }) => email);
  expect(emails).toContain('archived@corp.example');
  expect(emails).not.toContain('deleted@corp.example');
  const valve = { share: 0.5, minimum: 3, windowMinutes: 30 };
  expect((await change({ safetyValve: valve })).status).toBe(204);
  expect(await policyOf('policies', 'safetyValve')).toMatchObject({ value: valve });
});

test.each([
  [{ name: 'Big Name' }, 'name', /^is no name of a connection\. Write at most 40/],
  [{ travelApi: { url: 'ftp://x' } }, 'travelApi.url', /^is no URL/],
  [
    { travelApi: { url: 'https://travel.example.com', keyEnv: 'NOT_SET' } },
    'travelApi.keyEnv',
    /names NOT_SET, which is not set/,
  ],
  // Whether it is set, and that it repeats itself, is not told: it is no credential of a travel API.
  ...['UNDECLARED', 'JETBRIDGE_KEY', 'PUBLIC'].map((keyEnv): [object, string, RegExp] => [
    { travelApi: { url: 'embedded', keyEnv } },
    'travelApi.keyEnv',
    /^names \w+, which is not declared as the credential of a travel API\. /,
  ]),
  [{ travelApi: { ...embedded, paths: { users: '/internal' } } }, 'travelApi.paths.users', /./],
  [{ travelApi: { url: 'http://travel.example.com', keyEnv: 'PLAIN_KEY' } }, 'travelApi.url', /plain HTTP/],
  [
    { travelApi: { url: 'https://collector.example.com', keyEnv: 'OTHER_KEY' } },
    'travelApi.url',
    /^is not where the credential in OTHER_KEY belongs\. .* or set OTHER_KEY_URL to this URL/,
  ],
  // The credential of a connection of the settings file, which another travel API would get.
  [
    { travelApi: { url: 'https://collector.example.com', keyEnv: 'TRAVEL_API_KEY' } },
    'travelApi.url',
    /^is not where the credential in TRAVEL_API_KEY belongs\./,
  ],
  [
    { travelApi: { url: 'https://ada:secret@travel.example.com', keyEnv: 'OTHER_KEY' } },
    'travelApi.url',
    /^has a user name or a password/,
  ],
  [{ policies: { drift: 'never' } }, 'policies.drift', /correct/],
  [{ policies: { nosuch: 1 } }, 'policies.nosuch', /./],
  [{ travelApi: { ...embedded, mapping: 'x' } }, 'travelApi.mapping', /./],
])('a faulty connection is refused as in the settings file: %j', async (body, field, message) => {
  const { status, body: refusal } = await add('faulty', body);
  expect(status).toBe(422);
  expect(refusal.faults).toEqual([{ field, message: expect.stringMatching(message) }]);
  expect((await listed()).map(({ id }) => id)).not.toContain('faulty');
});

test('a connection may use the travel API that the environment names for its credential', async () => {
  const travelApi = { url: 'http://127.0.0.1:1', keyEnv: 'OTHER_KEY', account: 'other' };
  expect((await add('elsewhere', { travelApi })).status).toBe(204);
  expect(await listed()).toContainEqual(
    expect.objectContaining({ id: 'elsewhere', travelApi: 'http://127.0.0.1:1' }),
  );
});

test('a removed connection goes with its people and tokens, and its travelers stay', async () => {
  await add('leaving');
  const { send } = await clientOf('leaving');
  const { body } = await send('POST', '/Users', {
    userName: 'linus@corp.example',
    name: { givenName: 'Linus', familyName: 'T' },
  });
  await eventually(async () => {
    const records = await fixture.viewer('GET', '/connections/leaving/records');
    // The travelers that an import has listed are people, too.
    expect(records.body).toMatchObject({ tombstones: 0, groups: 0, linked: 1 });
  });
  const travelId = (await fixture.viewer('GET', `/people/leaving/${body.id}`)).body.travelId;
  expect((await fixture.admin('DELETE', '/connections/leaving')).status).toBe(204);
  expect((await listed()).map(({ id }) => id)).not.toContain('leaving');
  expect((await send('GET', '/Users?count=1')).status).toBe(401);
  await eventually(async () => {
    expect((await fixture.viewer('GET', '/connections/leaving/records')).status).toBe(404);
  });
  const headers = { Authorization: `Bearer ${fixture.service.travelApiKey}` };
  const traveler = await fetch(`${fixture.service.url}/api/users/${travelId}`, { headers });
  expect(Object(await traveler.json()).data).toMatchObject({ email: 'linus@corp.example', archived: false });
  await eventually(async () => expect((await add('leaving')).status).toBe(204));
  expect((await fixture.admin('DELETE', '/connections/nosuch')).status).toBe(404);
});

test('what the database has of each connection is listed, and a connection that is served is not forgotten', async () => {
  const { body } = await fixture.viewer('GET', '/connection-records');
  const [record] = body.connections.filter(({ id }: { id: string }) => id === 'default');
  const keptBecause = expect.stringContaining('The connection default is in the settings. Remove it there');
  expect(record).toMatchObject({
    ...{ source: 'file', mode: 'live', tombstones: 0, groups: 0, servers: 1, isInUse: true, keptBecause },
  });
  const forget = (id: string) => fixture.admin('DELETE', `/connection-records/${id}`);
  expect(await forget('default')).toMatchObject({ status: 409, body: { message: keptBecause } });
  expect((await forget('nosuch')).status).toBe(404);
});

describe('access', () => {
  const change = (connection: string, body: object) =>
    fixture.admin('PATCH', `/connections/${connection}/access`, { body });
  const detailsOf = async (connection: string) =>
    (await fixture.viewer('GET', `/connections/${connection}`)).body;

  test('changed limits hold from the next request on, and null removes one', async () => {
    await add('limits');
    const { send } = await clientOf('limits');
    const statuses = async () => {
      const sent = await Promise.all(Array.from({ length: 30 }, () => send('GET', '/Users?count=0')));
      return [...new Set(sent.map(({ status }) => status))].sort();
    };
    expect((await change('limits', { requestsPerSecond: 1, allowFrom: ['loopback'] })).status).toBe(204);
    expect(await statuses()).toEqual([200, 429]);
    expect((await change('limits', { requestsPerSecond: null, allowFrom: ['192.0.2.0/24'] })).status).toBe(
      204,
    );
    expect(await statuses()).toEqual([403]);
    expect((await detailsOf('limits')).limits).toMatchObject([
      {
        name: 'requestsPerSecond',
        description: expect.stringMatching(/^The largest number of SCIM requests/),
      },
      { name: 'allowFrom', value: ['192.0.2.0/24'] },
    ]);
    expect((await change('limits', { allowFrom: null })).status).toBe(204);
    expect(await statuses()).toEqual([200]);
    const { body: audit } = await fixture.viewer('GET', '/audit?action=changeAccess&limit=1');
    expect(audit.entries[0].details).toEqual({ id: 'limits', connection: 'limits', allowFrom: null });
  });

  test('workloads are added and removed, and none whose issuer is at a private address', async () => {
    await add('federated');
    const issuer = await openidProvider();
    const workload = { issuer: 'https://idp.example/tenant', subject: 's', audience: 'a' };
    expect((await change('federated', { federation: [workload] })).status).toBe(204);
    expect((await detailsOf('federated')).federation).toEqual([workload]);
    expect((await change('federated', { requestsPerSecond: 100 })).status).toBe(204);
    expect((await detailsOf('federated')).federation).toEqual([workload]);
    const refused = await change('federated', { federation: [{ ...workload, issuer: issuer.issuer }] });
    expect([refused.status, refused.body.faults]).toEqual([
      422,
      [
        {
          field: 'federation.0.issuer',
          message: 'leads to a private address, which the setting oauthClients.allowPrivate does not allow',
        },
      ],
    ]);
    expect((await change('federated', { federation: null })).status).toBe(204);
    expect((await detailsOf('federated')).federation).toEqual([]);
    await issuer.close();
  });

  test('faulty settings are refused with their place, and a connection of the settings file is not changed', async () => {
    await add('unchanged');
    const refused = await change('unchanged', {
      federation: [{ issuer: 'http://idp.example', subject: '', audience: 'a' }],
      allowFrom: ['idp.example'],
    });
    expect([refused.status, refused.body.faults.map(({ field }: { field: string }) => field)]).toEqual([
      422,
      ['federation.0.issuer', 'federation.0.subject', 'allowFrom.0'],
    ]);
    expect((await detailsOf('unchanged')).limits).not.toContainEqual(
      expect.objectContaining({ value: ['idp.example'] }),
    );
    expect((await change('default', { requestsPerSecond: 5 })).body.message).toBe(
      'The settings file has the connection default. Change it there, and restart.',
    );
    expect((await fixture.viewer('PATCH', '/connections/unchanged/access', { body: {} })).status).toBe(403);
  });
});
