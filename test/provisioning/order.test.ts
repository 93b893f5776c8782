import fc from 'fast-check';
import type { CustomField, Lookups, NamedResource, ScimUserMapping } from '../../src/model/translation.ts';
import { toRulesSnapshot } from '../../src/provisioning/rules/rules-snapshot.ts';
import { parseMapping } from '../../src/translator/mapping/mapping-file.ts';
import { compileRules } from '../../src/translator/rules/rules.ts';
import { toScim } from '../../src/translator/to-scim.ts';
import { toTravel } from '../../src/translator/to-travel.ts';
import { person, withFixture } from '../fixtures/provisioning.ts';
import { runs } from '../fixtures/runs.ts';

const name = fc.constantFrom('Sales', 'sales', 'Twins');
const paths = ['title', 'nickName', 'userType', 'displayName', 'name.middleName', ']['];
const targets = ['firstName', 'lastName', 'shoeSize'];

const mappingRow: fc.Arbitrary<ScimUserMapping> = fc.oneof(
  fc.record({ scimAttribute: fc.constantFrom(...paths), userAttribute: fc.constantFrom(...targets) }),
  fc.record({ scimAttribute: fc.constantFrom(...paths), customFieldId: fc.constantFrom('f0', 'f1', 'f9') }),
);

const options = fc
  .array(fc.record({ data: name, disabled: fc.boolean() }), { maxLength: 4 })
  .map((all) => all.map((option, index) => ({ id: `o${index}`, ...option })));

const customFields: fc.Arbitrary<CustomField[]> = fc
  .array(
    fc.record({
      name,
      dataType: fc.constantFrom('text', 'option', 'optionsList'),
      disabled: fc.boolean(),
      options,
    }),
    { maxLength: 3 },
  )
  .map((all) => all.map((field, index) => ({ id: `f${index}`, ...field })));

const namedResources: fc.Arbitrary<NamedResource[]> = fc
  .array(fc.record({ name, archived: fc.boolean() }), { maxLength: 4 })
  .map((all) => all.map((resource, index) => ({ id: `n${index}`, ...resource })));

const anyLookups: fc.Arbitrary<Lookups> = fc.record({
  customFields,
  costCenters: namedResources,
  billingProfiles: namedResources,
  travelPolicies: namedResources,
  scimUserMappings: fc.array(mappingRow, { maxLength: 5 }),
});

const mapping = (() => {
  const rules = [{ scimAttribute: 'userType', customField: 'sales' }];
  const parsed = parseMapping({ scimUserMapping: rules });
  if (!('mapping' in parsed)) throw new Error(JSON.stringify(parsed.faults));
  return parsed.mapping;
})();

const user = {
  ...person('Ada'),
  title: 'Sales',
  nickName: 'sales',
  userType: 'Twins',
  displayName: 'SALES',
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { costCenter: 'Sales', department: 'Twins' },
};

const traveler = {
  id: 't-1',
  email: 'ada@corp.example',
  archived: false,
  createdAt: '2026-11-20T10:00:00Z',
  firstName: 'Sales',
  costCenterId: 'n1',
  customFields: [{ customFieldId: 'f0', values: [{ data: 'Sales' }] }],
};

function shuffle<T>(items: T[], seed: number): T[] {
  const rest = [...items];
  const shuffled: T[] = [];
  for (let step = seed; rest.length > 0; step += 7) shuffled.push(...rest.splice(step % rest.length, 1));
  return shuffled;
}

function shuffleLookups(lookups: Lookups, seed: number): Lookups {
  return {
    customFields: shuffle(lookups.customFields, seed).map((field) => ({
      ...field,
      options: shuffle(field.options, seed),
    })),
    costCenters: shuffle(lookups.costCenters, seed),
    billingProfiles: shuffle(lookups.billingProfiles, seed + 1),
    travelPolicies: shuffle(lookups.travelPolicies, seed + 2),
    scimUserMappings: shuffle(lookups.scimUserMappings, seed),
  };
}

/** Translates the user and the traveler with these lookups. */
function translateBoth(given: Lookups) {
  const { version, rules, lookups } = toRulesSnapshot({ mapping }, given);
  return {
    version,
    traveler: toTravel(rules, user, { lookups, references: new Map() }),
    user: toScim(rules, traveler, { lookups }),
  };
}

test('the order of rules and lookups changes neither the version nor any translation', () => {
  fc.assert(
    fc.property(anyLookups, fc.nat({ max: 1_000 }), (lookups, seed) => {
      expect(translateBoth(shuffleLookups(lookups, seed))).toEqual(translateBoth(lookups));
    }),
    runs(500),
  );
});

test('rules that are compiled from unsorted lookups, and their translations, do not depend on the order of the lookups', () => {
  fc.assert(
    fc.property(anyLookups, fc.nat({ max: 1_000 }), (lookups, seed) => {
      const translate = (given: Lookups) => {
        const rules = compileRules(mapping, given.scimUserMappings);
        return [rules.version, toTravel(rules, user, { lookups: given, references: new Map() })];
      };
      expect(translate(shuffleLookups(lookups, seed))).toEqual(translate(lookups));
    }),
    runs(300),
  );
});

test('the order of rules in a mapping file changes the version only if several rules may set one custom field', () => {
  const versionOf = (scimUserMapping: object[]) => {
    const parsed = parseMapping({ scimUserMapping });
    return 'mapping' in parsed ? compileRules(parsed.mapping, []).version : parsed.faults;
  };
  const first = { scimAttribute: 'title', userAttribute: 'firstName' };
  const last = { scimAttribute: 'nickName', userAttribute: 'lastName' };
  const byName = { scimAttribute: 'userType', customField: 'Floor' };
  const byId = { scimAttribute: 'title', customFieldId: 'f1' };
  expect(versionOf([byName, last, byId, first])).toBe(versionOf([first, last, byName, byId]));
  expect(versionOf([first, last, byId, byName])).not.toBe(versionOf([first, last, byName, byId]));
});

test('versions of rules are equal exactly if the sorted lookups are equal', () => {
  fc.assert(
    fc.property(anyLookups, anyLookups, (first, second) => {
      const isSame = translateBoth(first).version === translateBoth(second).version;
      const textOf = (lookups: Lookups) => JSON.stringify(toRulesSnapshot({ mapping }, lookups).lookups);
      expect(isSame).toBe(textOf(first) === textOf(second));
    }),
  );
});

test('a new order of the scimUserMapping rows changes neither the next write of a user nor the rules version of the identity', () =>
  withFixture(async (fixture) => {
    fixture.travel.lookupData.scimUserMappings = [
      { scimAttribute: 'title', userAttribute: 'lastName' },
      { scimAttribute: 'nickName', userAttribute: 'lastName' },
      { scimAttribute: 'userType', userAttribute: 'firstName' },
    ];
    const ada = await fixture.bridge.users.create('default', person('Ada', { title: 'x', nickName: 'y' }));
    const { rulesGeneration } = await fixture.identity(ada.id);
    const { lookupData } = fixture.travel;
    const scimUserMappings = lookupData.scimUserMappings.toReversed();
    fixture.travel.lookupData = { ...lookupData, scimUserMappings };
    fixture.travel.calls.length = 0;
    await fixture.patch(ada.id, { preferredLanguage: 'fr' });
    expect(fixture.travel.writes().map(({ body }) => body)).toEqual([{ lang: 'fr' }]);
    expect((await fixture.identity(ada.id)).rulesGeneration).toBe(rulesGeneration);
  }));
