import type { Json } from '../../src/schema/resource.ts';
import {
  isEmptyPlan,
  makePlan,
  type Plan,
  type PlanInput,
  toAppliedFields,
} from '../../src/translator/plan.ts';
import type { AppliedFields, WantedField } from '../../src/translator/translation.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';
import { rulesOf } from '../fixtures/translator.ts';

const rules = rulesOf({ scimUserMapping: [{ scimAttribute: 'title', customFieldId: 'f' }] });
const nobody: TravelUser = {
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
    observed: nobody,
    basis: 'b1',
    rules,
    ...situation,
  });
}

function value(value: Json, source: Json = value): WantedField {
  return { kind: 'value', value, source };
}

function ours(
  sent: Json,
  { answered = sent, source = sent }: { answered?: Json; source?: Json } = {},
): AppliedFields[string] {
  return { sent, answered, source };
}

const absent: WantedField = { kind: 'absent' };
const nothing: Plan = { set: {}, adopt: {}, remove: [], released: [], needsFreshRead: false };

describe('plan', () => {
  it('sends what is wanted and was never sent', () => {
    expect(planned({ wanted: { lang: value('fr', 'fr-FR') } })).toEqual({
      ...nothing,
      set: { lang: { value: 'fr', source: 'fr-FR' } },
    });
  });

  it('sends what changed', () => {
    const result = planned({ wanted: { lang: value('fr') }, applied: { lang: ours('en') } });
    expect(result.set).toEqual({ lang: { value: 'fr', source: 'fr' } });
  });

  it('sends what changed though the traveler was seen with it, as that may be long ago', () => {
    const observed = { ...nobody, lang: 'fr' };
    const result = planned({ wanted: { lang: value('fr') }, applied: { lang: ours('en') }, observed });
    expect(result.set).toEqual({ lang: { value: 'fr', source: 'fr' } });
  });

  it('sends nothing twice, however the travel API spells it', () => {
    const applied = { firstName: ours('ADA', { answered: 'Ada' }) };
    expect(planned({ wanted: { firstName: value('ADA') }, applied })).toEqual(nothing);
  });

  it('keeps a new source of the same value without a call', () => {
    const applied = { phoneNumber: ours('+33 612345678', { source: '0033612345678' }) };
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
  ])('adopts without a call what the traveler has already: %s', (_title, seen, key, wanted) => {
    const result = planned({ wanted: { [key]: value(wanted) }, observed: { ...nobody, ...seen } });
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
  ])('sends what the traveler has not: %s', (_title, seen, key, wanted) => {
    const result = planned({ wanted: { [key]: value(wanted) }, observed: { ...nobody, ...seen } });
    expect(result.set).toEqual({ [key]: { value: wanted, source: wanted } });
    expect(result.adopt).toEqual({});
  });

  it('removes what is ours and absent, and nothing else', () => {
    const wanted = { lang: absent, gender: absent };
    expect(planned({ wanted, applied: { lang: ours('fr') } })).toEqual({ ...nothing, remove: ['lang'] });
  });

  it('never removes the email or archived', () => {
    const applied = { email: ours('a@x.example'), archived: ours(false) };
    expect(planned({ wanted: { email: absent, archived: absent }, applied })).toEqual(nothing);
  });

  it('keeps what was applied while its source is unresolved and unchanged', () => {
    const applied = { managerId: ours('t-1', { source: { value: 'm', of: 1 } }) };
    const wanted: Record<string, WantedField> = {
      managerId: { kind: 'unresolved', source: { of: 1, value: 'm' } },
    };
    expect(planned({ wanted, applied })).toEqual(nothing);
  });

  it('removes what was applied from another source than the unresolved one', () => {
    const applied = { managerId: ours('t-1', { source: 'm-1' }) };
    const wanted: Record<string, WantedField> = { managerId: { kind: 'unresolved', source: 'm-2' } };
    expect(planned({ wanted, applied }).remove).toEqual(['managerId']);
  });

  it('leaves alone what is unresolved and was never ours', () => {
    expect(planned({ wanted: { managerId: { kind: 'unresolved', source: 'm' } } })).toEqual(nothing);
  });

  it('releases a field whose rule is gone', () => {
    const applied = { 'customFields.gone': ours([{ data: 'x' }]) };
    expect(planned({ applied })).toEqual({ ...nothing, released: ['customFields.gone'] });
  });

  it('removes a role that is no longer given', () => {
    const result = planned({ applied: { 'roles.manager': ours(true, { source: 'manager' }) } });
    expect(result).toEqual({ ...nothing, remove: ['roles.manager'], needsFreshRead: true });
  });

  it('needs to see the traveler before an array is sent', () => {
    expect(planned({ wanted: { 'customFields.f': value([{ data: 'x' }]) } }).needsFreshRead).toBe(true);
    expect(planned({ wanted: { 'roles.guest': value(true) } }).needsFreshRead).toBe(true);
    expect(planned({ wanted: { 'address.city': value('Paris') } }).needsFreshRead).toBe(false);
  });

  it('does not repeat what was refused, until the value or the basis is another', () => {
    const refused = { phoneNumber: { value: '+1 1', basis: 'b1', reason: 'pattern' } };
    expect(planned({ wanted: { phoneNumber: value('+1 1') }, refused })).toEqual(nothing);
    expect(planned({ wanted: { phoneNumber: value('+1 2') }, refused }).set).toHaveProperty('phoneNumber');
    expect(planned({ wanted: { phoneNumber: value('+1 1') }, refused, basis: 'b2' }).set).toHaveProperty(
      'phoneNumber',
    );
  });

  it('does not repeat a removal that was refused', () => {
    const refused = { 'customFields.f': { value: null, basis: 'b1', reason: 'required' } };
    const applied = { 'customFields.f': ours([{ data: 'x' }]) };
    expect(planned({ wanted: { 'customFields.f': absent }, applied, refused })).toEqual(nothing);
  });

  it('changes nothing that it was given', () => {
    const situation = { wanted: { lang: absent, gender: value('male') }, applied: { lang: ours('fr') } };
    const before = structuredClone(situation);
    planned(situation);
    expect(situation).toEqual(before);
  });
});

describe('keep', () => {
  it('holds what was sent, what was answered, and the source', () => {
    const result = planned({
      wanted: { firstName: value('ADA', 'ada'), 'roles.guest': value(true, 'Guest') },
    });
    const answer = { ...nobody, firstName: 'Ada', roles: ['guest'] };
    expect(toAppliedFields({}, result, answer)).toEqual({
      firstName: { sent: 'ADA', answered: 'Ada', source: 'ada' },
      'roles.guest': { sent: true, answered: true, source: 'Guest' },
    });
  });

  it('holds null where the travel API answered nothing', () => {
    const result = planned({ wanted: { lang: value('fr') } });
    expect(toAppliedFields({}, result, nobody)).toEqual({
      lang: { sent: 'fr', answered: null, source: 'fr' },
    });
  });

  it('drops what was removed or released, and leaves the rest', () => {
    const applied = { lang: ours('fr'), gender: ours('male'), 'customFields.gone': ours([]) };
    const result = planned({ wanted: { lang: absent, gender: value('male') }, applied });
    expect(toAppliedFields(applied, result, nobody)).toEqual({ gender: ours('male') });
  });

  it('leaves nothing to plan', () => {
    const wanted = {
      lang: value('fr'),
      'address.city': value('Paris'),
      'roles.guest': value(true),
      gender: absent,
    };
    const applied = { gender: ours('male'), 'roles.manager': ours(true) };
    const kept = toAppliedFields(applied, planned({ wanted, applied }), nobody);
    expect(planned({ wanted, applied: kept })).toEqual(nothing);
  });
});
