import type { ScimUserMapping } from '../../src/model/translation.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { Json } from '../../src/schema/resource.ts';
import { toScim } from '../../src/translator/to-scim.ts';
import { lookups, rulesOf } from '../fixtures/translator.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const travel = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';
const person = 'urn:corp:hr:1.0:Person';

const bare: TravelUser = {
  id: 't',
  email: 'ada@x.example',
  archived: false,
  createdAt: '2026-01-01T00:00:00Z',
};

function shown(traveler: Partial<TravelUser>, mapping: Json = {}, collection: ScimUserMapping[] = []): Json {
  return toScim(rulesOf(mapping, collection), { ...bare, ...traveler }, { lookups });
}

it('a traveler with only an email becomes a minimal user', () => {
  expect(shown({})).toEqual({
    userName: 'ada@x.example',
    active: true,
    emails: [{ value: 'ada@x.example', type: 'work', primary: true }],
  });
});

it('a traveler with all fields becomes a user with all attributes', () => {
  const traveler: Partial<TravelUser> = {
    archived: true,
    firstName: 'Ada',
    lastName: 'Lovelace',
    phoneNumber: '+33 612345678',
    lang: 'fr',
    address: {
      streetAddress: '1 rue X',
      city: 'Paris',
      region: 'IdF',
      postalCode: '75001',
      countryCode: 'FR',
    },
    billingProfileId: 'b-1',
    costCenterId: 'cc-13',
    travelPolicyId: 'p-unknown',
    managerId: 't-9',
    dateOfBirth: '1990-02-28',
    gender: 'female',
    currency: 'EUR',
    separateIcsEmails: false,
    roles: ['manager', 'admin'],
  };
  expect(shown(traveler)).toEqual({
    userName: 'ada@x.example',
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    displayName: 'Ada Lovelace',
    active: false,
    preferredLanguage: 'fr',
    emails: [{ value: 'ada@x.example', type: 'work', primary: true }],
    phoneNumbers: [{ value: '+33 612345678', type: 'work', primary: true }],
    addresses: [
      {
        streetAddress: '1 rue X',
        locality: 'Paris',
        region: 'IdF',
        postalCode: '75001',
        country: 'FR',
        type: 'work',
        primary: true,
      },
    ],
    [travel]: {
      billingProfile: { id: 'b-1', name: 'HQ' },
      costCenter: { id: 'cc-13', name: 'Marketing' },
      travelPolicy: { id: 'p-unknown' },
      manager: { id: 't-9' },
      dateOfBirth: '1990-02-28',
      gender: 'female',
      currency: 'EUR',
      separateIcsEmails: false,
      roles: [{ value: 'manager' }, { value: 'admin' }],
    },
  });
});

it('a role gets the name that the mapping translates back to it', () => {
  const mapping = { roles: { map: { manager: 'accountant', Boss: 'manager', premium: 'guest' } } };
  const roles = ['manager', 'accountant', 'organizer', 'premium', 'unheardOf'];
  expect(shown({ roles }, mapping)).toMatchObject({
    [travel]: {
      roles: [{ value: 'Boss' }, { value: 'accountant' }, { value: 'organizer' }, { value: 'unheardOf' }],
    },
  });
});

describe('mapped attributes', () => {
  const title = [{ customFieldId: 'cf-title', values: [{ data: 'Buyer' }] }];

  it('are set by the rules of the file and of the collection', () => {
    const mapping = {
      scimUserMapping: [{ scimAttribute: `${enterprise}:department`, customField: 'Department' }],
    };
    const collection = [{ scimAttribute: 'title', customFieldId: 'cf-title' }];
    const customFields = [
      ...title,
      { customFieldId: 'cf-department', values: [{ customFieldOptionId: 'o-sales', data: 'Sales' }] },
    ];
    expect(shown({ customFields }, mapping, collection)).toMatchObject({
      title: 'Buyer',
      [enterprise]: { department: 'Sales' },
    });
  });

  it('have their canonical names, and can be sub-attributes', () => {
    const mapping = { scimUserMapping: [{ scimAttribute: 'NAME.MIDDLENAME', customField: 'Job title' }] };
    expect(shown({ customFields: title, firstName: 'Ada' }, mapping)).toMatchObject({
      name: { givenName: 'Ada', middleName: 'Buyer' },
    });
  });

  it('can be in unknown extensions', () => {
    const mapping = { scimUserMapping: [{ scimAttribute: `${person}:job.title`, customField: 'Job title' }] };
    expect(shown({ customFields: title }, mapping)).toMatchObject({ [person]: { job: { title: 'Buyer' } } });
  });

  it('have the name of the resource that the field refers to', () => {
    const mapping = {
      scimUserMapping: [{ scimAttribute: `${enterprise}:department`, userAttribute: 'costCenterId' }],
    };
    expect(shown({ costCenterId: 'cc-13' }, mapping)).toMatchObject({
      [enterprise]: { department: 'Marketing' },
    });
    expect(shown({ costCenterId: 'cc-14' }, mapping)).toMatchObject({
      [enterprise]: { department: 'cc-14' },
    });
  });

  it('are set if the transforms do not change the value', () => {
    const rule = { scimAttribute: 'title', customField: 'Job title', transforms: ['trim', 'titlecase'] };
    expect(shown({ customFields: title }, { scimUserMapping: [rule] })).toMatchObject({ title: 'Buyer' });
  });

  it.each<[string, Json[]]>([
    [
      'a transform that changes the value',
      [{ scimAttribute: 'title', customField: 'Job title', transforms: ['uppercase'] }],
    ],
    ['a path with a filter', [{ scimAttribute: 'ims[type eq "x"].value', customField: 'Job title' }]],
    ['many values', [{ scimAttribute: 'title', customField: 'Skills' }]],
    [
      'an attribute for two fields that differ',
      [
        { scimAttribute: 'title', customField: 'Job title' },
        { scimAttribute: 'title', customField: 'Employee number' },
      ],
    ],
  ])('are left out for %s', (_title, scimUserMapping) => {
    const customFields = [
      ...title,
      {
        customFieldId: 'cf-skills',
        values: [
          { customFieldOptionId: 'o-go', data: 'Go' },
          { customFieldOptionId: 'o-sql', data: 'SQL' },
        ],
      },
    ];
    const user = shown({ customFields }, { scimUserMapping });
    expect(user).not.toHaveProperty('title');
    expect(user).not.toHaveProperty('ims');
  });

  it('replace a default attribute that would mean something else', () => {
    const mapping = { scimUserMapping: [{ scimAttribute: 'displayName', customField: 'Job title' }] };
    const names = { firstName: 'Ada', lastName: 'Lovelace' };
    expect(shown({ ...names, customFields: title }, mapping)).toMatchObject({ displayName: 'Buyer' });
    expect(shown(names, mapping)).not.toHaveProperty('displayName');
  });

  it('are set in attributes that default rules read only if those rules give the same traveler', () => {
    const department = [
      { customFieldId: 'cf-department', values: [{ customFieldOptionId: 'o', data: 'Sales' }] },
    ];
    const mapping = { scimUserMapping: [{ scimAttribute: 'name.givenName', customField: 'Department' }] };
    expect(shown({ customFields: department }, mapping)).not.toHaveProperty('name');
    const nickname = { scimUserMapping: [{ scimAttribute: 'name.formatted', customField: 'Job title' }] };
    const names = { firstName: 'Ada', lastName: 'King' };
    expect(shown({ ...names, customFields: title }, nickname)).toMatchObject({
      name: { formatted: 'Buyer' },
    });
    expect(shown({ customFields: title }, nickname)).not.toHaveProperty('name');
  });

  it('never replace the userName', () => {
    const mapping = { scimUserMapping: [{ scimAttribute: 'userName', customField: 'Job title' }] };
    expect(shown({ customFields: title }, mapping)).toMatchObject({ userName: 'ada@x.example' });
  });
});

describe('rules that cannot be inverted set no attribute', () => {
  const traveler = {
    firstName: 'Ada',
    customFields: [{ customFieldId: 'cf-title', values: [{ data: 'Buyer' }] }],
  };

  it.each<[string, { [member: string]: Json }]>([
    ['several sources', { sources: ['title', 'nickName'] }],
    ['a template', { template: '{title}' }],
    ['a condition', { scimAttribute: 'title', when: 'userType pr' }],
  ])('%s', (_title, members) => {
    const mapping = { scimUserMapping: [{ customField: 'Job title', ...members }] };
    expect(shown(traveler, mapping)).toEqual(shown(traveler));
  });

  it('one source is inverted like a scimAttribute', () => {
    const mapping = { scimUserMapping: [{ sources: ['title'], customField: 'Job title' }] };
    expect(shown(traveler, mapping)).toMatchObject({ title: 'Buyer' });
  });

  it('the rule without a condition is inverted', () => {
    const mapping = {
      scimUserMapping: [
        { scimAttribute: 'userType', customField: 'Job title', when: 'active eq false' },
        { scimAttribute: 'title', customField: 'Job title' },
        { scimAttribute: 'displayName', userAttribute: 'firstName', when: 'userType eq "Contractor"' },
        { scimAttribute: 'nickName', userAttribute: 'firstName' },
      ],
    };
    expect(shown(traveler, mapping)).toMatchObject({ title: 'Buyer', nickName: 'Ada' });
    expect(shown(traveler, mapping)).not.toHaveProperty('userType');
  });
});
