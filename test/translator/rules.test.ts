import { findManagerReferences, isSetByRules } from '../../src/translator/rules.ts';
import { rulesOf, translate } from '../fixtures/translator.ts';

describe('the version of rules', () => {
  const one = { scimUserMapping: [{ scimAttribute: 'title', customField: 'A', transforms: ['trim'] }] };

  it('is the same for the same rules, however they are written', () => {
    const other = {
      $schema: 'x',
      scimUserMapping: [{ transforms: ['trim'], customField: 'A', scimAttribute: 'title' }],
    };
    expect(rulesOf(other).version).toBe(rulesOf(one).version);
  });

  it.each([
    [{ scimUserMapping: [{ scimAttribute: 'title', customField: 'A' }] }],
    [{ ...one, phone: { defaultCountry: 'FR' } }],
    [{ ...one, roles: { allow: ['manager'] } }],
    [{ ...one, defaults: { costCenter: { name: 'X' } } }],
    [{ ...one, language: { default: 'fr' } }],
  ])('is another for %j', (other) => {
    expect(rulesOf(other).version).not.toBe(rulesOf(one).version);
  });

  it('is another for another collection', () => {
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

  it('the second for one target', () => {
    const { rules, faults } = rulesOf({}, [
      { scimAttribute: 'title', userAttribute: 'lastName' },
      { scimAttribute: 'nickName', userAttribute: 'lastName' },
    ]);
    expect(rules.map(({ text }) => text)).toEqual(['title']);
    expect(faults).toEqual([expect.objectContaining({ field: 'lastName', value: 'nickName' })]);
  });
});

describe('targets', () => {
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

describe('referencesOf', () => {
  const user = {
    userName: 'a@x.example',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { manager: { value: 'm-1' } },
    'urn:ietf:params:scim:schemas:extension:travel:2.0:User': { manager: { id: 't-1', email: 'm-1' } },
    'urn:corp:hr:1.0:Person': { boss: ' BOSS@x.example ' },
  };

  it('names the manager in order of preference, each value once', () => {
    expect(findManagerReferences(rulesOf(), user)).toEqual(['t-1', 'm-1']);
  });

  it('follows a mapping rule in place of the default', () => {
    const boss = {
      scimAttribute: 'urn:corp:hr:1.0:Person:boss',
      userAttribute: 'managerId',
      transforms: ['lowercase'],
    };
    const mapping = { scimUserMapping: [boss] };
    expect(findManagerReferences(rulesOf(mapping), user)).toEqual(['boss@x.example']);
  });

  it('is empty without a manager', () => {
    expect(findManagerReferences(rulesOf(), { userName: 'a' })).toEqual([]);
  });
});

describe('the trace', () => {
  function traceOf(field: string, ...given: Parameters<typeof translate>): unknown[] {
    return translate(...given).trace.filter((entry) => entry.field === field);
  }

  it('names the rule that set a field, and why those before it were passed over', () => {
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

  it('says in one line that nothing was there', () => {
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

  it('shows the value before and after the transforms', () => {
    const mapping = {
      scimUserMapping: [
        { scimAttribute: 'title', userAttribute: 'lastName', transforms: ['trim', { prefix: 'x' }] },
      ],
    };
    expect(traceOf('lastName', { title: ' a ' }, { mapping })).toEqual([
      {
        field: 'lastName',
        origin: 'file',
        rule: 'title | trim | {"prefix":"x"}',
        outcome: 'set',
        before: ' a ',
        after: 'xa',
      },
    ]);
  });

  it('tells of the rule that another one outranks', () => {
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

  it('sets nothing where a list stays as it was applied', () => {
    const skills = ['go', 'cobol'];
    const mapping = {
      scimUserMapping: [{ scimAttribute: 'urn:corp:hr:1.0:Person:skills', customField: 'Skills' }],
    };
    const applied = { 'customFields.cf-skills': { sent: [], answered: [], source: skills } };
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

  it('ends with absent or unresolved where nothing could be used', () => {
    const enterprise = { manager: { value: 'm' } };
    const user = { userName: 'a', 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': enterprise };
    expect(traceOf('managerId', user).at(-1)).toMatchObject({ outcome: 'unresolved', before: 'm' });
    expect(traceOf('email', user).at(-1)).toMatchObject({ outcome: 'absent', before: 'a' });
  });
});
