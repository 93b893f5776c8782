import fc from 'fast-check';
import { filterTest } from '../../src/schema/filter-match.ts';
import { type Filter, parseFilter } from '../../src/schema/filter-parser.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { groupType, type ResourceType, userType } from '../../src/schema/resource-types.ts';
import { runs } from '../fixtures/runs.ts';
import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let fixture: ScimFixture;
beforeEach(async () => {
  fixture = await scimFixture();
});
afterEach(() => fixture.close());

/** Texts that some ways of comparing without case treat as equal, and others do not. */
const texts = [
  'ada',
  'ADA',
  'Éva',
  'e\u0301va',
  'ﬁ',
  'FI',
  'ß',
  'ss',
  'İ',
  '\ufffd',
  '\ud835\udcb3',
  'x'.repeat(600),
];
const text = fc.constantFrom(...texts);
const moments = [1, 4, 9, 15, 30].map((second) => `2026-11-20T10:00:${String(second).padStart(2, '0')}Z`);

const quoted = fc.oneof(text, fc.constant('u3'), fc.constant('g2')).map((value) => JSON.stringify(value));
const comparison = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        'id',
        'userName',
        'externalId',
        'emails',
        'emails.value',
        'displayName',
        'title',
        'EXTERNALID',
        'name.familyName',
        'NAME.givenName',
      ),
      fc.constantFrom('eq', 'ne', 'sw', 'ew', 'co', 'gt', 'le'),
      fc.oneof(quoted, fc.constantFrom('"d"', '"A"', '"x"', '"%"', '"\\\\"', '""', `"${'x'.repeat(499)}"`)),
    )
    .map((parts) => parts.join(' ')),
  fc.tuple(fc.constantFrom('eq', 'ne'), fc.boolean()).map(([op, value]) => `active ${op} ${value}`),
  fc
    .tuple(
      fc.constantFrom('meta.created', 'meta.lastModified'),
      fc.constantFrom('eq', 'ne', 'gt', 'ge', 'lt', 'le'),
      fc.constantFrom(...moments),
    )
    .map(([name, op, moment]) => `${name} ${op} "${moment}"`),
  fc.constantFrom(
    'userName pr',
    'title pr',
    'displayName pr',
    'meta pr',
    'externalId eq null',
    'meta.resourceType eq "User"',
    'meta.resourceType ne "User"',
    'emails[type eq "work"].value eq "ada"',
    'groups.display eq "Staff"',
  ),
  quoted.map((value) => `emails[type eq "work" and value eq ${value}]`),
  quoted.map((value) => `emails[value eq ${value}]`),
);

const anyFilter = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small' },
    comparison,
    fc.tuple(tie('filter'), tie('filter')).map(([left, right]) => `(${left} and ${right})`),
    fc.tuple(tie('filter'), tie('filter')).map(([left, right]) => `(${left} or ${right})`),
    tie('filter').map((inner) => `not (${inner})`),
  ),
})).filter;

const anyUser = fc.record({
  externalId: fc.option(text, { nil: undefined }),
  displayName: fc.option(text, { nil: undefined }),
  title: fc.option(text, { nil: undefined }),
  active: fc.boolean(),
  emails: fc.array(fc.record({ value: text, type: fc.constantFrom('work', 'home') }), { maxLength: 2 }),
  name: fc.option(fc.record({ givenName: text, familyName: text }), { nil: undefined }),
});

/** The resources that match when the filter is evaluated on each of them. */
function idsOf(type: ResourceType, filter: string, bodies: JsonObject[]): unknown[] {
  const parsed = parseFilter(filter);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return bodies.filter((body) => filterTest(type, parsed satisfies Filter)(body)).map(({ id }) => id);
}

test('the index and the evaluation on every user find the same users, for any filter', async () => {
  for (const [at, user] of fc.sample(anyUser, { numRuns: 30, seed: 11 }).entries()) {
    const userName = texts[at] ?? `user${at}`;
    expect((await fixture.send('POST', '/Users', { ...user, userName })).status).toBeLessThan(500);
  }
  await fixture.send('POST', '/Groups', {
    displayName: 'Staff',
    members: [{ value: 'u3' }, { value: 'u5' }],
  });
  const { body: all } = await fixture.send('GET', '/Users');
  expect(all.totalResults).toBeGreaterThan(20);
  await fc.assert(
    fc.asyncProperty(anyFilter, async (filter) => {
      const { status, body } = await fixture.send('GET', `/Users?filter=${encodeURIComponent(filter)}`);
      expect(status).toBe(200);
      const expected = idsOf(userType, filter, all.Resources);
      expect(body.Resources.map(({ id }: { id: string }) => id)).toEqual(expected);
      expect(body.totalResults).toBe(expected.length);
    }),
    runs(300),
  );
});

const groupFilter = anyFilter.map((filter) =>
  filter
    .replaceAll(/userName|title|name\.\w+/gi, 'displayName')
    .replaceAll(/active (eq|ne) (true|false)/g, 'members pr')
    .replaceAll('emails[type', 'members[type')
    .replaceAll('emails', 'members')
    .replaceAll('groups.display', 'members.display'),
);

test('the index and the evaluation on every group find the same groups, for any filter', async () => {
  for (const [at, displayName] of texts.entries()) {
    const members = texts.slice(0, at % 4).map((value) => ({ value, type: 'User' }));
    await fixture.send('POST', '/Groups', { displayName, externalId: texts[(at * 5) % 7], members });
  }
  const { body: all } = await fixture.send('GET', '/Groups');
  expect(all.totalResults).toBeGreaterThan(5);
  await fc.assert(
    fc.asyncProperty(groupFilter, async (filter) => {
      const { status, body } = await fixture.send('GET', `/Groups?filter=${encodeURIComponent(filter)}`);
      expect(status).toBe(200);
      const expected = idsOf(groupType, filter, all.Resources);
      expect(body.Resources.map(({ id }: { id: string }) => id)).toEqual(expected);
      expect(body.totalResults).toBe(expected.length);
    }),
    runs(200),
  );
});

test.each(['gt "yesterday"', 'eq "2026-11-20T10:00:00 01:00"', 'le 2026'])(
  'a moment compared with what is none is 400 invalidFilter: %s',
  async (comparison) => {
    const filter = encodeURIComponent(`meta.created ${comparison}`);
    const answer = await fixture.send('GET', `/Users?filter=${filter}`);
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
  },
);

test('co, sw and ew compare a dateTime as text', async () => {
  await fixture.send('POST', '/Users', { userName: 'ada' });
  const count = async (filter: string) =>
    (await fixture.send('GET', `/Users?filter=${encodeURIComponent(filter)}`)).body.totalResults;
  expect(await count('meta.created sw "2026-11-20"')).toBe(1);
  expect(await count('meta.created co "2025"')).toBe(0);
});

test('a filter that takes too long is 400 tooMany with the attributes that are indexed', async () => {
  let time = 0;
  const slow = await scimFixture({
    now: () => {
      time += 400;
      return time;
    },
  });
  try {
    for (const userName of ['a', 'b', 'c']) await slow.send('POST', '/Users', { userName });
    const filter = Array.from({ length: 30 }, () => 'title pr').join(' or ');
    for (let at = 0; at < 20; at += 1) await slow.send('POST', '/Users', { userName: `user${at}` });
    const answer = await slow.send('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'tooMany' } });
    expect(answer.body.detail).toMatch(/userName.*lastModified/);
    expect((await slow.send('GET', '/Users?filter=userName+eq+%22a%22')).status).toBe(200);
  } finally {
    await slow.close();
  }
});
