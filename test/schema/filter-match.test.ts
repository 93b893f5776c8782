import fc from 'fast-check';
import { prepareFilter } from '../../src/schema/filter-condition.ts';
import { evaluateFilter, filterTest, matchesFilter } from '../../src/schema/filter-match.ts';
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

const ada: JsonObject = {
  userName: 'ada',
  emails: Array.from({ length: 250 }, (_, index) => ({
    value: `Ada.Lovelace.${index}@Corp.Example`,
    type: 'work',
  })),
  name: { givenName: 'Ada' },
};

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
function countPauses(type: ResourceType, filter: string, resource: JsonObject) {
  const steps = evaluateFilter(type, prepareFilter(parse(filter)), resource);
  let pauses = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) return { pauses, isMatch: step.value };
    pauses += 1;
  }
}

describe('each text of a resource is folded once, however many comparisons read it', () => {
  test.each([
    ['by a path', (index: number) => `emails.value co "zz${index}"`],
    ['by the attribute alone', (index: number) => `emails eq "zz${index}"`],
    ['by a value filter', (index: number) => `emails[value co "zz${index}"]`],
    [
      'by a value filter with a sub-attribute',
      (index: number) => `emails[value co "zz${index}"].value sw "a"`,
    ],
    ['by a negated value filter', (index: number) => `not (emails[not (value co "zz${index}")])`],
  ])('%s', (_title, term) => {
    const filter = parse(repeatTerm(300, term));
    const normalize = jest.spyOn(String.prototype, 'normalize');
    expect(matchesFilter(userType, filter, ada)).toBe(false);
    // The 250 addresses, and the right-hand values of the 300 terms.
    expect(normalize.mock.calls.length).toBeLessThanOrEqual(250 + 2 * 300);
  });

  test('the right-hand values of a filter are folded once for all resources', () => {
    const condition = prepareFilter(parse(repeatTerm(300, (index) => `title co "Zz${index}"`)));
    const normalize = jest.spyOn(String.prototype, 'normalize');
    for (let user = 0; user < 10; user += 1) {
      const steps = evaluateFilter(userType, condition, { userName: 'ada', title: 'Engineer' });
      while (!steps.next().done);
    }
    expect(normalize).toHaveBeenCalledTimes(10);
  });
});

describe('an evaluation pauses at least once for each million characters that it compares', () => {
  const size = 4_000;
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
  ])('%s', (_title, filter, comparisons) => {
    const { pauses } = countPauses(groupType, filter, groupOf(size));
    expect(pauses).toBeGreaterThan((comparisons * size * display) / 1_000_000);
  });

  test('many comparisons of one long text', () => {
    const title = 'ab'.repeat(30_000);
    const { pauses } = countPauses(
      userType,
      repeatTerm(200, (index) => `title co "aab${index}"`),
      { title },
    );
    expect(pauses).toBeGreaterThan((200 * title.length) / 1_000_000);
  });

  test('a small resource is evaluated without a pause', () => {
    expect(
      countPauses(userType, 'emails co "zz" or title pr', { userName: 'ada', emails: [{ value: 'a@x' }] }),
    ).toEqual({
      pauses: 0,
      isMatch: false,
    });
  });
});

test('the search ends with the first matching element', () => {
  expect(countPauses(groupType, 'members[display co "person"]', everybody)).toEqual({
    pauses: 0,
    isMatch: true,
  });
  expect(countPauses(groupType, 'members.display sw "PERSON 0"', everybody)).toEqual({
    pauses: 0,
    isMatch: true,
  });
});

test('elements are not searched for a sub-attribute that the schema does not define', () => {
  const filter = repeatTerm(200, (index) => `members.unknown${index} pr or members[unknown${index} eq "x"]`);
  const { pauses, isMatch } = countPauses(groupType, filter, everybody);
  expect(isMatch).toBe(false);
  expect(pauses).toBeLessThan(10);
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
        expect(matchesFilter(userType, parse(`title co "${part}"`), { title })).toBe(title.includes(part));
      }),
      runs(1000),
    );
  });

  test('String.includes never searches a long part in a long text', () => {
    const includes = jest.spyOn(String.prototype, 'includes');
    const [title, part] = ['a'.repeat(65_000), `${'a'.repeat(15_000)}b${'a'.repeat(15_000)}`];
    expect(matchesFilter(userType, parse(`title co "${part}"`), { title })).toBe(false);
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
      const expected = referenceMatches(userType, filter, body);
      expect(matchesFilter(userType, filter, body)).toBe(expected);
      expect(filterTest(userType, filter)(body)).toBe(expected);
    }),
    runs(5_000),
  );
});
