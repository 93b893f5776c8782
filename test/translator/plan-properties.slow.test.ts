import fc from 'fast-check';
import type { AppliedFields, Plan, WantedField } from '../../src/model/translation.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import { makePlan } from '../../src/translator/plan/plan.ts';
import { hasValue, readField } from '../../src/translator/plan/traveler.ts';
import type { Rules } from '../../src/translator/rules/rules.ts';
import { toTravel } from '../../src/translator/to-travel.ts';
import { runs } from '../fixtures/runs.ts';
import { afterPlan, applyPlan, lookups, rulesOf } from '../fixtures/translator.ts';
import { anyMapping, anyTraveler, anyUser } from './arbitraries.ts';

const references = new Map([['m-1', { travelId: 't-1' }]]);
const nothing: Plan = { set: {}, adopt: {}, remove: [], released: [], needsFreshRead: false };

/** A traveler, and the fields that the bridge owns on it. */
interface Held {
  applied: AppliedFields;
  traveler: TravelUser;
}

/** One reconciliation with a travel service that accepts everything. */
function reconciled(
  user: Parameters<typeof toTravel>[1],
  rules: Rules,
  { applied, traveler }: Held,
): Held & { done: Plan; wanted: Record<string, WantedField> } {
  const wanted = toTravel(rules, user, { lookups, references, applied }).fields;
  const done = makePlan({ applied, refused: {}, wanted, observed: traveler, basis: '', rules });
  const after = applyPlan(done, traveler);
  return { applied: afterPlan(applied, done, after, traveler), traveler: after, done, wanted };
}

const anyHistory = fc.record({ user: anyUser, mapping: anyMapping });

it('after a plan is carried out the traveler is as wanted, and the next plan is empty', () => {
  fc.assert(
    fc.property(anyHistory, anyHistory, anyTraveler, (past, present, observed) => {
      const before = reconciled(past.user, rulesOf(past.mapping), { applied: {}, traveler: observed });
      const rules = rulesOf(present.mapping);
      const { applied, traveler, wanted } = reconciled(present.user, rules, before);
      for (const [key, field] of Object.entries(wanted)) {
        if (field.kind === 'value')
          expect(
            hasValue(traveler, { key, wanted: field.value, rules }) ||
              (readField(traveler, key) === undefined && field.value === false),
          ).toBe(true);
        if (field.kind === 'absent' && key !== 'email' && key in before.applied)
          expect(readField(traveler, key)).toBeUndefined();
      }
      const again = reconciled(present.user, rules, { applied, traveler });
      expect(again.done).toEqual(nothing);
    }),
    runs(300),
  );
});

it('roles and custom fields that no rule ever set stay as they were, however the rules and the user change', () => {
  fc.assert(
    fc.property(fc.array(anyHistory, { minLength: 1, maxLength: 3 }), anyTraveler, (histories, observed) => {
      let held: Held = { applied: {}, traveler: observed };
      const touched = new Set<string>();
      for (const { user, mapping } of histories) {
        const { done, applied, traveler } = reconciled(user, rulesOf(mapping), held);
        for (const key of Object.keys({ ...done.set, ...done.adopt })) touched.add(key);
        held = { applied, traveler };
      }
      const elements = [
        ...(observed.roles ?? []).map((role) => `roles.${role}`),
        ...(observed.customFields ?? []).map(({ customFieldId }) => `customFields.${customFieldId}`),
      ];
      for (const key of elements.filter((key) => !touched.has(key)))
        expect(readField(held.traveler, key)).toEqual(readField(observed, key));
    }),
    runs(200),
  );
});

it('when the mapping rules are removed, their fields keep their values and are released', () => {
  fc.assert(
    fc.property(anyHistory, anyTraveler, ({ user, mapping }, observed) => {
      const before = reconciled(user, rulesOf(mapping), { applied: {}, traveler: observed });
      const { done, traveler } = reconciled(user, rulesOf({ ...mapping, scimUserMapping: [] }), before);
      // The fields without a default rule.
      const kept = Object.keys(before.applied).filter((key) => /^(customFields|travelerPrefs)\./.test(key));
      // A role that the traveler had before a rule gave it is left to the travel service.
      const roles = done.released.filter((key) => key.startsWith('roles.'));
      expect(done.released.filter((key) => !roles.includes(key))).toEqual(kept);
      expect(roles.filter((key) => before.applied[key]?.before !== true)).toEqual([]);
      for (const key of kept) expect(readField(traveler, key)).toEqual(readField(before.traveler, key));
    }),
  );
});
