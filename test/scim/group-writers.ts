import { type JsonObject, urns } from '../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';

export const add = (value: string) => patchOp({ op: 'add', path: 'members', value: [{ value }] });
export const names = (count: number, prefix = 'm') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
export const valuesIn = (body: { members?: { value: string }[] }) =>
  (body.members ?? []).map(({ value }) => value);

const remove = (value: string) => patchOp({ op: 'remove', path: `members[value eq "${value}"]` });
const statusesOf = async (answers: Promise<{ status: number }>[]) => [
  ...new Set((await Promise.all(answers)).map(({ status }) => status)),
];

/** The tests of `count` concurrent writers of one group. */
export function testConcurrentWriters(count: number): void {
  let fixture: ScimFixture;
  beforeEach(async () => {
    fixture = await scimFixture();
  });
  afterEach(() => fixture.close());
  const half = count / 2;
  const patch = (body: JsonObject) => fixture.send('PATCH', '/Groups/g1', body);
  const createGroup = (members: string[] = []) =>
    fixture.send('POST', '/Groups', { schemas: [urns.group], displayName: 'Team', members });
  const readGroup = async () => (await fixture.send('GET', '/Groups/g1')).body;

  test('when they add and remove members', async () => {
    await createGroup(names(half, 'old'));
    const added = names(half).map((one) => patch(add(one)));
    const removed = names(half, 'old').map((one) => patch(remove(one)));
    expect(await statusesOf([...added, ...removed])).toEqual([200]);
    const { members, meta } = await readGroup();
    expect(valuesIn({ members }).toSorted()).toEqual(names(half).toSorted());
    expect(meta.version).toBe(`W/"${count + 1}"`);
  });

  test('when they replace it, and each response has the data of its own request', async () => {
    await createGroup();
    const answers = await Promise.all(
      names(count).map((one) => fixture.send('PUT', '/Groups/g1', { displayName: one, members: [one] })),
    );
    for (const [index, { status, body }] of answers.entries()) {
      expect([status, body.displayName, valuesIn(body)]).toEqual([200, `m${index}`, [`m${index}`]]);
    }
    expect(new Set(answers.map(({ headers }) => headers.get('etag'))).size).toBe(count);
  });

  test('while readers read it, and each reader sees one whole version', async () => {
    const halves = [names(1100, 'a'), names(1100, 'b')];
    await createGroup(halves[0]);
    const replace = (members: string[] = []) =>
      patch(patchOp({ op: 'replace', path: 'members', value: members }));
    const writers = names(count).map((_, index) => replace(halves[index % 2]));
    const readers = names(10).flatMap((_, index) => [
      fixture.send('GET', '/Groups/g1'),
      fixture.send('GET', `/Groups?startIndex=1&count=${index + 1}`),
    ]);
    expect(await statusesOf(writers)).toEqual([204]);
    for (const { status, body } of await Promise.all(readers)) {
      expect(status).toBe(200);
      const group = body.Resources?.[0] ?? body;
      expect(halves).toContainEqual(valuesIn(group));
    }
  });

  test('while its members are deleted one by one', async () => {
    const users = await Promise.all(
      names(count).map(async (userName) => (await fixture.send('POST', '/Users', { userName })).body.id),
    );
    await createGroup(users);
    const removals = users.map((id) => fixture.send('DELETE', `/Users/${id}`));
    const writers = names(count).map((one) => patch(add(one)));
    expect(await statusesOf(removals)).toEqual([204]);
    expect(await statusesOf(writers)).toEqual([200]);
    expect(valuesIn(await readGroup()).toSorted()).toEqual(names(count).toSorted());
  });

  // RFC 7644 §3.5.2.2 has no error for a filter that selects nothing.
  test('while they remove members by a filter whose users are deleted at the same moment', async () => {
    const users = await Promise.all(
      names(count).map(async (userName) => (await fixture.send('POST', '/Users', { userName })).body.id),
    );
    await createGroup([...users, 'other']);
    const removals = users.map((id) => fixture.send('DELETE', `/Users/${id}`));
    const writers = users.map((id) => patch(remove(id)));
    expect(await statusesOf(removals)).toEqual([204]);
    expect(await statusesOf([...writers, patch(remove('nobody'))])).toEqual([200]);
    expect(valuesIn(await readGroup())).toEqual(['other']);
  });

  test('or get 404 if they come after a DELETE', async () => {
    await createGroup();
    const before = names(half).map((one) => patch(add(one)));
    const removal = fixture.send('DELETE', '/Groups/g1');
    const after = names(half).map((one) => patch(add(one)));
    expect(await statusesOf([removal])).toEqual([204]);
    for (const status of await statusesOf([...before, ...after])) expect([200, 404]).toContain(status);
    expect((await fixture.send('GET', '/Groups/g1')).status).toBe(404);
    expect((await createGroup()).status).toBe(201);
  });
}
