// Writes the attribute tables of the SCIM schemas, which src/scim/schemas.ts derives from SCIMMY, as a module without
// imports of SCIMMY. With --check it only tells whether the file is up to date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { attribute } from '../dist/schema/attributes.js';
import { attributeTables } from '../dist/scim/schemas.js';

const file = 'src/schema/generated-schemas.ts';
const { userSchema, groupSchema, extensions } = attributeTables();
const [enterpriseSchema, travelSchema] = extensions;

const header = `// Generated from src/scim/schemas.ts by "npm run schemas"; do not edit.
import { attribute, complexAttribute, type Schema } from './attributes.ts';
`;
const schemas = [
  ['userSchema', 'The core schema of users (RFC 7643 §4.1).', userSchema],
  ['groupSchema', 'The core schema of groups (RFC 7643 §4.2).', groupSchema],
  ['enterpriseSchema', 'The enterprise extension of users (RFC 7643 §4.3).', enterpriseSchema],
  ['travelSchema', 'The travel extension of users.', travelSchema],
];
const text = format([header, ...schemas.map(schemaText)].join('\n'));

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
  process.stderr.write(`${file} is out of date: run "npm run schemas" and commit it.\n`);
  process.exitCode = 1;
}

function schemaText([constant, comment, { attributes, ...schema }]) {
  const fields = Object.entries(schema).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `/** ${comment} */
export const ${constant}: Schema = { ${fields.join(', ')}, attributes: [${attributes.map(attributeText)}] };
`;
}

/** Returns the source text of an attribute, with the characteristics that are not the default. */
function attributeText({ name, description, subAttributes, ...characteristics }) {
  const defaults = attribute(name, description);
  const texts = Object.entries(characteristics)
    .filter(([key, value]) => value !== defaults[key] && value !== 'complex')
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  if (subAttributes) texts.push(`subAttributes: [${subAttributes.map(attributeText)}]`);
  const maker = subAttributes ? 'complexAttribute' : 'attribute';
  const more = texts.length > 0 ? `, { ${texts.join(', ')} }` : '';
  return `${maker}(${JSON.stringify(name)}, ${JSON.stringify(description)}${more})`;
}

function format(source) {
  const biome = ['biome', 'format', `--stdin-file-path=${file}`];
  return execFileSync('npx', biome, { input: source, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] });
}
