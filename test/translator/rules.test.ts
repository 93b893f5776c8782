import { normalize } from '../../src/schema/normalize.ts';
import type { Json } from '../../src/schema/resource.ts';
import { userType } from '../../src/schema/resource-types.ts';
import { parseMapping } from '../../src/translator/mapping/mapping-file.ts';
import { previewText } from '../../src/translator/preview.ts';
import { findManagerReferences } from '../../src/translator/rules/compiled-fields.ts';
import { isSetByRules } from '../../src/translator/rules/rules.ts';
import { expandTrace } from '../../src/translator/trace.ts';
import { extensionUrns } from '../fixtures/extension-urns.ts';
import { rulesOf, translate } from '../fixtures/translator.ts';

describe('the version of rules', () => {
  const one = { scimUserMapping: [{ scimAttribute: 'title', customField: 'A', transforms: ['trim'] }] };

  it('is equal for equal rules that are written differently', () => {
    const other = {
      $schema: 'x',
      scimUserMapping: [{ transforms: ['trim'], customField: 'A', scimAttribute: 'title' }],
    };
    expect(rulesOf(other).version).toBe(rulesOf(one).version);
  });

  it.each([
    [{ scimUserMapping: [{ scimAttribute: 'title', customField: 'A' }] }],
    [{ ...one, phone: { defaultCountry: 'FR' } }],
    [{ ...one, manager: { by: 'employeeNumber' } }],
    [{ ...one, roles: { allow: ['manager'] } }],
    [{ ...one, defaults: { costCenter: { name: 'X' } } }],
    [{ ...one, language: { default: 'fr' } }],
  ])('differs for %j', (other) => {
    expect(rulesOf(other).version).not.toBe(rulesOf(one).version);
  });

  it('stays as it is for the same rules, so that an upgrade translates nobody again', () => {
    const mapping = {
      scimUserMapping: [
        { scimAttribute: 'title', userAttribute: 'lastName', transforms: ['trim'] },
        { scimAttribute: 'nickName', userAttribute: 'firstName' },
        { scimAttribute: 'userType', customField: 'A' },
      ],
    };
    expect(rulesOf(mapping).version).toBe('6c44c982f6f76139');
    const [one, two, ...others] = mapping.scimUserMapping;
    expect(rulesOf({ scimUserMapping: [two, one, ...others] as Json[] }).version).toBe('6c44c982f6f76139');
  });

  it('depends on the order of rules for one field', () => {
    const rules = [
      { template: 'a', userAttribute: 'lastName', when: 'userType pr' },
      { template: 'b', userAttribute: 'lastName', when: 'title pr' },
    ];
    expect(rulesOf({ scimUserMapping: rules.toReversed() }).version).not.toBe(
      rulesOf({ scimUserMapping: rules }).version,
    );
  });

  it('differs for another collection', () => {
    const collection = [{ scimAttribute: 'nickName', userAttribute: 'firstName' }];
    expect(rulesOf(one, collection).version).not.toBe(rulesOf(one).version);
    expect(rulesOf(one, [...collection]).version).toBe(rulesOf(one, collection).version);
  });
});

describe('rows of the collection that cannot be used', () => {
  it.each([
    [{ scimAttribute: '[', customFieldId: 'f' }, 'customFields.f'],
    [{ scimAttribute: 'title' }, 'scimUserMapping'],
    [{ scimAttribute: 'title', customFieldId: 'f', userAttribute: 'lang' }, 'customFields.f'],
    [{ scimAttribute: 'title', userAttribute: 'shoeSize' }, 'shoeSize'],
  ])('%j', (row, field) => {
    const { rules, faults } = rulesOf({}, [row]);
    expect(rules).toEqual([]);
    expect(faults).toEqual([
      expect.objectContaining({ field, code: 'mappingUnusable', value: row.scimAttribute }),
    ]);
  });

  it('a second row for the same target', () => {
    const { rules, faults } = rulesOf({}, [
      { scimAttribute: 'title', userAttribute: 'lastName' },
      { scimAttribute: 'nickName', userAttribute: 'lastName' },
    ]);
    expect(rules.map(({ text }) => text)).toEqual(['title']);
    expect(faults).toEqual([expect.objectContaining({ field: 'lastName', value: 'nickName' })]);
  });
});

describe('isSetByRules', () => {
  const rules = rulesOf({ scimUserMapping: [{ scimAttribute: 'title', customFieldId: 'f' }] });

  it.each([
    ['email', true],
    ['archived', true],
    ['address.city', true],
    ['roles.guest', true],
    ['customFields.f', true],
    ['customFields.g', false],
    ['shoeSize', false],
  ])('%s: %s', (key, expected) => {
    expect(isSetByRules(rules, key)).toBe(expected);
  });
});

describe('findManagerReferences', () => {
  const user = {
    userName: 'a@x.example',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { manager: { value: 'm-1' } },
    'urn:ietf:params:scim:schemas:extension:travel:2.0:User': { manager: { id: 't-1', email: 'm-1' } },
    'urn:corp:hr:1.0:Person': { boss: ' BOSS@x.example ' },
  };

  it('returns the values that name the manager in order of preference, each once', () => {
    expect(findManagerReferences(rulesOf(), user)).toEqual(['t-1', 'm-1']);
  });

  it('reads a mapping rule instead of the default rule', () => {
    const boss = {
      scimAttribute: 'urn:corp:hr:1.0:Person:boss',
      userAttribute: 'managerId',
      transforms: ['lowercase'],
    };
    const mapping = { scimUserMapping: [boss] };
    expect(findManagerReferences(rulesOf(mapping), user)).toEqual(['boss@x.example']);
  });

  it('reads the rule whose condition holds', () => {
    const mapping = {
      scimUserMapping: [
        { scimAttribute: 'title', userAttribute: 'managerId', when: 'userType eq "Contractor"' },
        {
          sources: ['nickName', 'urn:corp:hr:1.0:Person:boss'],
          userAttribute: 'managerId',
          when: 'title pr',
        },
      ],
    };
    const titled = { ...user, title: 'agency@x.example' };
    expect(findManagerReferences(rulesOf(mapping), { ...titled, userType: 'contractor' })).toEqual([
      'agency@x.example',
    ]);
    expect(findManagerReferences(rulesOf(mapping), titled)).toEqual(['BOSS@x.example']);
    expect(findManagerReferences(rulesOf(mapping), user)).toEqual(['t-1', 'm-1']);
  });

  it('returns nothing without a manager', () => {
    expect(findManagerReferences(rulesOf(), { userName: 'a' })).toEqual([]);
  });
});

describe('the trace', () => {
  function traceOf(field: string, ...given: Parameters<typeof translate>): unknown[] {
    return expandTrace(translate(...given).trace).filter((entry) => entry.field === field);
  }

  it('has the rule that set a field, and why the rules before it were skipped', () => {
    const user = { userName: 'ada@x.example', emails: [{ type: 'work', value: 'n/a' }] };
    expect(traceOf('email', user)).toEqual([
      {
        field: 'email',
        origin: 'default',
        rule: 'emails[type eq "work"].value',
        outcome: 'skipped',
        before: 'n/a',
        reason: 'This is not an email address.',
      },
      {
        field: 'email',
        origin: 'default',
        rule: 'emails[primary eq true].value',
        outcome: 'skipped',
        reason: 'no value',
      },
      {
        field: 'email',
        origin: 'default',
        rule: 'emails.value',
        outcome: 'skipped',
        reason: 'the same value again',
      },
      {
        field: 'email',
        origin: 'default',
        rule: 'userName',
        outcome: 'set',
        before: 'ada@x.example',
        after: 'ada@x.example',
      },
    ]);
  });

  it('has one entry if no rule found a value', () => {
    expect(traceOf('lang', { userName: 'a' })).toEqual([
      {
        field: 'lang',
        origin: 'default',
        rule: 'preferredLanguage → locale',
        outcome: 'absent',
        reason: 'no value',
      },
    ]);
  });

  it('has the value before and after the transforms', () => {
    const mapping = {
      scimUserMapping: [
        { scimAttribute: 'title', userAttribute: 'lastName', transforms: ['trim', { prefix: 'x' }] },
      ],
    };
    expect(traceOf('lastName', { title: ' a ' }, { mapping })).toEqual([
      {
        field: 'lastName',
        origin: 'file',
        rule: 'title | trim | prefix x',
        outcome: 'set',
        before: ' a ',
        after: 'xa',
      },
    ]);
  });

  it('has the rule that is not used because another one comes first', () => {
    const mapping = { scimUserMapping: [{ scimAttribute: 'title', userAttribute: 'lastName' }] };
    const collection = [{ scimAttribute: 'nickName', userAttribute: 'lastName' }];
    expect(traceOf('lastName', { title: 'a' }, { mapping, collection })).toEqual([
      expect.objectContaining({ rule: 'title', outcome: 'set' }),
      expect.objectContaining({
        origin: 'collection',
        rule: 'nickName',
        outcome: 'skipped',
        reason: 'the mapping file sets this field from title',
      }),
    ]);
  });

  it('sets nothing if a list stays as it was applied', () => {
    const skills = ['go', 'cobol'];
    const mapping = {
      scimUserMapping: [{ scimAttribute: 'urn:corp:hr:1.0:Person:skills', customField: 'Skills' }],
    };
    const applied = { 'customFields.cf-skills': { sent: [], seen: [], source: skills } };
    const entries = traceOf(
      'customFields.cf-skills',
      { 'urn:corp:hr:1.0:Person': { skills } },
      { mapping, applied },
    );
    expect(entries).toEqual([
      expect.objectContaining({ outcome: 'unresolved', before: 'go' }),
      expect.objectContaining({ outcome: 'unresolved', before: 'cobol' }),
    ]);
  });

  it('ends with absent or unresolved if no value could be used', () => {
    const enterprise = { manager: { value: 'm' } };
    const user = { userName: 'a', 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': enterprise };
    expect(traceOf('managerId', user).at(-1)).toMatchObject({ outcome: 'unresolved', before: 'm' });
    expect(traceOf('email', user).at(-1)).toMatchObject({ outcome: 'absent', before: 'a' });
  });
});

describe.each(extensionUrns)('a mapping rule reads the extension of %s, %s:', (_, urn) => {
  const user = { userName: 'ada@x.example', [urn]: { badge: 'B-7', boss: { value: 'Max' } } };

  test.each([
    ['an attribute', `${urn}:badge`, 'B-7'],
    ['a sub-attribute', `${urn}:boss.value`, 'Max'],
    ['in another case', `${urn.toUpperCase()}:BADGE`.replace('URN:', 'urn:'), 'B-7'],
    ['a value filter', `${urn}:boss[value eq "Max"].value`, 'Max'],
  ])('%s', (_title, scimAttribute, value) => {
    const mapping = { scimUserMapping: [{ scimAttribute, userAttribute: 'lastName' }] };
    expect(parseMapping(mapping)).toHaveProperty('mapping');
    const { resource } = normalize(userType, user);
    const translation = translate(resource, { mapping });
    expect(translation.fields.lastName).toMatchObject({ kind: 'value', value });
    expect(previewText(translation)).toContain(value);
    const collection = [{ scimAttribute, userAttribute: 'lastName' }];
    expect(translate(resource, { collection }).fields.lastName).toMatchObject({ kind: 'value', value });
  });
});

describe.each(extensionUrns)('sources, templates and conditions read the extension of %s, %s:', (_, urn) => {
  const user = { userName: 'ada@x.example', [urn]: { badge: 'B-7', boss: { value: 'Max' } } };

  test.each([
    ['sources', { sources: ['nickName', `${urn}:badge`] }, 'B-7'],
    ['a template', { template: `{${urn}:boss.value}/{${urn}:BADGE}` }, 'Max/B-7'],
    ['a condition', { template: 'yes', when: `${urn}:badge sw "B-" and ${urn}:boss.value eq "max"` }, 'yes'],
  ])('%s', (_title, members, value) => {
    const mapping = { scimUserMapping: [{ userAttribute: 'lastName', ...members }] };
    const { resource } = normalize(userType, user);
    expect(translate(resource, { mapping }).fields.lastName).toMatchObject({ kind: 'value', value });
  });
});

test('a dot may follow a URN that another rule uses', () => {
  const rule = (scimAttribute: string, userAttribute: string) => ({ scimAttribute, userAttribute });
  const mapping = {
    scimUserMapping: [rule('urn:acme:hr.badge', 'lastName'), rule('urn:acme:hr:office', 'firstName')],
  };
  const user = { userName: 'ada', 'urn:acme': { hr: { badge: 'no' } }, 'urn:acme:hr': { badge: 'yes' } };
  expect(translate(user, { mapping }).fields.lastName).toMatchObject({ value: 'yes' });
});

test('a rule that names a schema and no attribute is a fault', () => {
  const scimAttribute = 'urn:ietf:params:scim:schemas:extension:acme:2.0:User';
  const mapping = { scimUserMapping: [{ scimAttribute, userAttribute: 'lastName' }] };
  expect(JSON.stringify(parseMapping(mapping))).toContain('names a schema and no attribute');
});
