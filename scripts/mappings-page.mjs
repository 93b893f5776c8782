// Writes docs/mappings/cases from the cases that the tests run, and the tables of the pages in docs/mappings from the program's own
// tables. With --check it only reports whether the pages are up to date.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { travelSchema } from '../src/schema/generated-travel-schema.ts';
import { urns } from '../src/schema/resource.ts';
import { enterpriseSchema, userSchema } from '../src/schema/scim-schemas.ts';
import { fields } from '../src/translator/fields.ts';
import { otherRules } from '../src/translator/mapping/default-rules.ts';
import { parseMapping } from '../src/translator/mapping/mapping-file.ts';
import { compileRules } from '../src/translator/rules.ts';
import { toTravel } from '../src/translator/to-travel.ts';
import { code, table, wrap, writeOrCheck } from './markdown.mjs';

const root = join(fileURLToPath(import.meta.url), '../..');
const folder = 'docs/mappings';
const casesFolder = join(root, 'test/translator/cases');
const lookups = readJson(join(root, 'test/fixtures/lookups.json'));

/** The title of the page of each file of cases, in the order of the list of pages. */
const titles = {
  email: 'Email',
  names: 'Names',
  phone: 'Phone number',
  language: 'Language',
  address: 'Address and country',
  active: 'Active and archived',
  'travel-extension': 'Date of birth, gender, currency, calendar entries',
  'mapping-rules': 'Rules and their precedence',
  'mapping-sources': 'Several sources',
  'mapping-templates': 'Templates',
  'mapping-conditions': 'Conditions',
  'mapping-groups': 'Groups',
  scope: 'Scope',
  transforms: 'Transforms',
  'transform-values': 'Transforms of lists, missing values and other types',
  'custom-fields': 'Custom fields',
  lookups: 'Cost centers, billing profiles, travel policies',
  preferences: 'Preferences',
  manager: 'Managers',
  'manager-attributes': 'Attributes of the manager',
  roles: 'Roles',
  'mapping-faults': 'Mistakes in the mapping',
};
const cases = Object.fromEntries(
  Object.keys(titles).map((name) => [name, readJson(join(casesFolder, `${name}.json`))]),
);
const untitled = readdirSync(casesFolder).filter((file) => !Object.hasOwn(titles, basename(file, '.json')));
if (untitled.length > 0) throw new Error(`No title is given for the cases of ${untitled.join(', ')}.`);

/** The generated parts of pages that are written by hand. */
const tables = {
  cases: casesList,
  'the travel service': lookupsTable,
  'SCIM paths': pathsTable,
  'default rules': defaultRulesList,
  'short names': shortNamesTable,
  findings: findingsList,
};

for (const name of Object.keys(titles)) writeOrCheck(`${folder}/cases/${name}.md`, casesPage(name));
const shown = new Set();
for (const file of readdirSync(join(root, folder), { recursive: true })) {
  const page = `${folder}/${file}`;
  const present = file.endsWith('.md') ? readFileSync(join(root, page), 'utf8') : '';
  if (present.includes('<!-- table: ')) writeOrCheck(page, withTables(present));
}
const missing = Object.keys(tables).filter((name) => !shown.has(name));
if (missing.length > 0) throw new Error(`${folder} has no place for: ${missing.join(', ')}.`);

function withTables(markdown) {
  return markdown.replace(
    /(<!-- table: (.+) -->\n)[\s\S]*?(<!-- end of table -->)/g,
    (_all, begin, name, end) => {
      shown.add(name);
      if (!tables[name]) throw new Error(`There is no table "${name}".`);
      return `${begin}\n${tables[name]()}\n\n${end}`;
    },
  );
}

function casesPage(name) {
  const isTransforms = name.startsWith('transform');
  return [
    `# Cases: ${titles[name]}`,
    `[How to read the tables](README.md#how-to-read-the-tables). \`npm run docs\` writes this page from \`test/translator/cases/${name}.json\`.`,
    ...(name === 'transform-values' ? ['Unless the case says otherwise, the target takes one value.'] : []),
    isTransforms ? transformsTable(cases[name]) : casesTable(cases[name]),
  ].join('\n\n');
}

function casesList() {
  return Object.entries(titles)
    .map(([name, title]) => `- [${title}](${name}.md)`)
    .join('\n');
}

/** The inputs of each case, the traveler, and the findings. */
function casesTable(all) {
  const withGiven = all.some((one) => givenLines(one).length > 0);
  const head = ['case', ...(withGiven ? ['given'] : []), 'SCIM', 'traveler', 'finding'];
  const rows = all.map((one) => [
    one.title,
    ...(withGiven ? [givenLines(one).join('<br>')] : []),
    scimLines(one).join('<br>') || 'nothing',
    resultLines(one).join('<br>') || 'nothing',
    codesOf(one).join('<br>'),
  ]);
  return table(head, rows);
}

/** The value that the rule of each case reads, its transforms, and the result. */
function transformsTable(all) {
  const rows = all.map((one) => {
    const [rule] = one.mapping.scimUserMapping;
    const { scimUserMapping: _, ...settings } = one.mapping;
    const [value] = scimValues(one);
    return [
      one.title,
      [...rule.transforms.map((transform) => code(json(transform))), ...settingLines(settings)].join('<br>'),
      value === undefined ? 'nothing' : code(json(value)),
      Object.values(one.fields).map(valueText).join('<br>'),
      codesOf(one).join('<br>'),
    ];
  });
  return table(['case', 'transforms', 'before', 'after', 'finding'], rows);
}

function givenLines({ mapping = {}, collection = [], groups = [], references = {}, applied = {} }) {
  const { scimUserMapping = [], ...settings } = mapping;
  return [
    ...scimUserMapping.map(ruleText),
    ...settingLines(settings),
    ...collection.map((row) => `collection: ${ruleText(row)}`),
    ...(groups.length > 0
      ? [`member of ${groups.map(({ display }) => code(json(display))).join(', ')}`]
      : []),
    ...Object.entries(references).map(([raw, reference]) => `${code(raw)} ${standing(reference)}`),
    ...Object.entries(applied).map(
      ([field, { sent, source }]) =>
        `${fieldText(field)} was set to ${valueText(sent)} from ${code(json(source))}`,
    ),
  ];
}

function settingLines(settings) {
  return Object.entries(settings).map(([name, value]) => code(`${name}: ${json(value)}`));
}

function ruleText({
  scimAttribute,
  sources = [scimAttribute],
  fallback = 'absent',
  template,
  when,
  transforms = [],
  apply = 'always',
  ...target
}) {
  const otherwise = fallback === 'absent' ? ', else ' : ', else (also if unusable) ';
  const read = template === undefined ? sources.join(otherwise) : json(template);
  const source = [shortened(read), ...transforms.map(json)].join(' | ');
  const [[kind, name]] = Object.entries(target);
  const condition = when === undefined ? '' : ` when ${shortened(when)}`;
  const once = apply === 'once' ? ', once' : '';
  return code(`${source} → ${kind === 'customField' ? json(name) : name}${condition}${once}`);
}

function standing({ user, ...reference }) {
  const own = user ? `, with ${scimLines({ user }).join(', ')}` : '';
  return `${standingOf(reference)}${own}`;
}

function standingOf(reference) {
  if (reference.travelId) return `is traveler ${code(reference.travelId)}`;
  const standings = {
    unknown: 'matches no user',
    notLinked: 'has no traveler yet',
    self: 'is the user',
    circle: 'reports to the user',
    gone: 'was deleted',
    replaced: 'has left, and another person has the place',
  };
  return standings[reference.unresolved];
}

function scimLines(one) {
  return attributesOf(one).map(([name, value]) => code(`${name}: ${json(value)}`));
}

function scimValues(one) {
  return attributesOf(one).map(([, value]) => value);
}

/** The attributes of the user, without the userName that most cases share. */
function attributesOf({ user }) {
  return Object.entries(user).flatMap(([name, value]) => {
    if (name === 'userName' && value === 'a@x.example') return [];
    if (!name.startsWith('urn:')) return [[name, value]];
    return Object.entries(value).map(([inner, one]) => [shortened(`${name}:${inner}`), one]);
  });
}

function resultLines({ fields, fallbackEmail, scope }) {
  if (scope === 'out') return ['out of scope'];
  const lines = Object.entries(fields).map(([field, value]) =>
    field.startsWith('roles.') && value === true
      ? fieldText(field)
      : `${fieldText(field)}: ${valueText(value)}`,
  );
  return fallbackEmail === undefined ? lines : [...lines, `fallback: ${code(json(fallbackEmail))}`];
}

function fieldText(field) {
  const [, id] = /^customFields\.(.+)$/.exec(field) ?? [];
  const known = lookups.customFields.filter((one) => one.id === id);
  if (known.length === 1) return known[0].name;
  return field.startsWith('roles.') ? `role ${code(field.slice('roles.'.length))}` : code(field);
}

function valueText(value) {
  if (value === null) return 'left out';
  if (value === '?') return 'unresolved';
  if (value === '!') return 'unchanged';
  if (value.once !== undefined) return `${valueText(value.once)}, at the create only`;
  if (!Array.isArray(value)) return code(json(value));
  const texts = value.map(({ customFieldOptionId: id, data }) => data ?? optionText(id));
  return texts.map((text) => code(json(text))).join(', ') || 'other values';
}

function optionText(id) {
  return (
    lookups.customFields.flatMap(({ options }) => options).find((option) => option.id === id)?.data ?? id
  );
}

function codesOf({ findings = [] }) {
  return [...new Set(findings.map((finding) => code(finding.split(': ')[1])))];
}

/** The custom fields and named resources of the travel service in the cases. */
function lookupsTable() {
  const things = [
    ['cost center', lookups.costCenters],
    ['billing profile', lookups.billingProfiles],
    ['travel policy', lookups.travelPolicies],
  ];
  const rows = [
    ...lookups.customFields.map(({ id, name, ...field }) => [
      'custom field',
      name,
      code(id),
      fieldKind(field),
    ]),
    ...things.flatMap(([kind, all]) =>
      all.map(({ id, name, archived }) => [kind, name, code(id), archived ? 'archived' : '']),
    ),
  ];
  return table(['resource', 'name', 'id', 'type or state'], rows);
}

function fieldKind({ dataType, disabled, validationRegexp, options }) {
  const texts = options.map((option) => `${option.data}${option.disabled ? ' (disabled)' : ''}`);
  return [
    `${code(dataType)}${texts.length > 0 ? `: ${texts.join(', ')}` : ''}`,
    ...(validationRegexp ? [`must match ${code(validationRegexp)}`] : []),
    ...(disabled ? ['disabled'] : []),
  ].join('; ');
}

/** Every attribute that a rule may read, and the fields whose default rule reads it. */
function pathsTable() {
  const readers = fields.flatMap(({ key, sources }) =>
    sources.map(({ rule }) => ({ field: key, path: rule.replace(/\[.*?\]|,.*/g, '') })),
  );
  readers.push(
    { field: 'archived', path: 'active' },
    { field: 'roles', path: 'roles.value' },
    { field: 'roles', path: 'roles.display' },
    { field: 'roles', path: `${urns.travel}:roles.value` },
    { field: 'roles', path: `${urns.travel}:roles.display` },
  );
  const rows = [userSchema, enterpriseSchema, travelSchema].flatMap((schema) =>
    pathsOf(schema).map(({ path, type }) => {
      const fields = readers.filter((one) => one.path === path || path.startsWith(`${one.path}.`));
      return [
        code(shortened(path)),
        type,
        [...new Set(fields.map(({ field }) => field))].map(code).join(', '),
      ];
    }),
  );
  return table(['path', 'type', 'read by the default rule of'], rows);
}

function pathsOf({ id, attributes }) {
  return attributes
    .filter(({ mutability }) => mutability === 'readWrite')
    .flatMap(({ name, type, multiValued, subAttributes }) => {
      const path = id === urns.user ? name : `${id}:${name}`;
      const many = multiValued ? ', many' : '';
      if (!subAttributes) return [{ path, type: `${type}${many}` }];
      const parts = subAttributes.filter(({ mutability }) => mutability === 'readWrite');
      return parts.map((part) => ({ path: `${path}.${part.name}`, type: `${part.type}${many}` }));
    });
}

/** The default rules as a mapping, and what they read besides. */
function defaultRulesList() {
  const rules = otherRules(compileRules({ scimUserMapping: [] }, []));
  const written = rules.flatMap((rule) => rule.written ?? []).map(writtenRule);
  const further = rules.flatMap(({ field, others, setting }) => {
    const reads = [...others, ...(setting === undefined ? [] : [setting])].map((one) => code(shortened(one)));
    return reads.length === 0 ? [] : [`- ${code(field)}: ${reads.join(', then ')}`];
  });
  return [
    ['```json mapping', '{', '  "scimUserMapping": [', written.join(',\n'), '  ]', '}', '```'].join('\n'),
    'What they read after that, and no rule can say:',
    further.join('\n'),
  ].join('\n\n');
}

/** A rule on one line, or with a line for each source if it would be long. */
function writtenRule(rule) {
  const line = `    ${json(rule)}`;
  if (line.length <= 110) return line;
  return JSON.stringify(rule, null, 2).replaceAll(/^/gm, '    ');
}

function shortNamesTable() {
  const rows = Object.entries({ enterprise: urns.enterprise, travel: urns.travel });
  return table(
    ['short name', 'stands for'],
    rows.map(([name, urn]) => [code(`${name}:`), code(`${urn}:`)]),
  );
}

/** Every code of a finding in the cases, with the text of one finding. */
function findingsList() {
  const all = Object.values(cases).flat();
  const findings = all.flatMap((one) => translated(one).findings);
  // Findings about values of the identity provider come last, so that the table shows one of them if a code has any.
  const sorted = findings.toSorted(
    (one, other) => Number(one.mappingPath === undefined) - Number(other.mappingPath === undefined),
  );
  const byCode = new Map(sorted.map((finding) => [finding.code, finding]));
  return [...byCode.values()]
    .toSorted((one, other) => (one.code < other.code ? -1 : 1))
    .map(findingText)
    .join('\n');
}

function findingText({ code: name, value, reason, remedy }) {
  return wrap(`- ${code(name)}, e.g. for ${code(json(value))}: ${reason} **Remedy**: ${remedy}`, '  ');
}

function translated({ mapping = {}, collection = [], groups, references = {}, applied = {}, user }) {
  const parsed = parseMapping(mapping);
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  const snapshot = { lookups, references: new Map(Object.entries(references)), applied, groups };
  return toTravel(compileRules(parsed.mapping, collection), user, snapshot);
}

/** The URNs as the page abbreviates them. */
function shortened(path) {
  return path
    .replaceAll(`${urns.enterprise}:`, 'enterprise:')
    .replaceAll(`${urns.travel}:`, 'travel:')
    .replaceAll(/urn:(acme|corp):hr:1\.0:Person:/g, 'acme:');
}

/** JSON with blanks; very long texts are shortened. */
function json(value) {
  if (typeof value === 'string') return JSON.stringify(value.length > 120 ? `${value.slice(0, 40)}…` : value);
  if (Array.isArray(value)) return `[${value.map(json).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${json(one)}`);
  return members.length > 0 ? `{ ${members.join(', ')} }` : '{}';
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
