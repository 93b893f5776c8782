import type { KyselyPlugin } from 'kysely';
import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

/** The statements since the last reset. */
const work = { statements: 0 };
const watcher: KyselyPlugin = {
  transformQuery: ({ node }) => {
    work.statements += 1;
    return node;
  },
  transformResult: async ({ result }) => result,
};

/** Enough for several pauses and readings of the clock within one term of a filter. */
const MEMBERS = 1_500;
const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
const many = (count: number, term: (index: number) => string, word = ' or ') =>
  Array.from({ length: count }, (_, index) => term(index)).join(word);

/** A clock that advances by `tick` milliseconds each time it is read. */
const clock = { time: 0, tick: 0 };

let fixture: ScimFixture;
beforeAll(async () => {
  const now = () => {
    clock.time += clock.tick;
    return clock.time;
  };
  fixture = await scimFixture({ now, watcher });
  const members = Array.from({ length: MEMBERS }, (_, index) => ({
    value: `id-${index}`,
    display: `Person ${index}`,
  }));
  expect((await fixture.send('POST', '/Groups', { displayName: 'Everybody', members })).status).toBe(201);
  const emails = Array.from({ length: 250 }, (_, index) => ({
    value: `${'a'.repeat(900)}${index}@corp.example`,
    type: 'work',
  }));
  for (const userName of ['ada', 'bob']) {
    expect((await fixture.send('POST', '/Users', { userName, emails })).status).toBe(201);
  }
});
afterAll(() => fixture.close());
beforeEach(() => {
  Object.assign(work, { statements: 0 });
});
afterEach(() => {
  clock.tick = 0;
  jest.restoreAllMocks();
});

/** Filters whose evaluation on one resource exceeds the time of a list. */
const costly: [string, string, string][] = [
  ['Groups', 'a sub-attribute of the members', many(500, (index) => `members.display co "zz${index}"`)],
  ['Groups', 'value filters on the members', many(500, (index) => `members[display co "zz${index}"]`)],
  ['Groups', 'one long value filter', `members[${many(500, (index) => `display co "zz${index}"`)}]`],
  [
    'Groups',
    'negated value filters',
    many(240, (index) => `not (members[not (display pr) or display co "zz${index}"])`, ' and '),
  ],
  ['Groups', 'no equality of the members', many(500, (index) => `not (members ne "zz${index}")`)],
  ['Users', 'a sub-attribute of the emails', many(500, (index) => `emails.value co "zz${index}"`)],
  ['Users', 'value filters on the emails', many(500, (index) => `emails[value co "zz${index}"]`)],
  [
    'Users',
    'values of selected emails',
    many(250, (index) => `emails[type eq "work"].value ew "zz${index}"`),
  ],
];

describe('the time limit of five seconds applies within one resource: beyond it the list is 400 tooMany', () => {
  test.each(costly)('in /%s with %s', async (type, _title, filter) => {
    // A hundred steps exceed the limit; reading and serializing the resources takes fewer.
    clock.tick = 25;
    const answer = await fixture.send('POST', `/${type}/.search`, { schemas, filter });
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'tooMany' } });
  });

  const [, , filter] = costly[0] ?? [];
  test.each([
    ['counted only', { count: 0 }],
    ['sorted', { sortBy: 'displayName', sortOrder: 'descending' }],
    ['paged by cursor', { cursor: '', count: 1 }],
    ['projected', { attributes: ['id'] }],
    [
      'joined with what an index answers',
      {
        filter: `displayName eq "Everybody" and (${many(400, (index) => `members.display co "zz${index}"`)})`,
      },
    ],
  ])('also if the list is %s', async (_title, rest) => {
    clock.tick = 25;
    for (const path of ['/Groups/.search', '/.search']) {
      const answer = await fixture.send('POST', path, { schemas, filter, ...rest });
      expect(answer).toMatchObject({ status: 400, body: { scimType: 'tooMany' } });
    }
  });

  test.each(costly)('within the limit the list is 200 in /%s with %s', async (type, _title, filter) => {
    const answer = await fixture.send('POST', `/${type}/.search`, { schemas, filter, attributes: ['id'] });
    expect(answer.status).toBe(200);
  });
});

test('other requests are answered while a filter is evaluated on one resource', async () => {
  // Every reading of the clock makes a pause due.
  clock.tick = 5;
  let isAnswered = false;
  const filter = many(400, (index) => `members.display co "zz${index}"`);
  const search = fixture.send('POST', '/Groups/.search', { schemas, filter }).finally(() => {
    isAnswered = true;
  });
  let others = 0;
  while (!isAnswered) {
    expect((await fixture.send('GET', '/Users?filter=userName+eq+%22ada%22&attributes=id')).status).toBe(200);
    others += 1;
  }
  expect((await search).body.totalResults).toBe(0);
  // The evaluation pauses between its steps; pauses between batches of members alone would be two or three.
  expect(others).toBeGreaterThan(40);
});

describe('a disjunction of indexed comparisons takes few statements, however many values it has', () => {
  test.each([
    ['addresses', many(200, (index) => `emails eq "nobody${index}@x.example"`), 1],
    ['addresses as sub-attributes', many(200, (index) => `emails.value eq "nobody${index}@x.example"`), 1],
    ['addresses in value filters', many(200, (index) => `emails[value eq "nobody${index}@x.example"]`), 1],
    ['userNames', many(200, (index) => `userName eq "nobody${index}"`), 1],
    ['ids or externalIds', many(100, (index) => `id eq "x${index}" or externalId eq "x${index}"`), 2],
    [
      'addresses of the active',
      `active eq true and (${many(100, (index) => `emails eq "${index}@x"`)})`,
      100,
    ],
    ['pairs', many(100, (index) => `(emails eq "${index}@x" and userName eq "n${index}")`), 100],
  ])('%s', async (_title, filter, statements) => {
    const { status, body } = await fixture.send('POST', '/Users/.search', { schemas, filter });
    expect([status, body.totalResults]).toEqual([200, 0]);
    // One or two more statements look for a single user.
    expect(work.statements).toBeLessThanOrEqual(statements + 2);
  });

  test('members of groups', async () => {
    const filter = many(200, (index) => `members eq "id-${index}"`);
    const { body } = await fixture.send('POST', '/Groups/.search', {
      schemas,
      filter,
      attributes: ['displayName'],
    });
    expect(body.Resources).toMatchObject([{ displayName: 'Everybody' }]);
    expect(work.statements).toBeLessThanOrEqual(3);
  });

  test('every match is found once, in the requested order', async () => {
    const userName = (index: number) => `person${String(index).padStart(3, '0')}`;
    for (let index = 0; index < 70; index += 1) {
      const emails = [{ value: `${userName(index)}@x` }, { value: `${userName(index)}@y` }];
      await fixture.send('POST', '/Users', { userName: userName(index), emails });
    }
    // More than fifty matches are read by another query plan than fewer.
    for (const count of [3, 40, 65]) {
      const filter = many(
        count,
        (index) => `emails eq "${userName(index)}@x" or emails eq "${userName(index)}@y"`,
      );
      const search = {
        schemas,
        filter,
        sortBy: 'userName',
        sortOrder: 'descending',
        startIndex: 2,
        count: 2,
      };
      const { body } = await fixture.send('POST', '/Users/.search', search);
      expect(body.totalResults).toBe(count);
      expect(body.Resources.map((one: { userName: string }) => one.userName)).toEqual(
        [count - 2, count - 3].map(userName),
      );
    }
  });
});
