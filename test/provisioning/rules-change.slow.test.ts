import { rulesChanges } from '../../src/provisioning/rules/rules-change.ts';
import { toRulesSnapshot } from '../../src/provisioning/rules/rules-snapshot.ts';
import { type JsonObject, type ScimResource, urns } from '../../src/schema/resource.ts';
import type { Lookups } from '../../src/translator/translation.ts';
import { emailsOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';
import { mappingOf } from '../fixtures/translator.ts';

const users = 'default';
/** One person more than a change of rules may affect without a hold. */
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

const countHolds = ({ store }: ProvisioningFixture) => store.holds.countHolds();
const heldCounts = (fixture: ProvisioningFixture, since = fixture.clock.now()) => [
  { connection: users, cause: 'rules', count: 101, since },
];

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

test('a rule that would change 101 people is held, and no traveler changes', () =>
  withUsers(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await applyRules(fixture);
    expect(await countHolds(fixture)).toEqual(heldCounts(fixture));
    expect(fixture.travel.writes()).toEqual([]);
    fixture.clock.advance(60_000);
    await applyRules(fixture);
    expect(await countHolds(fixture)).toEqual(heldCounts(fixture, fixture.clock.now() - 60_000));
    expect(fixture.travel.writes()).toEqual([]);
  }));

test('a rule that would change 100 people is applied at once', () =>
  withUsers(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await applyRules(fixture);
    expect(await countHolds(fixture)).toEqual([]);
    expect(countTravelersWith(fixture, 'customFields')).toBe(100);
  }, 100));

test('a write of the IdP uses the new rules while the change is held for the others', () =>
  withUsers(async (fixture, [ada = '']) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await applyRules(fixture);
    await fixture.patch(ada, { title: 'Boss' });
    await fixture.bridge.users.create(users, person('New', { title: 'Joiner' }));
    expect(countTravelersWith(fixture, 'customFields')).toBe(2);
    expect(await countHolds(fixture)).toEqual(heldCounts(fixture));
  }));

test('an approval applies the rules to all people', () =>
  withUsers(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await applyRules(fixture);
    await saveDecision(fixture.store, users, { cause: 'rules' }, 'approved', fixture.clock.now());
    await fixture.bridge.reconcileDue();
    expect(countTravelersWith(fixture, 'customFields')).toBe(TOO_MANY);
    await applyRules(fixture);
    expect(await countHolds(fixture)).toEqual([]);
  }));

test('a discarded change is not applied and not held again, but the next change is held', () =>
  withUsers(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await applyRules(fixture);
    await saveDecision(fixture.store, users, { cause: 'rules' }, 'discarded', fixture.clock.now());
    await applyRules(fixture);
    await fixture.restart();
    await applyRules(fixture);
    expect(fixture.travel.writes()).toEqual([]);
    expect(await countHolds(fixture)).toEqual([]);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, customFields: [{ ...title, name: 'Title' }] };
    await applyRules(fixture);
    expect(fixture.travel.writes()).toEqual([]);
    expect(await countHolds(fixture)).toEqual(heldCounts(fixture));
  }));

test('a newcomer who waits for the address of a held person is looked for by each import without a create, if the traveler could not be read', () =>
  withUsers(async (fixture, [held = '']) => {
    const { bridge, travel } = fixture;
    travel.lookupData = { ...travel.lookupData, scimUserMappings: [titleRule] };
    await applyRules(fixture);
    const traveler = await fixture.traveler(held);
    if (!traveler) throw new Error('there is no traveler');
    const { id } = await bridge.users.create(
      users,
      person('Eve', { ...emailsOf(traveler.email), userName: 'eve' }),
    );
    travel.travelers.set(traveler.id, { ...traveler, firstName: 'By hand' });
    travel.faultFor = ({ verb }) => (verb === 'read' ? { kind: 'unavailable', text: 'down' } : undefined);
    await fixture.importTravelers();
    travel.faultFor = () => undefined;
    await fixture.importTravelers();
    expect(await fixture.identity(held)).toMatchObject({ state: 'held', observed: undefined });
    expect(await fixture.identity(id)).toMatchObject({ state: 'pending' });
    travel.calls.length = 0;
    await fixture.importTravelers();
    expect(travel.writes()).toEqual([]);
  }));

test('an approval leaves a person active whose departure an admin has discarded', () =>
  withFixture(
    async (fixture) => {
      fixture.travel.lookupData = { ...fixture.travel.lookupData, customFields: [title] };
      const [cy = '', ada = ''] = await createUsers(fixture, TOO_MANY + 2);
      await applyRules(fixture);
      for (const id of [cy, ada]) await fixture.patch(id, { active: false });
      await saveDecision(fixture.store, users, { ids: [ada] }, 'discarded', fixture.clock.now());
      await fixture.reconcileAfter(7_200_000);
      fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
      await applyRules(fixture);
      await fixture.store.reconcileQueue.markDirty(users, [ada], fixture.clock.now());
      await fixture.bridge.reconcileDue();
      expect(await fixture.identity(ada)).toMatchObject({ hold: { cause: 'rules' } });
      await saveDecision(fixture.store, users, { cause: 'rules' }, 'approved', fixture.clock.now());
      for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
      expect(await fixture.traveler(cy)).toMatchObject({ archived: true });
      expect(await fixture.traveler(ada)).toMatchObject({ archived: false });
      expect(await fixture.identity(ada)).toMatchObject({ state: 'synced' });
    },
    { policies: { safetyValve: { share: 0, minimum: 1, windowMs: 3_600_000 } } },
  ));

test('lookups that lose their cost centers change no traveler, and the hold ends when they come back', () =>
  withUsers(async (fixture, [ada = '']) => {
    expect(countTravelersWith(fixture, 'costCenterId')).toBe(TOO_MANY);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: [] };
    await applyRules(fixture);
    expect(await countHolds(fixture)).toEqual(heldCounts(fixture));
    expect(countTravelersWith(fixture, 'costCenterId')).toBe(TOO_MANY);
    expect(await fixture.findings(ada)).toEqual([]);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: centers };
    await applyRules(fixture);
    expect(await countHolds(fixture)).toEqual([]);
    expect(fixture.travel.writes()).toEqual([]);
    expect(countTravelersWith(fixture, 'costCenterId')).toBe(TOO_MANY);
  }));

test('lookups that shrink entry by entry remove a value from at most 100 people', () =>
  withUsers(async (fixture) => {
    for (let left = 9; left >= 0; left -= 1) {
      fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: centers.slice(0, left) };
      fixture.clock.advance(1_000);
      await applyRules(fixture);
    }
    expect(countTravelersWith(fixture, 'costCenterId')).toBe(100);
    expect(await countHolds(fixture)).toEqual([expect.objectContaining({ cause: 'rules', count: 101 })]);
  }, 200));

test('small changes with time between them are not counted together', () =>
  withUsers(async (fixture) => {
    for (let left = 9; left >= 0; left -= 1) {
      fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: centers.slice(0, left) };
      fixture.clock.advance(10 * 60_000);
      await applyRules(fixture);
    }
    expect(await countHolds(fixture)).toEqual([]);
    expect(countTravelersWith(fixture, 'costCenterId')).toBe(0);
  }, 120));

test('people who are changed twice within the time window are counted once', () =>
  withUsers(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await applyRules(fixture);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: [] };
    await applyRules(fixture);
    expect(await countHolds(fixture)).toEqual([]);
    expect(countTravelersWith(fixture, 'customFields')).toBe(60);
    expect(countTravelersWith(fixture, 'costCenterId')).toBe(0);
  }, 60));

test('a mapping file changed before a start is held too, and the hold ends if the old file is restored', () =>
  withUsers(async (fixture) => {
    await startWith(fixture, { scimUserMapping: [], defaults: { billingProfile: { name: 'Paris' } } });
    expect(await countHolds(fixture)).toEqual([]);
    await startWith(fixture, { scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title' }] });
    expect(await countHolds(fixture)).toEqual(heldCounts(fixture));
    await fixture.restart();
    await applyRules(fixture);
    expect(await countHolds(fixture)).toEqual(heldCounts(fixture));
    expect(fixture.travel.writes()).toEqual([]);
    await startWith(fixture, { scimUserMapping: [] });
    expect(await countHolds(fixture)).toEqual([]);
    expect(fixture.travel.writes()).toEqual([]);
  }));

test('a removed rule leaves the values unchanged, so nothing is held', () =>
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
    expect(await countHolds(fixture)).toEqual([]);
    expect(fixture.travel.writes()).toEqual([]);
    expect(countTravelersWith(fixture, 'customFields')).toBe(TOO_MANY);
  }));

test('imported people, people never translated and writes of the IdP are not counted', () =>
  withUsers(async (fixture, ids) => {
    for (let n = 0; n < 101; n += 1)
      fixture.travel.addTraveler({ email: `t${n}@corp.example`, firstName: 'T' });
    await fixture.importTravelers();
    fixture.travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
    for (const id of ids.slice(0, 60)) await fixture.patch(id, { name: { givenName: 'N', familyName: 'M' } });
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await fixture.bridge.startBackground().stop();
    expect(await countHolds(fixture)).toEqual([]);
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(120_000);
    expect(countTravelersWith(fixture, 'customFields')).toBe(120);
  }, 120));

test('people who are dirty for another reason than a write of the IdP are counted', () =>
  withUsers(async (fixture, ids) => {
    const now = fixture.clock.now();
    for (const id of ids) {
      const acquired = await fixture.store.leases.acquire(users, id, { token: id, ms: 9, now });
      if (!acquired) throw new Error(`${id} is gone`);
      const { identity } = acquired;
      const outcome = { ...identity, progress: { settledVersion: identity.version } };
      await fixture.store.leases.finish(users, id, id, identity, outcome);
    }
    await fixture.store.reconcileQueue.markDirty(users, ids, now + 60_000);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: [] };
    await applyRules(fixture);
    expect(await countHolds(fixture)).toEqual(heldCounts(fixture));
  }));

test('a reconciliation that began before a change is neither held nor replaces the hold', () =>
  withUsers(async (fixture) => {
    const runtime = fixture.clock;
    const changes = rulesChanges({ ...fixture.store, runtime });
    const { lookupData: known } = fixture.travel;
    const { mapping = mappingOf({}) } = fixture.connection;
    const { generation } = (await fixture.store.rules.find(users)) ?? { generation: 0 };
    const old = { ...toRulesSnapshot({ mapping }, known), generation };
    const changed = toRulesSnapshot({ mapping }, { ...known, costCenters: [] });
    const next = { ...changed, generation: generation + 1 };
    expect(await changes.mayFollow(fixture.connection, old)).toBe(true);
    const answers = await Promise.all(
      [next, next, old].map((snapshot) => changes.mayReconcile(fixture.connection, snapshot)),
    );
    expect(answers).toEqual([false, false, true]);
    expect(await fixture.store.holds.findHeldRules(users)).toMatchObject({
      generation: next.generation,
      answer: undefined,
    });
    await saveDecision(fixture.store, users, { cause: 'rules' }, 'approved', 0);
    expect(await changes.mayReconcile(fixture.connection, next)).toBe(true);
    expect(await changes.mayReconcile(fixture.connection, old)).toBe(true);
    expect(await fixture.store.holds.findHeldRules(users)).toMatchObject({ generation: next.generation });
  }));

test('values that the travel API refused before are sent again without a hold', () =>
  withUsers(async (fixture, ids) => {
    const refused = { field: 'costCenterId', code: 'invalid', message: 'no' };
    fixture.travel.faultFor = ({ verb, body }) =>
      verb === 'patch' && body && 'costCenterId' in body ? { kind: 'invalid', fields: [refused] } : undefined;
    fixture.travel.lookupData = {
      ...fixture.travel.lookupData,
      costCenters: [...centers, { id: 'cc-x', name: 'Other', archived: false }],
    };
    for (const id of ids) await fixture.patch(id, { [urns.enterprise]: { costCenter: 'Other' } });
    expect(await fixture.findings(ids[0] ?? '')).toEqual(['costCenterId: refusedByTravelApi']);
    fixture.travel.faultFor = () => undefined;
    fixture.travel.lookupData = { ...fixture.travel.lookupData, customFields: [] };
    await applyRules(fixture);
    expect(await countHolds(fixture)).toEqual([]);
    expect(
      [...fixture.travel.travelers.values()].filter((traveler) => traveler.costCenterId === 'cc-x'),
    ).toHaveLength(TOO_MANY);
  }));

test('a person held for another cause stays held while rules are held, and an approval archives at once', () =>
  withUsers(async (fixture, [ada = '', bob = '']) => {
    const roleOf = async (id: string, roles: string[]) => {
      const traveler = await fixture.traveler(id);
      if (traveler) fixture.travel.travelers.set(traveler.id, { ...traveler, roles });
    };
    await roleOf(ada, ['admin']);
    const refused = { kind: 'refused' };
    await expect(fixture.patch(ada, { active: false })).rejects.toMatchObject(refused);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await applyRules(fixture);
    await fixture.store.reconcileQueue.markDirty(users, [ada, bob], fixture.clock.now());
    await fixture.bridge.reconcileDue();
    expect((await fixture.identity(ada)).hold?.cause).toBe('guarded');
    expect((await fixture.identity(bob)).hold?.cause).toBe('rules');
    await expect(fixture.patch(ada, { active: false })).rejects.toMatchObject(refused);
    await saveDecision(fixture.store, users, { ids: [ada] }, 'approved', fixture.clock.now());
    await fixture.bridge.reconcileDue();
    expect(await fixture.traveler(ada)).toMatchObject({ archived: true });
    expect((await fixture.identity(bob)).hold?.cause).toBe('rules');
  }, TOO_MANY + 1));
