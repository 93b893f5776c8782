import fc from 'fast-check';
import { normalize } from '../../src/schema/normalize.ts';
import { isActive, type JsonObject, SchemaFault, urns } from '../../src/schema/resource.ts';
import { groupType, userType } from '../../src/schema/resource-types.ts';

const ENT = urns.enterprise;

/** Normalizes a body with a userName, and returns the other attributes. */
function normalized(body: JsonObject): JsonObject {
  const { userName, ...rest } = normalize(userType, { userName: 'ada', ...body }).resource;
  expect(userName).toBe('ada');
  return rest;
}

describe('a body is normalized', () => {
  const cases: [string, JsonObject, JsonObject][] = [
    ['a boolean', { active: false }, { active: false }],
    ['"True" is true', { active: 'True' }, { active: true }],
    ['"False" is false', { active: 'False' }, { active: false }],
    ['[{ value: "False" }] is false', { active: [{ value: 'False' }] }, { active: false }],
    ['a single value in an array', { title: ['Lead'] }, { title: 'Lead' }],
    ['a number where text belongs', { [ENT]: { employeeNumber: 55 } }, { [ENT]: { employeeNumber: '55' } }],
    [
      'names in any case',
      { USERTYPE: 'x', Name: { GIVENNAME: 'A' } },
      { userType: 'x', name: { givenName: 'A' } },
    ],
    ['URNs in any case', { [ENT.toUpperCase()]: { Department: 'D' } }, { [ENT]: { department: 'D' } }],
    ['the core URN before a name', { [`${urns.user}:title`]: 'T' }, { title: 'T' }],
    ['the core URN around names', { [urns.user]: { title: 'T' } }, { title: 'T' }],
    ['an extension URN before a name', { [`${ENT}:department`]: 'D' }, { [ENT]: { department: 'D' } }],
    ['manager as text', { [ENT]: { manager: 'm1' } }, { [ENT]: { manager: { value: 'm1' } } }],
    ['manager as a number', { [ENT]: { manager: 7 } }, { [ENT]: { manager: { value: '7' } } }],
    [
      'manager as an array',
      { [ENT]: { manager: [{ $ref: null, value: 'm1' }] } },
      { [ENT]: { manager: { value: 'm1' } } },
    ],
    ['manager as ""', { [ENT]: { manager: '' } }, {}],
    ['manager as null', { [ENT]: { manager: null } }, {}],
    ['manager with empty parts', { [ENT]: { manager: { managerId: '', displayName: '' } } }, {}],
    [
      'manager as managerId',
      { [ENT]: { manager: { managerId: 'm1' } } },
      { [ENT]: { manager: { value: 'm1' } } },
    ],
    [
      'manager with another managerId before',
      { [ENT]: { manager: { managerId: '', value: 'm1' } } },
      { [ENT]: { manager: { value: 'm1' } } },
    ],
    [
      'manager with another managerId after',
      { [ENT]: { manager: { value: 'm1', managerId: 'm2' } } },
      { [ENT]: { manager: { value: 'm1' } } },
    ],
    ['manager without its URN', { manager: 'm1' }, { [ENT]: { manager: { value: 'm1' } } }],
    [
      'the qualified name wins',
      { department: 'a', [ENT]: { department: 'b' } },
      { [ENT]: { department: 'b' } },
    ],
    [
      'the qualified name wins, whatever comes first',
      { [ENT]: { department: 'b' }, department: 'a' },
      { [ENT]: { department: 'b' } },
    ],
    ['one object for many', { emails: { value: 'a@b' } }, { emails: [{ value: 'a@b' }] }],
    ['text for many', { emails: 'a@b' }, { emails: [{ value: 'a@b' }] }],
    ['texts for many', { emails: ['a@b', 'c@d'] }, { emails: [{ value: 'a@b' }, { value: 'c@d' }] }],
    ['null elements', { emails: [null, { value: 'a@b', type: null }] }, { emails: [{ value: 'a@b' }] }],
    [
      'types that are not canonical',
      { emails: [{ value: 'a@b', type: 'Personal' }] },
      { emails: [{ value: 'a@b', type: 'Personal' }] },
    ],
    ['text that is JSON', { roles: [{ value: '{"id":"1"}' }] }, { roles: [{ value: '{"id":"1"}' }] }],
    [
      'null, [] and {} are unassigned',
      { title: null, emails: [], name: {}, [ENT]: { department: null } },
      {},
    ],
    ['empty text stays', { title: '', name: { familyName: '' } }, { title: '', name: { familyName: '' } }],
    ['empty text for a reference is unassigned', { profileUrl: '', photos: [{ value: '' }] }, {}],
    ['empty text for a boolean is unassigned', { active: '' }, {}],
    ['read-only and secret attributes', { id: 'x', meta: {}, groups: [{ value: 'g' }], password: 'p' }, {}],
    [
      'travelUserId is read-only',
      { [urns.travel]: { travelUserId: 't', currency: 'EUR' } },
      { [urns.travel]: { currency: 'EUR' } },
    ],
    [
      'a string boolean of the travel extension',
      { [urns.travel]: { separateIcsEmails: 'False' } },
      { [urns.travel]: { separateIcsEmails: false } },
    ],
    [
      'custom core attributes',
      { favColor: 'blue', 'name.givenName': 'x', constructor: { a: 1 }, toString: 'x', sizes: [null] },
      { favColor: 'blue', constructor: { a: 1 }, toString: 'x' },
    ],
    ['custom core attributes in two cases', { badgeNumber: '7', BadgeNumber: '8' }, { badgeNumber: '8' }],
    ['custom core attributes under the URN of the core schema', { [urns.user]: { badge: 7 } }, { badge: 7 }],
    ['custom core attributes that are too large', { photo: 'x'.repeat(70_000), ids: Array(251).fill(1) }, {}],
    ['unknown attributes of an extension', { [ENT]: { badge: [1, null] } }, { [ENT]: { badge: [1] } }],
    [
      'unknown extensions',
      { 'urn:x:y:2.0:User': { a: { b: [null, 'c'] }, d: null } },
      { 'urn:x:y:2.0:User': { a: { b: ['c'] } } },
    ],
  ];
  test.each(cases)('%s', (_title, body, expected) => {
    expect(normalized(body)).toEqual(expected);
  });

  test('only the first of several primary values stays primary', () => {
    const emails = [
      { value: 'a', primary: true },
      { value: 'b', primary: true },
    ];
    expect(normalized({ emails })).toEqual({
      emails: [
        { value: 'a', primary: true },
        { value: 'b', primary: false },
      ],
    });
  });
});

describe('a body is refused with a SchemaFault for', () => {
  const cases: [string, JsonObject][] = [
    ['no userName', { userName: null }],
    ['a blank userName', { userName: ' ' }],
    ['text that is no boolean', { active: 'yes' }],
    ['a number for a boolean', { active: 1 }],
    ['an object for text', { title: { value: 'x' } }],
    ['a boolean for text', { title: true }],
    ['two values for one', { title: ['a', 'b'] }],
    ['text for a complex value', { name: 'Ada Lovelace' }],
    ['arrays in arrays', { emails: [['a']] }],
    ['an extension that is no object', { [ENT]: 'x' }],
    ['NUL', { displayName: 'a\0b' }],
    ['NUL in an extension', { 'urn:x:y:2.0:User': { a: ['\0'] } }],
    ['NUL in a name of an extension', { 'urn:x:y:2.0:User': { 'a\0': 1 } }],
    ['half a surrogate pair', { displayName: 'a\ud800b' }],
    ['half a surrogate pair in a name of an extension', { 'urn:x:y:2.0:User': { 'a\udc00': 1 } }],
    ['a number that rounds', { [ENT]: { employeeNumber: 2 ** 53 } }],
    ['infinity', { 'urn:x:y:2.0:User': { a: [Number.POSITIVE_INFINITY] } }],
    ['a name of three hundred and one characters', { 'urn:x:y:2.0:User': { ['a'.repeat(301)]: 1 } }],
    [
      'a name of three hundred and one characters in a nested object',
      { 'urn:x:y:2.0:User': { a: { ['a'.repeat(301)]: 1 } } },
    ],
    ['two hundred and fifty-one undeclared values', { 'urn:x:y:2.0:User': { a: Array(251).fill(1) } }],
    ['two hundred and fifty-one undeclared names', { 'urn:x:y:2.0:User': { a: numberedNames(251) } }],
    [
      'more than a quarter of a million characters in all',
      Object.fromEntries(
        ['title', 'nickName', 'locale', 'userType', 'timezone'].map((name) => [name, 'x'.repeat(60_000)]),
      ),
    ],
    ['text of a megabyte', { title: 'x'.repeat(1_000_000) }],
    ['two hundred and fifty-one values', { emails: Array.from({ length: 251 }, (_, n) => `${n}@x`) }],
    ['five hundred and one attributes of an extension', { 'urn:x:y:2.0:User': numberedNames(501) }],
    ['five hundred extensions', numberedNames(500, (n) => `urn:x${n}:y:2.0:User:a`)],
    ['two thousand names', numberedNames(2000)],
    [
      'an extension nested too deeply',
      { 'urn:x:y:2.0:User': JSON.parse(`{"a":${'['.repeat(5000)}1${']'.repeat(5000)}}`) },
    ],
  ];
  test.each(cases)('%s', (_title, body) => {
    expect(() => normalize(userType, { userName: 'ada', ...body })).toThrow(SchemaFault);
  });
});

describe('schemas', () => {
  test.each([[undefined], [null], [[]], [urns.user], [[urns.user.toLowerCase(), 'urn:x']]])(
    '%j is accepted',
    (schemas) => {
      expect(() =>
        normalize(userType, { userName: 'a', ...(schemas === undefined ? {} : { schemas }) }),
      ).not.toThrow();
    },
  );
  test.each([[[urns.group]], [['urn:scim:schemas:core:1.0']], ['x'], [5], [[urns.enterprise]]])(
    '%j is refused',
    (schemas) => {
      expect(() => normalize(userType, { userName: 'a', schemas })).toThrow(
        expect.objectContaining({ kind: 'schemas' }),
      );
    },
  );
});

test('a group needs a displayName', () => {
  expect(() => normalize(groupType, { externalId: 'x' })).toThrow('displayName is required.');
});

test('the names of dropped attributes are returned', () => {
  const body = { userName: 'a', favColor: 1, 'http://x': 2, photo: 'x'.repeat(70_000) };
  expect(normalize(userType, body).dropped).toEqual(['http://x', 'photo']);
  expect(normalize(groupType, { displayName: 'a', favColor: 1 }).dropped).toEqual(['favColor']);
});

test('an attribute __proto__ is left out and changes no prototype, at any depth', () => {
  const body: JsonObject = JSON.parse(
    `{"userName":"a","__proto__":{"x":1},"name":{"__proto__":{"x":1}},"urn:x:y:2.0:User":{"__proto__":{"x":1},"a":{"__proto__":{"x":1},"b":1}}}`,
  );
  const { resource } = normalize(userType, body);
  expect(resource).toEqual({ userName: 'a', 'urn:x:y:2.0:User': { a: { b: 1 } } });
  expect('x' in resource).toBe(false);
  expect('x' in {}).toBe(false);
});

test('any JSON is normalized or refused with a SchemaFault, and normalizing twice changes nothing', () => {
  const name = fc.constantFrom(
    'userName',
    'active',
    'emails',
    'name',
    ENT,
    `${ENT}:manager`,
    'urn:a:b:2.0:User',
    'x',
  );
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue() as fc.Arbitrary<never>), (body) => {
      try {
        const { resource } = normalize(userType, body);
        expect(normalize(userType, resource).resource).toEqual(resource);
      } catch (error) {
        expect(error).toBeInstanceOf(SchemaFault);
      }
    }),
  );
});

function numberedNames(count: number, name = (n: number) => `a${n}`): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [name(n), 1]));
}

test('a user is inactive only if active is false', () => {
  expect([{}, { active: null }, { active: true }, { active: false }].map(isActive)).toEqual([
    ...[true, true, true, false],
  ]);
});
