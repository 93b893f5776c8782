import { durationText, prettyText } from '../../../src/admin/ui/components/texts.ts';
import { compareBodies } from '../../../src/admin/ui/views/traffic/differences.ts';
import { outcomeOf, pathText, shortPath } from '../../../src/admin/ui/views/traffic/texts.ts';

const compare = (request: unknown, response: unknown) =>
  compareBodies(JSON.stringify(request), JSON.stringify(response));

describe('what came and what was kept', () => {
  test('are the same apart from what the service assigns and never answers', () => {
    const user = { userName: 'grace', emails: [{ value: 'g@corp.example', type: 'work' }] };
    const kept = { ...user, id: '1', meta: { version: 'W/"1"' }, schemas: [] };
    expect(compare({ ...user, password: '*', nickName: null }, kept)).toEqual([]);
  });

  test('differ in lost, changed and added values, whatever the case of names and the order of lists', () => {
    const came = {
      UserName: 'grace',
      title: ' Admiral ',
      shoeSize: 36,
      emails: [
        { value: 'a', type: 'work' },
        { value: 'b', type: 'home' },
      ],
    };
    const kept = {
      userName: 'grace',
      title: 'Admiral',
      active: true,
      emails: [
        { value: 'b', type: 'home' },
        { value: 'a', type: 'work' },
      ],
    };
    expect(compare(came, kept)).toEqual([
      { path: 'title', came: '" Admiral "', kept: '"Admiral"' },
      { path: 'shoeSize', came: '36', kept: undefined },
      { path: 'active', came: undefined, kept: 'true' },
    ]);
  });

  test.each([
    [
      { op: 'Replace', path: 'title', value: 'X' },
      { title: 'Y' },
      [{ path: 'title', came: '"X"', kept: '"Y"' }],
    ],
    [{ op: 'replace', value: { title: 'X' } }, { title: 'X', active: true }, []],
    [
      { op: 'add', path: 'emails[type eq "work"].value', value: 'a' },
      { emails: [{ type: 'work', value: 'b' }] },
      [{ path: 'emails[work].value', came: '"a"', kept: '"b"' }],
    ],
    [{ op: 'remove', path: 'title' }, {}, []],
  ])('of a PATCH are compared where it writes: %j', (operation, kept, differences) => {
    expect(compare({ Operations: [operation] }, kept)).toEqual(differences);
  });

  test('are not compared without both bodies, or with an error', () => {
    expect(compareBodies('{}', undefined)).toBeUndefined();
    expect(compareBodies('{', '{}')).toBeUndefined();
    expect(compare({}, { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'] })).toBeUndefined();
  });
});

test.each([
  [200, '✓'],
  [304, '✓'],
  [404, '!'],
  [500, '✗'],
  [undefined, '✗'],
])('status %s has the symbol %s', (status, symbol) => {
  expect(outcomeOf({ ...(status && { status }), error: 'ECONNREFUSED' }).symbol).toBe(symbol);
});

test('durations, paths and bodies are shortened for reading', () => {
  expect([3.24, 41.2, 1_420].map(durationText)).toEqual(['3.2 ms', '41 ms', '1.4 s']);
  expect(pathText('/Users?filter=userName%20eq%20%22a%22')).toBe('/Users?filter=userName eq "a"');
  expect(pathText('/Users/%E0%A4%A')).toBe('/Users/%E0%A4%A');
  expect(shortPath('/Users/01a20474-4503-7f8c-8452-025e725a1a41?a=b')).toBe('/Users/01a20474…1a41?a=b');
  expect([prettyText('{"a":1}'), prettyText('oops')]).toEqual(['{\n  "a": 1\n}', 'oops']);
});
