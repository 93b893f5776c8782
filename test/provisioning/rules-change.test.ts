import { rulesChanges } from '../../src/provisioning/rules-change.ts';
import { toRulesSnapshot } from '../../src/provisioning/rules-snapshot.ts';
import { type JsonObject, type ScimResource, urns } from '../../src/schema/resource.ts';
import type { Lookups } from '../../src/translator/translation.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

const users = 'default';
const CROWD = 101;
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
async function crowd(
  fixture: ProvisioningFixture,
  count = CROWD,
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
async function follow(fixture: ProvisioningFixture): Promise<void> {
  await fixture.bridge.startBackground().stop();
  await fixture.bridge.reconcileDue();
}

async function startWith(fixture: ProvisioningFixture, mapping: JsonObject): Promise<void> {
  fixture.connection.mapping = mappingOf(mapping);
  await fixture.restart();
  await follow(fixture);
}

/** Returns the number of travelers in which a field has a value. */
function having(fixture: ProvisioningFixture, field: 'customFields' | 'costCenterId'): number {
  const people = [...fixture.travel.travelers.values()];
  return people.filter((one) => {
    const value = one[field];
    return Array.isArray(value) ? value.length > 0 : Boolean(value);
  }).length;
}

const counts = ({ store }: ProvisioningFixture) => store.holds.countHolds();
const waiting = (fixture: ProvisioningFixture, since = fixture.clock.now()) => [
  { connection: users, cause: 'rules', count: 101, since },
];

function withCrowd(
  test: (fixture: ProvisioningFixture, ids: string[]) => Promise<void>,
  count = CROWD,
): Promise<void> {
  return withFixture(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, customFields: [title], costCenters: centers };
    const ids = await crowd(fixture, count);
    await follow(fixture);
    fixture.travel.calls.length = 0;
    await test(fixture, ids);
  });
}

test('a rule that would change 101 people is held, and no traveler changes', () =>
  withCrowd(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await follow(fixture);
    expect(await counts(fixture)).toEqual(waiting(fixture));
    expect(fixture.travel.writes()).toEqual([]);
    fixture.clock.advance(60_000);
    await follow(fixture);
    expect(await counts(fixture)).toEqual(waiting(fixture, fixture.clock.now() - 60_000));
    expect(fixture.travel.writes()).toEqual([]);
  }));

test('a rule that would change 100 people is applied at once', () =>
  withCrowd(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await follow(fixture);
    expect(await counts(fixture)).toEqual([]);
    expect(having(fixture, 'customFields')).toBe(100);
  }, 100));

test('a write of the IdP uses the new rules while the change is held for the others', () =>
  withCrowd(async (fixture, [ada = '']) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await follow(fixture);
    await fixture.patch(ada, { title: 'Boss' });
    await fixture.bridge.users.create(users, person('New', { title: 'Joiner' }));
    expect(having(fixture, 'customFields')).toBe(2);
    expect(await counts(fixture)).toEqual(waiting(fixture));
  }));

test('an approval applies the rules to everybody', () =>
  withCrowd(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await follow(fixture);
    await fixture.store.holds.decide(users, { cause: 'rules' }, 'approved', fixture.clock.now());
    await fixture.bridge.reconcileDue();
    expect(having(fixture, 'customFields')).toBe(CROWD);
    await follow(fixture);
    expect(await counts(fixture)).toEqual([]);
  }));

test('a discarded change is not applied and not held again, but the next change is held', () =>
  withCrowd(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await follow(fixture);
    await fixture.store.holds.decide(users, { cause: 'rules' }, 'discarded', fixture.clock.now());
    await follow(fixture);
    await fixture.restart();
    await follow(fixture);
    expect(fixture.travel.writes()).toEqual([]);
    expect(await counts(fixture)).toEqual([]);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, customFields: [{ ...title, name: 'Title' }] };
    await follow(fixture);
    expect(fixture.travel.writes()).toEqual([]);
    expect(await counts(fixture)).toEqual(waiting(fixture));
  }));

test('lookups that lose their cost centers change no traveler, and the hold ends when they come back', () =>
  withCrowd(async (fixture, [ada = '']) => {
    expect(having(fixture, 'costCenterId')).toBe(CROWD);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: [] };
    await follow(fixture);
    expect(await counts(fixture)).toEqual(waiting(fixture));
    expect(having(fixture, 'costCenterId')).toBe(CROWD);
    expect(await fixture.findings(ada)).toEqual([]);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: centers };
    await follow(fixture);
    expect(await counts(fixture)).toEqual([]);
    expect(fixture.travel.writes()).toEqual([]);
    expect(having(fixture, 'costCenterId')).toBe(CROWD);
  }));

test('lookups that shrink entry by entry remove a value from at most 100 people', () =>
  withCrowd(async (fixture) => {
    for (let left = 9; left >= 0; left -= 1) {
      fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: centers.slice(0, left) };
      fixture.clock.advance(1_000);
      await follow(fixture);
    }
    expect(having(fixture, 'costCenterId')).toBe(100);
    expect(await counts(fixture)).toEqual([expect.objectContaining({ cause: 'rules', count: 101 })]);
  }, 200));

test('small changes with time between them are not counted together', () =>
  withCrowd(async (fixture) => {
    for (let left = 9; left >= 0; left -= 1) {
      fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: centers.slice(0, left) };
      fixture.clock.advance(10 * 60_000);
      await follow(fixture);
    }
    expect(await counts(fixture)).toEqual([]);
    expect(having(fixture, 'costCenterId')).toBe(0);
  }, 200));

test('people who are changed twice within the time window are counted once', () =>
  withCrowd(async (fixture) => {
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await follow(fixture);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: [] };
    await follow(fixture);
    expect(await counts(fixture)).toEqual([]);
    expect(having(fixture, 'customFields')).toBe(60);
    expect(having(fixture, 'costCenterId')).toBe(0);
  }, 60));

test('a mapping file changed before a start is held too, and the hold ends if the old file is restored', () =>
  withCrowd(async (fixture) => {
    await startWith(fixture, { scimUserMapping: [], defaults: { billingProfile: { name: 'Paris' } } });
    expect(await counts(fixture)).toEqual([]);
    await startWith(fixture, { scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title' }] });
    expect(await counts(fixture)).toEqual(waiting(fixture));
    await fixture.restart();
    await follow(fixture);
    expect(await counts(fixture)).toEqual(waiting(fixture));
    expect(fixture.travel.writes()).toEqual([]);
    await startWith(fixture, { scimUserMapping: [] });
    expect(await counts(fixture)).toEqual([]);
    expect(fixture.travel.writes()).toEqual([]);
  }));

test('a removed rule leaves the values unchanged, so nothing is held', () =>
  withFixture(async (fixture) => {
    fixture.travel.lookupData = {
      ...fixture.travel.lookupData,
      customFields: [title],
      scimUserMappings: [titleRule],
    };
    await crowd(fixture);
    fixture.travel.calls.length = 0;
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [] };
    await follow(fixture);
    expect(await counts(fixture)).toEqual([]);
    expect(fixture.travel.writes()).toEqual([]);
    expect(having(fixture, 'customFields')).toBe(CROWD);
  }));

test('imported people, people never translated and writes of the IdP are not counted', () =>
  withCrowd(async (fixture, ids) => {
    for (let n = 0; n < 101; n += 1)
      fixture.travel.addTraveler({ email: `t${n}@corp.example`, firstName: 'T' });
    await fixture.importTravelers();
    fixture.travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
    for (const id of ids.slice(0, 60)) await fixture.patch(id, { name: { givenName: 'N', familyName: 'M' } });
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await fixture.bridge.startBackground().stop();
    expect(await counts(fixture)).toEqual([]);
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(120_000);
    expect(having(fixture, 'customFields')).toBe(120);
  }, 120));

test('people who are dirty for another reason than a write of the IdP are counted', () =>
  withCrowd(async (fixture, ids) => {
    const now = fixture.clock.now();
    for (const id of ids) {
      const identity = await fixture.store.leases.acquire(users, id, { token: id, until: now + 9, now });
      if (!identity) throw new Error(`${id} is gone`);
      const outcome = { ...identity, progress: { settledVersion: identity.version } };
      await fixture.store.leases.finish(users, id, id, identity.revision, outcome);
    }
    await fixture.store.reconcileQueue.markDirty(users, ids, now + 60_000);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, costCenters: [] };
    await follow(fixture);
    expect(await counts(fixture)).toEqual(waiting(fixture));
  }));

test('a reconciliation that began before a change is neither held nor replaces the hold', () =>
  withCrowd(async (fixture) => {
    const runtime = fixture.clock;
    const changes = rulesChanges({ ...fixture.store, runtime });
    const { lookupData: known } = fixture.travel;
    const old = toRulesSnapshot(fixture.connection, known);
    const next = toRulesSnapshot(fixture.connection, { ...known, costCenters: [] });
    expect(await changes.mayFollow(fixture.connection, old)).toBe(true);
    const answers = await Promise.all(
      [next, next, old].map((one) => changes.mayReconcile(fixture.connection, one)),
    );
    expect(answers).toEqual([false, false, true]);
    expect(await fixture.store.holds.findHeldRules(users)).toMatchObject({
      version: next.version,
      answer: undefined,
    });
    await fixture.store.holds.decide(users, { cause: 'rules' }, 'approved', 0);
    expect(await changes.mayReconcile(fixture.connection, next)).toBe(true);
    expect(await changes.mayReconcile(fixture.connection, old)).toBe(true);
    expect(await fixture.store.holds.findHeldRules(users)).toMatchObject({ version: next.version });
  }));

test('values that the travel API refused before are sent again without a hold', () =>
  withCrowd(async (fixture) => {
    const refused = { field: 'costCenterId', code: 'invalid', message: 'no' };
    fixture.travel.faultFor = ({ verb, body }) =>
      verb === 'patch' && body && 'costCenterId' in body ? { kind: 'invalid', fields: [refused] } : undefined;
    fixture.travel.lookupData = {
      ...fixture.travel.lookupData,
      costCenters: [...centers, { id: 'cc-x', name: 'Other', archived: false }],
    };
    const { identities } = await fixture.store.identities.findPage(users, 0, 200);
    for (const { id } of identities) await fixture.patch(id, { [urns.enterprise]: { costCenter: 'Other' } });
    expect(await fixture.findings(identities[0]?.id ?? '')).toEqual(['costCenterId: refusedByTravelApi']);
    fixture.travel.faultFor = () => undefined;
    fixture.travel.lookupData = { ...fixture.travel.lookupData, customFields: [] };
    await follow(fixture);
    expect(await counts(fixture)).toEqual([]);
    expect([...fixture.travel.travelers.values()].filter((one) => one.costCenterId === 'cc-x')).toHaveLength(
      CROWD,
    );
  }));

test('a person held for another cause stays held while rules are held, and an approval archives at once', () =>
  withCrowd(async (fixture, [ada = '', bob = '']) => {
    const roleOf = async (id: string, roles: string[]) => {
      const traveler = await fixture.traveler(id);
      if (traveler) fixture.travel.travelers.set(traveler.id, { ...traveler, roles });
    };
    await roleOf(ada, ['admin']);
    const refused = { kind: 'refused' };
    await expect(fixture.patch(ada, { active: false })).rejects.toMatchObject(refused);
    fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings: [titleRule] };
    await follow(fixture);
    await fixture.store.reconcileQueue.markDirty(users, [ada, bob], fixture.clock.now());
    await fixture.bridge.reconcileDue();
    expect((await fixture.identity(ada)).hold?.cause).toBe('guarded');
    expect((await fixture.identity(bob)).hold?.cause).toBe('rules');
    await expect(fixture.patch(ada, { active: false })).rejects.toMatchObject(refused);
    await fixture.store.holds.decide(users, { ids: [ada] }, 'approved', fixture.clock.now());
    await fixture.bridge.reconcileDue();
    expect(await fixture.traveler(ada)).toMatchObject({ archived: true });
    expect((await fixture.identity(bob)).hold?.cause).toBe('rules');
  }, CROWD + 1));
