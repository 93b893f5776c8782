import { replaceMember, setValue, swapElements } from '../../../src/admin/ui/views/mappings/json-edits.ts';
import type { Step } from '../../../src/admin/ui/views/mappings/json-place.ts';
import {
  addRule,
  moveRule,
  moveTransform,
  parseRules,
  removeRule,
  replaceInRule,
  setInRule,
} from '../../../src/admin/ui/views/mappings/rules.ts';

/** One rule in a line, one in several lines, and an unusual layout that must stay. */
const text = `{
  "scimUserMapping": [
    { "scimAttribute": "title",   "customField": "Position" },
    {
      "template": "{title}",
      "userAttribute": "lang",
      "transforms": ["trim", { "prefix": "x" }]
    }
  ],
  "roles": {"map":{ "Team lead" : "manager" }}
}
`;

/** The text with one part replaced, which must be there. */
function edited(from: string, to: string): string {
  expect(text).toContain(from);
  return text.replace(from, to);
}

const one: Step[] = ['scimUserMapping', 0];
const two: Step[] = ['scimUserMapping', 1];

test.each<[string, Step[], unknown, string]>([
  ['a value', [...one, 'customField'], 'Job', edited('"Position"', '"Job"')],
  ['a text with quotes', [...one, 'customField'], 'a "b"', edited('"Position"', '"a \\"b\\""')],
  [
    'a member of one line',
    [...one, 'when'],
    'active eq true',
    edited('"Position" }', '"Position", "when": "active eq true" }'),
  ],
  [
    'a member of several lines',
    [...two, 'when'],
    'active eq true',
    edited('"x" }]\n', '"x" }],\n      "when": "active eq true"\n'),
  ],
  ['an element', [...two, 'transforms', 1], 'digits', edited('{ "prefix": "x" }', '"digits"')],
  [
    'an element with a member',
    [...two, 'transforms', 0],
    { default: 'en' },
    edited('"trim"', '{ "default": "en" }'),
  ],
  ['the next element', [...two, 'transforms', 2], 'digits', edited('"x" }]', '"x" }, "digits"]')],
  ['a member inside an element', [...two, 'transforms', 1, 'prefix'], 'CC-', edited('"x"', '"CC-"')],
  [
    'a list of a rule without one',
    [...one, 'transforms'],
    ['trim'],
    edited('"Position" }', '"Position", "transforms": ["trim"] }'),
  ],
])('setting %s changes nothing else', (_title, path, value, expected) => {
  const changed = setValue(text, path, value);
  expect(changed).toBe(expected);
  expect(() => JSON.parse(changed)).not.toThrow();
});

test.each<[string, Step[], string]>([
  ['the first member of a line', [...one, 'scimAttribute'], edited('"scimAttribute": "title",   ', '')],
  ['the last member of a line', [...one, 'customField'], edited(',   "customField": "Position"', '')],
  [
    'the last member of several lines',
    [...two, 'transforms'],
    edited(',\n      "transforms": ["trim", { "prefix": "x" }]', ''),
  ],
  ['the first element', [...two, 'transforms', 0], edited('"trim", ', '')],
  ['the only member', ['roles', 'map', 'Team lead'], edited(' "Team lead" : "manager" ', '')],
  ['something that is not there', [...one, 'when'], text],
])('removing %s changes nothing else', (_title, path, expected) => {
  const changed = setValue(text, path, undefined);
  expect(changed).toBe(expected);
  expect(() => JSON.parse(changed)).not.toThrow();
});

test('a member is replaced by one with another name at the same place', () => {
  const change = { from: 'template', to: 'sources', value: ['title', 'nickName'] };
  expect(replaceMember(text, two, change)).toBe(
    edited('"template": "{title}"', '"sources": ["title", "nickName"]'),
  );
  const added = { from: 'nosuch', to: 'when', value: 'active eq true' };
  expect(replaceMember(text, one, added)).toBe(
    edited('"Position" }', '"Position", "when": "active eq true" }'),
  );
});

test('two rules change places, and the text between them stays', () => {
  const moved = moveRule(text, 0, 1);
  expect(parseRules(moved)).toEqual(parseRules(text)?.toReversed());
  expect(moveRule(moved, 1, -1)).toBe(text);
  expect(moveRule(text, 1, 1)).toBe(text);
  expect(moveRule(text, 0, -1)).toBe(text);
  expect(moveTransform(text, 1, { at: 0, by: 1 })).toBe(
    edited('"trim", { "prefix": "x" }', '{ "prefix": "x" }, "trim"'),
  );
});

test('a rule is added and removed in the layout of the others', () => {
  const rule = { scimAttribute: 'nickName', userAttribute: 'firstName' };
  const added = addRule(text, rule);
  expect(added).toBe(
    edited(
      '    }\n  ],',
      '    },\n    {\n      "scimAttribute": "nickName",\n      "userAttribute": "firstName"\n    }\n  ],',
    ),
  );
  expect(removeRule(added, 2)).toBe(text);
  const written = '{ "scimAttribute": "nickName", "userAttribute": "firstName" }';
  expect(addRule(removeRule(text, 1), rule)).toContain(`"Position" },\n    ${written}\n  ],`);
});

test.each([
  ['{}', '{\n  "scimUserMapping": [{ "scimAttribute": "title" }]\n}'],
  ['{ "roles": {} }', '{ "roles": {}, "scimUserMapping": [{ "scimAttribute": "title" }] }'],
  ['{\n  "scimUserMapping": []\n}', '{\n  "scimUserMapping": [\n    { "scimAttribute": "title" }\n  ]\n}'],
  ['{ "scimUserMapping": "wrong" }', '{ "scimUserMapping": "wrong" }'],
  ['not JSON', 'not JSON'],
])('the first rule of %j', (before, after) => {
  expect(addRule(before, { scimAttribute: 'title' })).toBe(after);
});

test('parts of a rule are set and replaced by the place of the rule', () => {
  expect(setInRule(text, 1, { path: ['transforms', 1], value: undefined })).toBe(
    edited(', { "prefix": "x" }', ''),
  );
  const change = { from: 'customField', to: 'userAttribute', value: 'firstName' };
  expect(replaceInRule(text, 0, change)).toBe(
    edited('"customField": "Position"', '"userAttribute": "firstName"'),
  );
});

test('swapping elements of something else than a list changes nothing', () => {
  expect(swapElements(text, ['roles'], [0, 1])).toBe(text);
});
