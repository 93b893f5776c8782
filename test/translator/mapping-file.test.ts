import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Json } from '../../src/schema/resource.ts';
import { mappingSchema, parseMapping } from '../../src/translator/mapping-file.ts';

function rule(extra: { [name: string]: Json }): Json {
  return { scimUserMapping: [{ scimAttribute: 'title', ...extra }] };
}

function faultsOf(json: Json): { path: string; problem: string; remedy: string }[] {
  const result = parseMapping(json);
  return 'faults' in result ? result.faults : [];
}

const shipped = join(__dirname, '../../config/mappings');

it.each(readdirSync(shipped))('the shipped %s has no fault', (file) => {
  expect(faultsOf(JSON.parse(readFileSync(join(shipped, file), 'utf8')))).toEqual([]);
});

it('an empty file is a mapping without rules', () => {
  expect(parseMapping({})).toEqual({ mapping: { scimUserMapping: [] } });
});

it('a mapping with all settings is read unchanged', () => {
  const json = {
    scimUserMapping: [
      {
        scimAttribute: 'urn:corp:hr:1.0:Person:badge',
        customField: 'Badge',
        transforms: ['trim', { prefix: 'B-' }],
      },
      { scimAttribute: 'nickName', userAttribute: 'firstName' },
      { scimAttribute: 'emails[type eq "home"].value', customFieldId: 'abc' },
    ],
    defaults: { billingProfile: { name: 'HQ' }, travelPolicy: { id: 'p' }, costCenter: { name: 'X' } },
    roles: { allow: ['manager', 'admin'], map: { Traveller: 'premium' } },
    phone: { defaultCountry: 'FR' },
    language: { default: 'fr' },
  };
  expect(parseMapping(json)).toEqual({ mapping: json });
});

describe('every fault has its JSON path: ', () => {
  it.each<[string, Json, string]>([
    ['no object', [], '$'],
    ['an unknown key', { scimUserMappings: [] }, 'scimUserMappings'],
    ['an unknown key in a rule', rule({ customField: 'x', note: 'y' }), 'scimUserMapping[0].note'],
    ['an unknown key with a strange name', { 'a b': 1 }, '["a b"]'],
    ['no attribute', { scimUserMapping: [{ customField: 'x' }] }, 'scimUserMapping[0].scimAttribute'],
    [
      'a broken path',
      rule({ scimAttribute: 'emails[type eq', customField: 'x' }),
      'scimUserMapping[0].scimAttribute',
    ],
    [
      'an attribute no user has',
      rule({ scimAttribute: 'titel', customField: 'x' }),
      'scimUserMapping[0].scimAttribute',
    ],
    [
      'a part no name has',
      rule({ scimAttribute: 'name.first', customField: 'x' }),
      'scimUserMapping[0].scimAttribute',
    ],
    [
      'a schema alone',
      rule({ scimAttribute: 'urn:a:b:1.0:User', customField: 'x' }),
      'scimUserMapping[0].scimAttribute',
    ],
    [
      'an attribute that is not stored',
      rule({ scimAttribute: 'password', customField: 'x' }),
      'scimUserMapping[0].scimAttribute',
    ],
    [
      'a read-only attribute',
      rule({ scimAttribute: 'groups.display', customField: 'x' }),
      'scimUserMapping[0].scimAttribute',
    ],
    ['no target', rule({}), 'scimUserMapping[0]'],
    ['two targets', rule({ customField: 'x', userAttribute: 'lang' }), 'scimUserMapping[0]'],
    ['an empty target', rule({ customField: ' ' }), 'scimUserMapping[0].customField'],
    ['an unknown target', rule({ userAttribute: 'shoeSize' }), 'scimUserMapping[0].userAttribute'],
    [
      'archived, which follows active',
      rule({ userAttribute: 'archived' }),
      'scimUserMapping[0].userAttribute',
    ],
    [
      'an unknown transform',
      rule({ customField: 'x', transforms: ['trom'] }),
      'scimUserMapping[0].transforms[0]',
    ],
    [
      'a transform of no kind',
      rule({ customField: 'x', transforms: [7] }),
      'scimUserMapping[0].transforms[0]',
    ],
    ['an empty transform', rule({ customField: 'x', transforms: [{}] }), 'scimUserMapping[0].transforms[0]'],
    [
      'two transforms in one',
      rule({ customField: 'x', transforms: [{ prefix: 'a', default: 'b' }] }),
      'scimUserMapping[0].transforms[0]',
    ],
    [
      'an unknown option transform',
      rule({ customField: 'x', transforms: ['trim', { suffix: 'a' }] }),
      'scimUserMapping[0].transforms[1].suffix',
    ],
    [
      'a broken expression',
      rule({ customField: 'x', transforms: [{ replace: { pattern: '(', with: '' } }] }),
      'scimUserMapping[0].transforms[0].replace.pattern',
    ],
    [
      'an expression that is not linear',
      rule({ customField: 'x', transforms: [{ replace: { pattern: '(?=a)', with: '' } }] }),
      'scimUserMapping[0].transforms[0].replace.pattern',
    ],
    [
      'a group that is not there',
      rule({ customField: 'x', transforms: [{ replace: { pattern: '(a)', with: '$2' } }] }),
      'scimUserMapping[0].transforms[0].replace.with',
    ],
    [
      'the group that would be the whole match elsewhere',
      rule({ customField: 'x', transforms: [{ replace: { pattern: '(a)', with: '$$5 $0' } }] }),
      'scimUserMapping[0].transforms[0].replace.with',
    ],
    [
      'a date format without a year',
      rule({ customField: 'x', transforms: [{ date: 'DD/MM' }] }),
      'scimUserMapping[0].transforms[0].date',
    ],
    [
      'a country that is none',
      rule({ customField: 'x', transforms: [{ phone: 'XX' }] }),
      'scimUserMapping[0].transforms[0].phone',
    ],
    ['a default country that is none', { phone: { defaultCountry: 'fr' } }, 'phone.defaultCountry'],
    ['a default that names nothing', { defaults: { billingProfile: {} } }, 'defaults.billingProfile'],
    ['a default that names two', { defaults: { costCenter: { id: 'a', name: 'b' } } }, 'defaults.costCenter'],
    ['an unknown role', { roles: { allow: ['manager', 'boss'] } }, 'roles.allow[1]'],
    ['a map to an unknown role', { roles: { map: { Boss: 'boss' } } }, 'roles.map.Boss'],
    ['a language that is not spoken', { language: { default: 'de' } }, 'language.default'],
  ])('%s', (_title, json, path) => {
    const faults = faultsOf(json);
    expect(faults.map((fault) => fault.path)).toEqual([path]);
    for (const { problem, remedy } of faults) {
      expect(problem).not.toBe('');
      expect(remedy).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('a second rule for the same target, with the place of the first', () => {
    const json = {
      scimUserMapping: [
        { scimAttribute: 'title', customField: 'A' },
        { scimAttribute: 'nickName', userAttribute: 'lastName' },
        { scimAttribute: 'userType', customField: 'A' },
        { scimAttribute: 'userType', userAttribute: 'lastName' },
      ],
    };
    expect(faultsOf(json)).toEqual([
      {
        path: 'scimUserMapping[2].customField',
        problem: 'is set by the rule scimUserMapping[0] already',
        remedy: 'Keep one rule for A.',
      },
      {
        path: 'scimUserMapping[3].userAttribute',
        problem: 'is set by the rule scimUserMapping[1] already',
        remedy: 'Keep one rule for lastName.',
      },
    ]);
  });

  it('many at once', () => {
    const faults = faultsOf({
      scimUserMapping: [{ scimAttribute: 'titel', customField: 'A' }],
      phone: { country: 'FR' },
    });
    expect(faults.map(({ path }) => path)).toEqual(['scimUserMapping[0].scimAttribute', 'phone.country']);
  });

  it('with a remedy', () => {
    expect(faultsOf({ phone: { country: 'FR' } })).toEqual([
      { path: 'phone.country', problem: 'unknown key', remedy: 'Known here: defaultCountry.' },
    ]);
    expect(faultsOf(rule({ customField: 'x', transforms: ['trom'] }))).toEqual([
      {
        path: 'scimUserMapping[0].transforms[0]',
        problem: 'is not a transform',
        remedy:
          'Write one of trim, lowercase, uppercase, titlecase, digits, date, phone, country, language, { "date": … }, { "phone": … }, { "prefix": … }, { "replace": … }, { "map": … }, { "default": … }.',
      },
    ]);
  });
});

it('the schema can be written as JSON Schema', () => {
  const schema = z.toJSONSchema(mappingSchema, { io: 'input' });
  expect(Object.keys(schema.properties ?? {})).toEqual([
    '$schema',
    'scimUserMapping',
    'defaults',
    'roles',
    'phone',
    'language',
  ]);
});
