import { CompletionContext } from '@codemirror/autocomplete';
import { json } from '@codemirror/lang-json';
import { EditorState } from '@codemirror/state';
import {
  completeMapping,
  membersAt,
  transformKinds,
  valuesAt,
} from '../../../src/admin/ui/views/mappings/editor/completion.ts';
import { cursorAt, findPlace, parsePath } from '../../../src/admin/ui/views/mappings/editor/json-place.ts';
import {
  findLinkedRule,
  isLinkedRule,
  readLinkedRule,
  ruleHref,
} from '../../../src/admin/ui/views/mappings/rules/links.ts';
import {
  convertInput,
  inputOf,
  stepsText,
  whomOf,
  whomText,
  writtenInput,
  writtenWhom,
} from '../../../src/admin/ui/views/mappings/rules/rule-words.ts';
import {
  fieldOf,
  newTransform,
  parseRules,
  readTransform,
  withOption,
} from '../../../src/admin/ui/views/mappings/rules/rules.ts';
import type { OtherRule } from '../../../src/operations/mappings/mappings.ts';

const text = `{
  "scimUserMapping": [
    { "scimAttribute": "title", "customField": "Position" },
    { "template": "{title}", "userAttribute": "lang", "transforms": ["trim", { "prefix": "x" }] }
  ],
  "roles": { "map": { "Team lead": "manager" } }
}`;

function stateOf(doc: string): EditorState {
  return EditorState.create({ doc, extensions: [json()] });
}

test.each([
  ['scimUserMapping[0].customField', '"Position"'],
  ['scimUserMapping[1].transforms[1].prefix', '"x"'],
  ['roles.map["Team lead"]', '"manager"'],
  ['scimUserMapping[0].userAttribute', '{ "scimAttribute": "title", "customField": "Position" }'],
  ['scimUserMapping', '"scimUserMapping"'],
  ['$', '{'],
])('the place of %s is %s', (path, expected) => {
  const state = stateOf(text);
  const { from, to } = findPlace(state, path);
  expect(state.sliceDoc(from, to)).toBe(expected);
});

test('the place of an unknown member is its name', () => {
  const state = stateOf('{ "rolls": { "map": {} } }');
  const { from, to } = findPlace(state, 'rolls', true);
  expect(state.sliceDoc(from, to)).toBe('"rolls"');
});

test('a JSON path is split at dots and brackets', () => {
  expect(parsePath('roles.map["a.\\"b"][3].x')).toEqual(['roles', 'map', 'a."b', 3, 'x']);
});

/** Returns the cursor at the mark `|` of a text. */
function cursorIn(marked: string) {
  return cursorAt(stateOf(marked.replace('|', '')), marked.indexOf('|'));
}

test.each([
  ['{ "scimUserMapping": [{ "us|": "" }] }', 'name', ['scimUserMapping', 0]],
  [
    '{ "scimUserMapping": [{}, { "userAttribute": "fi|" }] }',
    'value',
    ['scimUserMapping', 1, 'userAttribute'],
  ],
  ['{ "defaults": { | } }', 'name', ['defaults']],
  [
    '{ "scimUserMapping": [{ "transforms": ["trim", "d|"] }] }',
    'value',
    ['scimUserMapping', 0, 'transforms', 1],
  ],
])('a completion in %s is that of a %s', (marked, kind, path) => {
  expect(cursorIn(marked)).toMatchObject({ kind, path });
});

test('completions are the members and values of the schema, and the names of the travel service', () => {
  const labels = (all: { label: string }[]) => all.map(({ label }) => label);
  const names = {
    scimAttributes: [{ path: 'title', description: 'The job title.' }],
    customFields: [{ id: '7', name: 'Department', dataType: 'text', options: [] }],
    ...{ costCenters: ['CC-40'], billingProfiles: ['Paris'], travelPolicies: [] },
  };
  expect(labels(membersAt([]))).toEqual(expect.arrayContaining(['scimUserMapping', 'defaults', 'roles']));
  expect(labels(membersAt(['scimUserMapping', 0, 'transforms', 0]))).toContain('replace');
  expect(labels(valuesAt(['scimUserMapping', 0, 'userAttribute'], names))).toContain('firstName');
  expect(labels(valuesAt(['scimUserMapping', 0, 'customField'], names))).toEqual(['Department']);
  expect(labels(valuesAt(['scimUserMapping', 0, 'sources', 1], names))).toEqual(['title']);
  expect(labels(valuesAt(['defaults', 'costCenter', 'name'], names))).toEqual(['CC-40']);
  expect(labels(valuesAt(['roles', 'allow', 0], names))).toContain('manager');
});

/** What the editor suggests at the mark `|` of a text, and the text after the first suggestion is taken. */
async function suggestionsIn(marked: string, groups: string[] = []) {
  const asked: string[] = [];
  const findGroups = async (beginning: string) => {
    asked.push(beginning);
    return groups;
  };
  const state = stateOf(marked.replace('|', ''));
  const context = new CompletionContext(state, marked.indexOf('|'), true);
  const result = await completeMapping(() => allNames, findGroups)(context);
  const labels = (result?.options ?? []).map(({ label, displayLabel }) => displayLabel ?? label);
  const [first] = result?.options ?? [];
  const { from = 0, to = from } = result ?? {};
  const taken = first && `${state.sliceDoc(0, from)}${first.apply ?? first.label}${state.sliceDoc(to)}`;
  return { labels, asked, taken };
}

const allNames = {
  scimAttributes: [{ path: 'title', description: 'The job title.' }],
  customFields: [{ id: '7', name: 'Department', dataType: 'option', options: ['Sales', 'Legal'] }],
  ...{ costCenters: ['CC-40'], billingProfiles: ['Paris'], travelPolicies: ['Gold'] },
};

test.each([
  ['{ "scimUserMapping": [{ "when": "groups[display eq \\"Si|\\"]" }] }', 'Si'],
  ['{ "scimUserMapping": [{ "when": "title pr and groups.display sw \\"|" }] }', ''],
  ['{ "scimUserMapping": [{ "sources": ["title", "groups[display eq \\"Site|" ] }] }', 'Site'],
  ['{ "scimUserMapping": [{ "template": "{groups[display eq \\"S|\\"].value}" }] }', 'S'],
  ['{ "scope": "not (groups[display eq \\"x|\\"])" }', 'x'],
])('the name of a group is completed in %s', async (marked, beginning) => {
  const { labels, asked, taken = '' } = await suggestionsIn(marked, ['Site "1" Paris', 'Site Lyon']);
  expect([labels, asked]).toEqual([['Site "1" Paris', 'Site Lyon'], [beginning]]);
  expect(taken).toContain('\\"Site \\\\\\"1\\\\\\" Paris\\"');
  expect(taken).not.toContain('\\"\\"');
});

test('the entries of a map are completed by the names of groups if the rule reads them', async () => {
  const rule = (path: string) =>
    `{ "scimUserMapping": [{ "scimAttribute": "${path}", "transforms": [{ "map": { "Si|" } }] }] }`;
  expect(await suggestionsIn(rule('groups.display'), ['Site Lyon'])).toMatchObject({
    ...{ labels: ['Site Lyon'], asked: ['Si'] },
    taken: expect.stringContaining('"map": { "Site Lyon":  }'),
  });
  expect(await suggestionsIn(rule('title'), ['Site Lyon'])).toMatchObject({ labels: [], asked: [] });
});

test.each([
  ['"template": "|", "userAttribute": "costCenter"', ['CC-40']],
  ['"template": "|", "userAttribute": "billingProfileId"', ['Paris']],
  ['"userAttribute": "travelPolicy", "transforms": [{ "default": "|" }]', ['Gold']],
  ['"userAttribute": "travelPolicy", "transforms": [{ "map": { "Boss": "|" } }]', ['Gold']],
  ['"customField": "Department", "transforms": ["trim", { "map": { "S": "|" } }]', ['Sales', 'Legal']],
  ['"customFieldId": "7", "template": "|"', ['Sales', 'Legal']],
  ['"template": "|", "userAttribute": "roles"', expect.arrayContaining(['premium', 'manager'])],
  ['"template": "|", "userAttribute": "firstName"', []],
  ['"customField": "Department", "transforms": [{ "prefix": "|" }]', []],
])('the values of the target are completed in %s', async (members, labels) => {
  const { labels: found, asked } = await suggestionsIn(`{ "scimUserMapping": [{ ${members} }] }`);
  expect([found, asked]).toEqual([labels, []]);
});

test('a rule is told in words', () => {
  const [first = {}, second = {}] = parseRules(text) ?? [];
  expect([first, second].map(inputOf)).toEqual([
    { kind: 'attribute', paths: ['title'] },
    { kind: 'text', text: '{title}' },
  ]);
  expect([first, second].map(fieldOf)).toEqual(['Position', 'lang']);
  expect(stepsText(second)).toBe('trim, prefix x');
  expect(stepsText({ transforms: [{ map: { a: '1', b: '2', c: '3', d: '4' } }] })).toBe(
    'map a → 1, b → 2, c → 3, …',
  );
  expect(parseRules('not JSON')).toBeUndefined();
});

test.each([
  ['one attribute', { scimAttribute: 'title' }, { kind: 'attribute', paths: ['title'] }],
  ['several', { sources: ['title', 'nickName'] }, { kind: 'attributes', paths: ['title', 'nickName'] }],
  ['a fixed value', { template: 'Gold' }, { kind: 'fixed', text: 'Gold' }],
  ['a fixed value with braces', { template: 'a {{b}}' }, { kind: 'fixed', text: 'a {b}' }],
  ['a text', { template: '{title} {{x}}' }, { kind: 'text', text: '{title} {{x}}' }],
])('%s is read from a rule and written back', (_title, rule, input) => {
  const read = inputOf(rule);
  expect(read).toEqual(input);
  expect([writtenInput(read)]).toEqual(Object.values(rule));
});

test.each([
  [{ kind: 'attribute', paths: ['title'] }, 'attributes', ['title']],
  [{ kind: 'attributes', paths: ['title', 'nickName'] }, 'attribute', 'title'],
  [{ kind: 'attribute', paths: ['title'] }, 'text', '{title}'],
  [{ kind: 'attribute', paths: ['title'] }, 'fixed', ''],
  [{ kind: 'text', text: '{name.givenName} {title}' }, 'attributes', ['name.givenName', 'title']],
  [{ kind: 'attribute', paths: [''] }, 'text', ''],
] as const)('the input %j becomes one of the kind %s', (input, kind, written) => {
  const given = 'paths' in input ? { ...input, paths: [...input.paths] } : input;
  expect(writtenInput(convertInput(given, kind))).toEqual(written);
});

test.each<[when: string | undefined, whom: ReturnType<typeof whomOf>, words: string]>([
  [undefined, { kind: 'everybody' }, 'everybody'],
  ['groups[display eq "Site \\"1\\""]', { kind: 'group', group: 'Site "1"' }, 'members of Site "1"'],
  ['title eq "Engineer"', { kind: 'attribute', path: 'title', value: 'Engineer' }, 'title is Engineer'],
  ['active eq true', { kind: 'attribute', path: 'active', value: 'true' }, 'active is true'],
  [
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "R&D"',
    {
      kind: 'attribute',
      path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
      value: 'R&D',
    },
    'enterprise:department is R&D',
  ],
  ['title pr', { kind: 'filter', filter: 'title pr' }, 'title pr'],
  [
    'groups[display eq "a"] or title pr',
    { kind: 'filter', filter: 'groups[display eq "a"] or title pr' },
    'groups[display eq "a"] or title pr',
  ],
])('the condition %s is shown in words and written back', (when, whom, words) => {
  const read = whomOf(when);
  expect(read).toEqual(whom);
  expect(writtenWhom(read)).toBe(when);
  expect(whomText(when)).toBe(words);
});

test('the name of a group after a path is read, too', () => {
  expect(whomOf('groups.display eq "Executives"')).toEqual({ kind: 'group', group: 'Executives' });
});

test.each<[unknown, string, unknown]>([
  ['trim', 'trim', ''],
  ['date', 'date', ''],
  [{ date: 'DD/MM/YYYY' }, 'date', 'DD/MM/YYYY'],
  [{ prefix: 'CC-' }, 'prefix', 'CC-'],
  [{ replace: { pattern: 'a', with: 'b' } }, 'replace', { pattern: 'a', with: 'b' }],
  [{ map: { M: 'male' } }, 'map', { M: 'male' }],
])('the transform %j is read and written back', (written, name, option) => {
  const read = readTransform(written, transformKinds());
  expect([read?.kind.name, read?.option]).toEqual([name, option]);
  if (read) expect(withOption(read.kind, read.option)).toEqual(written);
});

test.each([
  ['nosuch'],
  ['prefix'],
  [7],
  [{}],
  [{ prefix: 7 }],
  [{ prefix: 'a', default: 'b' }],
  [{ trim: '' }],
])('the transform %j has no fields', (written) =>
  expect(readTransform(written, transformKinds())).toBeUndefined(),
);

test('a new transform has every member that the schema asks for', () => {
  const written = transformKinds().map(newTransform);
  expect(written).toEqual(
    expect.arrayContaining([
      'trim',
      'date',
      { prefix: '' },
      { replace: { pattern: '', with: '' } },
      { map: {} },
    ]),
  );
});

describe('the link of a rule of a person', () => {
  const rules = [
    { scimAttribute: 'title', customField: 'Position' },
    { template: 'en', userAttribute: 'lang', when: 'userType eq "Intern"' },
    { template: 'fr', userAttribute: 'lang' },
    { scimAttribute: 'title', customFieldId: 'cf2' },
  ];
  const names = { 'customFields.cf1': 'Position' };
  const ada = { connection: 'default', id: 'a/1' };
  const linkTo = (field: string, rule: { origin: 'file' | 'collection' | 'default'; when?: string }) => {
    const query = ruleHref(ada, { field, ...rule }).split('?')[1] ?? '';
    expect(new URLSearchParams(query).get('person')).toBe('default/a/1');
    const linked = readLinkedRule(new URLSearchParams(query));
    if (!linked) throw new Error('the link names no rule');
    return linked;
  };

  test.each([
    ['customFields.cf1', undefined, 0],
    ['lang', 'userType eq "Intern"', 1],
    ['lang', undefined, 2],
    ['customFields.cf2', undefined, 3],
    ['email', undefined, -1],
  ])('leads to the rule of the mapping for %s when %s', (field, when, place) => {
    const linked = linkTo(field, { origin: 'file', ...(when === undefined ? {} : { when }) });
    expect(findLinkedRule(rules, linked, names)).toBe(place);
  });

  test('leads to a default rule, also for a role and for a setting of the mapping', () => {
    const other = (field: string, origin: OtherRule['origin'] = 'default'): OtherRule => ({
      ...{ field, origin, use: 'always', others: [] },
    });
    const lang = linkTo('lang', { origin: 'default' });
    expect(findLinkedRule(rules, lang, names)).toBe(-1);
    expect(isLinkedRule(other('lang'), lang)).toBe(true);
    expect(isLinkedRule(other('lang', 'collection'), lang)).toBe(false);
    expect(isLinkedRule(other('email'), lang)).toBe(false);
    expect(isLinkedRule(other('roles'), linkTo('roles.guest', { origin: 'default' }))).toBe(true);
    expect(isLinkedRule(other('costCenterId'), linkTo('costCenterId', { origin: 'file' }))).toBe(true);
  });
});
