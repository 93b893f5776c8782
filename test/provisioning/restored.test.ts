import type { Policies } from '../../src/model/policies.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import {
  addressOf,
  emailsOf,
  managedBy,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';

/** People of a database that was restored: what happened after the backup is known to the travel service only. */
interface Restored extends ProvisioningFixture {
  ids: Record<'leaver' | 'deleted' | 'demoted' | 'renamed', string>;
  travelerOf(name: keyof Restored['ids']): TravelUser | undefined;
  /** The calls that change a traveler since the restore, without the bodies. */
  sent(): string[];
}

const users = 'default';
const HOUR_MS = 3_600_000;
const harmful = { policies: { drift: 'correct', deprovision: 'delete' } as const };
const withRole = { roles: [{ value: 'premium' }] };
const archive = { mapping: { scope: 'not (userType eq "Service")', outOfScope: 'archive' } };

/** Restores a database while four people have other travelers than it says. */
function restored(
  test: (fixture: Restored) => Promise<void>,
  options: { policies?: Partial<Policies> } = harmful,
): Promise<void> {
  return withFixture(async (fixture) => {
    const create = async (name: string, extra: ScimResource = {}) =>
      (await fixture.bridge.users.create(users, person(name, extra))).id;
    const ids = {
      leaver: await create('Leaver'),
      deleted: await create('Deleted'),
      demoted: await create('Demoted', withRole),
      renamed: await create('Renamed'),
    };
    const travelIds = new Map<string, string>();
    for (const [name, id] of Object.entries(ids))
      travelIds.set(name, (await fixture.identity(id)).travelId ?? '');
    const { travelers } = fixture.travel;
    const edit = (name: string, changes: Partial<TravelUser>) => {
      const traveler = travelers.get(travelIds.get(name) ?? '');
      if (!traveler) throw new Error(`there is no ${name}`);
      travelers.set(traveler.id, { ...traveler, ...changes });
    };
    edit('leaver', { archived: true });
    travelers.delete(travelIds.get('deleted') ?? '');
    edit('demoted', { roles: [] });
    edit('renamed', { firstName: 'Rena' });
    fixture.clock.advance(60_000);
    await fixture.restored();
    fixture.travel.calls.length = 0;
    await test({
      ...fixture,
      ids,
      travelerOf: (name) => travelers.get(travelIds.get(name) ?? ''),
      sent: () => fixture.travel.writes().map(({ verb }) => verb),
    });
  }, options);
}

const put = ({ bridge }: ProvisioningFixture, id: string, values: ScimResource) =>
  bridge.users.change(users, id, () => values, 'replace');

/** Has the title become the first name, and reconciles everybody by these rules. */
async function withNewRules({ bridge, travel }: ProvisioningFixture): Promise<void> {
  const scimUserMappings = [{ scimAttribute: 'title', userAttribute: 'firstName' }];
  travel.lookupData = { ...travel.lookupData, scimUserMappings };
  await bridge.startBackground().stop();
  await bridge.reconcileDue();
}

const sendAgain = ({ store, clock }: ProvisioningFixture, id?: string) =>
  store.restored.sendAgain(users, id, clock.now());

test.each(['report', 'correct'] as const)(
  'after a restore nothing is sent under drift %s, and each difference is a finding',
  (drift) =>
    restored(
      async (fixture) => {
        const { ids } = fixture;
        for (let hours = 0; hours < 3; hours += 1) {
          await fixture.importTravelers();
          await fixture.reconcileAfter(HOUR_MS);
        }
        expect(fixture.sent()).toEqual([]);
        expect(await fixture.findings(ids.leaver)).toEqual(['archived: restored']);
        expect(await fixture.findings(ids.demoted)).toEqual(['roles.premium: restored']);
        expect(await fixture.findings(ids.renamed)).toEqual(['firstName: restored']);
        expect(await fixture.findings(ids.deleted)).toEqual(['*: restored']);
      },
      { policies: { drift, deprovision: 'delete' } },
    ),
);

test('a person whose traveler agrees with the backup is provisioned as before, also by new rules', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const { id } = await bridge.users.create(users, person('Ada', { title: 'Dr.' }));
    // What the travel service sets by itself is no difference.
    const traveler = (await fixture.traveler(id)) as TravelUser;
    travel.travelers.set(traveler.id, { ...traveler, separateIcsEmails: false });
    await fixture.restored();
    await fixture.reconcileAfter(0);
    expect(await fixture.identity(id)).toMatchObject({ state: 'synced', findings: [] });
    await withNewRules(fixture);
    expect(await fixture.traveler(id)).toMatchObject({ firstName: 'Dr.' });
  }));

test('a manager who was removed since the backup, as the traveler of the report shows, is not removed again', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, clock } = fixture;
    const boss = await bridge.users.create(users, person('Boss'));
    const { id } = await bridge.users.create(users, person('Report', managedBy(boss.id)));
    const { managerId, ...traveler } = (await fixture.traveler(id)) as TravelUser;
    expect(managerId).toBeDefined();
    travel.travelers.set(traveler.id, traveler);
    travel.travelers.delete(managerId ?? '');
    clock.advance(60_000);
    await fixture.restored();
    travel.calls.length = 0;
    await fixture.importTravelers();
    await fixture.reconcileAfter(HOUR_MS);
    await fixture.importTravelers();
    expect(travel.writes()).toEqual([]);
  }));

test('the traveler of a person who had none at the backup is found by its address, and archived when the IdP states a departure', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const { id } = await bridge.users.create(users, person('Ann', { userType: 'Service' }));
    // After the backup Ann came into scope and got a traveler.
    const { id: travelId } = travel.addTraveler({ email: addressOf('Ann'), firstName: 'Ann' });
    await fixture.restored();
    await fixture.importTravelers();
    await fixture.patch(id, { active: false });
    await fixture.reconcileAfter(HOUR_MS);
    expect((await fixture.identity(id)).travelId).toBe(travelId);
    expect(travel.travelers.get(travelId)).toMatchObject({ archived: true });
  }, archive));

test('a person who leaves the scope loses the traveler that was made since the backup in place of a deleted one', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const { id } = await bridge.users.create(users, person('Ada'));
    travel.travelers.delete((await fixture.identity(id)).travelId ?? '');
    const again = travel.addTraveler({ email: addressOf('Ada'), firstName: 'Ada', lastName: 'Smith' });
    await fixture.restored();
    await fixture.patch(id, { userType: 'Service', active: true });
    await fixture.reconcileAfter(0);
    expect(await fixture.identity(id)).toMatchObject({ travelId: again.id, state: 'synced' });
    expect(await fixture.traveler(id)).toMatchObject({ archived: true });
  }, archive));

test.each(['by nobody', 'as active'])(
  'a traveler of another last name that has got the address since the backup is not linked, if the person is stated %s',
  (how) =>
    withFixture(async (fixture) => {
      const { bridge, travel } = fixture;
      const { id } = await bridge.users.create(users, person('Ann', { userType: 'Service' }));
      // After the backup Bea Jones joined, and got the address of Ann.
      const bea = travel.addTraveler({ email: addressOf('Ann'), firstName: 'Bea', lastName: 'Jones' });
      fixture.clock.advance(HOUR_MS);
      await fixture.restored();
      if (how === 'as active') await fixture.patch(id, { active: true, userType: 'Employee' });
      await fixture.importTravelers();
      await fixture.reconcileAfter(HOUR_MS);
      const state = how === 'as active' ? 'pending' : 'synced';
      expect(await fixture.identity(id)).toMatchObject({ travelId: undefined, state });
      expect(travel.travelers.get(bea.id)).toEqual(bea);
    }, archive),
);

test.each(['deactivated', 'deleted', 'out of scope'])(
  'somebody who is %s in the backup and active in the travel service is held, until an admin approves',
  (how) =>
    withFixture(async (fixture) => {
      const { bridge, travel, store, clock } = fixture;
      const { id } = await bridge.users.create(users, person('Ada'));
      const traveler = (await fixture.traveler(id)) as TravelUser;
      if (how === 'deleted') await bridge.users.remove(users, id);
      else await fixture.patch(id, how === 'deactivated' ? { active: false } : { userType: 'Service' });
      expect(travel.travelers.get(traveler.id)).toMatchObject({ archived: true });
      travel.travelers.set(traveler.id, traveler);
      await fixture.restored();
      await fixture.importTravelers();
      await fixture.reconcileAfter(HOUR_MS);
      expect(await fixture.identity(id)).toMatchObject({ state: 'held', hold: { cause: 'safetyValve' } });
      expect(await fixture.findings(id)).toContain('archived: restored');
      expect(travel.travelers.get(traveler.id)).toMatchObject({ archived: false });
      await saveDecision(store, users, { cause: 'safetyValve' }, 'approved', clock.now());
      await fixture.reconcileAfter(0);
      expect(travel.travelers.get(traveler.id)).toMatchObject({ archived: true });
    }, archive),
);

test('a traveler that was made since the restore under the userName gets the address of the backup once it is free', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const { id } = await bridge.users.create(users, person('Ada', emailsOf(addressOf('Shared'))));
    travel.travelers.delete((await fixture.identity(id)).travelId ?? '');
    const bea = travel.addTraveler({ email: addressOf('Shared'), firstName: 'Bea', lastName: 'Jones' });
    fixture.clock.advance(HOUR_MS);
    await fixture.restored();
    travel.faultFor = ({ verb, body }) =>
      verb === 'create' && body?.email === addressOf('Ada') ? 'lose' : undefined;
    await fixture.patch(id, { active: true });
    travel.faultFor = () => undefined;
    await fixture.reconcileAfter(HOUR_MS);
    expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Ada') });
    travel.travelers.set(bea.id, { ...bea, email: addressOf('Bea') });
    await fixture.importTravelers();
    await fixture.reconcileAfter(HOUR_MS);
    expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Shared') });
    expect(await fixture.findings(id)).toEqual([]);
  }));

test('a traveler that was archived since the backup because of the scope is active again once the person is in scope', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, store, clock } = fixture;
    const { id } = await bridge.users.create(users, person('Ada'));
    travel.faultFor = ({ verb }) => (verb === 'patch' ? { kind: 'unavailable', text: 'down' } : undefined);
    await fixture.patch(id, { userType: 'Service' });
    travel.faultFor = () => undefined;
    await fixture.restored();
    await fixture.reconcileAfter(HOUR_MS);
    await saveDecision(store, users, { cause: 'safetyValve' }, 'approved', clock.now());
    travel.faultFor = ({ verb }) => (verb === 'patch' ? 'lose' : undefined);
    await fixture.reconcileAfter(0);
    expect(await fixture.traveler(id)).toMatchObject({ archived: true });
    travel.faultFor = () => undefined;
    await fixture.patch(id, { userType: 'Employee' });
    await fixture.reconcileAfter(HOUR_MS);
    expect(await fixture.traveler(id)).toMatchObject({ archived: false });
  }, archive));

test('an approval of the time before the backup archives nobody who is active again', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel, store, clock } = fixture;
      const { id } = await bridge.users.create(users, person('Ada'));
      const traveler = (await fixture.traveler(id)) as TravelUser;
      await fixture.patch(id, { active: false });
      await saveDecision(store, users, { cause: 'safetyValve' }, 'approved', clock.now());
      await fixture.reconcileAfter(0);
      travel.travelers.set(traveler.id, traveler);
      await fixture.restored();
      await fixture.reconcileAfter(HOUR_MS);
      expect(travel.travelers.get(traveler.id)).toMatchObject({ archived: false });
      expect(await fixture.identity(id)).toMatchObject({ state: 'held' });
    },
    { policies: { safetyValve: { share: 0, minimum: 0, windowMs: HOUR_MS } } },
  ));

test('a create that was announced before the backup is not repeated, and its traveler is linked', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    travel.faultFor = ({ verb }) => (verb === 'create' ? 'late' : undefined);
    const { id } = await bridge.users.create(users, person('Ada'));
    travel.faultFor = () => undefined;
    await fixture.restored();
    travel.calls.length = 0;
    await fixture.reconcileAfter(HOUR_MS);
    expect(await fixture.findings(id)).toEqual(['*: restored']);
    travel.carryOutLateCalls();
    await put(fixture, id, person('Ada'));
    expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Ada') });
    expect(travel.writes()).toEqual([]);
  }));

test('after a second restore, what was stated after the first one does not count', () =>
  restored(async (fixture) => {
    const { ids, travel } = fixture;
    await put(fixture, ids.leaver, person('Leaver'));
    const active = fixture.travelerOf('leaver') as TravelUser;
    travel.travelers.set(active.id, { ...active, archived: true });
    await fixture.restored();
    await fixture.importTravelers();
    expect(fixture.travelerOf('leaver')).toMatchObject({ archived: true });
    expect(await fixture.findings(ids.leaver)).toEqual(['archived: restored']);
  }));

describe('what an IdP states after the restore is sent', () => {
  test('a POST creates the traveler', () =>
    restored(async (fixture) => {
      const { id } = await fixture.bridge.users.create(users, person('Newcomer'));
      expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Newcomer') });
      expect(fixture.sent()).toEqual(['create']);
    }));

  test('a POST of somebody created since the backup links the traveler', () =>
    restored(async (fixture) => {
      const { id: traveler } = fixture.travel.addTraveler({ email: addressOf('Since'), firstName: 'Old' });
      const { id } = await fixture.bridge.users.create(users, person('Since'));
      expect(await fixture.traveler(id)).toMatchObject({ id: traveler, firstName: 'Since' });
    }));

  test('a PUT sends all values, also those that the database has already', () =>
    restored(async (fixture) => {
      const { ids } = fixture;
      await put(fixture, ids.renamed, person('Renamed'));
      expect(fixture.travelerOf('renamed')).toMatchObject({ firstName: 'Renamed' });
      await put(fixture, ids.demoted, person('Demoted', withRole));
      expect(fixture.travelerOf('demoted')).toMatchObject({ roles: ['premium'] });
      await put(fixture, ids.leaver, person('Leaver'));
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: false });
      await put(fixture, ids.deleted, person('Deleted'));
      expect(await fixture.traveler(ids.deleted)).toMatchObject({ email: addressOf('Deleted') });
      for (const id of Object.values(ids)) expect(await fixture.findings(id)).toEqual([]);
    }));

  test('a PUT removes what the backup has and the request has not', () =>
    withFixture(async (fixture) => {
      const { id } = await fixture.bridge.users.create(users, person('Ada', withRole));
      await fixture.restored();
      await put(fixture, id, person('Ada'));
      expect(await fixture.traveler(id)).toMatchObject({ roles: [] });
    }));

  test('a value whose removal the backup had not sent is reported, and a PUT without it removes it', () =>
    withFixture(async (fixture) => {
      const { bridge, travel } = fixture;
      const { id } = await bridge.users.create(users, person('Ada', withRole));
      travel.faultFor = ({ verb }) => (verb === 'read' ? { kind: 'unavailable', text: 'down' } : undefined);
      await fixture.patch(id, { roles: [] });
      travel.faultFor = () => undefined;
      await fixture.restored();
      await fixture.reconcileAfter(HOUR_MS);
      expect(await fixture.findings(id)).toEqual(['roles.premium: restored']);
      await put(fixture, id, person('Ada'));
      expect(await fixture.traveler(id)).toMatchObject({ roles: [] });
    }));

  test('a PUT of what the traveler has sends nothing', () =>
    restored(async (fixture) => {
      const stated = person('Renamed', { name: { givenName: 'Rena', familyName: 'Smith' } });
      await put(fixture, fixture.ids.renamed, stated);
      await put(fixture, fixture.ids.leaver, person('Leaver', { active: false }));
      expect(fixture.sent()).toEqual([]);
      expect((await fixture.identity(fixture.ids.renamed)).state).toBe('synced');
    }));

  test('a PATCH sends the values that it states, and gives no other value back', () =>
    restored(async (fixture) => {
      const name = { name: { givenName: 'Demi', familyName: 'Smith' } };
      await fixture.patch(fixture.ids.demoted, name);
      await fixture.patch(fixture.ids.leaver, name);
      expect(fixture.travelerOf('demoted')).toMatchObject({ firstName: 'Demi', roles: [] });
      expect(fixture.travelerOf('leaver')).toMatchObject({ firstName: 'Demi', archived: true });
      await fixture.importTravelers();
      await fixture.reconcileAfter(HOUR_MS);
      expect(fixture.travelerOf('demoted')).toMatchObject({ roles: [] });
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: true });
      expect(await fixture.findings(fixture.ids.leaver)).toEqual(['archived: restored']);
    }));

  test('a PATCH that states what the database has already is sent if the traveler differs', () =>
    restored(async (fixture) => {
      await fixture.patch(fixture.ids.leaver, { active: true });
      await fixture.patch(fixture.ids.renamed, { name: { givenName: 'Renamed', familyName: 'Smith' } });
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: false });
      expect(fixture.travelerOf('renamed')).toMatchObject({ firstName: 'Renamed' });
    }));

  test('a deactivation that the database has already ends the hold', () =>
    withFixture(async (fixture) => {
      const { travel } = fixture;
      const { id } = await fixture.bridge.users.create(users, person('Ada'));
      const traveler = (await fixture.traveler(id)) as TravelUser;
      await fixture.patch(id, { active: false });
      travel.travelers.set(traveler.id, traveler);
      await fixture.restored();
      await fixture.reconcileAfter(0);
      expect(await fixture.identity(id)).toMatchObject({ state: 'held' });
      await fixture.patch(id, { active: false });
      expect(travel.travelers.get(traveler.id)).toMatchObject({ archived: true });
    }));

  test('a deactivation archives, and a DELETE deletes', () =>
    restored(async (fixture) => {
      await fixture.patch(fixture.ids.renamed, { active: false });
      await fixture.bridge.users.remove(users, fixture.ids.demoted);
      await fixture.bridge.users.remove(users, fixture.ids.deleted);
      expect(fixture.travelerOf('renamed')).toMatchObject({ archived: true, firstName: 'Rena' });
      expect(fixture.travelerOf('demoted')).toBeUndefined();
      expect(fixture.sent()).toEqual(['patch', 'remove']);
    }));

  test('a traveler that later gets the address of somebody who was deleted is not archived by new rules', () =>
    restored(async (fixture) => {
      const { ids, bridge } = fixture;
      await bridge.users.remove(users, ids.deleted);
      const { id } = fixture.travel.addTraveler({ email: addressOf('Deleted'), firstName: 'Another' });
      await withNewRules(fixture);
      expect(fixture.travel.travelers.get(id)).toMatchObject({ archived: false });
    }, {}));

  test('nor is one with the address of a leaver whose traveler another user has taken over', () =>
    withFixture(async (fixture) => {
      const { bridge, travel } = fixture;
      const old = await bridge.users.create(users, { ...person('Ada'), externalId: 'e1' });
      await fixture.restored();
      await put(fixture, old.id, { ...person('Ada'), externalId: 'e1' });
      await bridge.users.remove(users, old.id);
      const { travelId = '' } = await fixture.identity(old.id);
      const { id } = await bridge.users.create(users, { ...person('Married'), externalId: 'e1' });
      expect((await fixture.identity(id)).travelId).toBe(travelId);
      const other = travel.addTraveler({ email: addressOf('Ada'), firstName: 'Another' });
      await withNewRules(fixture);
      expect(travel.travelers.get(other.id)).toMatchObject({ archived: false });
    }));

  test('a person who takes the place of a leaver loses what the leaver had', () =>
    withFixture(
      async (fixture) => {
        const { bridge } = fixture;
        const old = await bridge.users.create(users, person('Ada', withRole));
        const { travelId } = await fixture.identity(old.id);
        await fixture.restored();
        await bridge.users.remove(users, old.id);
        const { id } = await bridge.users.create('second', person('Ada'));
        await fixture.reconcileAfter(HOUR_MS);
        expect((await fixture.identity(id, 'second')).travelId).toBe(travelId);
        expect(await fixture.traveler(id, 'second')).toMatchObject({ roles: [], archived: false });
      },
      { more: ['second'] },
    ));

  test('a write whose call fails is sent later', () =>
    restored(async (fixture) => {
      const { travel, ids } = fixture;
      travel.faultFor = ({ verb }) => (verb === 'read' ? { kind: 'unavailable', text: 'down' } : undefined);
      await fixture.patch(ids.leaver, { active: true });
      travel.faultFor = () => undefined;
      await fixture.reconcileAfter(120_000);
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: false });
      expect(await fixture.identity(ids.leaver)).toMatchObject({ state: 'synced', findings: [] });
    }, {}));

  test('an archived traveler is not activated for a user who has become another person', () =>
    restored(async (fixture) => {
      const { ids } = fixture;
      await put(fixture, ids.leaver, {
        ...person('Leaver', { name: { givenName: 'Zoe', familyName: 'Jones' } }),
        externalId: 'other',
      });
      await fixture.reconcileAfter(HOUR_MS);
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: true, firstName: 'Leaver' });
      expect(await fixture.traveler(ids.leaver)).toMatchObject({ firstName: 'Zoe', archived: false });
    }, {}));
});

describe('an admin has the stored values sent again', () => {
  test('of one person', () =>
    restored(async (fixture) => {
      const { ids } = fixture;
      await fixture.reconcileAfter(0);
      expect(await sendAgain(fixture, ids.leaver)).toBe(1);
      await fixture.reconcileAfter(0);
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: false });
      expect(fixture.travelerOf('renamed')).toMatchObject({ firstName: 'Rena' });
    }));

  test('of everybody, departures included', () =>
    restored(async (fixture) => {
      const { ids, bridge, travel } = fixture;
      const { id } = await bridge.users.create(users, person('Late'));
      const traveler = (await fixture.traveler(id)) as TravelUser;
      travel.faultFor = ({ verb }) => (verb === 'read' ? { kind: 'unavailable', text: 'down' } : undefined);
      await fixture.patch(id, { active: false });
      travel.faultFor = () => undefined;
      await fixture.restored();
      await fixture.reconcileAfter(120_000);
      expect(await fixture.identity(id)).toMatchObject({ state: 'held' });
      expect(await sendAgain(fixture)).toBe(5);
      await fixture.reconcileAfter(120_000);
      expect(fixture.travelerOf('renamed')).toMatchObject({ firstName: 'Renamed' });
      expect(fixture.travelerOf('demoted')).toMatchObject({ roles: ['premium'] });
      expect(await fixture.traveler(ids.deleted)).toMatchObject({ email: addressOf('Deleted') });
      expect(travel.travelers.get(traveler.id)).toMatchObject({ archived: true });
      expect(await sendAgain(fixture)).toBe(0);
    }));
});
