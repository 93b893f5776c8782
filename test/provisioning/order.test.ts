import fc from 'fast-check';
import { toRulesSnapshot } from '../../src/provisioning/rules-snapshot.ts';
import { parseMapping } from '../../src/translator/mapping-file.ts';
import { compileRules } from '../../src/translator/rules.ts';
import { toScim } from '../../src/translator/to-scim.ts';
import { toTravel } from '../../src/translator/to-travel.ts';
import type {
  CustomField,
  Lookups,
  NamedResource,
  ScimUserMapping,
} from '../../src/translator/translation.ts';
import { person, withFixture } from '../fixtures/provisioning.ts';

const name = fc.constantFrom('Sales', 'sales', 'Twins');
const paths = ['title', 'nickName', 'userType', 'displayName', 'name.middleName', ']['];
const targets = ['firstName', 'lastName', 'shoeSize'];

const row: fc.Arbitrary<ScimUserMapping> = fc.oneof(
  fc.record({ scimAttribute: fc.constantFrom(...paths), userAttribute: fc.constantFrom(...targets) }),
  fc.record({ scimAttribute: fc.constantFrom(...paths), customFieldId: fc.constantFrom('f0', 'f1', 'f9') }),
);

const options = fc
  .array(fc.record({ data: name, disabled: fc.boolean() }), { maxLength: 4 })
  .map((all) => all.map((one, index) => ({ id: `o${index}`, ...one })));

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
  .map((all) => all.map((one, index) => ({ id: `f${index}`, ...one })));

const named: fc.Arbitrary<NamedResource[]> = fc
  .array(fc.record({ name, archived: fc.boolean() }), { maxLength: 4 })
  .map((all) => all.map((one, index) => ({ id: `n${index}`, ...one })));

const anyLookups: fc.Arbitrary<Lookups> = fc.record({
  customFields,
  costCenters: named,
  billingProfiles: named,
  travelPolicies: named,
  scimUserMappings: fc.array(row, { maxLength: 5 }),
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

function turned<T>(items: T[], seed: number): T[] {
  const rest = [...items];
  const out: T[] = [];
  for (let step = seed; rest.length > 0; step += 7) out.push(...rest.splice(step % rest.length, 1));
  return out;
}

function shuffled(lookups: Lookups, seed: number): Lookups {
  return {
    customFields: turned(lookups.customFields, seed).map((field) => ({
      ...field,
      options: turned(field.options, seed),
    })),
    costCenters: turned(lookups.costCenters, seed),
    billingProfiles: turned(lookups.billingProfiles, seed + 1),
    travelPolicies: turned(lookups.travelPolicies, seed + 2),
    scimUserMappings: turned(lookups.scimUserMappings, seed),
  };
}

function made(lookups: Lookups) {
  const basis = toRulesSnapshot({ mapping }, lookups);
  const { rules } = basis;
  const snapshot = { lookups: basis.lookups, references: new Map() };
  return {
    version: basis.version,
    traveler: toTravel(rules, user, snapshot),
    user: toScim(rules, traveler, { lookups: basis.lookups }),
  };
}

test('the order in which rules and lookups are listed changes neither the version nor anybody', () => {
  fc.assert(
    fc.property(anyLookups, fc.nat({ max: 1_000 }), (lookups, seed) => {
      expect(made(shuffled(lookups, seed))).toEqual(made(lookups));
    }),
    { numRuns: 500 },
  );
});

test('nor does the order change what an option or a rule is chosen from, where nothing has put it in order', () => {
  fc.assert(
    fc.property(anyLookups, fc.nat({ max: 1_000 }), (lookups, seed) => {
      const translated = (given: Lookups) => {
        const rules = compileRules(mapping, given.scimUserMappings);
        return [rules.version, toTravel(rules, user, { lookups: given, references: new Map() })];
      };
      expect(translated(shuffled(lookups, seed))).toEqual(translated(lookups));
    }),
    { numRuns: 300 },
  );
});

test('the order of rules in a mapping file is no other version, unless they may set one custom field', () => {
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

test('another content is another version', () => {
  fc.assert(
    fc.property(anyLookups, anyLookups, (one, other) => {
      const isSame = made(one).version === made(other).version;
      const text = (lookups: Lookups) => JSON.stringify(toRulesSnapshot({ mapping }, lookups).lookups);
      expect(isSame).toBe(text(one) === text(other));
    }),
  );
});

test('rules that are listed in another order make nobody dirty', () =>
  withFixture(async (fixture) => {
    fixture.travel.lookupData.scimUserMappings = [
      { scimAttribute: 'title', userAttribute: 'lastName' },
      { scimAttribute: 'nickName', userAttribute: 'lastName' },
      { scimAttribute: 'userType', userAttribute: 'firstName' },
    ];
    const ada = await fixture.bridge.users.create('default', person('Ada', { title: 'x', nickName: 'y' }));
    const { rulesVersion } = await fixture.identity(ada.id);
    const { lookupData: known } = fixture.travel;
    fixture.travel.lookupData = { ...known, scimUserMappings: known.scimUserMappings.toReversed() };
    fixture.travel.calls.length = 0;
    await fixture.patch(ada.id, { preferredLanguage: 'fr' });
    expect(fixture.travel.writes().map(({ body }) => body)).toEqual([{ lang: 'fr' }]);
    expect((await fixture.identity(ada.id)).rulesVersion).toBe(rulesVersion);
  }));
