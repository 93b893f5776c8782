import fc from 'fast-check';
import type { Json, JsonObject, ScimResource } from '../../src/schema/resource.ts';
import { makePlan } from '../../src/translator/plan.ts';
import { findManagerReferences, type Rules } from '../../src/translator/rules.ts';
import { toScim } from '../../src/translator/to-scim.ts';
import { toTravel } from '../../src/translator/to-travel.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';
import { lookups, rulesOf } from '../fixtures/translator.ts';
import { anyMapping, anyTraveler } from './arbitraries.ts';
import { carriedOut } from './carried-out.ts';

/** What says who the traveler is, and cannot say anything else for a rule's sake. */
const spokenFor = /^(userName|active|emails|phoneNumbers|addresses|roles)\b|:roles$/;

/** A mapping under which nobody gets what nobody gave them. */
function plain(mapping: JsonObject): JsonObject {
  const rules = rulesIn(mapping).filter(
    (rule) => !isSpokenFor(rule) && !JSON.stringify(rule).includes('"default"'),
  );
  return { ...mapping, defaults: {}, language: {}, scimUserMapping: rules };
}

/** A mapping without rules that change anew, with each turn, what says who the traveler is: a prefix would be put before it each time. */
function settling(mapping: JsonObject): JsonObject {
  const grows = (rule: Json) => isSpokenFor(rule) && /"(prefix|replace)"/.test(JSON.stringify(rule));
  return { ...mapping, scimUserMapping: rulesIn(mapping).filter((rule) => !grows(rule)) };
}

function rulesIn({ scimUserMapping = [] }: JsonObject): Json[] {
  return Array.isArray(scimUserMapping) ? scimUserMapping : [];
}

function isSpokenFor(rule: Json): boolean {
  return spokenFor.test(String(Object(rule).scimAttribute));
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
      const rules = rulesOf(settling(mapping));
      const first = turn(toScim(rules, traveler, { lookups }), rules, traveler);
      const second = turn(first.user, rules, first.traveler);
      expect(second).toEqual({ ...first, wants: { set: {}, remove: [] } });
    }),
    { numRuns: 400 },
  );
});

/** A user sent to a traveler of whom nothing is ours yet, and the traveler shown as a user. */
function turn(user: ScimResource, rules: Rules, observed: TravelUser) {
  const references = new Map(findManagerReferences(rules, user).map((raw) => [raw, { travelId: raw }]));
  const wanted = toTravel(rules, user, { lookups, references }).fields;
  const next = makePlan({ applied: {}, refused: {}, wanted, observed, basis: '', rules });
  const traveler = carriedOut(next, observed);
  const { set, remove } = next;
  return { wants: { set, remove }, traveler, user: toScim(rules, traveler, { lookups }) };
}
