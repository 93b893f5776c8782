import fc from 'fast-check';
import type { Member, MemberChange } from '../../src/model/group-ports.ts';
import { urns } from '../../src/schema/resource.ts';
import { type MemberPatchStep, netMemberChanges } from '../../src/scim/group-members.ts';
import { runs } from '../fixtures/runs.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';

const base = 'https://bridge.example/scim/v2';
const noTarget = { status: 400, body: { scimType: 'noTarget' } };

let fixture: ScimFixture;
beforeEach(async () => {
  fixture = await scimFixture();
});
afterEach(() => fixture.close());

const createUser = async (userName: string): Promise<string> =>
  (await fixture.send('POST', '/Users', { userName })).body.id;
const createGroup = async (displayName: string, members: unknown[] = []): Promise<string> =>
  (await fixture.send('POST', '/Groups', { displayName, members })).body.id;
const readGroup = async (id: string) => (await fixture.send('GET', `/Groups/${id}`)).body;
const valuesOf = async (id: string) =>
  ((await readGroup(id)).members ?? []).map(({ value }: { value: string }) => value);
const patch = (id: string, ...operations: unknown[]) =>
  fixture.send('PATCH', `/Groups/${id}`, patchOp(...operations));

describe('type and $ref of a member follow from the resource that its id names', () => {
  test.each([[undefined], ['User'], ['Group'], ['user'], ['direct']])(
    'whatever type the client says: %s',
    async (type) => {
      const user = await createUser('ada');
      const inner = await createGroup('Inner');
      const said = { ...(type === undefined ? {} : { type }), $ref: 'https://elsewhere.example/Users/x' };
      const members = [
        { value: user, ...said },
        { value: inner, ...said },
        { value: 'unknown', ...said },
      ];
      const expected = [
        { value: user, type: 'User', $ref: `${base}/Users/${user}` },
        { value: inner, type: 'Group', $ref: `${base}/Groups/${inner}` },
        { value: 'unknown', ...(type === undefined ? {} : { type }) },
      ];
      const posted = await fixture.send('POST', '/Groups', { displayName: 'Outer', members });
      expect(posted.body.members).toEqual(expected);
      const put = await fixture.send('PUT', `/Groups/${posted.body.id}`, { displayName: 'Outer', members });
      expect(put.body.members).toEqual(expected);
      const patched = await createGroup('Patched');
      await patch(patched, { op: 'add', path: 'members', value: members });
      expect((await readGroup(patched)).members).toEqual(expected);
      const listed = await fixture.send('GET', '/Groups?filter=displayName+eq+"Patched"');
      expect(listed.body.Resources[0].members).toEqual(expected);
    },
  );

  test('a user of another connection and a deleted user are unknown ids', async () => {
    const gone = await createUser('gone');
    await fixture.send('DELETE', `/Users/${gone}`);
    const other = await fixture.send(
      'POST',
      '/Users',
      { userName: 'eve' },
      { Authorization: 'Bearer other' },
    );
    const id = await createGroup('Team', [gone, { value: other.body.id, type: 'User' }]);
    expect((await readGroup(id)).members).toEqual([{ value: gone }, { value: other.body.id, type: 'User' }]);
  });

  test('a client that sends back what it read changes nothing', async () => {
    const members = [
      { value: await createUser('ada'), type: 'Group' },
      await createGroup('Inner'),
      'unknown',
    ];
    const id = await createGroup('Team', members);
    const before = await readGroup(id);
    const back = { displayName: 'Team', members: before.members };
    expect((await fixture.send('PUT', `/Groups/${id}`, back)).body).toEqual(before);
    await patch(id, { op: 'replace', path: 'members', value: before.members });
    expect(await readGroup(id)).toEqual(before);
  });

  test.each([
    ['members.type eq "Group"', ['Outer']],
    ['members[type eq "User"]', ['Team', 'Outer']],
    ['members.$ref ew "/Users/u1"', ['Team', 'Outer']],
    ['not (members.$ref pr)', ['Strangers']],
  ])('the filter %s sees them', async (filter, found) => {
    const user = await createUser('ada');
    const team = await createGroup('Team', [{ value: user, type: 'Group' }]);
    await createGroup('Outer', [team, user]);
    await createGroup('Strangers', [{ value: 'unknown', type: 'Robot' }]);
    const { body } = await fixture.send('GET', `/Groups?filter=${encodeURIComponent(filter)}`);
    expect(body.Resources.map((one: { displayName: string }) => one.displayName)).toEqual(found);
  });
});

test('ids are percent-encoded in every URL, and the URL leads to the resource', async () => {
  const strange = await scimFixture({ prefixes: { user: 'ä /?#%', group: 'ß&:+' } });
  try {
    const { body: user } = await strange.send('POST', '/Users', { userName: 'ada' });
    const { body: group } = await strange.send('POST', '/Groups', { displayName: 'T', members: [user.id] });
    expect(user.meta.location).toBe(`${base}/Users/%C3%A4%20%2F%3F%23%251`);
    expect(group.meta.location).toBe(`${base}/Groups/%C3%9F%26%3A%2B1`);
    expect(group.members[0].$ref).toBe(user.meta.location);
    const path = (url: string) => url.slice(base.length);
    const found = await strange.send('GET', path(group.members[0].$ref));
    expect(found).toMatchObject({ status: 200, body: { id: user.id } });
    expect(found.headers.get('content-location')).toBe(user.meta.location);
    expect(found.body.groups[0].$ref).toBe(group.meta.location);
    expect((await strange.send('GET', path(found.body.groups[0].$ref))).body.id).toBe(group.id);
  } finally {
    await strange.close();
  }
});

test('/Schemas publishes every part of a member as immutable (RFC 7643 §8.7.1)', async () => {
  const { body } = await fixture.send('GET', `/Schemas/${urns.group}`);
  const members = body.attributes.find(({ name }: { name: string }) => name === 'members');
  const mutability = members.subAttributes.map((one: Record<string, string>) => [
    one['name'],
    one['mutability'],
  ]);
  expect(Object.fromEntries(mutability)).toEqual({
    value: 'immutable',
    $ref: 'immutable',
    type: 'immutable',
    display: 'immutable',
  });
});

describe('a group that is deleted', () => {
  test('leaves the groups that contain it, and these get a new version, lastModified and position in lists sorted by it', async () => {
    const inner = await createGroup('Inner', ['u9']);
    const outer = await createGroup('Outer', [inner, 'u9']);
    const bystander = await createGroup('Bystander', ['u9']);
    const [before, same] = [await readGroup(outer), await readGroup(bystander)];
    expect((await fixture.send('DELETE', `/Groups/${inner}`)).status).toBe(204);
    const after = await readGroup(outer);
    expect(after.members).toEqual([{ value: 'u9' }]);
    expect(after.meta.version).toBe('W/"2"');
    expect(Date.parse(after.meta.lastModified)).toBeGreaterThan(Date.parse(before.meta.lastModified));
    expect(after.meta.created).toBe(before.meta.created);
    expect(await readGroup(bystander)).toEqual(same);
    const stale = { displayName: 'Outer' };
    const headers = { 'If-Match': before.meta.version };
    expect((await fixture.send('PUT', `/Groups/${outer}`, stale, headers)).status).toBe(412);
    const filter = encodeURIComponent(`meta.lastModified gt "${before.meta.lastModified}"`);
    const { body } = await fixture.send(
      'GET',
      `/Groups?filter=${filter}&sortBy=meta.lastModified&sortOrder=descending`,
    );
    expect(body.Resources[0].id).toBe(outer);
    const members = encodeURIComponent(`members eq "${inner}"`);
    expect((await fixture.send('GET', `/Groups?filter=${members}`)).body.totalResults).toBe(0);
  });

  test('leaves a group between two pages by cursor, and every group is still listed once', async () => {
    const inner = await createGroup('Inner');
    const outer = [];
    for (let index = 0; index < 5; index += 1) outer.push(await createGroup(`Outer ${index}`, [inner]));
    const first = (await fixture.send('GET', '/Groups?cursor&count=3')).body;
    await fixture.send('DELETE', `/Groups/${inner}`);
    const second = (await fixture.send('GET', `/Groups?count=3&cursor=${first.nextCursor}`)).body;
    const listed = [...first.Resources, ...second.Resources];
    expect(listed.map(({ id }) => id)).toEqual([inner, ...outer]);
    expect(second.Resources.map((one: { members?: unknown }) => one.members)).toEqual([[], [], []]);
  });

  test('leaves groups that contain each other, and a group that contains itself', async () => {
    const [a, b] = [await createGroup('A'), await createGroup('B')];
    await patch(a, { op: 'add', path: 'members', value: [a, b, 'u9'] });
    await patch(b, { op: 'add', path: 'members', value: [a, b] });
    expect(await valuesOf(a)).toEqual([a, b, 'u9']);
    expect((await fixture.send('DELETE', `/Groups/${a}`)).status).toBe(204);
    expect(await valuesOf(b)).toEqual([b]);
    expect((await fixture.send('DELETE', `/Groups/${b}`)).status).toBe(204);
    expect((await fixture.send('GET', '/Groups')).body.totalResults).toBe(0);
  });
});

test('members of a nested group are not members of the group that contains it', async () => {
  const user = await createUser('ada');
  const inner = await createGroup('Inner', [user]);
  const outer = await createGroup('Outer', [inner]);
  await patch(inner, { op: 'add', path: 'members', value: [outer] });
  const { body } = await fixture.send('GET', `/Users/${user}`);
  expect(body.groups).toEqual([
    { value: inner, display: 'Inner', type: 'direct', $ref: `${base}/Groups/${inner}` },
  ]);
  const filter = encodeURIComponent(`members eq "${user}"`);
  expect((await fixture.send('GET', `/Groups?filter=${filter}`)).body.totalResults).toBe(1);
});

describe('replace at members[value eq …] (RFC 7644 §3.5.2.3)', () => {
  const at = (values: string[], value?: unknown) => ({
    op: 'replace',
    path: `members[${values.map((one) => `value eq "${one}"`).join(' or ')}]`,
    ...(value === undefined ? {} : { value }),
  });
  const add = (...value: unknown[]) => ({ op: 'add', path: 'members', value });
  const remove = (value: string) => ({ op: 'remove', path: `members[value eq "${value}"]` });

  const done: [string, unknown[], unknown[]][] = [
    ['another member', [at(['a'], { value: 'x' })], ['b', 'c', 'x']],
    ['another member in a list', [at(['a'], [{ value: 'x' }])], ['b', 'c', 'x']],
    ['another member as text', [at(['a'], 'x')], ['b', 'c', 'x']],
    ['a present member', [at(['a'], { value: 'b' })], ['b', 'c']],
    ['itself', [at(['a'], { value: 'a' })], ['a', 'b', 'c']],
    ['nothing', [at(['a'], null)], ['b', 'c']],
    ['an empty list', [at(['a'], [])], ['b', 'c']],
    ['two by one', [at(['a', 'b'], { value: 'x' })], ['c', 'x']],
    [
      'a new member for several, of which some are members',
      [at(['a', 'z'], { value: 'x' })],
      ['b', 'c', 'x'],
    ],
    [
      'a new member for one that the operation before added',
      [add('x'), at(['x'], { value: 'y' })],
      ['a', 'b', 'c', 'y'],
    ],
    ['one after the other', [at(['a'], 'x'), at(['x'], 'y'), at(['y'], 'z')], ['b', 'c', 'z']],
    ['two that swap', [at(['a'], 'x'), at(['b'], 'a')], ['c', 'x', 'a']],
    [
      'one after all were replaced',
      [{ op: 'replace', path: 'members', value: ['x'] }, at(['x'], 'y')],
      ['y'],
    ],
    [
      'as a key without a path',
      [{ op: 'replace', value: { 'members[value eq "a"]': { value: 'x' } } }],
      ['b', 'c', 'x'],
    ],
  ];
  test.each(done)('by %s', async (_title, operations, expected) => {
    const id = await createGroup('Team', ['a', 'b', 'c']);
    expect((await patch(id, ...operations)).status).toBe(200);
    expect(await valuesOf(id)).toEqual(expected);
  });

  const refused: [string, unknown[]][] = [
    ['an absent member', [at(['z'], { value: 'x' })]],
    ['an absent member, by itself', [at(['z'], { value: 'z' })]],
    ['an absent member, by null', [at(['z'], null)]],
    ['several absent members', [at(['y', 'z'], { value: 'x' })]],
    ['a member that the operation before removed', [remove('a'), at(['a'], { value: 'x' })]],
    ['a member that the operation before replaced', [at(['a'], { value: 'x' }), at(['a'], { value: 'y' })]],
    ['when all were removed before', [{ op: 'remove', path: 'members' }, at(['a'], { value: 'x' })]],
    [
      'after a change that would be made',
      [{ op: 'replace', path: 'displayName', value: 'New' }, add('n'), at(['z'], 'x')],
    ],
    [
      'named by a key without a path',
      [{ op: 'replace', value: { 'members[value eq "z"]': { value: 'x' } } }],
    ],
  ];
  test.each(refused)('at %s is 400 noTarget and changes nothing', async (_title, operations) => {
    const id = await createGroup('Team', ['a', 'b', 'c']);
    const before = await readGroup(id);
    expect(await patch(id, ...operations)).toMatchObject(noTarget);
    expect(await readGroup(id)).toEqual(before);
  });

  test('keeps the id in the filter if the new value has none', async () => {
    const id = await createGroup('Team', [{ value: 'a', display: 'Ada' }, 'b']);
    expect((await patch(id, at(['a'], { display: 'Anna' }))).status).toBe(200);
    expect((await readGroup(id)).members).toEqual([{ value: 'b' }, { value: 'a', display: 'Anna' }]);
  });

  test('keeps the version if it changes nothing', async () => {
    const id = await createGroup('Team', [{ value: 'a', display: 'Ada' }, 'b']);
    const before = await readGroup(id);
    expect((await patch(id, at(['a'], { value: 'a', display: 'Ada' }))).status).toBe(200);
    expect(await readGroup(id)).toEqual(before);
  });

  test.each([
    [at(['a'], [{ value: 'x' }, { value: 'y' }]), 'invalidValue'],
    [at(['a', 'b'], { display: 'Both' }), 'invalidValue'],
    [at(['a'], { value: ['x'] }), 'invalidValue'],
    [{ op: 'replace', path: 'members[type eq "User"]', value: { value: 'x' } }, 'invalidFilter'],
    [{ op: 'replace', path: 'members[value ne "a"]', value: { value: 'x' } }, 'invalidFilter'],
    [{ op: 'add', path: 'members[value eq "a"]', value: { value: 'x' } }, 'mutability'],
    [{ op: 'add', path: 'members[value eq "a"].display', value: 'Ada' }, 'mutability'],
    [{ op: 'remove', path: 'members[value eq "a"].display' }, 'mutability'],
    [{ op: 'replace', path: 'members.display', value: 'x' }, 'mutability'],
    [{ op: 'replace', value: { 'members[value eq "a"].display': 'x' } }, 'mutability'],
    [{ op: 'replace', path: 'members[value eq "a"].nickname', value: 'x' }, 'invalidPath'],
  ])('%j is 400 %s', async (operation, scimType) => {
    const id = await createGroup('Team', ['a', 'b', 'c']);
    const before = await readGroup(id);
    expect(await patch(id, operation)).toMatchObject({ status: 400, body: { scimType } });
    expect(await readGroup(id)).toEqual(before);
  });
});

describe('members are recognized in every spelling of their name', () => {
  const name = `${urns.group}:members`;

  test.each<[string, Record<string, unknown>]>([
    ['the core URN before the name', { [name]: ['a'] }],
    ['an object under the core URN', { [urns.group]: { members: ['a'] } }],
    ['two spellings, of which the first counts', { members: ['a'], Members: ['b'] }],
  ])('in a body by %s', async (_title, body) => {
    const posted = await fixture.send('POST', '/Groups', { displayName: 'Team', ...body });
    expect(posted.body.members).toEqual([{ value: 'a' }]);
    const id = posted.body.id;
    expect(
      (await fixture.send('PUT', `/Groups/${id}`, { displayName: 'Team', ...body })).body.members,
    ).toEqual([{ value: 'a' }]);
    await patch(id, { op: 'remove', path: 'members' });
    expect(await valuesOf(id)).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['the core URN before the name', { op: 'add', value: { [name]: ['a'] } }],
    [
      'an object under the core URN',
      { op: 'add', value: { [urns.group]: { members: ['a'], externalId: 'e' } } },
    ],
    ['the core URN as the path', { op: 'add', path: urns.group, value: { members: ['a'], externalId: 'e' } }],
    ['a filter as a key', { op: 'add', value: { 'members[value eq "a"]': { display: 'Ada' } } }],
    ['a filter as a path', { op: 'add', path: 'members[value eq "a"]', value: { display: 'Ada' } }],
  ])('in a PATCH by %s', async (_title, operation) => {
    const id = await createGroup('Team');
    expect((await patch(id, operation)).status).toBe(200);
    expect(await valuesOf(id)).toEqual(['a']);
    await patch(id, { op: 'remove', path: 'members' });
    expect(await valuesOf(id)).toEqual([]);
  });
});

const value = fc.constantFrom('a', 'b', 'c', 'd');
const member: fc.Arbitrary<Member> = fc.record(
  { value, display: fc.constantFrom('x', 'y') },
  { requiredKeys: ['value'] },
);
const step: fc.Arbitrary<MemberPatchStep> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), members: fc.array(member, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant('remove' as const), values: fc.array(value, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant('replace' as const), members: fc.array(member, { maxLength: 3 }) }),
  fc.record({
    kind: fc.constant('substitute' as const),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
    members: fc.array(member, { maxLength: 1 }),
  }),
);

/** Applies the steps one after the other. Returns `noTarget` if a step selects no member but must. */
function applied(before: Member[], steps: (MemberPatchStep | MemberChange)[]): Member[] | 'noTarget' {
  const members = new Map(before.map((one) => [one.value, one]));
  const hasOneOf = (values: string[]) => values.some((one) => members.has(one));
  for (const one of steps) {
    if (one.kind === 'require') {
      if (!one.lists.every(hasOneOf)) return 'noTarget';
      continue;
    }
    if (one.kind === 'substitute' && !hasOneOf(one.values)) return 'noTarget';
    if ('values' in one) for (const gone of one.values) members.delete(gone);
    if (one.kind === 'replace') members.clear();
    if ('members' in one) {
      for (const added of one.members) if (!members.has(added.value)) members.set(added.value, added);
    }
  }
  return [...members.values()];
}

function netOf(steps: MemberPatchStep[]): MemberChange[] | 'noTarget' {
  try {
    return netMemberChanges(steps);
  } catch (error) {
    expect(error).toMatchObject({ scimType: 'noTarget' });
    return 'noTarget';
  }
}

test('the combination of any steps has the outcome of the steps, in at most three changes', () => {
  fc.assert(
    fc.property(fc.uniqueArray(member, { selector: (one) => one.value }), fc.array(step), (before, steps) => {
      const net = netOf(steps);
      const outcome = net === 'noTarget' ? net : applied(before, net);
      expect(outcome).toEqual(applied(before, steps));
      if (!steps.some(({ kind }) => kind === 'substitute')) expect(net.length).toBeLessThanOrEqual(2);
      if (net !== 'noTarget') expect(net.length).toBeLessThanOrEqual(3);
    }),
    runs(5000),
  );
});
