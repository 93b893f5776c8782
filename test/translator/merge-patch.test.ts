import type { Json } from '../../src/schema/resource.ts';
import { fieldsOfInvalid, type Plan, toCreate, toMergePatch } from '../../src/translator/plan.ts';
import type { TravelUser } from '../../src/translator/travel-user.ts';

function planOf(set: { [key: string]: Json }, remove: string[] = []): Plan {
  const planned = Object.entries(set).map(([key, value]) => [key, { value, source: value }] as const);
  return { set: Object.fromEntries(planned), adopt: {}, remove, released: [], needsFreshRead: true };
}

const current: TravelUser = {
  id: 't',
  email: 'a@x.example',
  archived: false,
  createdAt: '2026-01-01T00:00:00Z',
  address: { city: 'Lyon', region: 'ARA' },
  roles: ['premium', 'manager'],
  customFields: [
    {
      customFieldId: 'foreign',
      name: 'Foreign',
      values: [{ customFieldOptionId: 'o', data: 'x', displayName: 'X' }],
    },
    { customFieldId: 'ours', values: [{ data: 'old' }] },
  ],
};

describe('toMergePatch', () => {
  it('sends only what changes, and null for what goes (RFC 7396)', () => {
    expect(toMergePatch(planOf({ firstName: 'Ada' }, ['lang']), current)).toEqual({
      firstName: 'Ada',
      lang: null,
    });
  });

  it('nests the parts of the address', () => {
    const patch = toMergePatch(planOf({ 'address.city': 'Paris' }, ['address.region']), current);
    expect(patch).toEqual({ address: { city: 'Paris', region: null } });
  });

  it('clears the address of which nothing is left', () => {
    expect(toMergePatch(planOf({}, ['address.city', 'address.region']), current)).toEqual({ address: null });
    expect(toMergePatch(planOf({}, ['address.city']), current)).toEqual({ address: { city: null } });
    expect(toMergePatch(planOf({}, ['address.city']), undefined)).toEqual({ address: { city: null } });
  });

  it('carries the custom fields that are not ours, as they may be written', () => {
    const patch = toMergePatch(planOf({ 'customFields.ours': [{ data: 'new' }] }), current);
    expect(patch).toEqual({
      customFields: [
        { customFieldId: 'foreign', values: [{ customFieldOptionId: 'o', data: 'x' }] },
        { customFieldId: 'ours', values: [{ data: 'new' }] },
      ],
    });
  });

  it('takes one custom field away and adds another', () => {
    const patch = toMergePatch(
      planOf({ 'customFields.more': [{ data: 'm' }] }, ['customFields.ours']),
      current,
    );
    expect(patch.customFields).toEqual([
      { customFieldId: 'foreign', values: [{ customFieldOptionId: 'o', data: 'x' }] },
      { customFieldId: 'more', values: [{ data: 'm' }] },
    ]);
  });

  it('carries the roles that are not ours', () => {
    const patch = toMergePatch(planOf({ 'roles.guest': true }, ['roles.manager']), current);
    expect(patch).toEqual({ roles: ['premium', 'guest'] });
  });

  it('adds no role that is there already', () => {
    expect(toMergePatch(planOf({ 'roles.premium': true }), current)).toEqual({
      roles: ['premium', 'manager'],
    });
  });
});

describe('toCreate', () => {
  it('is every value in its place, without archived for somebody active', () => {
    const body = toCreate(
      planOf({
        email: 'a@x.example',
        archived: false,
        'address.city': 'Paris',
        'customFields.f': [{ data: 'x' }],
        'roles.guest': true,
      }),
    );
    expect(body).toEqual({
      email: 'a@x.example',
      address: { city: 'Paris' },
      customFields: [{ customFieldId: 'f', values: [{ data: 'x' }] }],
      roles: ['guest'],
    });
  });

  it('archives in the create who starts inactive', () => {
    expect(toCreate(planOf({ archived: true }))).toEqual({ archived: true });
  });
});

describe('fieldsOfInvalid', () => {
  const sent = planOf({
    email: 'a',
    'address.city': 'b',
    'address.countryCode': 'XX',
    'customFields.f': [],
    'customFields.g': [],
    'roles.guest': true,
    'roles.manager': true,
  });
  const body = {
    customFields: [{ customFieldId: 'foreign' }, { customFieldId: 'f' }, { customFieldId: 'g' }],
    roles: ['premium', 'guest', 'manager'],
  };

  it.each<[string, string[]]>([
    ['email', ['email']],
    ['address', ['address.city', 'address.countryCode']],
    ['address.countryCode', ['address.countryCode']],
    ['customFields', ['customFields.f', 'customFields.g']],
    ['customFields.f', ['customFields.f']],
    ['customFields.g.values', ['customFields.g']],
    ['customFields.1.values.0.data', ['customFields.f']],
    ['customFields[2].values', ['customFields.g']],
    ['customFields.0.values', ['customFields.f', 'customFields.g']],
    ['customFields.9', ['customFields.f', 'customFields.g']],
    ['customFields.h', []],
    ['customFields.000000000000000000000001', []],
    ['roles', ['roles.guest', 'roles.manager']],
    ['roles.1', ['roles.guest']],
    ['roles.0', ['roles.guest', 'roles.manager']],
    ['gender', []],
    ['', []],
  ])('%s names %j', (name, keys) => {
    expect(fieldsOfInvalid([name], sent, body)).toEqual(keys);
  });

  it('means all planned elements where the body is not known', () => {
    expect(fieldsOfInvalid(['customFields.1.values'], sent)).toEqual(['customFields.f', 'customFields.g']);
  });

  it('names what was to be removed', () => {
    expect(fieldsOfInvalid(['customFields'], planOf({}, ['customFields.f']))).toEqual(['customFields.f']);
  });
});
