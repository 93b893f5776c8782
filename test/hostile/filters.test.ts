import fc from 'fast-check';
import { runs } from '../fixtures/runs.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { anyCharacter } from '../fixtures/unicode.ts';
import { expectDocumented } from './documented.ts';
import { request, TOKEN } from './request.ts';
import { openWire, type Wire } from './wire.ts';

let service: RunningService;
let wire: Wire;
beforeAll(async () => {
  service = await startService({ SCIM_TOKEN: TOKEN }, { background: false });
  wire = await openWire(service.url);
  const people = [
    { userName: 'ada', title: 'Engineer', emails: [{ value: 'ada@x', type: 'work' }], active: true },
    { userName: 'bob', name: { givenName: 'Bob' }, 'urn:x:y:2.0:User': { a: [{ b: 1 }, 'c', null] } },
  ];
  for (const person of people) {
    expect((await wire.send(request('POST', '/Users', { body: JSON.stringify(person) }))).status).toBe(201);
  }
});
afterAll(async () => {
  wire.close();
  await service.close();
});

const words = ['and', 'or', 'not', 'AND', 'pr', 'eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'Eq'];
const names = [
  'id',
  'userName',
  'emails',
  'emails.value',
  'active',
  'meta.created',
  'title',
  'name.givenName',
  'urn:x:y:2.0:User:a',
  'urn:x:y:2.0:User',
  'groups',
  'schemas',
  'manager.value',
  'x',
];
const values = [
  '"ada"',
  '"',
  '"\\""',
  '"\\u0041"',
  'true',
  'False',
  'null',
  '7',
  '-1.5',
  '1e9',
  '"2020-01-01T00:00:00Z"',
  '""',
];
const marks = ['(', ')', '[', ']', '.', ' ', '  ', '\t', ',', '\\', '.value', '[type eq "work"]'];

const token = fc.oneof(
  fc.constantFrom(...words),
  fc.constantFrom(...names),
  fc.constantFrom(...values),
  fc.constantFrom(...marks),
);
const wild = fc.array(token, { maxLength: 14 }).chain((all) => fc.constantFrom(all.join(' '), all.join('')));

/** Well-formed filters, so that the code behind the parser is tested as well. */
const comparison = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(...names),
      fc.constantFrom(...words.slice(5)),
      fc.constantFrom('"ada"', 'true', 'null', '7', '"2020-01-01T00:00:00Z"', '""'),
    )
    .map((all) => all.join(' ')),
  fc.constantFrom(...names).map((name) => `${name} pr`),
  fc.constantFrom(
    'emails[type eq "work" and not (value pr)]',
    'emails[type eq "work"].value sw "a"',
    'urn:x:y:2.0:User:a[b eq 1]',
  ),
);
const readable = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    comparison,
    fc.tuple(tie('filter'), fc.constantFrom('and', 'or', 'OR'), tie('filter')).map((all) => all.join(' ')),
    tie('filter').map((inner) => `not (${inner})`),
    tie('filter').map((inner) => `(${inner})`),
  ),
})).filter;

/** Filters with one character changed. */
const twisted = fc
  .tuple(readable, fc.nat(), fc.string({ unit: anyCharacter, maxLength: 2 }))
  .map(
    ([text, at, other]) =>
      text.slice(0, at % (text.length + 1)) + other + text.slice((at % (text.length + 1)) + 1),
  );

test.each([
  ['of any tokens', wild],
  ['that can be read', readable],
  ['that are nearly right', twisted],
  ['of any text', fc.string({ unit: anyCharacter, maxLength: 60 })],
])('filters %s are answered, or 400 invalidFilter', async (_title, filter) => {
  await fc.assert(
    fc.asyncProperty(filter, fc.constantFrom('/Users', '/Groups'), async (text, path) => {
      fc.pre(!/\p{Surrogate}/u.test(text));
      const answer = await wire.send(request('GET', `${path}?filter=${encodeURIComponent(text)}`));
      expectDocumented(answer);
      expect([200, 400]).toContain(answer.status);
      const { scimType, totalResults } = JSON.parse(answer.text);
      expect(answer.status === 200 ? totalResults <= 2 : scimType === 'invalidFilter').toBe(true);
    }),
    runs(300),
  );
});

describe('a filter with the maximum number of comparisons is answered', () => {
  const leaves = [
    ...['id pr', 'id eq "1"', 'id ne "1"', 'meta.created gt "2020-01-01T00:00:00Z"', 'not (id eq "1")'],
    ...[
      'displayName eq "x"',
      'displayName ne "x"',
      'displayName pr',
      'externalId eq null',
      'externalId ne null',
    ],
  ];
  test.each(leaves)('%s', async (leaf) => {
    for (const path of ['/Users', '/Groups', '']) {
      for (const word of [' or ', ' and ']) {
        const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
        const body = JSON.stringify({ schemas, filter: Array(500).fill(leaf).join(word) });
        expect((await wire.send(request('POST', `${path}/.search`, { body }))).status).toBe(200);
      }
    }
  });
});

test('a search by POST has the same outcome for a filter as a GET', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(readable, twisted), async (filter) => {
      fc.pre(!/\p{Surrogate}/u.test(filter));
      const listed = await wire.send(request('GET', `/Users?filter=${encodeURIComponent(filter)}`));
      const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
      const body = JSON.stringify({ schemas, filter });
      const searched = await wire.send(request('POST', '/Users/.search', { body }));
      expect([searched.status, JSON.parse(searched.text)]).toEqual([listed.status, JSON.parse(listed.text)]);
    }),
    runs(200),
  );
});
