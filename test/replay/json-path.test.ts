import { isPath, readPath } from '../../src/replay/matchers.ts';

const body = {
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
    expect(readPath(body, path)).toEqual(value);
  });

  test('an item of the body itself', () => {
    expect(readPath([{ a: 1 }], '[0].a')).toBe(1);
  });

  test('nothing is at any path of nothing', () => {
    expect(readPath(undefined, 'a.b[0]')).toBeUndefined();
    expect(readPath(undefined, '$nulls')).toBe(0);
  });

  test.each(['a[', 'a[x]', 'a..b', 'a[?(b)]', 'a]'])('%s is no path', (path) => {
    expect(isPath(path)).toBe(false);
    expect(() => readPath(body, path)).toThrow('is no path');
  });
});
