import fc from 'fast-check';
import { filterTest, pausingFilterTest } from '../../src/schema/filter-match.ts';
import { type Filter, parseFilter } from '../../src/schema/filter-parser.ts';
import type { Json, JsonObject } from '../../src/schema/resource.ts';
import { groupType, type ResourceType, userType } from '../../src/schema/resource-types.ts';
import { runs } from '../fixtures/runs.ts';
import { referenceMatches } from './reference-evaluation.ts';

afterEach(() => jest.restoreAllMocks());

function parse(text: string): Filter {
  const filter = parseFilter(text);
  if ('fault' in filter) throw new Error(filter.fault);
  return filter;
}

const repeatTerm = (count: number, term: (index: number) => string, word = ' or ') =>
  Array.from({ length: count }, (_, index) => term(index)).join(word);

/** A group whose evaluation takes many steps. */
const everybody = groupOf(20_000);

function groupOf(size: number): JsonObject {
  const members = Array.from({ length: size }, (_, index) => ({
    value: `id-${index}`,
    display: `Person ${index}`,
  }));
  return { displayName: 'Everybody', members };
}

/** Evaluates a filter and counts the pauses. */
async function countPauses(type: ResourceType, filter: string, resource: JsonObject) {
  let pauses = 0;
  const isMatch = await pausingFilterTest(type, parse(filter))(resource, async () => {
    pauses += 1;
  });
  return { pauses, isMatch };
}

test('the right-hand value of a comparison is folded once, for all resources and elements', () => {
  const test = filterTest(userType, parse('title co "Zz" or emails[value co "Yy"]'));
  const emails = [{ value: 'a' }, { value: 'b' }];
  const normalize = jest.spyOn(String.prototype, 'normalize');
  for (let user = 0; user < 10; user += 1) test({ userName: 'ada', title: 'Engineer', emails });
  expect(normalize).toHaveBeenCalledTimes(10 * 3);
});

describe('an evaluation pauses at least once for each million characters that it compares', () => {
  const size = 1_000;
  const display = 'Person 1000'.length;
  test.each([
    ['comparisons of a long list', repeatTerm(300, (index) => `members.display co "zz${index}"`), 300],
    ['value filters on a long list', repeatTerm(300, (index) => `members[display co "zz${index}"]`), 300],
    [
      'one value filter with many comparisons',
      `members[${repeatTerm(300, (index) => `display co "zz${index}"`)}]`,
      300,
    ],
    ['orders', repeatTerm(300, (index) => `members.display gt "zz${index}"`), 300],
    ['negations', repeatTerm(300, (index) => `not (members.display co "zz${index}")`, ' and '), 300],
  ])('%s', async (_title, filter, comparisons) => {
    const { pauses } = await countPauses(groupType, filter, groupOf(size));
    expect(pauses).toBeGreaterThan((comparisons * size * display) / 1_000_000);
  });

  test('many comparisons of one long text', async () => {
    const title = 'ab'.repeat(30_000);
    const { pauses } = await countPauses(
      userType,
      repeatTerm(200, (index) => `title co "aab${index}"`),
      { title },
    );
    expect(pauses).toBeGreaterThan((200 * title.length) / 1_000_000);
  });

  test('a small resource is evaluated without a pause', async () => {
    expect(
      await countPauses(userType, 'emails co "zz" or title pr', {
        userName: 'ada',
        emails: [{ value: 'a@x' }],
      }),
    ).toEqual({
      pauses: 0,
      isMatch: false,
    });
  });
});

test('the search ends with the first matching element', async () => {
  expect(await countPauses(groupType, 'members[display co "person"]', everybody)).toEqual({
    pauses: 0,
    isMatch: true,
  });
  expect(await countPauses(groupType, 'members.display sw "PERSON 0"', everybody)).toEqual({
    pauses: 0,
    isMatch: true,
  });
});

describe('a long text is found in another in time that grows with the sum of their lengths', () => {
  const alike = fc
    .array(fc.tuple(fc.constantFrom('a', 'b', 'ab', 'aab'), fc.integer({ min: 1, max: 400 })), {
      maxLength: 6,
    })
    .map((parts) => parts.map(([part, times]) => part.repeat(times)).join(''));

  test('the result is that of String.includes', () => {
    const cut = fc.tuple(alike, alike, fc.nat(), fc.nat()).map(([text, other, from, length]) => {
      const at = from % (text.length + 1);
      return [text, length % 3 === 0 ? other : text.slice(at, at + (length % 2000))] as const;
    });
    fc.assert(
      fc.property(cut, ([title, part]) => {
        expect(filterTest(userType, parse(`title co "${part}"`))({ title })).toBe(title.includes(part));
      }),
      runs(1000),
    );
  });

  test('String.includes never searches a long part in a long text', () => {
    const includes = jest.spyOn(String.prototype, 'includes');
    const [title, part] = ['a'.repeat(65_000), `${'a'.repeat(15_000)}b${'a'.repeat(15_000)}`];
    expect(filterTest(userType, parse(`title co "${part}"`))({ title })).toBe(false);
    for (const [index, [searched]] of includes.mock.calls.entries()) {
      const text = String(includes.mock.contexts[index]);
      expect(String(searched).length > 16 && String(searched).length * text.length > 65_536).toBe(false);
    }
  });
});

const words = fc.constantFrom(
  'ada',
  'ADA',
  'Éva',
  'e\u0301va',
  'İ',
  'x',
  '',
  '2026-11-20',
  '2026-11-20T00:00:00Z',
);
const simple = fc.oneof(words, fc.integer({ min: -2, max: 2 }), fc.boolean());
const element = fc.oneof(
  fc.record(
    { value: words, type: fc.constantFrom('work', 'home'), primary: fc.boolean() },
    { requiredKeys: [] },
  ),
  words,
);
const open: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    simple,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'B', 'value'), tie('value'), { maxKeys: 3 }),
  ),
})).value;
const resource = fc.record(
  {
    userName: words,
    active: fc.boolean(),
    title: words,
    name: fc.record({ givenName: words }, { requiredKeys: [] }),
    emails: fc.array(element, { maxLength: 4 }),
    meta: fc.record({ created: words }),
    'urn:x:y:2.0:User': fc.dictionary(fc.constantFrom('a', 'B', 'c'), open, { maxKeys: 3 }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;

const operators = fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le');
const operand = fc.oneof(
  simple.map((value) => JSON.stringify(value)),
  fc.constantFrom('null', '"True"', '1.0'),
);
const termAt = (...names: string[]) =>
  fc.oneof(
    fc.tuple(fc.constantFrom(...names), operators, operand).map((parts) => parts.join(' ')),
    fc.constantFrom(...names).map((name) => `${name} pr`),
  );
const joined = (term: fc.Arbitrary<string>) =>
  fc.letrec<{ filter: string }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 3 },
      term,
      fc
        .tuple(tie('filter'), fc.constantFrom('and', 'or'), tie('filter'))
        .map(([left, word, right]) => `(${left} ${word} ${right})`),
      tie('filter').map((inner) => `not (${inner})`),
    ),
  })).filter;
const inBrackets = joined(termAt('value', 'TYPE', 'primary', 'unknown', 'a', 'b.a', 'B'));
const valuePath = fc
  .tuple(fc.constantFrom('emails', 'urn:x:y:2.0:User:a', 'urn:x:y:2.0:User:b'), inBrackets)
  .map(([name, filter]) => `${name}[${filter}]`);
const term = fc.oneof(
  termAt('userName', 'active', 'title', 'name.givenName', 'name', 'emails', 'EMAILS.Value', 'emails.type'),
  termAt('meta.created', 'meta', 'unknown', 'urn:x:y:2.0:User', 'urn:x:y:2.0:User:a', 'URN:X:Y:2.0:User:b.a'),
  valuePath,
  fc.tuple(valuePath, operators, operand).map(([path, op, value]) => `${path}.value ${op} ${value}`),
  valuePath.map((path) => `${path}.value pr`),
);

test('an evaluation has the result of the reference evaluation, for any filter and resource', () => {
  fc.assert(
    fc.property(joined(term), resource, (text, body) => {
      const filter = parse(text);
      expect(filterTest(userType, filter)(body)).toBe(referenceMatches(userType, filter, body));
    }),
    runs(5_000),
  );
});
