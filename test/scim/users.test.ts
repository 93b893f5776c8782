import { urns } from '../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let fixture: ScimFixture;
beforeEach(async () => {
  fixture = await scimFixture();
});
afterEach(() => fixture.close());

const ada = {
  schemas: [urns.user],
  userName: 'Ada@corp.example',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [{ value: 'ada@corp.example', type: 'work', primary: true }],
};

test('POST answers 201 with the whole user and its Location (RFC 7644 §3.3)', async () => {
  const { status, headers, body } = await fixture.send('POST', '/Users', {
    ...ada,
    [urns.enterprise]: { department: 'D' },
    id: 'mine',
    meta: { created: '2001-01-01T00:00:00Z' },
    password: 'secret',
    groups: [],
  });
  expect(status).toBe(201);
  expect(headers.get('content-type')).toBe('application/scim+json');
  const location = 'https://bridge.example/scim/v2/Users/u1';
  expect(headers.get('location')).toBe(location);
  expect(body).toEqual({
    schemas: [urns.user, urns.enterprise],
    id: 'u1',
    userName: 'Ada@corp.example',
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    emails: [{ value: 'ada@corp.example', type: 'work', primary: true }],
    [urns.enterprise]: { department: 'D' },
    active: true,
    meta: {
      resourceType: 'User',
      created: '2026-11-20T10:00:01.000Z',
      lastModified: '2026-11-20T10:00:01.000Z',
      location,
      version: 'W/"1"',
    },
  });
  expect((await fixture.send('GET', '/Users/u1')).body).toEqual(body);
});

test('a userName that is taken is 409 uniqueness, whatever its case', async () => {
  await fixture.send('POST', '/Users', ada);
  const { status, body } = await fixture.send('POST', '/Users', { ...ada, userName: 'ADA@CORP.EXAMPLE' });
  expect(status).toBe(409);
  expect(body).toEqual({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: '409',
    scimType: 'uniqueness',
    detail: 'Another user has this userName or email address.',
  });
});

test('several values for userName are 400 in a POST and a PUT, and leave the userName as it is in a PUT that deactivates', async () => {
  const userName = ['ada', 'bob'];
  expect(await fixture.send('POST', '/Users', { ...ada, userName })).toMatchObject({
    status: 400,
    body: { scimType: 'invalidValue', detail: 'The value of userName must be a single value.' },
  });
  await fixture.send('POST', '/Users', { ...ada, userName: ['ada'] });
  const values = [{ value: 'bob' }, { value: 'cem' }];
  expect((await fixture.send('PUT', '/Users/u1', { ...ada, userName: values })).status).toBe(400);
  const left = await fixture.send('PUT', '/Users/u1', { ...ada, userName, active: false });
  expect([left.status, left.body.userName, left.body.active]).toEqual([200, 'ada', false]);
});

test('PUT replaces the user, keeps active if the body lacks it, and answers 200 with the user', async () => {
  await fixture.send('POST', '/Users', { ...ada, title: 'T', active: false });
  const { status, body } = await fixture.send('PUT', '/Users/u1', { ...ada, id: 'other', nickName: 'A' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ id: 'u1', nickName: 'A', active: false });
  expect(body.title).toBeUndefined();
});

test('PUT never creates', async () => {
  expect((await fixture.send('PUT', '/Users/u9', ada)).status).toBe(404);
});

test('PATCH answers 200 with the user, and is atomic', async () => {
  await fixture.send('POST', '/Users', ada);
  const good = await fixture.send(
    'PATCH',
    '/Users/u1',
    patchOp({ op: 'Replace', value: { active: 'False' } }),
  );
  expect(good.status).toBe(200);
  expect(good.body.active).toBe(false);
  const bad = await fixture.send(
    'PATCH',
    '/Users/u1',
    patchOp({ op: 'replace', path: 'active', value: true }, { op: 'replace', path: 'id', value: 'x' }),
  );
  expect(bad).toMatchObject({ status: 400, body: { scimType: 'mutability', status: '400' } });
  expect((await fixture.send('GET', '/Users/u1')).body).toEqual(good.body);
});

test('a PATCH with attributes keeps the attributes that it does not return', async () => {
  await fixture.send('POST', '/Users', ada);
  const change = patchOp({ op: 'add', path: 'title', value: 'T' });
  const { body } = await fixture.send('PATCH', '/Users/u1?attributes=title', change);
  expect(body).toEqual({ schemas: [urns.user], id: 'u1', title: 'T' });
  expect((await fixture.send('GET', '/Users/u1')).body).toMatchObject({ ...ada, title: 'T' });
});

test.each(['ID', 'Schemas', `${urns.user}:id`])(
  'excludedAttributes=%s does not leave out what is always returned (RFC 7643 §7)',
  async (name) => {
    await fixture.send('POST', '/Users', { ...ada, title: 'T' });
    const { body } = await fixture.send('GET', `/Users/u1?excludedAttributes=title,${name}`);
    expect(body).toMatchObject({ id: 'u1', schemas: [urns.user] });
    expect(body).not.toHaveProperty('title');
  },
);

test('DELETE answers 204 without a body, and every later request is 404', async () => {
  await fixture.send('POST', '/Users', ada);
  expect(await fixture.send('DELETE', '/Users/u1')).toMatchObject({ status: 204, body: undefined });
  for (const [method, body] of [
    ['GET'],
    ['DELETE'],
    ['PUT', ada],
    ['PATCH', patchOp({ op: 'remove', path: 'title' })],
  ] as const) {
    const answer = await fixture.send(method, '/Users/u1', body);
    expect(answer).toMatchObject({ status: 404, body: { status: '404', detail: 'There is no such user.' } });
  }
});

test('groups and travelUserId are returned, and cannot be written', async () => {
  await fixture.send('POST', '/Users', ada);
  await fixture.send('POST', '/Groups', { displayName: 'Team', members: [{ value: 'u1' }] });
  const { body } = await fixture.send('GET', '/Users/u1');
  expect(body.groups).toEqual([
    { value: 'g1', display: 'Team', $ref: 'https://bridge.example/scim/v2/Groups/g1', type: 'direct' },
  ]);
  const put = await fixture.send('PUT', '/Users/u1', { ...body, groups: [{ value: 'g7' }] });
  expect(put.body.groups).toEqual(body.groups);
});

test('the log counts undeclared attributes, and names those that another schema declares', async () => {
  const group = { displayName: 'Team', favColor: 'blue', userName: 'x', 'ada@corp.example': 1 };
  await fixture.send('POST', '/Groups', group);
  expect(fixture.lines[0]).toMatchObject({ dropped: ['*', 'userName'], count: 3 });
  expect(JSON.stringify(fixture.lines)).not.toMatch(/blue|favColor|corp/);
});

test.each(['%00', `${'a'.repeat(3000)}`, '..%2fGroups', "'%20OR%201=1--", '%F0%9F%A7%AD', '"', '__proto__'])(
  'the id %s does not exist',
  async (id) => {
    expect((await fixture.send('GET', `/Users/${id}`)).status).toBe(404);
  },
);

test('a connection does not see the users of another', async () => {
  await fixture.send('POST', '/Users', ada);
  const other = { Authorization: 'Bearer other' };
  expect((await fixture.send('GET', '/Users/u1', undefined, other)).status).toBe(404);
  expect((await fixture.send('GET', '/Users', undefined, other)).body.totalResults).toBe(0);
  expect((await fixture.send('POST', '/Users', ada, other)).status).toBe(201);
});
