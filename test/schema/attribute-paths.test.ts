import { attributePaths } from '../../src/schema/attribute-paths.ts';
import { userType } from '../../src/schema/resource-types.ts';
import { parseRulePath } from '../../src/translator/mapping/rule-syntax.ts';

const paths = attributePaths(userType).map(({ path }) => path);

test('the paths of users have sub-attributes, types and extensions, and nothing that no client may write', () => {
  expect(paths).toEqual(
    expect.arrayContaining([
      'userName',
      'name.givenName',
      'emails[type eq "work"].value',
      'addresses[type eq "home"].locality',
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
    ]),
  );
  expect(paths).not.toContain('password');
  expect(paths.filter((path) => path.startsWith('groups'))).toEqual([]);
});

test.each(paths)('%s may stand in a rule', (path) => {
  expect(parseRulePath(path)).not.toHaveProperty('problem');
});
