import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Json } from '../../src/schema/resource.ts';
import { mappingSchema, parseMapping } from '../../src/translator/mapping/mapping-file.ts';

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

it.each([
  'D MMMM YYYY',
  'M/D/YYYY',
  'DMMMMYYYY',
  'DD.MM.YYYY',
  'YYYYMMDD',
  'YYYY年MM月DD日',
  'YYYY-MM-DDT00:00:00Z',
  'DD/MM/YYYY 00:00',
])('the date format %s has no fault', (date) => {
  expect(faultsOf(rule({ customField: 'x', transforms: [{ date }] }))).toEqual([]);
});

it.each(['id', 'userName', 'externalId', 'employeeNumber'])('managers may be named by %s', (by) => {
  expect(faultsOf({ manager: { by } })).toEqual([]);
});

it.each(['email', 'title', 'urn:acme:hr:1.0:Person:badge'])('managers named by %s are a fault', (by) => {
  expect(faultsOf({ manager: { by } })).toMatchObject([{ path: 'manager.by' }]);
});

it.each(['travelerPrefs.flightSeatPosition', 'travelerPrefs.meal_2'])(
  'the target %s has no fault',
  (userAttribute) => {
    expect(faultsOf(rule({ userAttribute }))).toEqual([]);
  },
);

it.each([
  'travelerPrefs',
  'travelerPrefs.',
  'travelerPrefs.a.b',
  'travelerPrefs.__proto__',
  'travelerPrefs.2x',
  'seat',
])('the target %s is a fault that names the known ones', (userAttribute) => {
  expect(faultsOf(rule({ userAttribute }))).toMatchObject([
    {
      path: 'scimUserMapping[0].userAttribute',
      problem: 'is not one of the known values',
      remedy: expect.stringContaining('"travelerPrefs.flightSeatPosition", or another preference.'),
    },
  ]);
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
      { sources: ['title', 'nickName'], customField: 'Role', when: 'userType pr' },
      { template: '{{{userType}}}', customField: 'Role' },
    ],
    defaults: { billingProfile: { name: 'HQ' }, travelPolicy: { id: 'p' }, costCenter: { name: 'X' } },
    roles: { allow: ['manager', 'admin'], map: { Traveller: 'premium' } },
    phone: { defaultCountry: 'FR' },
    language: { default: 'fr' },
    scope: 'not (userType eq "Service")',
    outOfScope: 'archive',
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
    ['a scope that is no filter', { scope: 'userType eq' }, 'scope'],
    ['a scope with an attribute no user has', { scope: 'userTyp eq "x"' }, 'scope'],
    ['a policy without a scope', { outOfScope: 'archive' }, 'outOfScope'],
    ['an unknown policy', { scope: 'userType pr', outOfScope: 'delete' }, 'outOfScope'],
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
      rule({ scimAttribute: 'meta.version', customField: 'x' }),
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
    ...[
      'DD-MMM-YYYY',
      'MMMM DD, YYYY MM',
      'YYYY-MM-DDTHH:mm',
      'YYYY-MM-DDThh:mm:ss',
      'EEE YYYY-MM-DD',
      'YYYY-MM-DD a',
      'DD-MM-YYYYY',
      'DMYYYY',
      'D/MYYYY',
      'YYYYM-D',
      'D MMMM M YYYY',
      'D MMM YYYY',
      ' DD/MM/YYYY',
      'DD\u200e/MM/YYYY',
      'DD/MM/YYYY　',
    ].map((date): [string, Json, string] => [
      `the date format ${JSON.stringify(date)}, which no date matches`,
      rule({ customField: 'x', transforms: [{ date }] }),
      'scimUserMapping[0].transforms[0].date',
    ]),
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
    [
      'two rules for one field by two names',
      {
        scimUserMapping: [
          { scimAttribute: 'title', userAttribute: 'costCenterId' },
          { scimAttribute: 'nickName', userAttribute: 'costCenter' },
        ],
      },
      'scimUserMapping[1].userAttribute',
    ],
    [
      'a rule that gives a misspelled role',
      { scimUserMapping: [{ template: 'premiun', when: 'title pr', userAttribute: 'roles' }] },
      'scimUserMapping[0].template',
    ],
    [
      'a rule that gives a role which is not allowed',
      rule({ userAttribute: 'roles', transforms: [{ map: { x: 'guest', y: 'admin' } }] }),
      'scimUserMapping[0].transforms[0].map.y',
    ],
    [
      'a rule whose transforms leave nothing of its role',
      rule({ userAttribute: 'roles', transforms: [{ default: 'guest' }, 'digits'] }),
      'scimUserMapping[0].transforms[0].default',
    ],
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
        problem: 'is set by the rule scimUserMapping[0] already, which has no condition',
        remedy: 'Give scimUserMapping[0] a condition ("when"), or keep one rule for A.',
      },
      {
        path: 'scimUserMapping[3].userAttribute',
        problem: 'is set by the rule scimUserMapping[1] already, which has no condition',
        remedy: 'Give scimUserMapping[1] a condition ("when"), or keep one rule for lastName.',
      },
    ]);
  });

  it('a rule that is never used, with the place of the rule that is used instead', () => {
    const contractors = 'userType eq "Contractor"';
    const rules = [
      { scimAttribute: 'title', customField: 'A', when: contractors },
      { scimAttribute: 'nickName', customField: 'A', when: 'userType pr' },
      { scimAttribute: 'userType', customField: 'A', when: contractors },
      { scimAttribute: 'userType', customField: 'A' },
      { scimAttribute: 'locale', customField: 'A', when: 'title pr' },
      { scimAttribute: 'locale', userAttribute: 'lang', when: contractors },
    ];
    expect(faultsOf({ scimUserMapping: rules })).toEqual([
      {
        path: 'scimUserMapping[2].customField',
        problem: 'is set by the rule scimUserMapping[0] already, which has the same condition',
        remedy: 'Change one of the two conditions ("when"), or keep one rule for A.',
      },
      {
        path: 'scimUserMapping[4].customField',
        problem: 'is set by the rule scimUserMapping[3] already, which has no condition',
        remedy: 'Give scimUserMapping[3] a condition ("when"), or keep one rule for A.',
      },
    ]);
  });

  const syntaxFaults: [string, { [name: string]: Json }, string, string, string][] = [
    [
      'a scimAttribute and a template',
      { scimAttribute: 'title', template: 'x' },
      'template',
      'stands beside scimAttribute',
      'Give exactly one of scimAttribute, sources and template.',
    ],
    [
      'sources and a template',
      { sources: ['title'], template: 'x' },
      'template',
      'stands beside sources',
      'Give exactly one of scimAttribute, sources and template.',
    ],
    [
      'a condition alone',
      { when: 'title pr' },
      'scimAttribute',
      'is missing',
      'Give exactly one of scimAttribute, sources and template.',
    ],
    ['no sources', { sources: [] }, 'sources', 'is empty', 'Name at least one SCIM path.'],
    [
      'too many sources',
      { sources: Array.from({ length: 21 }, () => 'title') },
      'sources',
      'expected array to have <=20 items',
      'Write at most 20 elements.',
    ],
    [
      'a source that is no text',
      { sources: [7] },
      'sources[0]',
      'expected string, received number',
      'Write a string.',
    ],
    [
      'an unknown source',
      { sources: ['title', 'nickname', 'phoneNumber'] },
      'sources[2]',
      'a user has no attribute phoneNumber',
      'Did you mean phoneNumbers? Correct the name, or put the URN of its schema in front: urn:ietf:params:scim:schemas:core:2.0:User:phoneNumber is a custom attribute.',
    ],
    [
      'an unknown name in brackets',
      { sources: ['emails[typ eq "work"].value'] },
      'sources[0]',
      'a user has no attribute emails.typ',
      'Did you mean emails.type? Correct the name, or put the URN of its extension in front.',
    ],
    [
      'an empty template',
      { template: ' ' },
      'template',
      'is empty',
      'Write text with SCIM paths in braces, e.g. {name.givenName} {name.familyName}.',
    ],
    [
      'a brace that is not closed',
      { template: 'CC-{title' },
      'template',
      'has a brace that is not closed (at 3)',
      'Close it after a SCIM path, e.g. {name.givenName}, or write {{ for a brace.',
    ],
    [
      'a brace inside of a part',
      { template: '{name.{givenName}}' },
      'template',
      'has a brace that is not closed (at 0)',
      'Close it after a SCIM path, e.g. {name.givenName}, or write {{ for a brace.',
    ],
    [
      'a quote that is not closed',
      { template: '{emails[type eq "work].value}' },
      'template',
      'has a brace that is not closed (at 0)',
      'Close it after a SCIM path, e.g. {name.givenName}, or write {{ for a brace.',
    ],
    [
      'a closing brace alone',
      { template: 'title}' },
      'template',
      'closes a brace that is not open (at 5)',
      'Write { in front of the SCIM path, or }} for a brace.',
    ],
    [
      'an empty part',
      { template: 'a {}' },
      'template',
      'has the part {} (at 2): is not a SCIM path: an attribute name was expected (at 0)',
      'Write a SCIM path, e.g. title, name.middleName or emails[type eq "work"].value.',
    ],
    [
      'an unknown attribute in a part',
      { template: '{title} {name.givenNam}' },
      'template',
      'has the part {name.givenNam} (at 8): a user has no attribute name.givenNam',
      'Did you mean name.givenName? Correct the name, or put the URN of its extension in front.',
    ],
    [
      'an attribute that is not stored in a part',
      { template: '{password}' },
      'template',
      'has the part {password} (at 0): password is not kept',
      'Read an attribute that the identity provider writes.',
    ],
    [
      'a complex attribute in a part',
      { template: 'for {name}' },
      'template',
      'has the part {name} (at 4): has no single value',
      'Write one of name.formatted, name.familyName, name.givenName, name.middleName, name.honorificPrefix, name.honorificSuffix.',
    ],
    [
      'too many parts',
      { template: '{title}'.repeat(21) },
      'template',
      'has more than 20 SCIM paths',
      'Keep at most 20 of them.',
    ],
    [
      'a template that is too long',
      { template: 'x'.repeat(1001) },
      'template',
      'expected string to have <=1000 characters',
      'Write at most 1000 characters.',
    ],
    [
      'an optional part that is not closed',
      { template: 'a {[{title}]' },
      'template',
      'has an optional part that is not closed (at 2)',
      'Close it by ]}.',
    ],
    [
      'an optional part without a path',
      { template: '{title}{[ x]}' },
      'template',
      'has an optional part without a SCIM path (at 7)',
      'Write a SCIM path in it, e.g. {[ {name.middleName}]}, or remove its brackets.',
    ],
    [
      'an optional part in another',
      { template: '{[{title} {[{nickName}]} ]}' },
      'template',
      'has a brace that is not closed (at 10)',
      'Close it after a SCIM path, e.g. {name.givenName}, or write {{ for a brace.',
    ],
    [
      'a fallback without sources',
      { scimAttribute: 'title', fallback: 'unusable' },
      'fallback',
      'stands without sources',
      'Remove it, or name several paths in sources.',
    ],
    [
      'a join after another transform',
      { sources: ['title', 'nickName'], transforms: ['trim', { join: ',' }] },
      'transforms[1]',
      'joins after another transform',
      'Write it first.',
    ],
    [
      'a join of a template',
      { template: '{title}', transforms: ['join'] },
      'transforms[0]',
      'joins the one text of a template',
      'Name several paths in sources.',
    ],
    [
      'a join beside a fallback',
      { sources: ['title', 'nickName'], fallback: 'unusable', transforms: ['join'] },
      'transforms[0]',
      'joins all sources beside a fallback',
      'Remove one of the two.',
    ],
    [
      'an empty condition',
      { scimAttribute: 'title', when: '' },
      'when',
      'is not a SCIM filter: an attribute name was expected (at 0)',
      'Write a SCIM filter, e.g. userType eq "Contractor".',
    ],
    [
      'a condition that is no filter',
      { scimAttribute: 'title', when: 'userType = "Contractor"' },
      'when',
      'is not a SCIM filter: an operator was expected (at 9)',
      'Write a SCIM filter, e.g. userType eq "Contractor".',
    ],
    [
      'a condition with single quotes',
      { scimAttribute: 'title', when: "userType eq 'Contractor'" },
      'when',
      'is not a SCIM filter: "\'Contractor\'" is no value; strings need double quotes (at 12)',
      'Write a SCIM filter, e.g. userType eq "Contractor".',
    ],
    [
      'a line feed in a condition',
      { scimAttribute: 'title', when: 'title\npr' },
      'when',
      'is not a SCIM filter: "title\\npr" is no attribute name (at 0)',
      'Write a SCIM filter, e.g. userType eq "Contractor".',
    ],
    [
      'a condition with an unknown attribute',
      { scimAttribute: 'title', when: 'title pr and (active eq true or not (usrType eq "x"))' },
      'when',
      'a user has no attribute usrType',
      'Did you mean userType? Correct the name, or put the URN of its schema in front: urn:ietf:params:scim:schemas:core:2.0:User:usrType is a custom attribute.',
    ],
    [
      'a condition with an unknown sub-attribute',
      { scimAttribute: 'title', when: 'name.last eq "King"' },
      'when',
      'a user has no attribute name.last',
      'Correct the name, or put the URN of its extension in front.',
    ],
    [
      'a condition with an unknown name in brackets',
      { scimAttribute: 'title', when: 'emails[kind eq "work"]' },
      'when',
      'a user has no attribute emails.kind',
      'Correct the name, or put the URN of its extension in front.',
    ],
    [
      'an attribute of the manager',
      { sources: ['title', 'manager.department'] },
      'sources[1]',
      'a user has no attribute manager.department',
      'Correct the name, or put the URN of its extension in front.',
    ],
    [
      'a condition on an attribute that the identity provider does not write',
      { scimAttribute: 'title', when: 'meta.version eq "1"' },
      'when',
      'meta is not kept',
      'Read an attribute that the identity provider writes.',
    ],
    [
      'a condition on a schema',
      { scimAttribute: 'title', when: 'urn:acme:hr:1.0:User pr' },
      'when',
      'names a schema and no attribute',
      'Write urn:acme:hr:1.0:User:attribute.',
    ],
  ];

  it.each(syntaxFaults)('%s', (_title, members, member, problem, remedy) => {
    const json = { scimUserMapping: [{ customField: 'x', ...members }] };
    expect(faultsOf(json)).toEqual([{ path: `scimUserMapping[0].${member}`, problem, remedy }]);
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
          'Write one of trim, lowercase, uppercase, titlecase, digits, ascii, date, phone, country, language, join, { "date": … }, { "phone": … }, { "prefix": … }, { "replace": … }, { "map": … }, { "join": … }, { "split": … }, { "default": … }.',
      },
    ]);
  });
});

it('the schema can be written as JSON Schema', () => {
  const schema = z.toJSONSchema(mappingSchema, { io: 'input' });
  expect(Object.keys(schema.properties ?? {})).toEqual([
    '$schema',
    'scimUserMapping',
    'scope',
    'outOfScope',
    'defaults',
    'roles',
    'manager',
    'phone',
    'language',
  ]);
});

it('the JSON Schema describes the members of a rule, with examples', () => {
  const schema = z.toJSONSchema(mappingSchema, { io: 'input' });
  const rule = JSON.parse(JSON.stringify(schema.properties)).scimUserMapping.items;
  for (const name of ['sources', 'template', 'when']) {
    const { description, examples } = rule.properties[name];
    expect(description).toMatch(/[.]$/);
    for (const example of examples) {
      const extra = name === 'when' ? { scimAttribute: 'title' } : {};
      expect(faultsOf({ scimUserMapping: [{ customField: 'x', ...extra, [name]: example }] })).toEqual([]);
    }
  }
  expect(faultsOf({ scimUserMapping: rule.examples })).toEqual([]);
  expect(rule.allOf).toEqual([
    { oneOf: [{ required: ['scimAttribute'] }, { required: ['sources'] }, { required: ['template'] }] },
    {
      oneOf: [
        { required: ['customFieldId'] },
        { required: ['customField'] },
        { required: ['userAttribute'] },
      ],
    },
  ]);
});
