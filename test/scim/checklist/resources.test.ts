import { urns } from '../../../src/schema/resource.ts';
import { patchOp } from '../../fixtures/scim.ts';
import { type ScimService, scimService } from '../../fixtures/scim-service.ts';

let scim: ScimService;
beforeEach(async () => {
  scim = await scimService();
});
afterEach(() => scim.close());

const ada = { schemas: [urns.user], userName: 'ada' };
const create = async (body: object) => (await scim.send('POST', '/Users', body)).body;

test('19. every resource has schemas, an id of the server that is stable, unique and never reused, and meta', async () => {
  const ids = new Set<string>();
  for (let times = 1; times <= 3; times += 1) {
    const user = await create({
      ...ada,
      id: 'mine',
      meta: { resourceType: 'Mine', created: '1999-01-01T00:00:00Z' },
    });
    const group = (await scim.send('POST', '/Groups', { displayName: 'Crew', id: 'bulkId:1' })).body;
    for (const [resource, type] of [
      [user, 'User'],
      [group, 'Group'],
    ] as const) {
      const path = `/${type}s/${resource.id}`;
      expect(resource).toMatchObject({
        schemas: [type === 'User' ? urns.user : urns.group],
        id: expect.stringMatching(/^[\w-]{8,}$/),
        meta: {
          resourceType: type,
          created: expect.stringMatching(/^20/),
          lastModified: expect.stringMatching(/^20/),
          location: expect.stringContaining(path),
        },
      });
      expect(resource.id).not.toContain('bulkId');
      await scim.send('PUT', path, { userName: 'ada', displayName: 'Crew', id: 'other' });
      expect((await scim.send('GET', path)).body.id).toBe(resource.id);
      ids.add(resource.id);
      await scim.send('DELETE', path);
    }
  }
  expect(ids.size).toBe(6);
});

test('20. meta.location is the Location of a create and a working GET URL; dateTimes are xsd:dateTime with a zone', async () => {
  for (const [endpoint, body] of [
    ['/Users', ada],
    ['/Groups', { displayName: 'Crew' }],
  ] as const) {
    const created = await scim.send('POST', endpoint, body);
    const { location, created: first, lastModified } = created.body.meta;
    expect(created.headers.get('location')).toBe(location);
    const headers = { Authorization: `Bearer ${scim.service.scimToken}` };
    const read = await fetch(location, { headers });
    expect(await read.json()).toEqual(created.body);
    for (const time of [first, lastModified]) {
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
      expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(600_000);
    }
  }
});

test('21. schemas lists the core URN and each extension that is in the body', async () => {
  const custom = 'urn:corp:params:scim:schemas:extension:rooms:2.0:User';
  const user = await create({ ...ada, schemas: [urns.user, urns.enterprise] });
  expect(user.schemas).toEqual([urns.user]);
  const path = `/Users/${user.id}`;
  const add = (urn: string, name: string) =>
    scim.send('PATCH', path, patchOp({ op: 'add', path: `${urn}:${name}`, value: 'x' }));
  await add(urns.enterprise, 'department');
  await add(urns.travel, 'currency');
  const { body } = await add(custom, 'floor');
  expect(body.schemas).toEqual([urns.user, urns.enterprise, urns.travel, custom]);
  for (const urn of body.schemas.slice(1)) expect(body[urn]).toEqual(expect.any(Object));
  const removed = await scim.send(
    'PATCH',
    path,
    patchOp({ op: 'remove', path: `${urns.enterprise}:department` }),
  );
  expect(removed.body.schemas).toEqual([urns.user, urns.travel, custom]);
});

test('22. a request whose schemas lack the core URN is 400 (a deviation: schemas may be missing)', async () => {
  for (const schemas of [[urns.group], [urns.enterprise], ['urn:x'], 'urn:x', [7]]) {
    const answer = await scim.send('POST', '/Users', { ...ada, schemas });
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidSyntax' } });
  }
  for (const [index, schemas] of [undefined, null, [], [urns.user.toUpperCase()], urns.user].entries())
    expect((await scim.send('POST', '/Users', { schemas, userName: `u${index}` })).status).toBe(201);
});

test('23. userName is required, not empty, and unique without case', async () => {
  for (const userName of [undefined, null, '', '   ', []]) {
    const answer = await scim.send('POST', '/Users', { ...ada, userName });
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  }
  await create({ ...ada, userName: 'Ada' });
  for (const userName of ['Ada', 'ada', 'ADA']) {
    const answer = await scim.send('POST', '/Users', { ...ada, userName });
    expect(answer).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  }
});

test('24. attribute names are accepted in any case, and returned in the case of the schema', async () => {
  const user = await create({
    SCHEMAS: [urns.user],
    USERNAME: 'ada',
    Name: { GIVENNAME: 'Ada' },
    eMails: [{ VALUE: 'a@corp.example', TYPE: 'work' }],
    [urns.enterprise.toUpperCase()]: { DEPARTMENT: 'R&D' },
  });
  expect(user).toMatchObject({
    userName: 'ada',
    name: { givenName: 'Ada' },
    emails: [{ value: 'a@corp.example', type: 'work' }],
    [urns.enterprise]: { department: 'R&D' },
  });
  expect(await scim.found('/Users', 'USERNAME eq "ada" and NAME.givenname eq "ada"', 'id')).toEqual([
    user.id,
  ]);
  const projected = await scim.send('GET', `/Users/${user.id}?attributes=USERNAME,name.GIVENNAME`);
  expect(projected.body).toMatchObject({ userName: 'ada', name: { givenName: 'Ada' } });
});

test('25. null, missing and the empty array are the same: unassigned', async () => {
  const full = {
    ...ada,
    title: 'T',
    emails: [{ value: 'a@corp.example' }],
    name: { givenName: 'A', familyName: 'L' },
  };
  const results = [];
  for (const [index, unassigned] of [
    {},
    { title: null, emails: null, name: null },
    { title: [], emails: [], name: [] },
    { emails: [null], name: { givenName: null } },
  ].entries()) {
    const userName = `u${index}`;
    const { id } = await create({ ...full, userName });
    const { body } = await scim.send('PUT', `/Users/${id}`, { ...ada, userName, ...unassigned });
    const { id: _id, userName: _name, meta: _meta, ...rest } = body;
    results.push({ ...rest, [urns.travel]: undefined, schemas: undefined });
  }
  for (const result of results) expect(result).toEqual(results[0]);
  expect(results[0]).toEqual({ active: true });
  expect(
    await scim.found('/Users', 'userName sw "u" and not (title pr) and emails eq null', 'userName'),
  ).toHaveLength(4);
});

test('26. at most one primary:true in a multi-valued attribute', async () => {
  const emails = ['a', 'b', 'c'].map((name) => ({ value: `${name}@corp.example`, primary: true }));
  const user = await create({ ...ada, emails });
  const primaries = (body: { emails: { value: string; primary?: boolean }[] }) =>
    body.emails.filter(({ primary }) => primary === true).map(({ value }) => value);
  expect(primaries(user)).toEqual(['a@corp.example']);
  const change = patchOp({ op: 'add', path: 'emails', value: [{ value: 'd@corp.example', primary: true }] });
  expect(primaries((await scim.send('PATCH', `/Users/${user.id}`, change)).body)).toEqual(['d@corp.example']);
  const put = await scim.send('PUT', `/Users/${user.id}`, { ...ada, emails: emails.toReversed() });
  expect(primaries(put.body)).toEqual(['c@corp.example']);
});

test('27. (type, value) pairs are unique after a PATCH; equal elements become one in a POST as well', async () => {
  const email = { value: 'a@corp.example', type: 'work' };
  const { id, emails } = await create({ ...ada, emails: [email, email] });
  expect(emails).toEqual([email]);
  await scim.send('PUT', `/Users/${id}`, { ...ada, emails: [email] });
  for (const again of [email, { ...email, value: 'A@CORP.EXAMPLE' }]) {
    const { body } = await scim.send(
      'PATCH',
      `/Users/${id}`,
      patchOp({ op: 'add', path: 'emails', value: [again] }),
    );
    expect(body.emails).toHaveLength(1);
  }
  const home = { ...email, type: 'home' };
  const { body } = await scim.send(
    'PATCH',
    `/Users/${id}`,
    patchOp({ op: 'add', path: 'emails', value: [home] }),
  );
  expect(body.emails.map(({ type }: { type: string }) => type)).toEqual(['work', 'home']);
});

test('28. readOnly attributes in POST and PUT are ignored', async () => {
  const readOnly = {
    id: 'mine',
    meta: { created: '1999-01-01T00:00:00Z', location: 'https://elsewhere.example', version: 'W/"99"' },
    groups: [{ value: 'g', display: 'Admins' }],
    [urns.travel]: { travelUserId: 'mine' },
  };
  const user = await create({ ...ada, ...readOnly });
  const { body } = await scim.send('PUT', `/Users/${user.id}`, { ...ada, ...readOnly });
  for (const answer of [user, body]) {
    expect(answer.id).toBe(user.id);
    expect(answer.groups).toBeUndefined();
    expect(answer.meta).toEqual(user.meta);
    expect(answer.meta.version).toBe('W/"1"');
    expect(JSON.stringify(answer)).not.toMatch(/mine|1999-01-01|elsewhere/);
  }
});

test('29. the writeOnly password is never returned and cannot be searched', async () => {
  const { id } = await create({ ...ada, password: 'secret' });
  for (const query of ['', '?attributes=password', `?attributes=${urns.user}:password`])
    expect(JSON.stringify((await scim.send('GET', `/Users/${id}${query}`)).body)).not.toContain('secret');
  for (const filter of [
    'password eq "secret"',
    'password pr',
    `${urns.user}:password sw "s"`,
    'not (password pr)',
  ]) {
    const answer = await scim.send('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
  }
});

test('30. externalId is accepted, scoped to the client, and returned', async () => {
  const one = await create({ ...ada, externalId: 'E-1' });
  expect(one.externalId).toBe('E-1');
  expect(await scim.found('/Users', 'externalId eq "E-1"', 'id')).toEqual([one.id]);
  expect(await scim.found('/Users', 'externalId eq "e-1"', 'id')).toEqual([]);
  // "a String that is an identifier for the resource as defined by the provisioning client": its uniqueness is the client's.
  const two = await create({ ...ada, userName: 'bob', externalId: 'E-1' });
  expect(await scim.found('/Users', 'externalId eq "E-1"', 'id')).toEqual([one.id, two.id]);
  const group = (await scim.send('POST', '/Groups', { displayName: 'Crew', externalId: 'E-1' })).body;
  expect(await scim.found('/Groups', 'externalId eq "E-1"', 'id')).toEqual([group.id]);
});

test('68. a group: displayName required; members {value,$ref,type,display}; add, remove, replace; value immutable', async () => {
  expect(await scim.send('POST', '/Groups', {})).toMatchObject({
    status: 400,
    body: { scimType: 'invalidValue' },
  });
  const [one, two] = [await create(ada), await create({ ...ada, userName: 'bob' })];
  const members = [
    { value: one.id, type: 'User', display: 'Ada' },
    { value: two.id, $ref: 'https://elsewhere.example' },
  ];
  const { body } = await scim.send('POST', '/Groups', { displayName: 'Crew', members });
  const path = `/Groups/${body.id}`;
  expect(body.members).toEqual([
    { value: one.id, type: 'User', display: 'Ada', $ref: one.meta.location },
    { value: two.id, type: 'User', $ref: two.meta.location },
  ]);
  const after = async (...operations: unknown[]) => {
    expect((await scim.send('PATCH', path, patchOp(...operations))).status).toBe(200);
    const read = await scim.send('GET', path);
    return (read.body.members ?? []).map(({ value }: { value: string }) => value);
  };
  expect(await after({ op: 'remove', path: `members[value eq "${one.id}"]` })).toEqual([two.id]);
  expect(await after({ op: 'add', path: 'members', value: [{ value: one.id }] })).toEqual([two.id, one.id]);
  expect(await after({ op: 'replace', path: 'members', value: [{ value: one.id }] })).toEqual([one.id]);
  expect(await after({ op: 'remove', path: 'members' })).toEqual([]);
  await after({ op: 'add', path: 'members', value: [{ value: one.id }] });
  const change = patchOp({ op: 'replace', path: `members[value eq "${one.id}"].value`, value: two.id });
  expect(await scim.send('PATCH', path, change)).toMatchObject({
    status: 400,
    body: { scimType: 'mutability' },
  });
});
