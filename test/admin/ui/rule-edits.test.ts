import { appliedText } from '../../../src/admin/ui/views/mappings/rules/rule-words.ts';
import {
  moved,
  parseRules,
  withMember,
  withRules,
} from '../../../src/admin/ui/views/mappings/rules/rules.ts';

const title = { scimAttribute: 'title', userAttribute: 'lang' };

test('the text of a mapping with other rules has the layout of a stored one, and everything else stays', () => {
  const text = '{"roles":{"map":{ "Team lead" : "manager" }},   "scimUserMapping": []}';
  const written = withRules(text, [title]);
  expect(written).toBe(
    `${JSON.stringify({ roles: { map: { 'Team lead': 'manager' } }, scimUserMapping: [title] }, null, 2)}\n`,
  );
  expect(parseRules(written)).toEqual([title]);
  expect(withRules('{}', [title])).toBe(`${JSON.stringify({ scimUserMapping: [title] }, null, 2)}\n`);
});

test.each([
  ['{ "scimUserMapping": "wrong" }', undefined],
  ['{ "scimUserMapping": [1] }', undefined],
  ['not JSON', undefined],
  ['{}', []],
])('the rules of %s are %j', (text, rules) => {
  expect(parseRules(text)).toEqual(rules);
});

test('a member of a rule is set in its place, added at the end, or removed', () => {
  expect(Object.entries(withMember(title, 'scimAttribute', 'locale'))).toEqual([
    ['scimAttribute', 'locale'],
    ['userAttribute', 'lang'],
  ]);
  expect(Object.keys(withMember(title, 'when', 'active eq true'))).toEqual([
    'scimAttribute',
    'userAttribute',
    'when',
  ]);
  expect(withMember(title, 'scimAttribute', undefined)).toEqual({ userAttribute: 'lang' });
  expect(withMember(title, 'when', undefined)).toEqual(title);
});

test('a member of a rule is replaced by one with another name at the same place', () => {
  const replaced = withMember(title, 'template', '{title}', 'scimAttribute');
  expect(Object.entries(replaced)).toEqual([
    ['template', '{title}'],
    ['userAttribute', 'lang'],
  ]);
  expect(withMember({ ...title, template: 'x' }, 'template', 'y', 'scimAttribute')).toEqual({
    ...{ template: 'y', userAttribute: 'lang' },
  });
  expect(withMember(title, 'when', 'x', 'nosuch')).toEqual({ ...title, when: 'x' });
});

test('an item of a list is moved by one place', () => {
  expect(moved(['a', 'b', 'c'], 0, 1)).toEqual(['b', 'a', 'c']);
  expect(moved(['a', 'b', 'c'], 2, -1)).toEqual(['a', 'c', 'b']);
});

test.each([
  ['title', 'title'],
  ['title | trim | prefix CC-', 'title, then trim, prefix CC-'],
  ['nickName → title | trim', 'nickName, else title, then trim'],
  ['"Standard"', 'Standard'],
  ['"{a} | \\"{b}\\"" | trim', '{a} | "{b}", then trim'],
  [
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department | map Navy → US Navy',
    'enterprise:department, then map Navy → US Navy',
  ],
])('the rule %s of a trace is told as %s', (rule, text) => {
  expect(appliedText(rule)).toBe(text);
});
