import { userType } from '../../../src/schema/resource-types.ts';
import { isStated, withoutStated } from '../../../src/schema/stated-attributes.ts';
import { parsePatch, statedAttributes } from '../../../src/scim/patch/patch.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** Returns the paths that a PATCH with these operations states, as texts. */
function stated(...Operations: object[]): string[] {
  const body = JSON.parse(JSON.stringify({ Operations }));
  return statedAttributes(userType, parsePatch(body)).map((path) => path.join(' '));
}

test.each<[string, object, string[]]>([
  ['an attribute', { op: 'replace', path: 'active', value: true }, ['active']],
  ['an attribute in another case', { op: 'Replace', path: 'Title', value: 'Dr.' }, ['title']],
  ['a removal', { op: 'remove', path: 'title' }, ['title']],
  ['a part of a name', { op: 'add', path: 'name.givenName', value: 'Ada' }, ['name givenName']],
  [
    'a name',
    { op: 'add', path: 'name', value: { givenName: 'Ada', familyName: 'L' } },
    ['name givenName', 'name familyName'],
  ],
  ['a list', { op: 'replace', path: 'emails[type eq "work"].value', value: 'a@b.example' }, ['emails']],
  [
    'an attribute of an extension',
    { op: 'replace', path: `${enterprise}:department`, value: 'x' },
    [`${enterprise} department`],
  ],
  [
    'a value without a path',
    { op: 'replace', value: { active: false, 'name.familyName': 'L', [enterprise]: { division: 'x' } } },
    ['active', 'name familyName', `${enterprise} division`],
  ],
])('a PATCH states %s, whatever the user has', (_, operation, paths) => {
  expect(stated(operation)).toEqual(paths);
});

test('a path states everything below it, and nothing beside it', () => {
  expect(isStated([['name']], ['name', 'givenName'])).toBe(true);
  expect(isStated([['name', 'givenName']], ['name', 'familyName'])).toBe(false);
  expect(isStated([[]], ['active'])).toBe(true);
  const user = { name: { givenName: 'Ada', familyName: 'L' }, active: true };
  expect(withoutStated(user, [['name', 'givenName'], ['active']])).toEqual({ name: { familyName: 'L' } });
  expect(withoutStated(user, [[]])).toEqual({});
});
