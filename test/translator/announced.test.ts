import fc from 'fast-check';
import type { Json } from '../../src/schema/resource.ts';
import {
  type AnnouncedFields,
  addSentValues,
  markLateChanges,
  resolveAnnounced,
} from '../../src/translator/announced.ts';
import type { AppliedFields } from '../../src/translator/translation.ts';
import { readField, type TravelUser } from '../../src/translator/traveler.ts';
import { rulesOf } from '../fixtures/translator.ts';

const rules = rulesOf({ scimUserMapping: [] });
const keys = ['lang', 'travelPolicyId', 'roles.guest', 'roles.organizer', 'customFields.f', 'address.city'];
const key = fc.constantFrom(...keys);

function valueAt(name: string, number: number): Json {
  if (name.startsWith('roles.')) return true;
  return name.startsWith('customFields.') ? [{ data: `v${number}` }] : `v${number}`;
}

const number = fc.integer({ min: 0, max: 2 });
const value = (name: string) => fc.option(number).map((one) => (one === null ? null : valueAt(name, one)));

const anyValues = fc.record(Object.fromEntries(keys.map((name) => [name, value(name)])));

const anyAnnounced: fc.Arbitrary<AnnouncedFields> = fc
  .uniqueArray(key)
  .chain((names) =>
    fc.record(
      Object.fromEntries(
        names.map((name) => [
          name,
          fc.record({ value: value(name), before: value(name), source: fc.constant('s') }),
        ]),
      ),
    ),
  );

const anyApplied: fc.Arbitrary<AppliedFields> = anyValues.map((all) =>
  Object.fromEntries(
    Object.entries(all).flatMap(([name, one]) =>
      one === null ? [] : [[name, { sent: one, answered: one, source: 's' }]],
    ),
  ),
);

function travelerWith(all: Record<string, Json>): TravelUser {
  const text = (name: string) => (all[name] === null ? {} : { [name]: all[name] });
  const roles = ['guest', 'organizer'].filter((role) => all[`roles.${role}`] === true);
  const field = all['customFields.f'];
  const city = all['address.city'];
  return {
    id: 't',
    email: 'a@b.example',
    archived: false,
    createdAt: '2026-11-20T10:00:00Z',
    ...text('lang'),
    ...text('travelPolicyId'),
    ...(roles.length > 0 ? { roles } : {}),
    ...(field === null ? {} : { customFields: [{ customFieldId: 'f', values: field }] }),
    ...(city === null ? {} : { address: { city } }),
  } as TravelUser; // As JSON would carry it.
}

test('an announced field is owned exactly if the traveler has the announced value, or one that it did not have before', () => {
  fc.assert(
    fc.property(anyApplied, anyAnnounced, anyValues, (owned, announced, seen) => {
      const observed = travelerWith(seen);
      const after = resolveAnnounced(owned, announced, { observed, rules });
      for (const [name, field] of Object.entries(announced)) {
        const now = readField(observed, name) ?? null;
        const [isAnnounced, isAsBefore] = [field.value, field.before].map(
          (one) => JSON.stringify(one) === JSON.stringify(now),
        );
        if (isAnnounced) expect(name in after).toBe(field.value !== null);
        else if (isAsBefore) expect(after[name]).toEqual(owned[name]);
        else expect(name in after).toBe(field.value !== null || name in owned);
        if (!isAnnounced && !isAsBefore && name in after) expect(after[name]?.unsure).toBe(true);
      }
      for (const name of keys.filter((one) => !(one in announced))) expect(after[name]).toEqual(owned[name]);
    }),
  );
});

test('no field is marked unsure if the traveler is as in the last response', () => {
  fc.assert(
    fc.property(anyApplied, anyAnnounced, (owned, announced) => {
      const seen = Object.fromEntries(keys.map((name) => [name, owned[name]?.answered ?? null]));
      const sent = addSentValues({}, announced, owned);
      expect(markLateChanges(owned, sent, { observed: travelerWith(seen), rules })).toEqual(owned);
    }),
  );
});

test('every field that an earlier call sets late is marked unsure, and no field that the call did not name', () => {
  fc.assert(
    fc.property(anyApplied, anyAnnounced, anyApplied, (before, announced, owned) => {
      const sent = addSentValues({}, announced, before);
      // The late call changes the traveler after the fields in `owned` were applied.
      const seen: Record<string, Json> = {};
      for (const name of keys)
        seen[name] = announced[name]?.value ?? (name in announced ? null : (owned[name]?.answered ?? null));
      const after = markLateChanges(owned, sent, { observed: travelerWith(seen), rules });
      for (const name of keys) {
        const isAsAnswered = JSON.stringify(seen[name]) === JSON.stringify(owned[name]?.answered ?? null);
        expect(after[name]?.unsure === true).toBe(!isAsAnswered);
      }
    }),
  );
});

test('every element of an array that an earlier call replaced is marked unsure, also one that the call repeated or left out', () => {
  const owned = (name: string): AppliedFields => ({ [name]: { sent: true, answered: true, source: 's' } });
  const announced: AnnouncedFields = { 'roles.guest': { value: true, source: 's', before: null } };
  const carried = addSentValues({}, announced, owned('roles.organizer'));
  const observed = travelerWith({
    ...Object.fromEntries(keys.map((name) => [name, null])),
    'roles.guest': true,
    'roles.organizer': true,
  });
  expect(markLateChanges({}, carried, { observed, rules })).toEqual({
    'roles.guest': { sent: true, answered: true, source: null, unsure: true },
    'roles.organizer': { sent: true, answered: true, source: null, unsure: true },
  });
  const later = markLateChanges(owned('roles.premium'), addSentValues({}, announced, {}), {
    observed,
    rules,
  });
  expect(later['roles.premium']?.unsure).toBe(true);
});

test('the values of a repeated call are added once', () => {
  fc.assert(
    fc.property(anyApplied, anyAnnounced, (owned, announced) => {
      const once = addSentValues({}, announced, owned);
      expect(addSentValues(once, announced, owned)).toEqual(once);
    }),
  );
});
