import fc from 'fast-check';
import type { JsonObject, ScimResource } from '../../src/schema/resource.ts';
import { plan } from '../../src/translator/plan.ts';
import { referencesOf } from '../../src/translator/references.ts';
import type { Rules } from '../../src/translator/rules.ts';
import { toScim } from '../../src/translator/to-scim.ts';
import { toTravel } from '../../src/translator/to-travel.ts';
import type { TravelUser } from '../../src/translator/travel-user.ts';
import { anyMapping, anyTraveler } from './arbitraries.ts';
import { carriedOut } from './carried-out.ts';
import { lookups, rulesOf } from './house.ts';

/** What says who the traveler is, and cannot say anything else for a rule's sake. */
const spokenFor = /^(userName|active|emails|phoneNumbers|addresses|roles)\b|:roles$/;

/** A mapping under which nobody gets what nobody gave them. */
function plain(mapping: JsonObject): JsonObject {
  const { scimUserMapping = [], ...rest } = mapping;
  const rules = (Array.isArray(scimUserMapping) ? scimUserMapping : []).filter(
    (rule) =>
      !spokenFor.test(String(Object(rule).scimAttribute)) && !JSON.stringify(rule).includes('"default"'),
  );
  return { ...rest, defaults: {}, language: {}, scimUserMapping: rules };
}

it('a traveler shown as a SCIM user wants nothing else of themselves', () => {
  fc.assert(
    fc.property(anyTraveler, anyMapping, (traveler, mapping) => {
      const rules = rulesOf(plain(mapping));
      const { wants } = turn(toScim(rules, traveler, { lookups }), rules, traveler);
      expect(wants).toEqual({ set: {}, remove: [] });
    }),
    { numRuns: 400 },
  );
});

it('there and back it settles after one turn: a second one changes neither the user nor the traveler', () => {
  fc.assert(
    fc.property(anyTraveler, anyMapping, (traveler, mapping) => {
      const rules = rulesOf(mapping);
      const first = turn(toScim(rules, traveler, { lookups }), rules, traveler);
      const second = turn(first.user, rules, first.traveler);
      expect(second).toEqual({ ...first, wants: { set: {}, remove: [] } });
    }),
    { numRuns: 400 },
  );
});

/** A user sent to a traveler of whom nothing is ours yet, and the traveler shown as a user. */
function turn(user: ScimResource, rules: Rules, observed: TravelUser) {
  const references = new Map(referencesOf(rules, user).map((raw) => [raw, { travelId: raw }]));
  const wanted = toTravel(rules, user, { lookups, references }).fields;
  const next = plan({ applied: {}, refused: {}, wanted, observed, basis: '', rules });
  const traveler = carriedOut(next, observed);
  const { set, remove } = next;
  return { wants: { set, remove }, traveler, user: toScim(rules, traveler, { lookups }) };
}
