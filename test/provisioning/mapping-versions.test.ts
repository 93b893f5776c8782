import { applyMapping } from '../../src/provisioning/mapping-changes/apply-mapping.ts';
import {
  compareMappings,
  countRules,
  findVersion,
  listVersions,
} from '../../src/provisioning/rules/mapping-versions.ts';
import type { Mapping } from '../../src/translator/mapping/mapping-file.ts';
import { type ProvisioningFixture, withFixture } from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

const nickName = { scimAttribute: 'nickName', userAttribute: 'firstName' };
const title = { scimAttribute: 'title', userAttribute: 'firstName' };
const mappingA = mappingOf({ scimUserMapping: [nickName] });
const mappingB = mappingOf({ scimUserMapping: [title], phone: { defaultCountry: 'FR' } });

function apply(
  { store, clock: runtime, connection }: ProvisioningFixture,
  mapping: Mapping,
  expected: number,
  author = 'ada',
  putBackSince?: number,
) {
  const change = { mapping, expected, source: 'page', author, putBackSince } as const;
  return applyMapping({ ...store, runtime }, connection, { change });
}

test('a mapping comes into force with its author, and is listed first', () =>
  withFixture(async (fixture) => {
    const { rules } = fixture.store;
    expect(await apply(fixture, mappingA, 0)).toEqual({
      outcome: 'applied',
      generation: 1,
      version: 1,
      before: 0,
    });
    expect(await apply(fixture, mappingB, 1)).toEqual({
      outcome: 'applied',
      generation: 2,
      version: 2,
      before: 1,
    });
    const versions = await listVersions(rules, 'default');
    expect(versions.map(({ generation, source, author }) => [generation, source, author])).toEqual([
      [2, 'page', 'ada'],
      [1, 'page', 'ada'],
    ]);
    expect(versions.map(countRules)).toEqual([1, 1]);
    expect((await findVersion(rules, 'default', 1))?.mapping).toEqual(mappingA);
    expect((await findVersion(rules, 'default'))?.mapping).toEqual(mappingB);
    expect(await findVersion(rules, 'default', 7)).toBeUndefined();
  }));

test('the mapping in force is not applied again, and keeps its generation', () =>
  withFixture(async (fixture) => {
    await apply(fixture, mappingA, 0);
    expect(await apply(fixture, mappingA, 1)).toEqual({
      outcome: 'unchanged',
      generation: 1,
      version: 1,
      before: 1,
    });
    expect(await listVersions(fixture.store.rules, 'default')).toHaveLength(1);
  }));

test('a version keeps its number when only values are put back', () =>
  withFixture(async (fixture) => {
    const { store } = fixture;
    await apply(fixture, mappingA, 0);
    expect(await apply(fixture, mappingA, 1, 'ada', 1)).toEqual({
      outcome: 'applied',
      generation: 1,
      version: 1,
      before: 1,
    });
    expect((await store.rules.find('default'))?.generation).toBe(2);
    expect(await store.rules.findMappingNumber('default', 2)).toBe(1);
  }));

test('a change of the version that was compared is a conflict, which names author and difference', () =>
  withFixture(async (fixture) => {
    await apply(fixture, mappingA, 0);
    await apply(fixture, mappingB, 1, 'grace');
    expect(await apply(fixture, mappingOf({}), 1)).toEqual({
      outcome: 'conflict',
      version: expect.objectContaining({ generation: 2, author: 'grace', mapping: mappingB }),
      difference: {
        addedRules: [title],
        removedRules: [nickName],
        members: [{ name: 'phone', before: null, after: { defaultCountry: 'FR' } }],
      },
    });
    expect((await fixture.store.rules.find('default'))?.mapping).toEqual(mappingB);
  }));

test('of two changes at the same time one is applied', () =>
  withFixture(async (fixture) => {
    await apply(fixture, mappingOf({}), 0);
    const results = await Promise.all([mappingA, mappingB].map((mapping) => apply(fixture, mapping, 1)));
    expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(['applied', 'conflict']);
  }));

test('new lookups are no conflict, and stay in force with the new mapping', () =>
  withFixture(async (fixture) => {
    const { rules } = fixture.store;
    await apply(fixture, mappingA, 0);
    const inForce = await rules.find('default');
    if (!inForce) throw new Error('no rules are in force');
    const lookups = fixture.travel.lookupData;
    await rules.replace('default', { ...inForce, generation: 2, lookups }, fixture.clock.now());
    expect(await apply(fixture, mappingB, 1)).toEqual({
      ...{ outcome: 'applied', generation: 3, version: 2, before: 1 },
    });
    expect((await rules.find('default'))?.lookups).toEqual(lookups);
  }));

test('the address of the JSON Schema is no difference', () => {
  const withSchema = { $schema: './mapping.schema.json', scimUserMapping: [title] };
  expect(compareMappings(withSchema, { scimUserMapping: [title] })).toEqual({
    ...{ addedRules: [], removedRules: [], members: [] },
  });
});

test('rules in another order are no difference of rules', () => {
  expect(
    compareMappings({ scimUserMapping: [nickName, title] }, { scimUserMapping: [title, nickName] }),
  ).toEqual({ addedRules: [], removedRules: [], members: [] });
});
