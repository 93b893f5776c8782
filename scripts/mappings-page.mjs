// Writes the tables of the pages in docs/mappings from the program's own tables and from the cases that the tests run. With --check it
// only reports whether the pages are up to date.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { travelSchema } from '../src/schema/generated-travel-schema.ts';
import { urns } from '../src/schema/resource.ts';
import { enterpriseSchema, userSchema } from '../src/schema/scim-schemas.ts';
import { otherRules } from '../src/translator/default-rules.ts';
import { fields } from '../src/translator/fields/fields.ts';
import { compileRules } from '../src/translator/rules/rules.ts';
import { code, table, writeOrCheck } from './markdown.mjs';

const root = join(fileURLToPath(import.meta.url), '../..');
const folder = 'docs/mappings';

/** The generated parts of pages that are written by hand. */
const tables = {
  'SCIM paths': pathsTable,
  'default rules': defaultRulesList,
  'short names': shortNamesTable,
  transforms: transformsTable,
};

const shown = new Set();
for (const file of readdirSync(join(root, folder))) {
  const page = `${folder}/${file}`;
  const present = readFileSync(join(root, page), 'utf8');
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

/** The first tested case of each transform that stands alone. */
function transformsTable() {
  const alone = readJson(join(root, 'test/translator/cases/transforms.json')).flatMap(
    ({ mapping, user, fields: after }) => {
      const [{ transforms }] = mapping.scimUserMapping;
      const { userName: _, ...before } = user;
      return transforms.length === 1 ? [{ transform: transforms[0], before, after }] : [];
    },
  );
  const isFirst = ({ transform }, index) =>
    index === alone.findIndex((one) => formOf(one.transform) === formOf(transform));
  const texts = (values) =>
    Object.values(values)
      .map((value) => code(json(value)))
      .join(', ') || 'nothing';
  const rows = alone
    .filter(isFirst)
    .map(({ transform, before, after }) => [code(json(transform)), texts(before), texts(after)]);
  return table(['transform', 'before', 'after'], rows);
}

/** A transform without options differs from the one of the same name with an option. */
function formOf(transform) {
  return typeof transform === 'string' ? transform : json(Object.keys(transform));
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

/** The URNs as the page abbreviates them. */
function shortened(path) {
  return path.replaceAll(`${urns.enterprise}:`, 'enterprise:').replaceAll(`${urns.travel}:`, 'travel:');
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
