import { otherRules } from '../../src/translator/default-rules.ts';
import { fields } from '../../src/translator/fields/fields.ts';
import { inShort, lookups, mappingOf, rulesOf, translate } from '../fixtures/translator.ts';

const nickName = { scimAttribute: 'nickName', userAttribute: 'firstName' };
const conditional = { ...nickName, when: 'userType eq "Intern"' };

function useOf(field: string, rules = rulesOf()) {
  return otherRules(rules)
    .filter((rule) => rule.field === field)
    .map(({ origin, use }) => `${origin} ${use}`);
}

test('every field of the table has a default rule that a mapping file can have', () => {
  const written = otherRules(rulesOf()).flatMap((rule) => rule.written ?? []);
  expect(written.map(({ userAttribute }) => userAttribute)).toEqual(fields.map(({ key }) => key));
  expect(mappingOf({ scimUserMapping: written.map((rule) => ({ ...rule })) }).scimUserMapping).toEqual(
    written,
  );
});

test('a rule names what no path can say, and the setting that comes last', () => {
  const of = (field: string) => otherRules(rulesOf()).find((rule) => rule.field === field);
  expect(of('firstName')).toMatchObject({
    written: { scimAttribute: 'name.givenName', userAttribute: 'firstName' },
    others: ['name.formatted, first part', 'displayName, first part'],
  });
  expect(of('costCenterId')).toMatchObject({ others: [], setting: 'defaults.costCenter' });
  expect(of('archived')).toMatchObject({ written: undefined, others: ['active'] });
});

test('the written default rules give the values of the default rules', () => {
  const written = otherRules(rulesOf()).flatMap((rule) => rule.written ?? []);
  const mapping = { scimUserMapping: written.map((rule) => ({ ...rule })) };
  const users = [
    {
      userName: 'ada@corp.example',
      name: { givenName: 'Ada', familyName: 'King' },
      emails: [
        { value: 'home@corp.example', type: 'home' },
        { value: 'work@corp.example', type: 'work' },
      ],
      phoneNumbers: [
        { value: '+33 1 42 68 53 00', type: 'fax', primary: true },
        { value: '+33 1 42 68 53 01', type: 'other' },
      ],
      locale: 'fr-FR',
      addresses: [{ locality: 'Paris', country: 'FR', primary: true }],
      'urn:ietf:params:scim:schemas:extension:travel:2.0:User': {
        ...{ gender: 'female', currency: 'EUR' },
        costCenter: { name: lookups.costCenters[0]?.name ?? '' },
      },
    },
    { userName: 'bob@corp.example', phoneNumbers: [{ value: '+33 1 42 68 53 00', type: 'pager' }] },
  ];
  for (const user of users)
    expect(inShort(translate(user, { mapping }).fields)).toEqual(inShort(translate(user).fields));
});

test('a default rule is replaced by a rule without a condition, and follows those with one', () => {
  expect(useOf('firstName')).toEqual(['default always']);
  expect(useOf('firstName', rulesOf({ scimUserMapping: [nickName] }))).toEqual(['default replaced']);
  expect(useOf('firstName', rulesOf({ scimUserMapping: [conditional] }))).toEqual(['default otherwise']);
});

test('rules of the collection stand between the mapping and the default rules', () => {
  const row = { scimAttribute: 'displayName', userAttribute: 'firstName' };
  const custom = { scimAttribute: 'title', customFieldId: 'cf-title' };
  const collection = [row, custom];
  expect(useOf('firstName', rulesOf({}, collection))).toEqual(['collection always', 'default replaced']);
  expect(useOf('firstName', rulesOf({ scimUserMapping: [conditional] }, collection))).toEqual([
    'collection otherwise',
    'default replaced',
  ]);
  expect(useOf('firstName', rulesOf({ scimUserMapping: [nickName] }, collection))).toEqual([
    'collection replaced',
    'default replaced',
  ]);
  expect(otherRules(rulesOf({}, collection)).flatMap(({ written }) => written ?? [])).toEqual(
    expect.arrayContaining([row, custom]),
  );
});
