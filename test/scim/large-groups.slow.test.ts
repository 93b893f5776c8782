import type { KyselyPlugin } from 'kysely';
import type { JsonObject } from '../../src/schema/resource.ts';
import { unreadExchange } from '../fixtures/raw-http.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';

const MANY = 100_000;

/** The number of members that fit into a body of 1 MB. */
const FULL = 20_000;

/** The statements and the rows of their results since the last reset. */
const work = { statements: 0, rows: 0 };
const watcher: KyselyPlugin = {
  transformQuery: ({ node }) => {
    work.statements += 1;
    return node;
  },
  transformResult: async ({ result }) => {
    work.rows += result.rows.length;
    return result;
  },
};

let fixture: ScimFixture;
/** The id of the first member, which is the only one that is a user. */
let user: string;
beforeAll(async () => {
  fixture = await scimFixture({ watcher });
  user = (await fixture.send('POST', '/Users', { userName: 'ada' })).body.id;
  const everybody = { displayName: 'Everybody', members: [{ value: user }] };
  expect((await fixture.send('POST', '/Groups', everybody)).status).toBe(201);
  for (let from = 0; from < MANY; from += FULL) await patch(add(members(from, from + FULL)));
});
afterAll(() => fixture.close());
beforeEach(() => {
  Object.assign(work, { statements: 0, rows: 0 });
});

const idOf = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
const members = (from: number, to: number): JsonObject[] =>
  Array.from({ length: to - from }, (_, index) => ({ value: idOf(from + index) }));
const add = (value: unknown) => ({ op: 'add', path: 'members', value });
const remove = (...indexes: number[]) => ({
  op: 'remove',
  path: `members[${indexes.map((index) => `value eq "${idOf(index)}"`).join(' or ')}]`,
});

async function patch(...operations: unknown[]): Promise<void> {
  expect(await fixture.send('PATCH', '/Groups/g1', patchOp(...operations))).toMatchObject({
    status: 204,
    body: undefined,
  });
}

async function hasMember(index: number): Promise<boolean> {
  const filter = encodeURIComponent(`id eq "g1" and members eq "${idOf(index)}"`);
  return (await fixture.send('GET', `/Groups?filter=${filter}&attributes=id`)).body.totalResults === 1;
}

describe(`a request does not read the other members of a group with ${MANY}`, () => {
  /** Title, operations, the membership afterwards of some indexes, and the number of members in the operations. */
  const changes: [string, unknown[], [number, boolean][], number][] = [
    ['adding one', [add(members(MANY, MANY + 1))], [[MANY, true]], 1],
    ['adding a present one', [add(members(7, 8))], [[7, true]], 1],
    ['removing one by a filter', [remove(11)], [[11, false]], 1],
    [
      'removing two by a filter',
      [remove(12, 13)],
      [
        [12, false],
        [13, false],
      ],
      2,
    ],
    ['removing one by a list', [{ op: 'remove', path: 'members', value: members(14, 15) }], [[14, false]], 1],
    ['removing an absent one', [remove(2 * MANY)], [[2 * MANY, false]], 1],
    [
      'replacing one by another',
      [{ op: 'replace', path: `members[value eq "${idOf(16)}"]`, value: { value: idOf(2 * MANY) } }],
      [
        [16, false],
        [2 * MANY, true],
      ],
      2,
    ],
    [
      'replacing each of a thousand by another',
      Array.from({ length: 1000 }, (_, n) => ({
        op: 'replace',
        path: `members[value eq "${idOf(20_000 + n)}"]`,
        value: { value: idOf(2 * MANY + 1 + n) },
      })),
      [
        [20_999, false],
        [2 * MANY + 1000, true],
      ],
      3000,
    ],
    ['removing one and adding it again', [remove(15), add(members(15, 16))], [[15, true]], 2],
    [
      'adding one and removing it again',
      [add(members(MANY + 1, MANY + 2)), remove(MANY + 1)],
      [[MANY + 1, false]],
      2,
    ],
    ['a group as a member', [add([{ value: 'g2', type: 'Group' }])], [], 1],
    ['a new name', [{ op: 'replace', path: 'displayName', value: 'All' }], [[7, true]], 0],
    [
      'a new name and one more',
      [{ op: 'replace', value: { displayName: 'Us' } }, add(members(MANY + 2, MANY + 3))],
      [[MANY + 2, true]],
      1,
    ],
    ['adding a thousand', [add(members(MANY + 10, MANY + 1010))], [[MANY + 1009, true]], 1000],
    ['adding the same thousand', [add(members(MANY + 10, MANY + 1010))], [[MANY + 1009, true]], 1000],
    [
      'a thousand operations',
      members(MANY + 2000, MANY + 3000).map((one) => add([one])),
      [[MANY + 2999, true]],
      1000,
    ],
    [
      'a thousand operations by filters',
      Array.from({ length: 1000 }, (_, n) => remove(MANY + 2000 + n)),
      [[MANY + 2999, false]],
      1000,
    ],
    [
      'two thousand operations that undo each other',
      Array.from({ length: 1000 }, (_, n) => [
        add(members(MANY + 4000 + n, MANY + 4001 + n)),
        remove(MANY + 4000 + n),
      ]).flat(),
      [[MANY + 4000, false]],
      2000,
    ],
  ];
  test.each(changes)('by %s', async (_title, operations, outcomes, named) => {
    await patch(...operations);
    expect(work.rows).toBeLessThan(named + 20);
    // Members are written hundreds at a time.
    expect(work.statements).toBeLessThan(20 + named / 100);
    for (const [index, isMember] of outcomes)
      expect([index, await hasMember(index)]).toEqual([index, isMember]);
  });

  const filters = [
    `members.value eq "${idOf(99)}"`,
    `members[value eq "${idOf(99)}"]`,
    'displayName eq "us"',
    'id eq "g1"',
  ];
  test.each([
    '/Groups/g1?excludedAttributes=members',
    '/Groups/g1?attributes=displayName',
    '/Groups?excludedAttributes=members',
    ...filters.map((filter) => `/Groups?excludedAttributes=members&filter=${encodeURIComponent(filter)}`),
  ])('by GET %s', async (path) => {
    const { status, body } = await fixture.send('GET', path);
    expect(status).toBe(200);
    expect((body.Resources?.[0] ?? body).id).toBe('g1');
    expect(work.rows).toBeLessThan(20);
    expect(work.statements).toBeLessThan(10);
  });
});

test('all members are returned in their order, and other requests are answered meanwhile', async () => {
  let isAnswered = false;
  const headers = { Authorization: 'Bearer good' };
  // Members are read while the response is sent, so the request lasts until the end of the body.
  const ask = async () => {
    const response = await fetch(`http://127.0.0.1:${fixture.port}/scim/v2/Groups/g1`, { headers });
    return { status: response.status, text: await response.text() };
  };
  const whole = ask().finally(() => {
    isAnswered = true;
  });
  let others = 0;
  while (!isAnswered) {
    expect((await fixture.send('GET', '/Users?count=0')).status).toBe(200);
    others += 1;
  }
  const answer = await whole;
  expect(answer.status).toBe(200);
  const body = JSON.parse(answer.text);
  const values = body.members.map(({ value }: { value: string }) => value);
  expect(values.slice(0, 4)).toEqual([user, ...[0, 1, 2].map(idOf)]);
  // The tests above remove a few.
  expect(values.length).toBeGreaterThan(MANY - 100);
  expect(new Set(values).size).toBe(values.length);
  expect(body.members[0].$ref).toBe(`https://bridge.example/scim/v2/Users/${user}`);
  // Without pauses it would be one or two; a hundred batches are read and sent, with a pause after each.
  expect(others).toBeGreaterThan(5);
});

test('members are read no faster than the client reads the response, which has all of them', async () => {
  // 27 MB of JSON: the buffers of a connection hold less than 12 MB.
  const [rounds, each] = [30, 900];
  const { body: created } = await fixture.send('POST', '/Groups', { displayName: 'Wide' });
  for (let round = 0; round < rounds; round += 1) {
    const wide = members(round * each, (round + 1) * each).map((one) => ({
      ...one,
      display: 'x'.repeat(1000),
    }));
    const { status } = await fixture.send('PATCH', `/Groups/${created.id}`, patchOp(add(wide)));
    expect(status).toBe(round === 0 ? 200 : 204);
  }
  const target = `/scim/v2/Groups/${created.id}`;
  const request = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer good\r\n\r\n`;
  Object.assign(work, { statements: 0, rows: 0 });
  const client = unreadExchange(fixture.port, request);
  // These requests take longer than the whole response would without back-pressure.
  const others = 100;
  for (let count = 0; count < others; count += 1) {
    expect((await fixture.send('GET', '/Users?count=0')).status).toBe(200);
  }
  expect(work.rows).toBeGreaterThan(each);
  expect(work.rows).toBeLessThan(rounds * each * 0.6);
  const text = await client.read('\r\n0\r\n\r\n');
  expect(text.match(/"value":/g)).toHaveLength(rounds * each);
});

test('a large group with the current version in If-None-Match is 304, and its members are not read', async () => {
  const { headers } = await fixture.send('GET', '/Groups/g1?excludedAttributes=members');
  const tag = headers.get('ETag') ?? '';
  Object.assign(work, { statements: 0, rows: 0 });
  expect((await fixture.send('GET', '/Groups/g1', undefined, { 'If-None-Match': tag })).status).toBe(304);
  expect(work.rows).toBeLessThan(2000);
});

test('attributes and excludedAttributes apply to a large group', async () => {
  const only = await fixture.send('GET', '/Groups/g1?attributes=members.value');
  expect(Object.keys(only.body).sort()).toEqual(['id', 'members', 'schemas']);
  expect(only.body.members[6]).toEqual({ value: idOf(5) });
  const without = await fixture.send('GET', '/Groups/g1?excludedAttributes=members.$ref,displayName');
  expect(without.body.members[6]).toEqual({ value: idOf(5) });
  expect(without.body.displayName).toBeUndefined();
});

test('replacing members by a similar list writes only the differences, and keeps the order of the others', async () => {
  const created = await fixture.send('POST', '/Groups', { displayName: 'Most', members: members(0, FULL) });
  expect(created.status).toBe(201);
  const path = `/Groups/${created.body.id}`;
  Object.assign(work, { statements: 0, rows: 0 });
  const value = [...members(1, FULL).reverse(), ...members(MANY, MANY + 1)];
  expect((await fixture.send('PATCH', path, patchOp({ op: 'replace', path: 'members', value }))).status).toBe(
    204,
  );
  // Twenty batches are read for comparison; one member is removed and one is added.
  expect(work.statements).toBeLessThan(FULL / 1000 + 20);
  const { body } = await fixture.send('GET', path);
  const values = body.members.map((one: { value: string }) => one.value);
  expect(values).toEqual([...members(1, FULL), ...members(MANY, MANY + 1)].map((one) => one['value']));
});

test('a group that changes while it is read is returned as before or after the change', async () => {
  const [old, young] = [members(0, 3000), members(5000, 8000)];
  const { body: created } = await fixture.send('POST', '/Groups', { displayName: 'Moving', members: old });
  const path = `/Groups/${created.id}`;
  const swap = (value: JsonObject[]) =>
    fixture.send('PATCH', path, patchOp({ op: 'replace', path: 'members', value }));
  for (const value of [young, old, young]) {
    const [answer] = await Promise.all([fixture.send('GET', path), swap(value)]);
    const values = answer.body.members.map((one: { value: string }) => one.value);
    expect([old, young].map((list) => list.map((one) => one['value']))).toContainEqual(values);
  }
});

test('a large group is deleted with all its members', async () => {
  expect((await fixture.send('DELETE', '/Groups/g1')).status).toBe(204);
  expect((await fixture.send('GET', '/Groups/g1')).status).toBe(404);
  expect(await hasMember(20)).toBe(false);
});
