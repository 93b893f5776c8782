import { basisOf } from '../../src/bridge/basis.ts';
import { rulesChanges } from '../../src/bridge/rules-change.ts';
import type { JsonObject, ScimResource } from '../../src/schema/resource.ts';
import { urns } from '../../src/schema/resource.ts';
import type { Lookups } from '../../src/translator/snapshot.ts';
import { type BridgeHouse, inHouse, person } from '../support/bridge-house.ts';
import { mappingOf } from '../translator/house.ts';

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

/** Makes so many people; each has a title, and a cost center out of ten. */
async function crowd(house: BridgeHouse, count = CROWD, extra: ScimResource = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const costCenter = { [urns.enterprise]: { costCenter: `Center ${n % 10}` } };
    const { id } = await house.bridge.users.create(
      users,
      person(`P${n}`, { title: 'Buyer', ...costCenter, ...extra }),
    );
    ids.push(id);
  }
  return ids;
}

/** Reads the rules and lookups anew, follows them, and works off what that made due. */
async function follow(house: BridgeHouse): Promise<void> {
  await house.bridge.run().stop();
  await house.bridge.settleDue();
}

async function startWith(house: BridgeHouse, mapping: JsonObject): Promise<void> {
  house.connection.mapping = mappingOf(mapping);
  await house.restart();
  await follow(house);
}

/** In how many travelers a field has a value. */
function having(house: BridgeHouse, field: 'customFields' | 'costCenterId'): number {
  const people = [...house.travel.people.values()];
  return people.filter((one) => {
    const value = one[field];
    return Array.isArray(value) ? value.length > 0 : Boolean(value);
  }).length;
}

const counts = ({ store }: BridgeHouse) => store.holds.counts();
const waiting = (house: BridgeHouse, since = house.clock.now()) => [
  { connection: users, cause: 'rules', count: 101, since },
];

function withCrowd(test: (house: BridgeHouse, ids: string[]) => Promise<void>, count = CROWD): Promise<void> {
  return inHouse(async (house) => {
    house.travel.known = { ...house.travel.known, customFields: [title], costCenters: centers };
    const ids = await crowd(house, count);
    await follow(house);
    house.travel.calls.length = 0;
    await test(house, ids);
  });
}

test('a rule that would change 101 people waits for an admin, and nobody is touched', () =>
  withCrowd(async (house) => {
    house.travel.known = { ...house.travel.known, scimUserMappings: [titleRule] };
    await follow(house);
    expect(await counts(house)).toEqual(waiting(house));
    expect(house.travel.writes()).toEqual([]);
    house.clock.advance(60_000);
    await follow(house);
    expect(await counts(house)).toEqual(waiting(house, house.clock.now() - 60_000));
    expect(house.travel.writes()).toEqual([]);
  }));

test('a rule that would change 100 people is followed at once', () =>
  withCrowd(async (house) => {
    house.travel.known = { ...house.travel.known, scimUserMappings: [titleRule] };
    await follow(house);
    expect(await counts(house)).toEqual([]);
    expect(having(house, 'customFields')).toBe(100);
  }, 100));

test('a write of the IdP uses the new rules while the others wait', () =>
  withCrowd(async (house, [ada = '']) => {
    house.travel.known = { ...house.travel.known, scimUserMappings: [titleRule] };
    await follow(house);
    await house.patch(ada, { title: 'Boss' });
    await house.bridge.users.create(users, person('New', { title: 'Joiner' }));
    expect(having(house, 'customFields')).toBe(2);
    expect(await counts(house)).toEqual(waiting(house));
  }));

test('an approval lets everybody follow the rules', () =>
  withCrowd(async (house) => {
    house.travel.known = { ...house.travel.known, scimUserMappings: [titleRule] };
    await follow(house);
    await house.store.holds.decide(users, { cause: 'rules' }, 'approved', house.clock.now());
    await house.bridge.settleDue();
    expect(having(house, 'customFields')).toBe(CROWD);
    await follow(house);
    expect(await counts(house)).toEqual([]);
  }));

test('a change that is discarded is not followed, and asks no admin again; the next one does', () =>
  withCrowd(async (house) => {
    house.travel.known = { ...house.travel.known, scimUserMappings: [titleRule] };
    await follow(house);
    await house.store.holds.decide(users, { cause: 'rules' }, 'discarded', house.clock.now());
    await follow(house);
    await house.restart();
    await follow(house);
    expect(house.travel.writes()).toEqual([]);
    expect(await counts(house)).toEqual([]);
    house.travel.known = { ...house.travel.known, customFields: [{ ...title, name: 'Title' }] };
    await follow(house);
    expect(house.travel.writes()).toEqual([]);
    expect(await counts(house)).toEqual(waiting(house));
  }));

test('lookups that lose their cost centers take none away, and the hold goes when they come back', () =>
  withCrowd(async (house, [ada = '']) => {
    expect(having(house, 'costCenterId')).toBe(CROWD);
    house.travel.known = { ...house.travel.known, costCenters: [] };
    await follow(house);
    expect(await counts(house)).toEqual(waiting(house));
    expect(having(house, 'costCenterId')).toBe(CROWD);
    expect(await house.findings(ada)).toEqual([]);
    house.travel.known = { ...house.travel.known, costCenters: centers };
    await follow(house);
    expect(await counts(house)).toEqual([]);
    expect(house.travel.writes()).toEqual([]);
    expect(having(house, 'costCenterId')).toBe(CROWD);
  }));

test('lookups that shrink entry by entry take a value from no more than 100 people', () =>
  withCrowd(async (house) => {
    for (let left = 9; left >= 0; left -= 1) {
      house.travel.known = { ...house.travel.known, costCenters: centers.slice(0, left) };
      house.clock.advance(1_000);
      await follow(house);
    }
    expect(having(house, 'costCenterId')).toBe(100);
    expect(await counts(house)).toEqual([expect.objectContaining({ cause: 'rules', count: 101 })]);
  }, 200));

test('small changes with time between them are no large one', () =>
  withCrowd(async (house) => {
    for (let left = 9; left >= 0; left -= 1) {
      house.travel.known = { ...house.travel.known, costCenters: centers.slice(0, left) };
      house.clock.advance(10 * 60_000);
      await follow(house);
    }
    expect(await counts(house)).toEqual([]);
    expect(having(house, 'costCenterId')).toBe(0);
  }, 200));

test('the same people changed twice in a moment are not counted twice', () =>
  withCrowd(async (house) => {
    house.travel.known = { ...house.travel.known, scimUserMappings: [titleRule] };
    await follow(house);
    house.travel.known = { ...house.travel.known, costCenters: [] };
    await follow(house);
    expect(await counts(house)).toEqual([]);
    expect(having(house, 'customFields')).toBe(60);
    expect(having(house, 'costCenterId')).toBe(0);
  }, 60));

test('a mapping file that was changed before a start waits, too; with the old one nothing is left of it', () =>
  withCrowd(async (house) => {
    await startWith(house, { scimUserMapping: [], defaults: { billingProfile: { name: 'Paris' } } });
    expect(await counts(house)).toEqual([]);
    await startWith(house, { scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title' }] });
    expect(await counts(house)).toEqual(waiting(house));
    await house.restart();
    await follow(house);
    expect(await counts(house)).toEqual(waiting(house));
    expect(house.travel.writes()).toEqual([]);
    await startWith(house, { scimUserMapping: [] });
    expect(await counts(house)).toEqual([]);
    expect(house.travel.writes()).toEqual([]);
  }));

test('a rule that is removed leaves the values, so nothing waits', () =>
  inHouse(async (house) => {
    house.travel.known = { ...house.travel.known, customFields: [title], scimUserMappings: [titleRule] };
    await crowd(house);
    house.travel.calls.length = 0;
    house.travel.known = { ...house.travel.known, scimUserMappings: [] };
    await follow(house);
    expect(await counts(house)).toEqual([]);
    expect(house.travel.writes()).toEqual([]);
    expect(having(house, 'customFields')).toBe(CROWD);
  }));

test('neither who was imported, nor who was never translated, nor what the IdP has written counts', () =>
  withCrowd(async (house, ids) => {
    for (let n = 0; n < 101; n += 1) house.travel.add({ email: `t${n}@corp.example`, firstName: 'T' });
    await house.imported();
    house.travel.trouble = () => ({ kind: 'unavailable', text: 'down' });
    for (const id of ids.slice(0, 60)) await house.patch(id, { name: { givenName: 'N', familyName: 'M' } });
    house.travel.known = { ...house.travel.known, scimUserMappings: [titleRule] };
    await house.bridge.run().stop();
    expect(await counts(house)).toEqual([]);
    house.travel.trouble = () => undefined;
    await house.pass(120_000);
    expect(having(house, 'customFields')).toBe(120);
  }, 120));

test('people who are on their way for another reason than a write of the IdP count', () =>
  withCrowd(async (house, ids) => {
    const now = house.clock.now();
    for (const id of ids) {
      const identity = await house.store.leases.take(users, id, { token: id, until: now + 9, now });
      if (!identity) throw new Error(`${id} is gone`);
      const outcome = { ...identity, progress: { settledVersion: identity.version } };
      await house.store.leases.finish(users, id, id, identity.revision, outcome);
    }
    await house.store.agenda.touch(users, ids, now + 60_000);
    house.travel.known = { ...house.travel.known, costCenters: [] };
    await follow(house);
    expect(await counts(house)).toEqual(waiting(house));
  }));

test('a reconciliation that began before a change neither waits nor takes the place of what waits', () =>
  withCrowd(async (house) => {
    const surroundings = house.clock;
    const changes = rulesChanges({ ...house.store, surroundings });
    const { known } = house.travel;
    const old = basisOf(house.connection, known);
    const next = basisOf(house.connection, { ...known, costCenters: [] });
    expect(await changes.mayFollow(house.connection, old)).toBe(true);
    const answers = await Promise.all(
      [next, next, old].map((one) => changes.mayReconcile(house.connection, one)),
    );
    expect(answers).toEqual([false, false, true]);
    expect(await house.store.holds.heldRules(users)).toMatchObject({
      version: next.version,
      answer: undefined,
    });
    await house.store.holds.decide(users, { cause: 'rules' }, 'approved', 0);
    expect(await changes.mayReconcile(house.connection, next)).toBe(true);
    expect(await changes.mayReconcile(house.connection, old)).toBe(true);
    expect(await house.store.holds.heldRules(users)).toMatchObject({ version: next.version });
  }));

test('values that the travel API refused before are sent again without an admin', () =>
  withCrowd(async (house) => {
    const refused = { field: 'costCenterId', code: 'invalid', message: 'no' };
    house.travel.trouble = ({ verb, body }) =>
      verb === 'patch' && body && 'costCenterId' in body ? { kind: 'invalid', fields: [refused] } : undefined;
    house.travel.known = {
      ...house.travel.known,
      costCenters: [...centers, { id: 'cc-x', name: 'Other', archived: false }],
    };
    const { identities } = await house.store.identities.page(users, 0, 200);
    for (const { id } of identities) await house.patch(id, { [urns.enterprise]: { costCenter: 'Other' } });
    expect(await house.findings(identities[0]?.id ?? '')).toEqual(['costCenterId: refusedByTravelApi']);
    house.travel.trouble = () => undefined;
    house.travel.known = { ...house.travel.known, customFields: [] };
    await follow(house);
    expect(await counts(house)).toEqual([]);
    expect([...house.travel.people.values()].filter((one) => one.costCenterId === 'cc-x')).toHaveLength(
      CROWD,
    );
  }));

test('somebody who waits for another cause goes on waiting for it while rules wait, and an approval archives at once', () =>
  withCrowd(async (house, [ada = '', bob = '']) => {
    const roleOf = async (id: string, roles: string[]) => {
      const traveler = await house.traveler(id);
      if (traveler) house.travel.people.set(traveler.id, { ...traveler, roles });
    };
    await roleOf(ada, ['admin']);
    const refused = { kind: 'refused' };
    await expect(house.patch(ada, { active: false })).rejects.toMatchObject(refused);
    house.travel.known = { ...house.travel.known, scimUserMappings: [titleRule] };
    await follow(house);
    await house.store.agenda.touch(users, [ada, bob], house.clock.now());
    await house.bridge.settleDue();
    expect((await house.identity(ada)).hold?.cause).toBe('guarded');
    expect((await house.identity(bob)).hold?.cause).toBe('rules');
    await expect(house.patch(ada, { active: false })).rejects.toMatchObject(refused);
    await house.store.holds.decide(users, { ids: [ada] }, 'approved', house.clock.now());
    await house.bridge.settleDue();
    expect(await house.traveler(ada)).toMatchObject({ archived: true });
    expect((await house.identity(bob)).hold?.cause).toBe('rules');
  }, CROWD + 1));
