import { z } from 'zod';
import { toTravelUser } from '../../src/adapter/traveler.ts';
import type { AppliedFields, Plan, ScimUserMapping } from '../../src/model/translation.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { Json, JsonObject } from '../../src/schema/resource.ts';
import { extensionField, fields, travelExtensionAttributes } from '../../src/translator/fields/fields.ts';
import { mappingSchemaFor, parseMapping } from '../../src/translator/mapping/mapping-file.ts';
import { findDrift, makePlan } from '../../src/translator/plan/plan.ts';
import { readField, removableKeys } from '../../src/translator/plan/traveler.ts';
import { toNewTraveler, toTravelerChange } from '../../src/translator/plan/traveler-change.ts';
import { previewText } from '../../src/translator/preview.ts';
import { compileRules, type Rules } from '../../src/translator/rules/rules.ts';
import { toScim } from '../../src/translator/to-scim.ts';
import { toTravel } from '../../src/translator/to-travel.ts';
import { readCountry } from '../../src/translator/values/countries.ts';
import { afterPlan, lookups, mappingOf } from '../fixtures/translator.ts';

const travel = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';

/** The table with one more row. Everything below follows the new field without any other change. */
const table = [
  ...fields,
  extensionField('homeAirportCountry', {
    description: 'The homeAirportCountry, by its ISO 3166-1 code.',
    read: readCountry,
    comparison: 'normalized',
  }),
];

function rulesOf(scimUserMapping: Json = [], collection: ScimUserMapping[] = []): Rules {
  const result = parseMapping({ scimUserMapping }, mappingSchemaFor(table));
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return compileRules(result.mapping, collection, table);
}

function userWith(homeAirportCountry: Json): JsonObject {
  return { userName: 'ada@x.example', [travel]: { homeAirportCountry } };
}

/** A response of the travel API, read as the adapter reads it. */
function travelerWith(members: JsonObject): TravelUser {
  const body = { id: 't', email: 'ada@x.example', archived: false, createdAt: '2026-01-01T00:00:00Z' };
  const traveler = toTravelUser({ ...body, ...members }, new Set(), table);
  if (!traveler) throw new Error('The traveler cannot be read.');
  return traveler;
}

function planFor(
  user: JsonObject,
  { applied = {}, observed }: { applied?: AppliedFields; observed?: TravelUser } = {},
): Plan {
  const rules = rulesOf();
  const wanted = toTravel(rules, user, { lookups, references: new Map(), applied }).fields;
  return makePlan({ applied, refused: {}, wanted, observed, basis: '', rules });
}

describe('a field that is added as one row', () => {
  it('is sent when a user is created with the attribute of the travel extension', () => {
    expect(toNewTraveler(planFor(userWith('France')))).toEqual({
      email: 'ada@x.example',
      homeAirportCountry: 'FR',
    });
  });

  it('is read back from the response of the travel API, so that it is not sent twice', () => {
    const plan = planFor(userWith('France'));
    const traveler = travelerWith({ homeAirportCountry: 'FRA', archived: false });
    const applied = afterPlan({}, plan, traveler, undefined);
    expect(applied).toMatchObject({ homeAirportCountry: { sent: 'FR', seen: 'FRA', source: 'France' } });
    expect(planFor(userWith('France'), { applied, observed: traveler })).toMatchObject({
      set: {},
      remove: [],
    });
  });

  it('is not sent to a traveler that has the same value in another spelling', () => {
    const observed = travelerWith({ homeAirportCountry: 'fra' });
    expect(planFor(userWith('France'), { observed }).adopt).toMatchObject({
      homeAirportCountry: { value: 'FR' },
    });
  });

  it('is reported as drift when it is changed in the travel service', () => {
    const applied = { homeAirportCountry: { sent: 'FR', seen: 'FR', source: 'France' } };
    expect(findDrift(applied, travelerWith({ homeAirportCountry: 'DE' }))).toMatchObject([
      { field: 'homeAirportCountry', code: 'drift', value: 'DE' },
    ]);
    expect(findDrift(applied, travelerWith({ homeAirportCountry: 'FR' }))).toEqual([]);
  });

  it('is removed from the traveler when the attribute goes away', () => {
    const applied = { homeAirportCountry: { sent: 'FR', seen: 'FR', source: 'France' } };
    const plan = planFor({ userName: 'ada@x.example' }, { applied });
    expect(toTravelerChange(plan, undefined)).toMatchObject({ homeAirportCountry: null });
    expect(removableKeys(travelerWith({ homeAirportCountry: 'FR' }), table)).toEqual(['homeAirportCountry']);
  });

  it('is shown in the SCIM user of an imported traveler, whose translation changes nothing', () => {
    const traveler = travelerWith({ homeAirportCountry: 'FR' });
    const user = toScim(rulesOf(), traveler, { lookups });
    expect(user).toMatchObject({ [travel]: { homeAirportCountry: 'FR' } });
    expect(planFor(user, { observed: traveler })).toMatchObject({ set: {}, remove: [] });
  });

  it('has findings, a trace and a place in the preview', () => {
    const translation = toTravel(rulesOf(), userWith('Middle-earth'), { lookups, references: new Map() });
    expect(translation.fields.homeAirportCountry).toEqual({ kind: 'absent' });
    expect(translation.findings).toMatchObject([{ field: 'homeAirportCountry', code: 'countryUnknown' }]);
    expect(translation.trace).toContainEqual(expect.objectContaining({ field: 'homeAirportCountry' }));
    expect(previewText(translation)).toContain(`absent by default rule ${travel}:homeAirportCountry`);
  });

  it('is ignored in a travel response if it is of another type', () => {
    expect(readField(travelerWith({ homeAirportCountry: 7 }), 'homeAirportCountry')).toBeUndefined();
  });

  it.each([
    ['the mapping file', rulesOf([{ scimAttribute: 'title', userAttribute: 'homeAirportCountry' }])],
    ['the collection', rulesOf([], [{ scimAttribute: 'title', userAttribute: 'homeAirportCountry' }])],
  ])('can be set by a rule of %s', (_title, rules) => {
    expect(rules.faults).toEqual([]);
    const user = { userName: 'ada@x.example', title: 'Germany' };
    const { fields: wanted } = toTravel(rules, user, { lookups, references: new Map() });
    expect(wanted.homeAirportCountry).toEqual({ kind: 'value', value: 'DE', source: 'Germany' });
    const shown = toScim(rules, travelerWith({ homeAirportCountry: 'DE' }), { lookups });
    expect(shown).toMatchObject({ title: 'DE' });
  });

  it('is a target in the JSON Schema of mapping files', () => {
    const schema = JSON.stringify(z.toJSONSchema(mappingSchemaFor(table), { io: 'input' }));
    expect(schema).toContain('"separateIcsEmails","homeAirportCountry","roles"]');
  });

  it('is an attribute of the travel extension in /Schemas', () => {
    expect(travelExtensionAttributes(table)).toContainEqual(
      expect.objectContaining({
        name: 'homeAirportCountry',
        description: 'The homeAirportCountry, by its ISO 3166-1 code.',
      }),
    );
  });
});

it('without its row, a field is no target of rules', () => {
  const row = { scimAttribute: 'title', userAttribute: 'homeAirportCountry' };
  expect(parseMapping({ scimUserMapping: [row] })).toHaveProperty('faults');
  expect(compileRules(mappingOf({}), [row]).faults).toMatchObject([{ code: 'mappingUnusable' }]);
});
