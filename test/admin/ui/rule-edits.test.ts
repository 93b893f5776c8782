import fc from 'fast-check';
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
import { runs } from '../../fixtures/runs.ts';

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

test('what has no place in the text changes nothing', () => {
  for (const path of [
    [...one, 'customField', 'nosuch'],
    [...one, 0],
    ['scimUserMapping', 'nosuch'],
    ['nosuch', 0],
  ])
    expect(setValue(text, path, 'x')).toBe(text);
  expect(swapElements(text, ['roles'], [0, 1])).toBe(text);
});

type Value = null | boolean | number | string | Value[] | { [name: string]: Value };

/** Every path of a value, with that of the value itself first. */
function pathsOf(value: Value): Step[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  const items: [Step, Value][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [[], ...items.flatMap(([step, item]) => pathsOf(item).map((path) => [step, ...path]))];
}

/** The model of an edit: makes the change in the value, as the edit must make it in the text. */
function modelOf(value: Value, [step, ...rest]: Step[], change: Value | undefined): Value {
  if (step === undefined) return change === undefined ? value : change;
  if (Array.isArray(value)) {
    const at = Number(step);
    if (rest.length === 0 && change === undefined) return value.toSpliced(at, 1);
    return value.with(at, modelOf(value[at] ?? null, rest, change));
  }
  const members = Object.entries(Object(value) as Record<string, Value>);
  if (rest.length === 0 && change === undefined)
    return Object.fromEntries(members.filter(([name]) => name !== step));
  return Object.fromEntries(
    members.map(([name, member]) => [name, name === step ? modelOf(member, rest, change) : member]),
  );
}

test('whatever the text and the place, an edit changes the value at that place only', () => {
  const names = fc.stringMatching(/^[a-z"\\ é{}[\],:]{0,6}$/).filter((name) => name !== '__proto__');
  const { value } = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), names),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  const layout = fc.constantFrom(undefined, 2, '\t');
  fc.assert(
    fc.property(
      value,
      layout,
      fc.nat(),
      fc.option(value, { nil: undefined }),
      (before, space, at, change) => {
        const written = JSON.stringify(before, null, space);
        const paths = pathsOf(before);
        const path = paths[at % paths.length] ?? [];
        if (path.length === 0 && change === undefined) return;
        expect(JSON.parse(setValue(written, path, change))).toEqual(modelOf(before, path, change));
      },
    ),
    runs(300),
  );
});
