import type { StoredTrace } from '../../src/model/translation.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { expandTrace, toStoredTrace } from '../../src/translator/trace.ts';
import { translate } from '../fixtures/translator.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** Ada with values in five attributes. */
const ada: JsonObject = {
  userName: 'ada@x.example',
  name: { givenName: 'Ada', familyName: 'King' },
  emails: [{ type: 'home', value: 'ada@home.example' }],
  title: ' Buyer ',
  [enterprise]: { manager: { value: 'm-1' } },
};
const mapping = {
  scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title', transforms: ['trim'] }],
};
const given = { mapping, references: { 'm-1': { travelId: 't-1' } } };

const fieldOf = (record: StoredTrace[number]) => (Array.isArray(record) ? record[0] : record.field);

test('a trace is stored without the entries that every user without values has', () => {
  const stored = toStoredTrace(translate(ada, given).trace);
  expect([...new Set(stored.map(fieldOf))]).toEqual([
    ...['email', 'firstName', 'lastName', 'managerId'],
    'customFields.cf-title',
  ]);
  expect(stored).toContainEqual({
    ...{ field: 'customFields.cf-title', origin: 'file', rule: 'title | trim', outcome: 'set' },
    ...{ before: ' Buyer ', transformed: 'Buyer', after: [{ data: 'Buyer' }] },
  });
});

test('the entries of a stored trace have the rule that set each field and the rules that were skipped', () => {
  const entries = expandTrace(toStoredTrace(translate(ada, given).trace));
  expect(entries.filter(({ field }) => field === 'email')).toEqual([
    {
      field: 'email',
      origin: 'default',
      rule: 'emails[type eq "work"].value',
      outcome: 'skipped',
      reason: 'no value',
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
      outcome: 'set',
      before: 'ada@home.example',
      after: 'ada@home.example',
    },
  ]);
});

test.each([
  ['archived', { rule: 'active', outcome: 'set', before: true, after: false }],
  ['lang', { rule: 'preferredLanguage → locale', outcome: 'absent', reason: 'no value' }],
  ['address.city', { rule: 'addresses.locality', outcome: 'absent', reason: 'no value' }],
  ['roles', { rule: 'roles.value', outcome: 'absent', reason: 'no value' }],
])('%s has an entry without a stored record', (field, entry) => {
  const stored = toStoredTrace(translate(ada, given).trace);
  expect(stored.map(fieldOf)).not.toContain(field);
  const entries = expandTrace(stored);
  expect(entries.filter((each) => each.field === field)).toEqual([{ field, origin: 'default', ...entry }]);
});

test('a part that the chosen address does not have shows which address was chosen', () => {
  const addresses = [{ type: 'work', locality: 'Paris' }];
  const entries = expandTrace(translate({ ...ada, addresses }).trace);
  expect(entries.filter(({ field }) => field === 'address.region')).toEqual([
    expect.objectContaining({ rule: 'addresses[type eq "work"].region', outcome: 'absent' }),
  ]);
});

test('a setting of the mapping file stands in for the sources of the default rule', () => {
  const withSetting = { mapping: { language: { default: 'fr' } } };
  const entries = expandTrace(translate(ada, withSetting).trace);
  expect(entries.filter(({ field }) => field === 'lang')).toEqual([
    expect.objectContaining({ rule: 'preferredLanguage', outcome: 'skipped' }),
    expect.objectContaining({ rule: 'locale', outcome: 'skipped' }),
    { field: 'lang', origin: 'file', rule: 'language.default', outcome: 'set', before: 'fr', after: 'fr' },
  ]);
});

test('the trace of an identity that was never translated has no entries', () => {
  expect(expandTrace([])).toEqual([]);
});

test('a record that named an erased person shows neither a value nor that there was none', () => {
  const stored = toStoredTrace(translate(ada, given).trace).map((record): StoredTrace[number] =>
    fieldOf(record) === 'managerId' ? ['managerId'] : record,
  );
  expect(expandTrace(stored).filter(({ field }) => field === 'managerId')).toEqual([]);
});

describe('rules with several sources, templates and conditions', () => {
  const rules = {
    scimUserMapping: [
      { scimAttribute: 'nickName', userAttribute: 'lang', when: 'userType eq "Contractor"' },
      { sources: ['nickName', 'title'], userAttribute: 'firstName', transforms: ['trim'], when: 'title pr' },
      { template: '{title}/{nickName}', userAttribute: 'lastName' },
      { template: '{title}\n{userName}', customField: 'Job title' },
      { sources: ['locale', 'nickName'], customField: 'Employee number' },
    ],
  };
  const stored = toStoredTrace(translate(ada, { mapping: rules }).trace);
  const entriesOf = (key: string) => expandTrace(stored).filter(({ field }) => field === key);

  test('the entry of a rule has its condition, and the source that was read', () => {
    expect(entriesOf('firstName')).toEqual([
      {
        field: 'firstName',
        origin: 'file',
        rule: 'nickName → title | trim',
        when: 'title pr',
        read: 'title',
        outcome: 'set',
        before: ' Buyer ',
        after: 'Buyer',
      },
    ]);
  });

  test('a template names the attribute that has no value', () => {
    expect(entriesOf('lastName')).toEqual([
      {
        field: 'lastName',
        origin: 'file',
        rule: '"{title}/{nickName}"',
        outcome: 'absent',
        reason: 'no value for nickName',
      },
    ]);
  });

  test('of several sources without a value none was read', () => {
    expect(entriesOf('customFields.cf-number')).toEqual([
      {
        field: 'customFields.cf-number',
        origin: 'file',
        rule: 'locale → nickName',
        outcome: 'absent',
        reason: 'no value',
      },
    ]);
  });

  test('a rule whose condition is false is skipped, and the default rule follows', () => {
    const skipped = {
      field: 'lang',
      origin: 'file',
      rule: 'nickName',
      when: 'userType eq "Contractor"',
      outcome: 'skipped',
      reason: 'when userType eq "Contractor" is false',
    };
    expect(entriesOf('lang')).toEqual([
      skipped,
      {
        field: 'lang',
        origin: 'default',
        rule: 'preferredLanguage → locale',
        outcome: 'absent',
        reason: 'no value',
      },
    ]);
    const french = translate({ ...ada, locale: 'fr' }, { mapping: rules });
    expect(expandTrace(toStoredTrace(french.trace)).filter(({ field }) => field === 'lang')).toEqual([
      skipped,
      { field: 'lang', origin: 'default', rule: 'preferredLanguage', outcome: 'skipped', reason: 'no value' },
      { field: 'lang', origin: 'default', rule: 'locale', outcome: 'set', before: 'fr', after: 'fr' },
    ]);
  });

  test('an unusable value has the condition and the source, too', () => {
    const unusable = {
      scimUserMapping: [
        { sources: ['locale', 'title'], userAttribute: 'email', when: 'title pr' },
        { scimAttribute: 'userName', userAttribute: 'email' },
      ],
    };
    expect(expandTrace(translate(ada, { mapping: unusable }).trace)).toContainEqual({
      field: 'email',
      origin: 'file',
      rule: 'locale → title',
      when: 'title pr',
      read: 'title',
      outcome: 'absent',
      before: ' Buyer ',
      reason: 'This is not an email address.',
    });
  });
});
