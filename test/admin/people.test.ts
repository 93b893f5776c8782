import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

let fixture: AdminFixture;
let idp: ScimClient;
/** The SCIM ids by userName. */
const ids = new Map<string, string>();
beforeAll(async () => {
  fixture = await startAdmin();
  idp = scimClient(fixture.service.url, fixture.service.scimToken);
  await provision({ userName: 'grace@corp.example', displayName: 'Grace Hopper' });
  await provision({
    userName: 'ada@corp.example',
    name: { givenName: 'Ada', familyName: 'King' },
    emails: [{ value: 'countess@corp.example', type: 'work' }],
    phoneNumbers: [{ value: '+33 6', type: 'mobile' }],
    [enterprise]: { manager: { value: ids.get('grace@corp.example') } },
  });
  await provision({ userName: 'bob' });
  await provision({ userName: 'eve@corp.example', active: false });
  // The import at the start finds the service's own admin, who is no person.
  await eventually(async () =>
    expect((await fixture.viewer('GET', '/overview')).body.connections[0].lastImport).toBeDefined(),
  );
});
afterAll(() => fixture.close());

async function provision(user: { userName: string } & Record<string, unknown>): Promise<void> {
  const { status, body } = await idp.send('POST', '/Users', { active: true, ...user });
  expect(status).toBe(201);
  ids.set(user.userName, body.id);
}

interface Listed {
  userName: string;
}

async function list(query: string): Promise<{ userNames: string[]; next: string | undefined }> {
  const { status, body } = await fixture.viewer('GET', `/people?${query}`);
  expect(status).toBe(200);
  return { userNames: body.people.map(({ userName }: Listed) => userName), next: body.next };
}

test('people are listed by userName with state, findings and connection', async () => {
  const { body } = await fixture.viewer('GET', '/people');
  expect(body.connections).toEqual(['default']);
  expect(body.next).toBeUndefined();
  expect(body.people).toHaveLength(4);
  expect(body.people[0]).toMatchObject({
    ...{ connection: 'default', id: ids.get('ada@corp.example'), userName: 'ada@corp.example' },
    ...{ name: 'Ada King', state: 'synced', isActive: true, isDeleted: false },
    findings: [{ field: 'phoneNumber', code: 'phoneUnreadable', value: '+33 6' }],
    lastModified: expect.stringMatching(/^20.*Z$/),
  });
});

test('pages follow each other until the end', async () => {
  const first = await list('limit=2');
  expect(first.userNames).toEqual(['ada@corp.example', 'bob']);
  const second = await list(`limit=3&after=${first.next}`);
  expect(second).toEqual({ userNames: ['eve@corp.example', 'grace@corp.example'], next: undefined });
});

test.each([
  ['state=pending', ['bob']],
  ['finding=phoneUnreadable', ['ada@corp.example']],
  ['finding=phone', []],
  ['archived=true', ['eve@corp.example']],
  ['userName=GR', ['grace@corp.example']],
  ['search=CE%20hop', ['grace@corp.example']],
  ['search=%2B33', ['ada@corp.example']],
  ['search=corp.example&sort=name', ['ada@corp.example', 'eve@corp.example', 'grace@corp.example']],
  ['userName=GR&state=pending', []],
  ['connection=default&state=synced&limit=1', ['ada@corp.example']],
])('people are selected by %s', async (query, userNames) => {
  expect((await list(query)).userNames).toEqual(userNames);
});

test.each([
  ['connection=okta', 'connection'],
  ['after=nonsense', 'after'],
  [`after=${Buffer.from('["okta"]').toString('base64url')}`, 'after'],
  ['state=lost', 'state'],
])('a list with %s is refused, and the fault is named', async (query, field) => {
  const { status, body } = await fixture.viewer('GET', `/people?${query}`);
  expect([status, body.faults[0].field]).toEqual([422, field]);
});

test.each([
  ['gra', ['grace@corp.example']],
  ['Grace H', ['grace@corp.example']],
  ['countess', ['ada@corp.example']],
  ['ountess@corp', ['ada@corp.example']],
  ['+33 6', ['ada@corp.example']],
  ['COUNTESS@corp.example', ['ada@corp.example']],
  ['nobody', []],
  ['%', []],
  ["gra' or 1=1 --", []],
])('the search for %j finds %j', async (text, userNames) => {
  const { body } = await fixture.viewer('GET', `/people/search?text=${encodeURIComponent(text)}`);
  expect(body.people.map(({ userName }: Listed) => userName)).toEqual(userNames);
});

test('the people whom filters select are counted, and of them those with findings', async () => {
  const count = async (query: string) => (await fixture.viewer('GET', `/people/selection?${query}`)).body;
  expect(await count('')).toEqual({ people: 4, withFindings: 2, isMore: false });
  expect(await count('search=KING')).toEqual({ people: 1, withFindings: 1, isMore: false });
  expect(await count('state=synced&archived=true')).toEqual({ people: 1, withFindings: 0, isMore: false });
});

test('a person is found by the id of the user and by that of the traveler', async () => {
  const id = ids.get('ada@corp.example') ?? '';
  const { body } = await fixture.viewer('GET', `/people/search?text=${id}`);
  expect(body.people).toMatchObject([{ userName: 'ada@corp.example' }]);
  const { travelId } = body.people[0];
  const byTraveler = await fixture.viewer('GET', `/people/search?text=${travelId}`);
  expect(byTraveler.body).toEqual(body);
});

test('a person is explained: state, findings with remedies, each field from the IdP to the traveler, managers', async () => {
  const { body } = await fixture.viewer('GET', `/people/default/${ids.get('ada@corp.example')}`);
  expect(body).toMatchObject({
    ...{ userName: 'ada@corp.example', name: 'Ada King', verdict: { status: 'synced' } },
    findings: [{ code: 'phoneUnreadable', remedy: expect.any(String) }],
    references: [{ standing: 'resolved', userName: 'grace@corp.example', id: ids.get('grace@corp.example') }],
    createdAt: expect.stringMatching(/^20.*Z$/),
  });
  expect(body.fields).toContainEqual(
    expect.objectContaining({
      field: 'firstName',
      standing: 'same',
      source: 'Ada',
      sent: 'Ada',
      observed: 'Ada',
    }),
  );
  expect(body.names[body.references[0].travelId]).toBe('grace@corp.example');
});

test('the last requests about a person and the calls for them are told, newest first', async () => {
  const path = `/people/default/${ids.get('grace@corp.example')}`;
  // Exchanges are logged some time after their end.
  await eventually(async () => {
    const { body } = await fixture.viewer('GET', path);
    const told = body.exchanges.map((one: Record<string, unknown>) => [
      one.direction,
      one.method,
      one.status,
    ]);
    expect(told).toEqual([
      ['scim', 'POST', 201],
      ['travel', 'POST', 201],
    ]);
  });
});

test('a person without a traveler is explained by the reason', async () => {
  const { body } = await fixture.viewer('GET', `/people/default/${ids.get('bob')}`);
  expect(body.verdict).toEqual({ status: 'noTraveler', because: expect.any(String) });
});

test.each(['/people/default/nobody', '/people/okta/nobody'])('%s is answered 404', async (path) => {
  const { status, body } = await fixture.viewer('GET', path);
  expect([status, body.code]).toEqual([404, 'notFound']);
});

test('people are counted by connection, state and finding, and each count is that of the list', async () => {
  const { body } = await fixture.viewer('GET', '/people/counts');
  expect(body.connections).toMatchObject([{ connection: 'default', areFindingsCut: false }]);
  const [{ people, states, findings }] = body.connections;
  expect((await list('')).userNames).toHaveLength(people);
  for (const [state, count] of Object.entries(states))
    expect([state, (await list(`state=${state}`)).userNames.length]).toEqual([state, count]);
  expect(findings.length).toBeGreaterThan(0);
  for (const { code, people: count } of findings)
    expect([code, (await list(`finding=${code}`)).userNames.length]).toEqual([code, count]);
});

test('an admin has a traveler brought up to date now, and the audit log says whose', async () => {
  const id = ids.get('grace@corp.example');
  const revision = async () =>
    (await fixture.service.people('default')).find((one) => one.id === id)?.revision ?? 0;
  const before = await revision();
  expect((await fixture.admin('POST', `/people/default/${id}/reconcile`)).status).toBe(204);
  expect(await revision()).toBeGreaterThan(before);
  const audit = await fixture.viewer('GET', '/audit?limit=1');
  expect(audit.body.entries).toMatchObject([
    {
      ...{ action: 'reconcilePerson', details: { userName: 'grace@corp.example' }, status: 204 },
      people: [{ id, name: 'Grace Hopper' }],
    },
  ]);
});

test('an admin joins a person with the leaver in whose place the person is', async () => {
  const travelIdOf = (body: Record<string, { travelUserId?: string }>) =>
    body['urn:ietf:params:scim:schemas:extension:travel:2.0:User']?.travelUserId;
  const userName = 'desk@corp.example';
  const { body: old } = await idp.send('POST', '/Users', { userName });
  await idp.send('DELETE', `/Users/${old.id}`);
  const { body: user } = await idp.send('POST', '/Users', { userName });
  const path = `/people/default/${user.id}`;
  const { body: explained } = await fixture.viewer('GET', path);
  expect(explained).toMatchObject({
    findings: expect.arrayContaining([expect.objectContaining({ code: 'otherPerson' })]),
    predecessor: { row: 3, id: old.id, travelId: travelIdOf(old) },
  });
  expect((await fixture.viewer('POST', `${path}/join`)).status).toBe(403);
  const other = { leaver: { connection: 'default', id: ids.get('grace@corp.example') } };
  expect(await fixture.admin('POST', `${path}/join`, { body: other })).toMatchObject({
    status: 409,
    body: { message: expect.stringMatching(/^The first person is active: /) },
  });
  expect((await fixture.admin('POST', `${path}/join`, { body: {} })).status).toBe(204);
  await eventually(async () => {
    expect(travelIdOf((await idp.send('GET', `/Users/${user.id}`)).body)).toBe(travelIdOf(old));
  });
  expect((await fixture.admin('POST', `${path}/join`, { body: {} })).status).toBe(409);
  await idp.send('DELETE', `/Users/${user.id}`);
});

test('an admin erases a person who has left, and the audit log says whom, without a name', async () => {
  const [active, id] = [ids.get('grace@corp.example'), ids.get('eve@corp.example')];
  const erase = (one: string | undefined, body: object) =>
    fixture.admin('POST', `/people/default/${one}/erase`, { body });
  const refused = { status: 409, body: { message: expect.stringMatching(/^grace@corp\.example is active/) } };
  expect(await erase(active, { confirm: true })).toMatchObject(refused);
  const plan = {
    ...{ identities: [{ connection: 'default', id, userName: 'eve@corp.example' }], place: 'embedded' },
    ...{ travelUserIds: [expect.any(String)] },
    counts: { groups: 0, otherPeople: 0, requests: expect.any(Number), event: 1 },
  };
  expect((await erase(id, {})).body).toEqual({ erased: false, ...plan });
  expect((await fixture.viewer('GET', `/people/default/${id}`)).status).toBe(200);
  expect((await erase(id, { confirm: true })).body).toMatchObject({ erased: true, ...plan });
  expect((await fixture.viewer('GET', `/people/default/${id}`)).status).toBe(404);
  const { entries } = (await fixture.viewer('GET', '/audit?limit=1')).body;
  expect(entries).toMatchObject([
    { action: 'erasePerson', details: { connection: 'default', id, confirm: true }, status: 200 },
  ]);
  expect(JSON.stringify(entries)).not.toContain('eve@corp.example');
});
