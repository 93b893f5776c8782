import fc from 'fast-check';
import type { AppliedFields, Plan, WantedField } from '../../src/model/translation.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { Json } from '../../src/schema/resource.ts';
import {
  acceptedAndNotShown,
  afterAnswer,
  afterRead,
  beforeCall,
  isDrift,
  showsCreatedValues,
} from '../../src/translator/plan/field-records.ts';
import { makePlan } from '../../src/translator/plan/plan.ts';
import { readField } from '../../src/translator/plan/traveler.ts';
import { runs } from '../fixtures/runs.ts';
import { afterPlan, applyPlan, rulesOf } from '../fixtures/translator.ts';

const rules = rulesOf({ scimUserMapping: [{ scimAttribute: 'title', customFieldId: 'f' }] });
const bare: TravelUser = {
  id: 't',
  email: 'a@x.example',
  archived: false,
  createdAt: '2026-01-01T00:00:00Z',
};
const nothing: Plan = { set: {}, adopt: {}, remove: [], released: [], needsFreshRead: false };
const value = (sent: Json): WantedField => ({ kind: 'value', value: sent, source: sent });
const set = (values: Record<string, Json>): Plan['set'] =>
  Object.fromEntries(Object.entries(values).map(([key, one]) => [key, { value: one, source: one }]));

function planOf(wanted: Record<string, WantedField>, applied: AppliedFields, observed: TravelUser): Plan {
  return makePlan({ applied, refused: {}, wanted, observed, basis: 'b', rules });
}

describe('the record of a field', () => {
  const plan = { ...nothing, set: set({ firstName: 'ADA', 'roles.guest': true }), remove: ['lang'] };
  const lang = { sent: 'fr', source: 'fr', seen: 'fr' };

  it('says before a call what is sent and what was there, and not what the traveler shows', () => {
    expect(beforeCall({ lang }, plan, { ...bare, firstName: 'Eva', lang: 'fr' })).toEqual({
      firstName: { sent: 'ADA', source: 'ADA', before: 'Eva' },
      'roles.guest': { sent: true, source: true },
      lang: { sent: null, source: 'fr' },
    });
  });

  it('says after the answer what the traveler shows, and goes with a removal', () => {
    const answer = { ...bare, firstName: 'Ada', roles: ['guest'] };
    expect(afterPlan({ lang }, plan, answer, bare)).toEqual({
      firstName: { sent: 'ADA', source: 'ADA', before: null, seen: 'Ada' },
      'roles.guest': { sent: true, source: true, seen: true },
    });
  });

  it('stays after a removal while an earlier call may still be carried out', () => {
    const sent = beforeCall({ lang }, { ...nothing, remove: ['lang'] }, bare);
    const open = afterAnswer(sent, { ...nothing, remove: ['lang'] }, bare, { rules, isOpen: true });
    expect(open).toEqual({ lang: { sent: null, source: 'fr', seen: null } });
    const late = afterRead(open, { ...bare, lang: 'fr' }, { rules, isOpen: true });
    expect(planOf({ lang: { kind: 'absent' } }, late, { ...bare, lang: 'fr' }).remove).toEqual(['lang']);
    expect(afterRead(open, bare, { rules, isOpen: false })).toEqual({});
  });

  it('keeps a role that the traveler had before', () => {
    const guest = { ...bare, roles: ['guest'] };
    const adopted = afterPlan({}, planOf({ 'roles.guest': value(true) }, {}, guest), guest, guest);
    expect(adopted).toEqual({ 'roles.guest': { sent: true, source: true, seen: true, before: true } });
    expect(planOf({}, adopted, guest)).toEqual({ ...nothing, released: ['roles.guest'] });
  });

  it('keeps the value from before the bridge owned the field through all changes', () => {
    const first = planOf({ lang: value('fr') }, {}, { ...bare, lang: 'de' });
    const owned = afterPlan({}, first, { ...bare, lang: 'fr' }, { ...bare, lang: 'de' });
    const second = planOf({ lang: value('it') }, owned, { ...bare, lang: 'fr' });
    const changed = afterPlan(owned, second, { ...bare, lang: 'it' }, { ...bare, lang: 'fr' });
    expect(changed.lang).toEqual({ sent: 'it', source: 'it', seen: 'it', before: 'de' });
  });
});

describe('a difference from what was sent', () => {
  const applied = { lang: { sent: 'fr', source: 'fr', seen: 'fr' } };
  const edited = { ...bare, lang: 'de' };

  it('is drift once nothing is unknown, and is sent again while a call may still be carried out', () => {
    const settled = afterRead(applied, edited, { rules, isOpen: false });
    expect([isDrift('lang', settled.lang ?? { sent: null, source: null }, 'de'), settled]).toEqual([
      true,
      applied,
    ]);
    expect(planOf({ lang: value('fr') }, settled, edited).set).toEqual({});
    const open = afterRead(applied, edited, { rules, isOpen: true });
    expect(planOf({ lang: value('fr') }, open, edited).set).toEqual(set({ lang: 'fr' }));
  });

  it('is no difference if the travel API has answered with this spelling', () => {
    const spelled = { firstName: { sent: 'ADA', source: 'ADA', seen: 'Ada' } };
    const shown = { ...bare, firstName: 'Ada' };
    expect(afterRead(spelled, shown, { rules, isOpen: true })).toEqual(spelled);
  });
});

describe('a value that the travel API has accepted and does not show', () => {
  it.each<[string, Json, Json, boolean]>([
    ['archived', true, false, true],
    ['roles.guest', true, null, true],
    ['travelPolicyId', 'p-1', null, false],
    ['firstName', 'ADA', 'Ada', false],
  ])('is told of %s, which no travel API rewrites', (key, sent, seen, isTold) => {
    const traveler = { ...bare, firstName: 'Ada', roles: [] };
    const applied = { [key]: { sent, source: sent, seen } };
    expect(acceptedAndNotShown(applied, traveler, rules)).toEqual(isTold ? [key] : []);
  });

  it('is no evidence against a create, and another reference is', () => {
    const created = { travelPolicyId: { sent: 'p-1', source: 'p' }, archived: { sent: true, source: false } };
    expect(showsCreatedValues({ ...bare, travelPolicyId: 'p-1' }, created, rules)).toBe(true);
    expect(showsCreatedValues({ ...bare, travelPolicyId: 'p-2' }, created, rules)).toBe(false);
    expect(showsCreatedValues(bare, created, rules)).toBe(false);
  });
});

const keys = ['lang', 'travelPolicyId', 'roles.guest', 'roles.organizer', 'customFields.f', 'address.city'];

function valueAt(key: string, number: number): Json {
  if (key.startsWith('roles.')) return true;
  return key.startsWith('customFields.') ? [{ data: `v${number}` }] : `v${number}`;
}

const anyWanted: fc.Arbitrary<Record<string, WantedField>> = fc
  .record(Object.fromEntries(keys.map((key) => [key, fc.option(fc.integer({ min: 0, max: 2 }))])))
  .map((numbers) =>
    Object.fromEntries(
      Object.entries(numbers).map(([key, number]) => [
        key,
        number === null ? { kind: 'absent' } : value(valueAt(key, Number(number))),
      ]),
    ),
  );

it('whether or not each call was carried out, and however late, the traveler ends as it is wanted after a read', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(anyWanted, fc.constantFrom('answered', 'done', 'lost', 'late')), {
        minLength: 1,
        maxLength: 4,
      }),
      (calls) => {
        let applied: AppliedFields = {};
        let traveler = bare;
        let wanted: Record<string, WantedField> = {};
        const late: Plan[] = [];
        for (const [next, fate] of calls) {
          wanted = next;
          applied = afterRead(applied, traveler, { rules, isOpen: true });
          const plan = planOf(wanted, applied, traveler);
          const sent = beforeCall(applied, plan, traveler);
          if (fate === 'answered' || fate === 'done') traveler = applyPlan(plan, traveler);
          if (fate === 'late') late.push(plan);
          applied = fate === 'answered' ? afterAnswer(sent, plan, traveler, { rules, isOpen: true }) : sent;
        }
        for (const plan of late) traveler = applyPlan(plan, traveler);
        applied = afterRead(applied, traveler, { rules, isOpen: true });
        const last = planOf(wanted, applied, traveler);
        traveler = applyPlan(last, traveler);
        for (const [key, field] of Object.entries(wanted))
          expect([key, readField(traveler, key)]).toEqual([
            key,
            field.kind === 'value' ? field.value : undefined,
          ]);
      },
    ),
    runs(500),
  );
});
