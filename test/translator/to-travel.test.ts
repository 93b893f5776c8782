import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScopeVerdict } from '../../src/model/translation.ts';
import type { Json, ScimResource } from '../../src/schema/resource.ts';
import { plainTransforms } from '../../src/translator/values/transforms.ts';
import { fieldKeys, type Given, inShort, lookups, mappingOf, translate } from '../fixtures/translator.ts';

/** One case of a table: a user, the other inputs, and the expected translation. */
interface Case extends Given {
  title: string;
  user: ScimResource;
  /** The expected fields, with all roles and custom fields: their value, null for absent, `?` for unresolved, `!` for kept. */
  fields: { [key: string]: Json };
  /** All findings, as `field: code`. Default: none. */
  findings?: string[];
  /** Default: false. */
  needsFreshLookups?: boolean;
  /** Default: `in`. */
  scope?: ScopeVerdict;
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
    ({ user, fields, findings = [], needsFreshLookups = false, scope = 'in', fallbackEmail, ...given }) => {
      const translation = translate(user, given);
      const all = inShort(translation.fields);
      const elements = Object.keys(all).filter((key) => /^(roles|customFields)\./.test(key));
      const looked = new Set([...elements, ...Object.keys(fields)]);
      expect(Object.fromEntries([...looked].map((key) => [key, all[key]]))).toEqual(fields);
      expect(translation.findings.map(({ field, code }) => `${field}: ${code}`)).toEqual(findings);
      expect(translation.needsFreshLookups).toBe(needsFreshLookups);
      expect(translation.scope).toBe(scope);
      if (fallbackEmail !== undefined) expect(translation.fallbackEmail).toBe(fallbackEmail);
    },
  );
});

describe('every transform, field and custom field has a case', () => {
  const all = files.flatMap(casesIn);
  const transforms = [...Object.keys(plainTransforms), 'prefix', 'replace', 'map', 'split', 'default'];

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

/** True for a case with one rule that has only this transform. */
function isAlone(name: string, { mapping }: Case): boolean {
  const [rule, ...others] = mapping === undefined ? [] : mappingOf(mapping).scimUserMapping;
  const [transform, ...more] = rule?.transforms ?? [];
  const called = typeof transform === 'object' ? Object.keys(transform)[0] : transform;
  return others.length === 0 && more.length === 0 && called === name;
}

/** The type of the one value that a user has besides the userName. */
function kindOfValue({ user }: Case): string {
  const [, ...others] = Object.entries(user);
  const [value] = others.flatMap(([name, one]) =>
    name.startsWith('urn:') ? Object.values(Object(one)) : [one],
  );
  return Array.isArray(value) ? 'array' : typeof value;
}

const travel = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';
const userWithManager = {
  userName: 'a@x.example',
  [travel]: { manager: { id: 't-9', email: 'boss@x.example' } },
};

describe('the source of a field', () => {
  it('is the SCIM value that set it', () => {
    const references = { 'boss@x.example': { travelId: 't-8' } };
    expect(translate(userWithManager, { references }).fields.managerId).toEqual({
      kind: 'value',
      value: 't-8',
      source: 'boss@x.example',
    });
  });

  it('is the preferred one of several unresolved values', () => {
    expect(translate(userWithManager).fields.managerId).toEqual({ kind: 'unresolved', source: 't-9' });
  });

  it('is the value that was resolved before, so that the applied value stays', () => {
    const applied = { managerId: { sent: 't-8', seen: 't-8', source: 'boss@x.example' } };
    expect(translate(userWithManager, { applied }).fields.managerId).toEqual({
      kind: 'unresolved',
      source: 'boss@x.example',
    });
  });

  it('is the value after the transforms, because other transforms may give another value', () => {
    const rule = { scimAttribute: 'title', userAttribute: 'costCenterId', transforms: [{ prefix: 'CC-' }] };
    const { fields } = translate({ title: '40' }, { mapping: { scimUserMapping: [rule] } });
    expect(fields.costCenterId).toEqual({ kind: 'value', value: 'cc-12', source: 'CC-40' });
  });

  it('is the default if there is no value', () => {
    const mapping = {
      scimUserMapping: [
        { scimAttribute: 'title', userAttribute: 'lastName', transforms: [{ default: 'x' }] },
      ],
    };
    expect(translate({}, { mapping }).fields.lastName).toEqual({ kind: 'value', value: 'x', source: 'x' });
  });
});

test('unknown roles are reported in the order in which they were sent, whichever is the primary one', () => {
  const roles = [{ value: 'one' }, { value: 'two', primary: true }];
  const { findings } = translate({ userName: 'a@x.example', roles });
  expect(findings.map(({ value }) => value)).toEqual(['one', 'two']);
});

describe('a text that is divided, and values that are joined, have limits', () => {
  const words = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`);
  const resultOf = (transform: Json, person: Json) => {
    const scimAttribute = 'urn:acme:hr:1.0:Person:codes';
    const rule = { scimAttribute, customField: 'Job title', transforms: [transform] };
    const user = { userName: 'a@x.example', 'urn:acme:hr:1.0:Person': { codes: person } };
    const { fields, findings } = translate(user, { mapping: { scimUserMapping: [rule] } });
    return [inShort(fields)['customFields.cf-title'], findings.map(({ code }) => code)];
  };

  it.each([
    [250, [[{ data: 'w0' }], []]],
    [251, [null, ['transformFailed']]],
  ])('of a text with %d parts', (count, expected) => {
    expect(resultOf({ split: ',' }, words(count).join())).toEqual(expected);
  });

  it('of 251 values, 250 are joined', () => {
    expect(resultOf({ join: ' ' }, words(251))).toEqual([[{ data: words(250).join(' ') }], []]);
  });

  it('of several texts that are divided, 250 parts are read as roles', () => {
    const rule = { scimAttribute: 'emails', userAttribute: 'roles', transforms: [{ split: ',' }] };
    const emails = Array.from({ length: 3 }, () => ({ value: words(200).join() }));
    const { findings } = translate(
      { userName: 'a@x.example', emails },
      { mapping: { scimUserMapping: [rule] } },
    );
    expect(findings.filter(({ field }) => field === 'roles')).toHaveLength(250);
  });

  it('of several texts that are divided, 250 parts are read as options', () => {
    const rule = { scimAttribute: 'emails', customField: 'Skills', transforms: [{ split: ',' }] };
    const emails = Array.from({ length: 3 }, () => ({ value: words(200).join() }));
    const { findings } = translate(
      { userName: 'a@x.example', emails },
      { mapping: { scimUserMapping: [rule] } },
    );
    expect(findings.filter(({ field }) => field === 'customFields.cf-skills')).toHaveLength(250);
  });
});
