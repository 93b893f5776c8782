import type { Plan } from '../../src/model/translation.ts';
import type { CustomFieldValue, TravelUser } from '../../src/model/traveler.ts';
import type { Json } from '../../src/schema/resource.ts';
import {
  findInvalidFields,
  findUnsendableValues,
  type RefusedChange,
} from '../../src/translator/plan/plan.ts';
import { toNewTraveler, toTravelerChange } from '../../src/translator/plan/traveler-change.ts';

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

describe('toTravelerChange', () => {
  it('has only changed fields, and null for removed ones', () => {
    expect(toTravelerChange(planOf({ firstName: 'Ada' }, ['lang']), current)).toEqual({
      firstName: 'Ada',
      lang: null,
    });
  });

  it('nests the parts of the address', () => {
    const patch = toTravelerChange(planOf({ 'address.city': 'Paris' }, ['address.region']), current);
    expect(patch).toEqual({ address: { city: 'Paris', region: null } });
  });

  it('removes the address whole if no part is left', () => {
    expect(toTravelerChange(planOf({}, ['address.city', 'address.region']), current)).toEqual({
      address: null,
    });
    expect(toTravelerChange(planOf({}, ['address.city']), current)).toEqual({ address: { city: null } });
    expect(toTravelerChange(planOf({}, ['address.city']), undefined)).toEqual({ address: { city: null } });
  });

  it('repeats the custom fields that the bridge does not own, in writable form', () => {
    const patch = toTravelerChange(planOf({ 'customFields.ours': [{ data: 'new' }] }), current);
    expect(patch).toEqual({
      customFields: [
        { customFieldId: 'foreign', values: [{ customFieldOptionId: 'o' }] },
        { customFieldId: 'ours', values: [{ data: 'new' }] },
      ],
    });
  });

  it('removes one custom field and adds another', () => {
    const patch = toTravelerChange(
      planOf({ 'customFields.more': [{ data: 'm' }] }, ['customFields.ours']),
      current,
    );
    expect(patch.customFields).toEqual([
      { customFieldId: 'foreign', values: [{ customFieldOptionId: 'o' }] },
      { customFieldId: 'more', values: [{ data: 'm' }] },
    ]);
  });

  it('leaves out the custom field values that the travel API refused', () => {
    const list: CustomFieldValue = {
      customFieldId: 'list',
      values: [
        { customFieldOptionId: 'a', data: 'A' },
        { customFieldOptionId: 'b', data: 'B' },
      ],
    };
    const [foreign = list] = current.customFields ?? [];
    const before = { ...current, customFields: [list, foreign] };
    const plan = planOf({ 'customFields.ours': [{ data: 'new' }] });
    const sent = (...omit: CustomFieldValue[]) => toTravelerChange(plan, before, omit).customFields;
    const ours = { customFieldId: 'ours', values: [{ data: 'new' }] };
    const onlyB = { customFieldId: 'list', values: [{ customFieldOptionId: 'b' }] };
    expect(sent({ ...list, values: list.values.slice(0, 1) })).toEqual([
      onlyB,
      { customFieldId: 'foreign', values: [{ customFieldOptionId: 'o' }] },
      ours,
    ]);
    expect(sent({ ...list, values: list.values.slice(0, 1) }, foreign)).toEqual([onlyB, ours]);
    expect(sent(list, foreign)).toEqual([ours]);
  });

  it('repeats the roles that the bridge does not own', () => {
    const patch = toTravelerChange(planOf({ 'roles.guest': true }, ['roles.manager']), current);
    expect(patch).toEqual({ roles: ['premium', 'guest'] });
  });

  it('does not add a role twice', () => {
    expect(toTravelerChange(planOf({ 'roles.premium': true }), current)).toEqual({
      roles: ['premium', 'manager'],
    });
  });
});

describe('toNewTraveler', () => {
  it('has every value in its place, and no archived for an active user', () => {
    const traveler = toNewTraveler(
      planOf({
        email: 'a@x.example',
        archived: false,
        'address.city': 'Paris',
        'customFields.f': [{ data: 'x' }],
        'roles.guest': true,
      }),
    );
    expect(traveler).toEqual({
      email: 'a@x.example',
      address: { city: 'Paris' },
      customFields: [{ customFieldId: 'f', values: [{ data: 'x' }] }],
      roles: ['guest'],
    });
  });

  it('has archived for a user who is inactive from the start', () => {
    expect(toNewTraveler(planOf({ archived: true }))).toEqual({ archived: true });
  });
});

describe('findInvalidFields', () => {
  const sent = planOf({
    email: 'a',
    'address.city': 'b',
    'address.countryCode': 'XX',
    'customFields.f': [],
    'customFields.g': [],
    'roles.guest': true,
    'roles.manager': true,
  });
  const change = {
    customFields: ['foreign', 'f', 'g'].map((customFieldId) => ({ customFieldId, values: [] })),
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
  ])('finds the fields of the name "%s": %j', (name, keys) => {
    expect(findInvalidFields([name], sent, change)).toEqual(keys);
  });

  it('returns all planned elements if the change is not known', () => {
    expect(findInvalidFields(['customFields.1.values'], sent)).toEqual(['customFields.f', 'customFields.g']);
  });

  it('returns fields that should have been removed', () => {
    expect(findInvalidFields(['customFields'], planOf({}, ['customFields.f']))).toEqual(['customFields.f']);
  });
});

describe('findUnsendableValues', () => {
  const field = (id: string, disabled: boolean, options: [string, boolean][] = []) => ({
    id,
    name: id,
    dataType: options.length > 0 ? 'optionsList' : 'text',
    disabled,
    options: options.map(([option, isDisabled]) => ({ id: option, data: option, disabled: isDisabled })),
  });
  const customFields = [
    field('on', false),
    field('off', true),
    field('list', false, [
      ['a', true],
      ['b', false],
    ]),
    field('ours', true),
  ];
  const held = (customFieldId: string, ...options: string[]) => ({
    customFieldId,
    values:
      options.length > 0 ? options.map((id) => ({ customFieldOptionId: id, data: id })) : [{ data: 'x' }],
  });
  const traveler = {
    ...current,
    customFields: [held('on'), held('off'), held('list', 'a', 'b'), held('gone')],
  };
  const planned = ['customFields.ours'];
  const change = toTravelerChange(planOf({ 'customFields.ours': [{ data: 'new' }] }), traveler);
  const judged = (names: string[], other: Partial<RefusedChange> = {}) =>
    findUnsendableValues({ names, change, planned, current: traveler, customFields, ...other });
  const partOfList = { customFieldId: 'list', values: [{ customFieldOptionId: 'a', data: 'a' }] };

  it.each([
    ['by id', ['customFields.off'], [held('off')]],
    ['by index', ['customFields[1]'], [held('off')]],
    ['by index with a dot', ['customFields.1.values'], [held('off')]],
    ['an option that is disabled, and not those beside it', ['customFields.list'], [partOfList]],
    ['a field that is gone', ['customFields[3].customFieldId'], [held('gone')]],
    ['several', ['customFields.off', 'customFields.gone'], [held('off'), held('gone')]],
    ['all of them at once', ['customFields'], [held('off'), partOfList, held('gone')]],
  ])('finds the values that a 422 names: %s', (_title, names, values) => {
    expect(judged(names)).toEqual({ values, names: [], isDoubtful: false });
  });

  it.each([
    ['a field that can be assigned, as far as is known', 'customFields.on', true],
    ['a field that was to be changed', 'customFields.ours', false],
    ['another field', 'firstName', false],
    ['an index that is none', 'customFields[7]', false],
  ])('ignores a name that means something else: %s', (_title, name, isDoubtful) => {
    expect(judged([name])).toEqual({ values: [], names: [name], isDoubtful });
    expect(judged([name, 'customFields.off'])).toEqual({ values: [held('off')], names: [name], isDoubtful });
  });

  it('finds nothing if no value must be left out', () => {
    expect(judged(['customFields'], { current: { ...traveler, customFields: [held('on')] } })).toEqual({
      values: [],
      names: ['customFields'],
      isDoubtful: true,
    });
    expect(judged(['customFields.off'], { current: undefined })).toMatchObject({ values: [] });
    expect(judged(['customFields.off'], { change: {} })).toMatchObject({ values: [] });
  });
});
