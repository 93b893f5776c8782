import fc from 'fast-check';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { JsonObject, ScimResource } from '../../src/schema/resource.ts';
import { makePlan } from '../../src/translator/plan/plan.ts';
import { findManagerReferences } from '../../src/translator/rules/compiled-fields.ts';
import type { Rules } from '../../src/translator/rules/rules.ts';
import { toScim } from '../../src/translator/to-scim.ts';
import { toTravel } from '../../src/translator/to-travel.ts';
import { runs } from '../fixtures/runs.ts';
import { applyPlan, lookups, rulesOf } from '../fixtures/translator.ts';
import { anyMapping, anyTraveler } from './arbitraries.ts';

/** Attributes that identify the traveler; a mapping rule cannot give them other values. */
const identifying = /^(userName|active|emails|phoneNumbers|addresses|roles)\b|:roles$/;

/** The mapping without defaults and without rules that read identifying attributes. */
function withoutDefaults(mapping: JsonObject): JsonObject {
  const rules = rulesIn(mapping).filter(
    (rule) => !readsIdentifying(rule) && !JSON.stringify(rule).includes('"default"'),
  );
  return { ...mapping, defaults: {}, language: {}, scimUserMapping: rules };
}

/** The mapping without rules that change an identifying attribute on every round trip, e.g. by one more prefix. */
function withoutGrowth(mapping: JsonObject): JsonObject {
  const grows = (rule: JsonObject) =>
    readsIdentifying(rule) && /"(prefix|replace)"/.test(JSON.stringify(rule));
  return { ...mapping, scimUserMapping: rulesIn(mapping).filter((rule) => !grows(rule)) };
}

/** The rules that can be inverted: those that read one attribute of all users. */
function rulesIn({ scimUserMapping }: JsonObject): JsonObject[] {
  const rules: JsonObject[] = JSON.parse(JSON.stringify(scimUserMapping ?? []));
  return rules.filter((rule) => pathsOf(rule).length === 1 && rule['when'] === undefined);
}

function readsIdentifying(rule: JsonObject): boolean {
  return pathsOf(rule).some((path) => identifying.test(path));
}

function pathsOf({ scimAttribute, sources }: JsonObject): string[] {
  return [sources ?? scimAttribute ?? []].flat().map(String);
}

it('the SCIM user of an imported traveler changes nothing on the traveler', () => {
  fc.assert(
    fc.property(anyTraveler, anyMapping, (traveler, mapping) => {
      const rules = rulesOf(withoutDefaults(mapping));
      const { changes } = roundTrip(toScim(rules, traveler, { lookups }), rules, traveler);
      expect(changes).toEqual({ set: {}, remove: [] });
    }),
    runs(400),
  );
});

it('a second round trip changes neither the user nor the traveler', () => {
  fc.assert(
    fc.property(anyTraveler, anyMapping, (traveler, mapping) => {
      const rules = rulesOf(withoutGrowth(mapping));
      const first = roundTrip(toScim(rules, traveler, { lookups }), rules, traveler);
      const second = roundTrip(first.user, rules, first.traveler);
      expect(second).toEqual({ ...first, changes: { set: {}, remove: [] } });
    }),
    runs(400),
  );
});

/** Sends a user to a traveler on which the bridge owns nothing yet, and converts the traveler back to a user. */
function roundTrip(user: ScimResource, rules: Rules, observed: TravelUser) {
  const references = new Map(findManagerReferences(rules, user).map((raw) => [raw, { travelId: raw }]));
  const wanted = toTravel(rules, user, { lookups, references }).fields;
  const next = makePlan({ applied: {}, refused: {}, wanted, observed, basis: '', rules });
  const traveler = applyPlan(next, observed);
  const { set, remove } = next;
  return { changes: { set, remove }, traveler, user: toScim(rules, traveler, { lookups }) };
}
