import { urns } from '../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let fixture: ScimFixture;
beforeEach(async () => {
  fixture = await scimFixture();
});
afterEach(() => fixture.close());

const create = (members: unknown[] = []) =>
  fixture.send('POST', '/Groups', { schemas: [urns.group], displayName: 'Team', externalId: 'e', members });

const members = async () => {
  const { body } = await fixture.send('GET', '/Groups/g1');
  return (body.members ?? []).map(({ value }: { value: string }) => value);
};

test('POST answers 201 with the group and its Location', async () => {
  for (const userName of ['ada', 'bob']) await fixture.send('POST', '/Users', { userName });
  const { status, headers, body } = await create([{ value: 'u1', display: 'Ada', $ref: null }, 'u2']);
  expect(status).toBe(201);
  expect(headers.get('location')).toBe('https://bridge.example/scim/v2/Groups/g1');
  expect(body).toMatchObject({
    schemas: [urns.group],
    id: 'g1',
    displayName: 'Team',
    externalId: 'e',
    members: [
      { value: 'u1', display: 'Ada', $ref: 'https://bridge.example/scim/v2/Users/u1' },
      { value: 'u2', $ref: 'https://bridge.example/scim/v2/Users/u2' },
    ],
    meta: { resourceType: 'Group', location: 'https://bridge.example/scim/v2/Groups/g1' },
  });
});

test('numbers in a member are read as texts', async () => {
  const { body } = await create([{ value: 7, display: 8 }, 9]);
  expect(body.members).toMatchObject([{ value: '7', display: '8' }, { value: '9' }]);
});

test('a deleted user leaves the group, which changes the version of the group', async () => {
  const { body: user } = await fixture.send('POST', '/Users', { userName: 'ada' });
  const { body: before } = await create([{ value: user.id }, { value: 'u9' }]);
  await fixture.send('DELETE', `/Users/${user.id}`);
  const { body: after } = await fixture.send('GET', '/Groups/g1');
  expect(await members()).toEqual(['u9']);
  expect(after.meta.version).not.toBe(before.meta.version);
  expect(Date.parse(after.meta.lastModified)).toBeGreaterThan(Date.parse(before.meta.lastModified));
});

test('a group without members has an empty list of members in every response', async () => {
  expect((await create()).body.members).toEqual([]);
  expect((await fixture.send('GET', '/Groups/g1')).body.members).toEqual([]);
  expect((await fixture.send('GET', '/Groups')).body.Resources[0].members).toEqual([]);
  expect((await fixture.send('PUT', '/Groups/g1', { displayName: 'Team' })).body.members).toEqual([]);
  expect((await fixture.send('GET', '/Groups/g1?attributes=members.value')).body.members).toEqual([]);
  expect((await fixture.send('GET', '/Groups/g1?excludedAttributes=members')).body.members).toBeUndefined();
  for (const [filter, total] of [
    ['members pr', 0],
    ['not (members pr)', 1],
  ]) {
    const { body } = await fixture.send('GET', `/Groups?filter=${encodeURIComponent(String(filter))}`);
    expect([filter, body.totalResults]).toEqual([filter, total]);
  }
});

test('a displayName that is taken is 409, one that is missing 400', async () => {
  await create();
  expect(await create()).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  const nameless = await fixture.send('POST', '/Groups', { displayName: '' });
  expect(nameless).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
});

describe('PATCH of members answers 200 with the group', () => {
  const cases: [string, unknown[], string[]][] = [
    [
      'Add with $ref null',
      [{ op: 'Add', path: 'members', value: [{ $ref: null, value: 'c' }] }],
      ['a', 'b', 'c'],
    ],
    ['add of one that is there', [{ op: 'add', path: 'members', value: [{ value: 'a' }] }], ['a', 'b']],
    ['add of plain text', [{ op: 'add', path: 'Members', value: ['c', 'd'] }], ['a', 'b', 'c', 'd']],
    ['add without a path', [{ op: 'add', value: { members: [{ value: 'c' }] } }], ['a', 'b', 'c']],
    [
      'add with the core URN',
      [{ op: 'add', path: `${urns.group}:members`, value: { value: 'c' } }],
      ['a', 'b', 'c'],
    ],
    ['add at a filter', [{ op: 'add', path: 'members[value eq "c"]', value: {} }], ['a', 'b', 'c']],
    ['remove at a filter', [{ op: 'remove', path: 'members[value eq "a"]' }], ['b']],
    ['remove at a filter of two', [{ op: 'remove', path: 'members[value eq "a" or value eq "b"]' }], []],
    ['Remove with a value (Entra)', [{ op: 'Remove', path: 'members', value: [{ value: 'a' }] }], ['b']],
    ['remove with an empty value', [{ op: 'remove', path: 'members', value: [] }], ['a', 'b']],
    [
      'remove with a nested value (Salesforce)',
      [{ op: 'remove', path: 'members', value: { members: [{ value: 'b' }] } }],
      ['a'],
    ],
    ['remove of all', [{ op: 'remove', path: 'members' }], []],
    ['replace', [{ op: 'replace', path: 'members', value: [{ value: 'c' }] }], ['c']],
    ['replace with nothing', [{ op: 'replace', path: 'members', value: [] }], []],
    [
      'replace without a path',
      [{ op: 'replace', value: { members: [{ value: 'c', type: 'user' }] } }],
      ['c'],
    ],
    [
      'remove, then add',
      [
        { op: 'remove', path: 'members[value eq "a"]' },
        { op: 'add', path: 'members', value: [{ value: 'c' }] },
      ],
      ['b', 'c'],
    ],
    [
      'add, then remove',
      [
        { op: 'add', path: 'members', value: [{ value: 'c' }] },
        { op: 'remove', path: 'members[value eq "c"]' },
      ],
      ['a', 'b'],
    ],
    [
      'fifty operations',
      Array.from({ length: 50 }, (_, n) => ({ op: 'add', path: 'members', value: [{ value: `m${n}` }] })),
      ['a', 'b', ...Array.from({ length: 50 }, (_, n) => `m${n}`)],
    ],
  ];
  test.each(cases)('%s', async (_title, operations, expected) => {
    await create(['a', 'b']);
    const { status, body } = await fixture.send('PATCH', '/Groups/g1', patchOp(...operations));
    expect([status, body.members.map(({ value }: { value: string }) => value)]).toEqual([200, expected]);
    expect(body).toEqual((await fixture.send('GET', '/Groups/g1')).body);
  });
});

test('PATCH renames a group and keeps its members, also with id and schemas in the value', async () => {
  await create(['a']);
  const value = { schemas: [urns.group], id: 'g1', displayName: 'Ops', externalId: 'x' };
  const { status, body } = await fixture.send('PATCH', '/Groups/g1', patchOp({ op: 'replace', value }));
  expect(status).toBe(200);
  expect(body).toMatchObject({ displayName: 'Ops', externalId: 'x', members: [{ value: 'a' }] });
});

describe('PATCH of a group with many members', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`);
  const add = (...value: string[]) => patchOp({ op: 'add', path: 'members', value });
  const patch = (query: string, change: object) => fixture.send('PATCH', `/Groups/g1${query}`, change);

  test('answers 200 with the group up to 1,000 members, and 204 beyond', async () => {
    await create(many(999));
    const full = await patch('', add('last'));
    expect([full.status, full.body.members.length]).toEqual([200, 1000]);
    const beyond = await patch('', add('more'));
    expect([beyond.status, beyond.body]).toEqual([204, undefined]);
    expect(beyond.headers.get('etag')).toBe((await patch('', patchOp())).headers.get('etag'));
    const fewer = await patch('', patchOp({ op: 'remove', path: 'members[value eq "more"]' }));
    expect([fewer.status, fewer.body.members.length]).toEqual([200, 1000]);
  });

  test('answers 200 with what attributes and excludedAttributes leave', async () => {
    await create(many(1001));
    const without = await patch('?excludedAttributes=members', add('a'));
    expect([without.status, without.body.displayName, without.body.members]).toEqual([
      200,
      'Team',
      undefined,
    ]);
    expect((await patch('?excludedAttributes=externalId', add('b'))).status).toBe(204);
    const named = await patch('?attributes=members', add('c'));
    expect([named.status, named.body.members.length]).toEqual([200, 1004]);
  });
});

test('PATCH with attributes answers 200 with them (RFC 7644 §3.5.2)', async () => {
  await create(['a']);
  const change = patchOp({ op: 'replace', path: 'displayName', value: 'Ops' });
  const { status, body } = await fixture.send('PATCH', '/Groups/g1?attributes=displayName', change);
  expect([status, body]).toEqual([200, { schemas: [urns.group], id: 'g1', displayName: 'Ops' }]);
});

test.each([
  [{ op: 'remove', path: 'displayName' }, 'mutability'],
  [{ op: 'replace', path: 'displayName', value: null }, 'invalidValue'],
  [{ op: 'replace', path: 'id', value: 'x' }, 'mutability'],
  [{ op: 'add', path: 'members', value: [{ display: 'nobody' }] }, 'invalidValue'],
  [{ op: 'add', path: 'members', value: [[['a']]] }, 'invalidValue'],
  [{ op: 'add', path: 'members', value: ['a\0'] }, 'invalidValue'],
  [{ op: 'replace', path: 'members[value eq "a"].display', value: 'x' }, 'mutability'],
  [{ op: 'remove', path: 'members[type eq "User"]' }, 'invalidFilter'],
  [{ op: 'remove', path: 'members[value eq "a"' }, 'invalidPath'],
])('PATCH %j is 400 %s and changes nothing', async (operation, scimType) => {
  await create(['a']);
  const before = await fixture.send('GET', '/Groups/g1');
  const answer = await fixture.send(
    'PATCH',
    '/Groups/g1',
    patchOp({ op: 'add', path: 'externalId', value: 'n' }, operation),
  );
  expect(answer).toMatchObject({ status: 400, body: { scimType } });
  expect((await fixture.send('GET', '/Groups/g1')).body).toEqual(before.body);
});

test('PUT replaces the group, members too', async () => {
  await create(['a', 'b']);
  const { status, body } = await fixture.send('PUT', '/Groups/g1', {
    displayName: 'Ops',
    members: [{ value: 'c', $ref: 'Users/c' }],
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ displayName: 'Ops', members: [{ value: 'c' }] });
  expect(body.externalId).toBeUndefined();
});

test('attributes and excludedAttributes can leave out members', async () => {
  await create(['a']);
  expect((await fixture.send('GET', '/Groups/g1?excludedAttributes=members')).body.members).toBeUndefined();
  const { body } = await fixture.send(
    'GET',
    '/Groups?excludedAttributes=members&filter=displayName+eq+%22TEAM%22',
  );
  expect(body.Resources).toHaveLength(1);
  expect(body.Resources[0].members).toBeUndefined();
});

test.each([
  ['displayName eq "team"', 1],
  ['externalId eq "e"', 1],
  ['externalId eq "E"', 0],
  ['id eq "g1" and members eq "a"', 1],
  ['members[value eq "a"]', 1],
  ['members.value eq "a"', 1],
  ['members[value eq "z"]', 0],
  ['displayName sw "t"', 1],
  ['displayName eq "Team" and meta.created gt "2020-01-01T00:00:00Z"', 1],
])('the filter %s finds %d', async (filter, total) => {
  await create(['a']);
  const { status, body } = await fixture.send(
    'GET',
    `/Groups?filter=${encodeURIComponent(filter)}&attributes=id`,
  );
  expect([status, body.totalResults]).toEqual([200, total]);
});

test('DELETE answers 204, then 404', async () => {
  await create();
  expect((await fixture.send('DELETE', '/Groups/g1')).status).toBe(204);
  expect((await fixture.send('DELETE', '/Groups/g1')).status).toBe(404);
});
