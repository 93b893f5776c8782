import { findDrift } from '../../src/translator/plan.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';

const observed: TravelUser = {
  id: 't',
  email: 'a@x.example',
  archived: false,
  createdAt: '2026-01-01T00:00:00Z',
  firstName: 'Ada',
  roles: ['guest'],
  customFields: [{ customFieldId: 'f', name: 'F', values: [{ data: 'x' }] }],
};

it('is none where the traveler is as the travel API answered, whatever was sent', () => {
  const applied = {
    firstName: { sent: 'ADA', answered: 'Ada', source: 'ADA' },
    lang: { sent: 'fr', answered: null, source: 'fr' },
    'roles.guest': { sent: true, answered: true, source: 'guest' },
    'customFields.f': { sent: [{ data: 'x' }], answered: [{ data: 'x' }], source: 'x' },
  };
  expect(findDrift(applied, observed)).toEqual([]);
});

it('names each field that somebody changed, with what is there now', () => {
  const applied = {
    firstName: { sent: 'Eva', answered: 'Eva', source: 'Eva' },
    'roles.manager': { sent: true, answered: true, source: 'manager' },
    'customFields.f': { sent: [{ data: 'y' }], answered: [{ data: 'y' }], source: 'y' },
  };
  expect(findDrift(applied, observed).map(({ field, code, value }) => ({ field, code, value }))).toEqual([
    { field: 'firstName', code: 'drift', value: 'Ada' },
    { field: 'roles.manager', code: 'drift', value: null },
    { field: 'customFields.f', code: 'drift', value: [{ data: 'x' }] },
  ]);
});
