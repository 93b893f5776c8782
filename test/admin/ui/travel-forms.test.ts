import { fieldLabel, titleOf } from '../../../src/admin/ui/views/travel-data/description.ts';
import { mergePatchOf, withoutEmpty } from '../../../src/admin/ui/views/travel-data/merge-patch.ts';

test('a merge patch has what was changed; what has gone is null, and lists are whole', () => {
  const before = { name: 'Paris', taxId: '1', address: { city: 'Paris', line1: 'x' }, roles: ['a'] };
  const after = { name: 'Paris', address: { city: 'Lyon' }, roles: ['a', 'b'], lang: 'en' };
  expect(mergePatchOf(before, after)).toEqual({
    ...{ taxId: null, address: { city: 'Lyon', line1: null }, roles: ['a', 'b'], lang: 'en' },
  });
  expect(mergePatchOf(before, before)).toEqual({});
});

test('empty texts, lists and objects of a form are left out, and objects that are required stay', () => {
  const schema = {
    required: ['budget'],
    properties: { budget: { properties: {} }, address: { properties: {} } },
  };
  const typed = { name: '', roles: [], address: { city: '' }, isDefault: false };
  expect(withoutEmpty(typed, schema, (one) => one)).toEqual({ isDefault: false, budget: {} });
});

test('a resource is known by its name, and a field by words', () => {
  expect(titleOf({ id: '1', firstName: 'Ada', email: 'ada@corp.example' })).toBe('Ada');
  const search = { departurePlace: { name: 'Paris' }, arrivalPlace: { name: 'Lisbon' }, kind: 'roundTrip' };
  expect(titleOf({ id: '1', search })).toBe('Paris → Lisbon');
  expect(titleOf({ id: '1' })).toBe('1');
  expect(['costCenterId', 'travelerIds', 'taxId', 'id'].map(fieldLabel)).toEqual([
    ...['Cost center', 'Traveler', 'Tax id', 'Id'],
  ]);
});
