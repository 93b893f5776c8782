import type { JsonObject, ScimResource } from '../../src/schema/resource.ts';
import { targetNames } from '../../src/translator/fields/fields.ts';
import { emptyPlan } from '../../src/translator/plan/plan.ts';
import { toTravelerChange } from '../../src/translator/plan/traveler-change.ts';
import { fencedBlocks, readDocument } from '../fixtures/markdown.ts';
import { fieldKeys, translate } from '../fixtures/translator.ts';
import { codesIn, documentsBelow, itemsUnder, leadingCodes } from './documents.ts';

const examples = documentsBelow('docs/mappings').flatMap((file) => examplesIn(file));

test('the pages have examples', () => {
  expect(examples.length).toBeGreaterThan(12);
});

test.each(examples)('the example in line $line of $file is true', ({ mapping, user, traveler, findings }) => {
  const translation = translate(user, { mapping });
  const values = Object.entries(translation.fields).flatMap(([key, wanted]) =>
    wanted.kind === 'value' ? [[key, wanted] as const] : [],
  );
  const plan = { ...emptyPlan, set: Object.fromEntries(values) };
  expect(toTravelerChange(plan, undefined)).toEqual(traveler);
  expect(translation.findings.map(({ field, code }) => `${field}: ${code}`)).toEqual(findings);
});

test('every transform is explained, and has tested cases', () => {
  const schema = JSON.parse(readDocument('config/mapping.schema.json'));
  const { anyOf } = schema.properties.scimUserMapping.items.properties.transforms.items;
  const known: string[] = [...anyOf[0].enum, ...Object.keys(anyOf[1].properties)];
  const explained = itemsUnder(readDocument('docs/mappings/transforms.md'), 'Transforms').flatMap(
    leadingCodes,
  );
  const cases = readDocument('test/translator/cases/transforms.json');
  for (const name of known) {
    expect(explained.filter((code) => code.includes(`"${name}"`))).not.toEqual([]);
    expect(cases).toContain(`"${name}"`);
  }
});

test('every field of travelers has a default rule, and can be the target of a rule', () => {
  const rules = itemsUnder(readDocument('docs/mappings/default-rules.md'), 'Default rules');
  expect(rules.flatMap(leadingCodes).toSorted()).toEqual([...fieldKeys, 'archived', 'roles'].toSorted());
  const [fields = ''] = itemsUnder(readDocument('docs/mappings/rules.md'), 'Rules of your own');
  expect(codesIn(fields).toSorted()).toEqual(['userAttribute', ...targetNames(), 'roles'].toSorted());
});

interface Example {
  file: string;
  line: number;
  mapping: JsonObject;
  user: ScimResource;
  traveler: object;
  findings: string[];
}

/** A mapping holds for the user below it; a traveler closes an example, and findings may follow. */
function examplesIn(file: string): Example[] {
  const found: Example[] = [];
  let mapping: JsonObject = {};
  let user: ScimResource = {};
  for (const block of fencedBlocks(readDocument(file)).filter(({ info }) => info.startsWith('json '))) {
    const json = JSON.parse(block.text);
    if (block.info === 'json mapping') mapping = json;
    if (block.info === 'json user') user = json;
    if (block.info === 'json findings') Object.assign(found.at(-1) ?? {}, { findings: json });
    if (block.info !== 'json traveler') continue;
    found.push({ file, line: block.line, mapping, user, traveler: json, findings: [] });
    mapping = {};
  }
  return found;
}
