import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, ScimResource } from '../../src/schema/resource.ts';
import { plainTransforms } from '../../src/translator/transforms.ts';
import { fieldKeys, type Given, inShort, lookups, mappingOf, translate } from '../fixtures/translator.ts';

/** One case of a table: a user, what else is given, and what must come of it. */
interface Case extends Given {
  title: string;
  user: ScimResource;
  /** The fields to look at, roles and custom fields all: their value, null for absent, `?` for unresolved, `!` for kept. */
  fields: { [key: string]: Json };
  /** All findings, as `field: code`; none when left out. */
  findings?: string[];
  /** Whether fresher lookups may help; not when left out. */
  needsFreshLookups?: boolean;
  fallbackEmail?: string;
}

const folder = join(__dirname, 'cases');
const files = readdirSync(folder);

function casesIn(file: string): Case[] {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}

describe.each(files)('%s', (file) => {
  const cases = casesIn(file);

  it.each(cases)(
    '$title',
    ({ user, fields, findings = [], needsFreshLookups = false, fallbackEmail, ...given }) => {
      const translation = translate(user, given);
      const all = inShort(translation.fields);
      const elements = Object.keys(all).filter((key) => /^(roles|customFields)\./.test(key));
      const looked = new Set([...elements, ...Object.keys(fields)]);
      expect(Object.fromEntries([...looked].map((key) => [key, all[key]]))).toEqual(fields);
      expect(translation.findings.map(({ field, code }) => `${field}: ${code}`)).toEqual(findings);
      expect(translation.needsFreshLookups).toBe(needsFreshLookups);
      if (fallbackEmail !== undefined) expect(translation.fallbackEmail).toBe(fallbackEmail);
    },
  );
});

describe('nothing is without a case', () => {
  const all = files.flatMap(casesIn);
  const transforms = [...Object.keys(plainTransforms), 'prefix', 'replace', 'map', 'default'];

  it.each(transforms)(
    'the transform %s with a text, a list, no value, and a value of another kind',
    (name) => {
      const kinds = all.filter((one) => isAlone(name, one)).map(kindOfValue);
      expect(kinds).toEqual(expect.arrayContaining(['string', 'array', 'undefined', 'object']));
    },
  );

  it.each([...fieldKeys, 'archived'])('%s with a value', (field) => {
    const results = all.flatMap(({ fields }) => fields[field] ?? []);
    expect(results.filter((result) => result !== '?' && result !== '!')).not.toEqual([]);
  });

  it.each(fieldKeys)('%s without one', (field) => {
    expect(
      all.filter(({ fields }) => fields[field] === null || fields[field] === '?' || fields[field] === '!'),
    ).not.toEqual([]);
  });

  it.each(lookups.customFields.map(({ id }) => id))('the custom field %s', (id) => {
    const twins = /^cf-twin/.test(id);
    const found = all.filter(({ fields, findings = [] }) =>
      twins ? findings.some((finding) => finding.endsWith('Ambiguous')) : `customFields.${id}` in fields,
    );
    expect(found).not.toEqual([]);
  });
});

/** True for a case of one rule with this transform alone. */
function isAlone(name: string, { mapping }: Case): boolean {
  const [rule, ...others] = mapping === undefined ? [] : mappingOf(mapping).scimUserMapping;
  const [transform, ...more] = rule?.transforms ?? [];
  const called = typeof transform === 'object' ? Object.keys(transform)[0] : transform;
  return others.length === 0 && more.length === 0 && called === name;
}

/** Of what kind the one value is that a user has beside the userName. */
function kindOfValue({ user }: Case): string {
  const [, ...others] = Object.entries(user);
  const [value] = others.flatMap(([name, one]) =>
    name.startsWith('urn:') ? Object.values(Object(one)) : [one],
  );
  return Array.isArray(value) ? 'array' : typeof value;
}
