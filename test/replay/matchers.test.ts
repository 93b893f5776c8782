import { findExpectationFault, isPath, matches, readPath } from '../../src/replay/matchers.ts';

const rows: { expected: unknown; yes: unknown[]; no: unknown[] }[] = [
  { expected: 'x', yes: ['x'], no: ['X', 'xx', 1, null, undefined] },
  { expected: 1, yes: [1], no: ['1', true, 1.5] },
  { expected: true, yes: [true], no: ['true', 'True', 1] },
  { expected: null, yes: [null], no: [undefined, '', 0] },
  { expected: ['a', { b: 1 }], yes: [['a', { b: 1 }]], no: [['a'], [{ b: 1 }, 'a']] },
  { expected: {}, yes: [{}], no: [[], { a: 1 }, undefined] },
  { expected: { a: 1 }, yes: [{ a: 1 }], no: [{ a: 1, b: 2 }, {}] },
  { expected: { $exists: true }, yes: [0, '', null, []], no: [undefined] },
  { expected: { $exists: false }, yes: [undefined], no: [null, 0] },
  {
    expected: { $absent: true },
    yes: [undefined, null, '', [], {}],
    no: [0, false, ' ', [null], { a: null }],
  },
  { expected: { $absent: false }, yes: [0, 'a'], no: [undefined, ''] },
  { expected: { $type: 'string' }, yes: ['a'], no: ['', 1, null, undefined] },
  { expected: { $type: 'integer' }, yes: [0, -3], no: [1.5, '1', null] },
  { expected: { $type: 'number' }, yes: [0, 1.5], no: ['1'] },
  { expected: { $type: 'boolean' }, yes: [true, false], no: ['true', 0] },
  { expected: { $type: 'array' }, yes: [[]], no: [{}, 'a', undefined] },
  { expected: { $type: 'object' }, yes: [{}], no: [[], null, 'a'] },
  { expected: { $gte: 2 }, yes: [2, 3], no: [1, '3', undefined] },
  { expected: { $lte: 2 }, yes: [2, 1], no: [3, '1', null] },
  { expected: { $gte: '2026-01-01' }, yes: ['2026-01-01', '2027'], no: ['2025', 2027] },
  { expected: { $gte: 1, $lte: 3 }, yes: [1, 3], no: [0, 4] },
  { expected: { $regex: '/Users/' }, yes: ['http://h/Users/1'], no: ['/users/', 7, undefined] },
  { expected: { $regex: '(?i)^bearer$' }, yes: ['bearer', 'Bearer'], no: ['Bearer x'] },
  { expected: { $ieq: 'Ada' }, yes: ['ada', 'ADA'], no: ['ad', 1, undefined] },
  { expected: { $contains: 'b' }, yes: [['a', 'b'], 'abc'], no: [['ab'], 'xyz', undefined, { b: 1 }] },
  { expected: { $contains: { a: 1 } }, yes: [[{ a: 1 }]], no: [[{ a: 1, b: 2 }], '{"a":1}'] },
  { expected: { $containsAll: ['a', 'b'] }, yes: [['b', 'c', 'a']], no: [['a'], undefined] },
  { expected: { $in: ['a', 1] }, yes: ['a', 1], no: ['1', undefined, null] },
  { expected: { $in: ['a', null] }, yes: ['a', null, undefined], no: ['', 0] },
  { expected: { $not: 'a' }, yes: ['b', undefined], no: ['a'] },
  { expected: { $not: { $type: 'string' } }, yes: [1, ''], no: ['a'] },
  { expected: { $len: 2 }, yes: [[1, 2], 'ab'], no: [[], 2, undefined] },
  { expected: { $lenGte: 1 }, yes: [[1], 'ab'], no: [[], ''] },
  { expected: { $lenLte: 1 }, yes: [[], 'a'], no: [[1, 2], undefined, { length: 1 }] },
];

describe('matchers of a scenario', () => {
  const cases = rows.flatMap(({ expected, yes, no }) => [
    ...yes.map((value) => ({ expected, value, holds: true })),
    ...no.map((value) => ({ expected, value, holds: false })),
  ]);

  test.each(cases)('$expected of $value is $holds', ({ expected, value, holds }) => {
    expect(matches(value, expected)).toBe(holds);
  });

  test('an unknown matcher and an invalid regular expression are found before a scenario is played', () => {
    expect(findExpectationFault({ $len: 1, $regex: 'a' })).toBeUndefined();
    expect(findExpectationFault({ $length: 1 })).toEqual({ kind: 'unknown', name: '$length' });
    expect(findExpectationFault({ $toString: 1 })).toEqual({ kind: 'unknown', name: '$toString' });
    expect(findExpectationFault({ $regex: '(' })).toEqual({ kind: 'pattern', pattern: '(' });
    expect(findExpectationFault({ $not: { $lenn: 1 } })).toEqual({ kind: 'unknown', name: '$lenn' });
    expect(findExpectationFault({ a: { $lenn: 1 } })).toBeUndefined();
    expect(() => matches(1, { $lenn: 1 })).toThrow('"$lenn" is no matcher');
  });
});

const pathBody = {
  a: { b: 1, none: null },
  'urn:x:2.0:User': { department: 'R&D' },
  'name.givenName': 'dotted',
  list: [
    { type: 'home', value: 'h', primary: false, tags: [null, 1] },
    { type: 'work', value: 'w1', primary: true },
    { type: 'work', value: 'w2' },
  ],
};

describe('paths into the body of an answer', () => {
  test.each<[string, unknown]>([
    ['a.b', 1],
    ['a', { b: 1, none: null }],
    ['a.none', null],
    ['a.c', undefined],
    ['a.b.c.d', undefined],
    ['list[0].value', 'h'],
    ['list[7].value', undefined],
    ['list.length', undefined],
    ['["urn:x:2.0:User"].department', 'R&D'],
    ['["name.givenName"]', 'dotted'],
    ['name.givenName', undefined],
    ['list[?(type=="work")].value', 'w1'],
    ['list[?(primary==true)].value', 'w1'],
    ['list[?(type=="other")].value', undefined],
    ['list[?(type=="work")]', { type: 'work', value: 'w1', primary: true }],
    ['$nulls', 2],
    ['a.$nulls', 1],
    ['constructor.name', undefined],
    ['__proto__', undefined],
  ])('%s', (path, value) => {
    expect(isPath(path)).toBe(true);
    expect(readPath(pathBody, path)).toEqual(value);
  });

  test('an item of the whole body', () => {
    expect(readPath([{ a: 1 }], '[0].a')).toBe(1);
  });

  test('a missing body has no value at any path', () => {
    expect(readPath(undefined, 'a.b[0]')).toBeUndefined();
    expect(readPath(undefined, '$nulls')).toBe(0);
  });

  test.each(['a[', 'a[x]', 'a..b', 'a[?(b)]', 'a]'])('%s is no path', (path) => {
    expect(isPath(path)).toBe(false);
    expect(() => readPath(pathBody, path)).toThrow('is no path');
  });
});
