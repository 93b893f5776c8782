import type { KyselyPlugin } from 'kysely';
import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

/** The statements since the last reset, and the largest number of rows in one result. */
const work = { statements: 0, mostRows: 0 };
/** Called once, after the groups of a page have been read and before their members are. */
let beforeMembers: (() => Promise<void>) | undefined;
const watcher: KyselyPlugin = {
  transformQuery: ({ node }) => {
    work.statements += 1;
    return node;
  },
  transformResult: async ({ result }) => {
    work.mostRows = Math.max(work.mostRows, result.rows.length);
    return result;
  },
};

const GROUPS = 60;
/** The smallest number of members that are read separately from those of other groups. */
const LARGE = 1001;

let fixture: ScimFixture;
beforeEach(async () => {
  const afterGroupList = async () => {
    const change = beforeMembers;
    beforeMembers = undefined;
    await change?.();
  };
  fixture = await scimFixture({ watcher, afterGroupList });
  for (const userName of ['ada', 'bob']) await fixture.send('POST', '/Users', { userName });
  for (let index = 0; index < GROUPS; index += 1) {
    const own = { value: `m${index}`, display: `Member ${index}`, type: 'User' };
    const members = index % 3 === 0 ? [] : [{ value: 'u2' }, { value: `g${index}` }, own, { value: 'u1' }];
    await create(`Group ${index}`, members);
  }
  Object.assign(work, { statements: 0, mostRows: 0 });
});
afterEach(() => fixture.close());

async function create(displayName: string, members: object[]): Promise<string> {
  const { status, body } = await fixture.send('POST', '/Groups', { displayName, members });
  expect(status).toBe(201);
  return body.id;
}

const membersNamed = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ value: `${prefix}${index}` }));

async function page(path = '/Groups?count=200') {
  Object.assign(work, { statements: 0, mostRows: 0 });
  const { status, body } = await fixture.send('GET', path);
  expect(status).toBe(200);
  return { resources: body.Resources, ...work };
}

/** Expects each resource of a page to equal the response of a GET by its id. */
async function expectSameAlone(resources: { id: string }[]): Promise<void> {
  for (const resource of resources) {
    expect(resource).toEqual((await fixture.send('GET', `/Groups/${resource.id}`)).body);
  }
}

test.each([
  '/Groups?count=200',
  '/Groups?cursor=&count=200',
  '/Groups?sortBy=displayName&sortOrder=descending',
])('the members of all groups on a page are read by one statement (%s)', async (path) => {
  const { resources, statements } = await page(path);
  expect(resources).toHaveLength(GROUPS);
  const { statements: without } = await page(`${path}&excludedAttributes=members`);
  expect(statements).toBe(without + 1);
  expect(resources.find(({ id }: { id: string }) => id === 'g2').members).toEqual([
    { value: 'u2', type: 'User', $ref: 'https://bridge.example/scim/v2/Users/u2' },
    { value: 'g1', type: 'Group', $ref: 'https://bridge.example/scim/v2/Groups/g1' },
    { value: 'm1', display: 'Member 1', type: 'User' },
    { value: 'u1', type: 'User', $ref: 'https://bridge.example/scim/v2/Users/u1' },
  ]);
  await expectSameAlone(resources);
});

test('a page without members reads no member', async () => {
  const { mostRows, statements } = await page('/Groups?count=200&excludedAttributes=members');
  expect(mostRows).toBeLessThanOrEqual(GROUPS + 1);
  expect(statements).toBeLessThan(5);
});

test('the members of a large group on a page are read separately, those of the other groups together', async () => {
  const { statements: before } = await page();
  const large = await create('Large', membersNamed('l', LARGE));
  const fitting = await create('Fitting', membersNamed('f', LARGE - 1));
  const { resources, statements, mostRows } = await page();
  const sizeOf = (id: string) => resources.find((one: { id: string }) => one.id === id).members.length;
  expect([sizeOf(large), sizeOf(fitting)]).toEqual([LARGE, LARGE - 1]);
  // These read the group, two batches of its members, whether there are more, and whether it has changed.
  expect(statements).toBeLessThanOrEqual(before + 6);
  expect(mostRows).toBeLessThan(2 * LARGE);
  await expectSameAlone(resources);
});

test('a page with many members reads at most some thousands at once, and returns all of them', async () => {
  const each = 900;
  for (let index = 0; index < 8; index += 1) await create(`Wide ${index}`, membersNamed(`w${index}-`, each));
  const { resources, mostRows } = await page();
  expect(mostRows).toBeLessThanOrEqual(5001);
  expect(resources).toHaveLength(GROUPS + 8);
  await expectSameAlone(resources);
});

test('a group that changes after its page is read is returned with the change', async () => {
  const path = '/Groups/g2';
  beforeMembers = async () => {
    const body = { displayName: 'Renamed', members: [{ value: 'u1' }] };
    expect((await fixture.send('PUT', path, body)).status).toBe(200);
  };
  const { resources } = await page();
  expect(beforeMembers).toBeUndefined();
  const changed = resources.find(({ id }: { id: string }) => id === 'g2');
  expect(changed).toMatchObject({ displayName: 'Renamed', meta: { version: 'W/"2"' } });
  expect(changed).toEqual((await fixture.send('GET', path)).body);
});

test('a group that is deleted after its page is read is left out', async () => {
  beforeMembers = async () => {
    expect((await fixture.send('DELETE', '/Groups/g2')).status).toBe(204);
  };
  const { resources } = await page();
  expect(beforeMembers).toBeUndefined();
  expect(resources.map(({ id }: { id: string }) => id)).not.toContain('g2');
  expect(resources).toHaveLength(GROUPS - 1);
});
