import type { AppliedFields, Plan, WantedField } from '../../src/model/translation.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { Json } from '../../src/schema/resource.ts';
import { findDrift, isEmptyPlan, makePlan, type PlanInput } from '../../src/translator/plan/plan.ts';
import { rulesOf } from '../fixtures/translator.ts';

const rules = rulesOf({ scimUserMapping: [{ scimAttribute: 'title', customFieldId: 'f' }] });
const bareTraveler: TravelUser = {
  id: 't',
  email: 'a@x.example',
  archived: false,
  createdAt: '2026-01-01T00:00:00Z',
};

function planned(situation: Partial<PlanInput>): Plan {
  return makePlan({
    applied: {},
    refused: {},
    wanted: {},
    observed: bareTraveler,
    basis: 'b1',
    rules,
    ...situation,
  });
}

function value(value: Json, source: Json = value): WantedField {
  return { kind: 'value', value, source };
}

function appliedField(
  sent: Json,
  { seen = sent, source = sent }: { seen?: Json; source?: Json } = {},
): AppliedFields[string] {
  return { sent, seen, source };
}

const absent: WantedField = { kind: 'absent' };
const nothing: Plan = { set: {}, adopt: {}, remove: [], released: [], needsFreshRead: false };

describe('makePlan', () => {
  it('sends a wanted value that was never sent', () => {
    expect(planned({ wanted: { lang: value('fr', 'fr-FR') } })).toEqual({
      ...nothing,
      set: { lang: { value: 'fr', source: 'fr-FR' } },
    });
  });

  it('sends a value that changed', () => {
    const result = planned({ wanted: { lang: value('fr') }, applied: { lang: appliedField('en') } });
    expect(result.set).toEqual({ lang: { value: 'fr', source: 'fr' } });
  });

  it('sends a value that changed although the traveler was last read with it, because the reading may be old', () => {
    const observed = { ...bareTraveler, lang: 'fr' };
    const result = planned({
      wanted: { lang: value('fr') },
      applied: { lang: appliedField('en') },
      observed,
    });
    expect(result.set).toEqual({ lang: { value: 'fr', source: 'fr' } });
  });

  it('sends no value twice if the travel API spells it differently', () => {
    const applied = { firstName: appliedField('ADA', { seen: 'Ada' }) };
    expect(planned({ wanted: { firstName: value('ADA') }, applied })).toEqual(nothing);
  });

  it('adopts a new source of the same value without a call', () => {
    const applied = { phoneNumber: appliedField('+33 612345678', { source: '0033612345678' }) };
    const result = planned({ wanted: { phoneNumber: value('+33 612345678', '+33612345678') }, applied });
    expect(result).toEqual({
      ...nothing,
      adopt: { phoneNumber: { value: '+33 612345678', source: '+33612345678' } },
    });
    expect(isEmptyPlan(result)).toBe(true);
  });

  it.each<[string, Partial<TravelUser>, string, Json]>([
    ['the same', { lang: 'fr' }, 'lang', 'fr'],
    ['false', {}, 'archived', false],
    ['a phone number in other groups', { phoneNumber: '+33 6 12 34 56 78' }, 'phoneNumber', '+33 612345678'],
    ['a name with blanks around', { firstName: ' Ada ' }, 'firstName', 'Ada'],
    ['a country in small letters', { address: { countryCode: 'fr' } }, 'address.countryCode', 'FR'],
    ['a part of the address', { address: { city: 'Paris' } }, 'address.city', 'Paris'],
    ['a role', { roles: ['guest', 'manager'] }, 'roles.manager', true],
    [
      'a text',
      { customFields: [{ customFieldId: 'f', name: 'F', values: [{ data: 'x', displayName: 'X' }] }] },
      'customFields.f',
      [{ data: 'x' }],
    ],
    [
      'an option whose text was changed',
      { customFields: [{ customFieldId: 'f', values: [{ customFieldOptionId: 'o', data: 'old' }] }] },
      'customFields.f',
      [{ customFieldOptionId: 'o', data: 'new' }],
    ],
  ])('adopts a value without a call if the traveler has it already: %s', (_title, seen, key, wanted) => {
    const result = planned({ wanted: { [key]: value(wanted) }, observed: { ...bareTraveler, ...seen } });
    expect(result).toEqual({ ...nothing, adopt: { [key]: { value: wanted, source: wanted } } });
  });

  it.each<[string, Partial<TravelUser>, string, Json]>([
    ['another value', { lang: 'en' }, 'lang', 'fr'],
    ['an email in another case', { email: 'A@x.example' }, 'email', 'a@x.example'],
    [
      'another text',
      { customFields: [{ customFieldId: 'f', values: [{ data: 'x' }] }] },
      'customFields.f',
      [{ data: 'y' }],
    ],
    ['no values', { customFields: [{ customFieldId: 'f', values: [] }] }, 'customFields.f', [{ data: 'y' }]],
    ['no role', { roles: ['guest'] }, 'roles.manager', true],
    ['an unreadable phone number', { phoneNumber: 'n/a' }, 'phoneNumber', '+33 612345678'],
  ])('sends a value that the traveler does not have: %s', (_title, seen, key, wanted) => {
    const result = planned({ wanted: { [key]: value(wanted) }, observed: { ...bareTraveler, ...seen } });
    expect(result.set).toEqual({ [key]: { value: wanted, source: wanted } });
    expect(result.adopt).toEqual({});
  });

  it('removes owned fields that are absent, and no others', () => {
    const wanted = { lang: absent, gender: absent };
    expect(planned({ wanted, applied: { lang: appliedField('fr') } })).toEqual({
      ...nothing,
      remove: ['lang'],
    });
  });

  it('never removes the email or archived', () => {
    const applied = { email: appliedField('a@x.example'), archived: appliedField(false) };
    expect(planned({ wanted: { email: absent, archived: absent }, applied })).toEqual(nothing);
  });

  it('keeps an applied value while its source is unresolved and unchanged', () => {
    const applied = { managerId: appliedField('t-1', { source: { value: 'm', of: 1 } }) };
    const wanted: Record<string, WantedField> = {
      managerId: { kind: 'unresolved', source: { of: 1, value: 'm' } },
    };
    expect(planned({ wanted, applied })).toEqual(nothing);
  });

  it('removes a value that was applied from another source than the unresolved one', () => {
    const applied = { managerId: appliedField('t-1', { source: 'm-1' }) };
    const wanted: Record<string, WantedField> = { managerId: { kind: 'unresolved', source: 'm-2' } };
    expect(planned({ wanted, applied }).remove).toEqual(['managerId']);
  });

  it('does not touch an unresolved field that it does not own', () => {
    expect(planned({ wanted: { managerId: { kind: 'unresolved', source: 'm' } } })).toEqual(nothing);
  });

  it('releases a field that no rule sets any more', () => {
    const applied = { 'customFields.gone': appliedField([{ data: 'x' }]) };
    expect(planned({ applied })).toEqual({ ...nothing, released: ['customFields.gone'] });
  });

  it('removes a role that is no longer given', () => {
    const result = planned({ applied: { 'roles.manager': appliedField(true, { source: 'manager' }) } });
    expect(result).toEqual({ ...nothing, remove: ['roles.manager'], needsFreshRead: true });
  });

  it('needs a fresh read of the traveler before an array is sent', () => {
    expect(planned({ wanted: { 'customFields.f': value([{ data: 'x' }]) } }).needsFreshRead).toBe(true);
    expect(planned({ wanted: { 'roles.guest': value(true) } }).needsFreshRead).toBe(true);
    expect(planned({ wanted: { 'address.city': value('Paris') } }).needsFreshRead).toBe(true);
  });

  it('does not send a refused value again until the value or the version of the rules changes', () => {
    const refused = { phoneNumber: { value: '+1 1', basis: 'b1', reason: 'pattern' } };
    expect(planned({ wanted: { phoneNumber: value('+1 1') }, refused })).toEqual(nothing);
    expect(planned({ wanted: { phoneNumber: value('+1 2') }, refused }).set).toHaveProperty('phoneNumber');
    expect(planned({ wanted: { phoneNumber: value('+1 1') }, refused, basis: 'b2' }).set).toHaveProperty(
      'phoneNumber',
    );
  });

  it('does not repeat a refused removal', () => {
    const refused = { 'customFields.f': { value: null, basis: 'b1', reason: 'required' } };
    const applied = { 'customFields.f': appliedField([{ data: 'x' }]) };
    expect(planned({ wanted: { 'customFields.f': absent }, applied, refused })).toEqual(nothing);
  });

  it('does not change its input', () => {
    const situation = {
      wanted: { lang: absent, gender: value('male') },
      applied: { lang: appliedField('fr') },
    };
    const before = structuredClone(situation);
    planned(situation);
    expect(situation).toEqual(before);
  });
});

describe('findDrift', () => {
  const observed: TravelUser = {
    id: 't',
    email: 'a@x.example',
    archived: false,
    createdAt: '2026-01-01T00:00:00Z',
    firstName: 'Ada',
    roles: ['guest'],
    customFields: [{ customFieldId: 'f', name: 'F', values: [{ data: 'x' }] }],
  };

  it('finds no drift if the traveler is as in the response, even if another spelling was sent', () => {
    const applied = {
      firstName: { sent: 'ADA', seen: 'Ada', source: 'ADA' },
      lang: { sent: 'fr', seen: null, source: 'fr' },
      'roles.guest': { sent: true, seen: true, source: 'guest' },
      'customFields.f': { sent: [{ data: 'x' }], seen: [{ data: 'x' }], source: 'x' },
    };
    expect(findDrift(applied, observed)).toEqual([]);
  });

  it('returns each field that was changed in the travel service, with its present value', () => {
    const applied = {
      firstName: { sent: 'Eva', seen: 'Eva', source: 'Eva' },
      'roles.manager': { sent: true, seen: true, source: 'manager' },
      'customFields.f': { sent: [{ data: 'y' }], seen: [{ data: 'y' }], source: 'y' },
    };
    expect(findDrift(applied, observed).map(({ field, code, value }) => ({ field, code, value }))).toEqual([
      { field: 'firstName', code: 'drift', value: 'Ada' },
      { field: 'roles.manager', code: 'drift', value: null },
      { field: 'customFields.f', code: 'drift', value: [{ data: 'x' }] },
    ]);
  });
});
