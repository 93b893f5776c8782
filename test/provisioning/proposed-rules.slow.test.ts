import type { Lookups } from '../../src/model/translation.ts';
import { applyMapping } from '../../src/provisioning/mapping-changes/apply-mapping.ts';
import { acceptRules, discardRules } from '../../src/provisioning/rules/proposed-rules.ts';
import { type JsonObject, type ScimResource, urns } from '../../src/schema/resource.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

const users = 'default';
/** One person more than other rules may change without an admin. */
const TOO_MANY = 101;
const title: Lookups['customFields'][number] = {
  id: 'cf-1',
  name: 'Job title',
  dataType: 'text',
  disabled: false,
  options: [],
};
const titleRule = { scimAttribute: 'title', customFieldId: 'cf-1' };
const centers = Array.from({ length: 10 }, (_, n) => ({
  id: `cc-${n}`,
  name: `Center ${n}`,
  archived: false,
}));

/** Creates this many people, each with a title and one of ten cost centers. */
async function createUsers(
  fixture: ProvisioningFixture,
  count = TOO_MANY,
  extra: ScimResource = {},
): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const costCenter = { [urns.enterprise]: { costCenter: `Center ${n % 10}` } };
    const { id } = await fixture.bridge.users.create(
      users,
      person(`P${n}`, { title: 'Buyer', ...costCenter, ...extra }),
    );
    ids.push(id);
  }
  return ids;
}

/** Reads and applies the rules and lookups, and reconciles what became due. */
async function applyRules(fixture: ProvisioningFixture): Promise<void> {
  await fixture.bridge.startBackground().stop();
  await fixture.bridge.reconcileDue();
}

async function startWith(fixture: ProvisioningFixture, mapping: JsonObject): Promise<void> {
  fixture.connection.mapping = mappingOf(mapping);
  await fixture.restart();
  await applyRules(fixture);
}

/** Returns the number of travelers in which a field has a value. */
function countTravelersWith(fixture: ProvisioningFixture, field: 'customFields' | 'costCenterId'): number {
  const people = [...fixture.travel.travelers.values()];
  return people.filter((traveler) => {
    const value = traveler[field];
    return Array.isArray(value) ? value.length > 0 : Boolean(value);
  }).length;
}

/** Returns the proposed rules of the connection. */
async function readProposed({ store }: ProvisioningFixture) {
  return (await store.rules.findProposals(users)).proposed;
}

/** An admin decides about the proposed rules. */
async function decide(fixture: ProvisioningFixture, answer: 'accepted' | 'discarded'): Promise<void> {
  const proposed = await readProposed(fixture);
  if (!proposed) throw new Error('nothing is proposed');
  const deps = { ...fixture.store, runtime: fixture.clock };
  const isDone =
    answer === 'accepted'
      ? await acceptRules(deps, users, proposed)
      : await discardRules(deps, users, proposed);
  expect(isDone).toBeTruthy();
  await applyRules(fixture);
}

/** The travel service has another rule. */
async function addTitleRule(fixture: ProvisioningFixture): Promise<void> {
  fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
  await applyRules(fixture);
}

function withUsers(
  test: (fixture: ProvisioningFixture, ids: string[]) => Promise<void>,
  count = TOO_MANY,
): Promise<void> {
  return withFixture(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, customFields: [title], costCenters: centers };
    const ids = await createUsers(fixture, count);
    await applyRules(fixture);
    fixture.travel.calls.length = 0;
    await test(fixture, ids);
  });
}

test('a rule of the travel service that would change 101 people is proposed, and everybody, new people too, goes on without it', () =>
  withUsers(async (fixture, [ada = '']) => {
    await addTitleRule(fixture);
    expect(await readProposed(fixture)).toMatchObject({ people: TOO_MANY, collection: [titleRule] });
    await fixture.patch(ada, { title: 'Boss' });
    await fixture.bridge.users.create(users, person('New', { title: 'Joiner' }));
    fixture.clock.advance(60_000);
    await applyRules(fixture);
    expect(countTravelersWith(fixture, 'customFields')).toBe(0);
    expect(await fixture.store.holds.countHolds()).toEqual([]);
    expect(await fixture.identity(ada)).toMatchObject({ state: 'synced' });
  }));

test('a rule that would change 100 people is in force at once', () =>
  withUsers(async (fixture) => {
    await addTitleRule(fixture);
    expect(await readProposed(fixture)).toBeUndefined();
    expect(countTravelersWith(fixture, 'customFields')).toBe(100);
  }, 100));

test('rules that change fewer people than there are come into force once these are counted', () =>
  withUsers(async (fixture) => {
    const when = 'userName sw "p1"';
    await startWith(fixture, {
      scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title', when }],
    });
    expect(await readProposed(fixture)).toBeUndefined();
    expect(countTravelersWith(fixture, 'customFields')).toBe(12);
  }));

test('accepted rules are followed by all people', () =>
  withUsers(async (fixture) => {
    await addTitleRule(fixture);
    await decide(fixture, 'accepted');
    expect(countTravelersWith(fixture, 'customFields')).toBe(TOO_MANY);
    expect(await readProposed(fixture)).toBeUndefined();
  }));

test('a discarded collection is not proposed again until its content changes', () =>
  withUsers(async (fixture) => {
    await addTitleRule(fixture);
    await decide(fixture, 'discarded');
    await fixture.restart();
    await applyRules(fixture);
    expect(await readProposed(fixture)).toBeUndefined();
    expect(fixture.travel.writes()).toEqual([]);
    const other = { ...titleRule, scimAttribute: 'userName' };
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [other] };
    await applyRules(fixture);
    expect(await readProposed(fixture)).toMatchObject({ collection: [other] });
  }));

test('a list that loses its entries takes nothing away, however fast, and no admin is asked', () =>
  withUsers(async (fixture, [ada = '']) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: [] };
    await applyRules(fixture);
    await fixture.patch(ada, { title: 'Boss' });
    expect(await fixture.findings(ada)).toEqual(['costCenterId: costCenterUnknown']);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: centers };
    await applyRules(fixture);
    expect(await fixture.findings(ada)).toEqual([]);
    expect(await readProposed(fixture)).toBeUndefined();
    expect(fixture.travel.writes()).toEqual([]);
    expect(countTravelersWith(fixture, 'costCenterId')).toBe(TOO_MANY);
  }));

const titleFile = { scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title' }] };

test('a mapping file changed before a start is proposed, also after another start, until an admin decides', () =>
  withUsers(async (fixture) => {
    await startWith(fixture, titleFile);
    expect(await readProposed(fixture)).toMatchObject({ source: 'file', people: TOO_MANY });
    await fixture.restart();
    await applyRules(fixture);
    expect(await readProposed(fixture)).toMatchObject({ source: 'file', people: TOO_MANY });
    // A replica that still has the file in force must not withdraw what a newer one has proposed.
    await startWith(fixture, { scimUserMapping: [] });
    expect(await readProposed(fixture)).toMatchObject({ source: 'file', people: TOO_MANY });
    expect(fixture.travel.writes()).toEqual([]);
  }));

test('a discarded file stays so, and an applied text that changes few people does not bring it back', () =>
  withUsers(async (fixture) => {
    await startWith(fixture, titleFile);
    await decide(fixture, 'discarded');
    const { store, clock: runtime, connection } = fixture;
    const [version] = await store.rules.listMappings(users, 1);
    const mapping = mappingOf({ scimUserMapping: [], phone: { defaultCountry: 'FR' } });
    const by = { expected: version?.generation ?? 0, source: 'page', author: 'ada' } as const;
    const applied = await applyMapping({ ...store, runtime }, connection, { change: { mapping, ...by } });
    expect(applied).toMatchObject({ outcome: 'applied' });
    await applyRules(fixture);
    await fixture.restart();
    await applyRules(fixture);
    expect(await readProposed(fixture)).toBeUndefined();
    expect(fixture.travel.writes()).toEqual([]);
  }));

test('an applied text that would change too many people waits beside another collection, and both come into force together', () =>
  withUsers(async (fixture) => {
    await addTitleRule(fixture);
    const { store, clock: runtime, connection } = fixture;
    const [version] = await store.rules.listMappings(users, 1);
    const mapping = mappingOf({ scimUserMapping: [{ template: 'EUR', userAttribute: 'currency' }] });
    const by = { expected: version?.generation ?? 0, source: 'page', author: 'ada' } as const;
    const applied = await applyMapping({ ...store, runtime }, connection, { change: { mapping, ...by } });
    const proposed = await readProposed(fixture);
    expect(applied).toMatchObject({ outcome: 'proposed', digest: proposed?.digest });
    expect(proposed).toMatchObject({ collection: [titleRule], author: 'ada', people: TOO_MANY });
    await applyRules(fixture);
    expect(fixture.travel.writes()).toEqual([]);
    await decide(fixture, 'accepted');
    expect(countTravelersWith(fixture, 'customFields')).toBe(TOO_MANY);
    const travelers = [...fixture.travel.travelers.values()];
    expect(travelers.filter(({ currency }) => currency === 'EUR')).toHaveLength(TOO_MANY);
    expect((await store.rules.listMappings(users, 1))[0]).toMatchObject({ author: 'ada', source: 'page' });
  }));

test('in shadow mode rules are in force at once, however many people they change', () =>
  withUsers(async (fixture) => {
    await fixture.store.modes.change(users, { to: 'shadow', now: fixture.clock.now() });
    await addTitleRule(fixture);
    expect(await readProposed(fixture)).toBeUndefined();
    expect((await fixture.store.rules.find(users))?.lookups?.scimUserMappings).toEqual([titleRule]);
  }));

test('a removed rule leaves the values unchanged, so nothing waits', () =>
  withFixture(async (fixture) => {
    fixture.travel.lookupData = {
      ...fixture.travel.lookupData,
      customFields: [title],
      scimUserMappings: [titleRule],
    };
    await createUsers(fixture);
    fixture.travel.calls.length = 0;
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [] };
    await applyRules(fixture);
    expect(await readProposed(fixture)).toBeUndefined();
    expect(fixture.travel.writes()).toEqual([]);
    expect(countTravelersWith(fixture, 'customFields')).toBe(TOO_MANY);
  }));
