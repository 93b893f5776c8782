// Writes the schema of the travel extension, whose attributes are those of the table of traveler fields. With --check it only tells whether
// the file is up to date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { attribute } from '../src/schema/attributes.ts';
import { urns } from '../src/schema/resource.ts';
import { travelExtensionAttributes } from '../src/translator/fields/fields.ts';

const file = 'src/schema/generated-travel-schema.ts';
const text = format(`// Generated from src/translator/fields/fields.ts by "npm run schemas"; do not edit.
import { attribute, complexAttribute, type Schema } from './attributes.ts';

/** The travel extension of users. */
export const travelSchema: Schema = {
  id: ${JSON.stringify(urns.travel)},
  name: 'TravelUser',
  description: 'What the travel service needs to know of a user.',
  attributes: [${travelExtensionAttributes().map(attributeText)}],
};
`);

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
  process.stderr.write(`${file} is out of date: run "npm run schemas" and commit it.\n`);
  process.exitCode = 1;
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
