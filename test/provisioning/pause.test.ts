import type { Policies } from '../../src/provisioning/policies.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';
import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

/** People of a database that was restored: what happened after the backup is known to the travel service only. */
interface Restored extends ProvisioningFixture {
  ids: Record<'leaver' | 'deleted' | 'demoted' | 'renamed', string>;
  travelerOf(name: keyof Restored['ids']): TravelUser | undefined;
  /** The calls that change a traveler since the restore, without the bodies. */
  sent(): string[];
}

const databases = temporaryDatabases('jetbridge-pause-');
const users = 'default';
const HOUR_MS = 3_600_000;
const harmful = { policies: { drift: 'correct', deprovision: 'delete' } as const };
const withRole = { roles: [{ value: 'premium' }] };

/** Restores a database while four people have other travelers than it says, and pauses the connection. */
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
    await fixture.store.modes.pauseAll(fixture.clock.now());
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

test('a paused connection sends nothing after imports, and says about each person what it would send', () =>
  restored(async (fixture) => {
    for (let hours = 0; hours < 3; hours += 1) {
      await fixture.importTravelers();
      await fixture.reconcileAfter(HOUR_MS);
    }
    expect(fixture.sent()).toEqual([]);
    const findings = async (name: keyof Restored['ids']) =>
      (await fixture.identity(fixture.ids[name])).findings.map(({ code, value }) => [code, value]);
    expect(await findings('leaver')).toEqual([['pausedReactivation', ['archived']]]);
    expect(await findings('demoted')).toEqual([['pausedChange', ['roles.premium']]]);
    expect(await findings('renamed')).toEqual([['pausedChange', ['firstName']]]);
    expect(await findings('deleted')).toEqual([
      ['pausedCreate', ['archived', 'email', 'firstName', 'lastName']],
    ]);
    expect(await fixture.store.modes.listPaused()).toEqual([
      {
        connection: users,
        since: expect.any(Number),
        people: { create: 1, reactivate: 1, end: 0, change: 2 },
      },
    ]);
  }));

/** With this valve one person may leave in an hour. */
const narrow = { safetyValve: { share: 0, minimum: 1, windowMs: HOUR_MS } };

test('a departure that the database still has to send waits, and does not count in the safety valve', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel, store, clock } = fixture;
      const late = await bridge.users.create(users, person('Late'));
      const leaver = await bridge.users.create(users, person('Leaver'));
      travel.faultFor = ({ verb }) => (verb === 'read' ? { kind: 'unavailable', text: 'down' } : undefined);
      await bridge.users.remove(users, late.id);
      travel.faultFor = () => undefined;
      await store.modes.pauseAll(clock.now());
      travel.calls.length = 0;
      await fixture.reconcileAfter(120_000);
      expect(travel.writes()).toEqual([]);
      expect(await fixture.findings(late.id)).toEqual(['*: pausedDeparture']);
      await bridge.users.remove(users, leaver.id);
      expect(travel.writes().map(({ verb }) => verb)).toEqual(['remove']);
      await store.modes.resume(users, clock.now());
      await fixture.reconcileAfter(0);
      expect(await fixture.findings(late.id)).toEqual(['archived: safetyValve']);
    },
    { policies: { ...harmful.policies, ...narrow } },
  ));

test('an attempt that only plans does not wake who waits for an address that it has read', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel, store, clock } = fixture;
      const leaver = await bridge.users.create(users, person('Leaver', { userName: 'leaver' }));
      const traveler = await fixture.traveler(leaver.id);
      await bridge.users.remove(users, leaver.id);
      await saveDecision(store, users, { cause: 'safetyValve' }, 'discarded', clock.now());
      await fixture.reconcileAfter(0);
      const email = addressOf('Newcomer');
      if (traveler) travel.travelers.set(traveler.id, { ...traveler, archived: true, email });
      await store.modes.pauseAll(clock.now());
      const newcomer = await bridge.users.create(users, person('Newcomer', { userName: 'newcomer' }));
      for (let round = 0; round < 10; round += 1) await bridge.reconcileDue();
      expect(await fixture.identity(newcomer.id)).toMatchObject({ state: 'pending', waitingFor: email });
      await store.reconcileQueue.markDirty(users, [leaver.id], clock.now());
      expect(await bridge.reconcileDue()).toBe(1);
      expect(await bridge.reconcileDue()).toBe(0);
      expect(await fixture.findings(leaver.id)).toEqual(['*: pausedChange']);
    },
    { policies: { safetyValve: { share: 0, minimum: 0, windowMs: HOUR_MS } } },
  ));

test('a held departure that an admin approves during the pause is carried out when the connection goes on', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel, store, clock } = fixture;
      const [first, second] = [
        await bridge.users.create(users, person('First')),
        await bridge.users.create(users, person('Second')),
      ];
      await fixture.patch(first.id, { active: false });
      await fixture.patch(second.id, { active: false });
      await store.modes.pauseAll(clock.now());
      travel.calls.length = 0;
      await saveDecision(store, users, { cause: 'safetyValve' }, 'approved', clock.now());
      await fixture.reconcileAfter(120_000);
      expect(travel.writes()).toEqual([]);
      expect(await fixture.findings(second.id)).toEqual(['*: pausedDeparture']);
      await store.modes.resume(users, clock.now());
      await fixture.reconcileAfter(0);
      expect(await fixture.traveler(second.id)).toMatchObject({ archived: true });
    },
    { policies: narrow },
  ));

test('a value that was not applied before the pause stays a finding, and is not sent', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, store, clock } = fixture;
    const { id } = await bridge.users.create(users, person('Ada'));
    travel.faultFor = ({ body }) => {
      delete body?.['archived'];
      return undefined;
    };
    await fixture.patch(id, { active: false });
    await fixture.reconcileAfter(31_000);
    await store.modes.pauseAll(clock.now());
    travel.calls.length = 0;
    await fixture.reconcileAfter(HOUR_MS);
    expect(await fixture.findings(id)).toEqual(['archived: notApplied', '*: pausedDeparture']);
    expect(travel.writes()).toEqual([]);
  }));

test('after a second restore, what was written in the pause of the first one is not current', () =>
  restored(async (fixture) => {
    const { ids, travel, clock, store } = fixture;
    await put(fixture, ids.leaver, person('Leaver'));
    const active = fixture.travelerOf('leaver') as TravelUser;
    travel.travelers.set(active.id, { ...active, archived: true });
    clock.advance(60_000);
    expect(await store.modes.pauseAll(clock.now())).toEqual([users]);
    // Another replica that recognises the same restore does not begin the pause again.
    expect(await store.modes.pauseAll(clock.now() + 1_000)).toEqual([]);
    await fixture.importTravelers();
    expect(fixture.travelerOf('leaver')).toMatchObject({ archived: true });
    expect(await fixture.findings(ids.leaver)).toEqual(['*: pausedReactivation']);
  }));

test('a create that was announced before the backup is neither repeated nor linked', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, store, clock } = fixture;
    travel.faultFor = ({ verb }) => (verb === 'create' ? 'late' : undefined);
    const { id } = await bridge.users.create(users, person('Ada'));
    travel.faultFor = () => undefined;
    await store.modes.pauseAll(clock.now());
    travel.calls.length = 0;
    await fixture.reconcileAfter(HOUR_MS);
    expect(travel.writes()).toEqual([]);
    expect(await fixture.findings(id)).toEqual(['*: pausedCreate']);
    travel.carryOutLateCalls();
    await fixture.reconcileAfter(2 * HOUR_MS);
    expect(travel.writes()).toEqual([]);
    expect((await fixture.identity(id)).travelId).toBeUndefined();
    await store.modes.resume(users, clock.now());
    await fixture.reconcileAfter(0);
    expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Ada') });
    expect(travel.writes()).toEqual([]);
  }));

test('a new rule of the mapping is planned and not sent while the connection is paused', () =>
  restored(async (fixture) => {
    const { travel } = fixture;
    travel.lookupData = {
      ...travel.lookupData,
      scimUserMappings: [{ scimAttribute: 'name.familyName', userAttribute: 'firstName' }],
    };
    await fixture.bridge.startBackground().stop();
    await fixture.bridge.reconcileDue();
    expect(fixture.sent()).toEqual([]);
    expect(await fixture.findings(fixture.ids.leaver)).toEqual(['*: pausedReactivation']);
    expect(await fixture.findings(fixture.ids.demoted)).toEqual(['*: pausedChange']);
  }));

describe('what an IdP writes during the pause goes through for that person', () => {
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

  test('a PUT sends all values that the IdP states, also those that the database has already', () =>
    restored(async (fixture) => {
      const { ids } = fixture;
      await put(fixture, ids.renamed, person('Renamed'));
      expect(fixture.travelerOf('renamed')).toMatchObject({ firstName: 'Renamed' });
      await put(fixture, ids.demoted, person('Demoted', withRole));
      expect(fixture.travelerOf('demoted')).toMatchObject({ roles: ['premium'] });
      await put(fixture, ids.leaver, person('Leaver'));
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: false });
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
      const title = { title: 'Captain', name: { givenName: 'Demi', familyName: 'Smith' } };
      await fixture.patch(fixture.ids.demoted, title);
      await fixture.patch(fixture.ids.leaver, title);
      expect(fixture.travelerOf('demoted')).toMatchObject({ firstName: 'Demi', roles: [] });
      expect(fixture.travelerOf('leaver')).toMatchObject({ firstName: 'Demi', archived: true });
      await fixture.importTravelers();
      await fixture.reconcileAfter(HOUR_MS);
      expect(fixture.travelerOf('demoted')).toMatchObject({ roles: [] });
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: true });
    }));

  test('after a PATCH, the other differences wait for the end of the pause', () =>
    restored(async (fixture) => {
      const { ids, clock, store } = fixture;
      await fixture.patch(ids.leaver, { name: { givenName: 'Leo', familyName: 'Smith' } });
      expect(await fixture.findings(ids.leaver)).toContain('*: pausedReactivation');
      expect(await store.modes.listPaused()).toMatchObject([{ people: { reactivate: 1 } }]);
      await fixture.reconcileAfter(2 * HOUR_MS);
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: true });
      await store.modes.resume(users, clock.now());
      await fixture.reconcileAfter(0);
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: false });
    }));

  test('a PATCH that states what the database has already is sent if the traveler differs', () =>
    restored(async (fixture) => {
      await fixture.patch(fixture.ids.leaver, { active: true });
      await fixture.patch(fixture.ids.renamed, { name: { givenName: 'Renamed', familyName: 'Smith' } });
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: false });
      expect(fixture.travelerOf('renamed')).toMatchObject({ firstName: 'Renamed' });
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

  test('a write whose call fails is sent later, still during the pause', () =>
    restored(async (fixture) => {
      fixture.travel.faultFor = ({ verb }) =>
        verb === 'patch' ? { kind: 'unavailable', text: 'down' } : undefined;
      await fixture.patch(fixture.ids.renamed, { active: false });
      fixture.travel.faultFor = () => undefined;
      await fixture.reconcileAfter(120_000);
      expect(fixture.travelerOf('renamed')).toMatchObject({ archived: true });
    }));

  test('a PATCH that states what the database has already, and whose call fails, is sent after the pause', () =>
    restored(async (fixture) => {
      const { travel, store, clock, ids } = fixture;
      travel.faultFor = ({ verb }) => (verb === 'read' ? { kind: 'unavailable', text: 'down' } : undefined);
      await fixture.patch(ids.leaver, { active: true });
      await store.modes.resume(users, clock.now());
      travel.faultFor = () => undefined;
      await fixture.reconcileAfter(120_000);
      expect(fixture.travelerOf('leaver')).toMatchObject({ archived: false });
      expect(await fixture.identity(ids.leaver)).toMatchObject({ state: 'synced', findings: [] });
    }, {}));
});

test('after the pause the travelers are read again, and what then differs is sent', () =>
  restored(async (fixture) => {
    await fixture.importTravelers();
    const { ids, travel, clock, store } = fixture;
    const before = fixture.travelerOf('renamed');
    travel.travelers.set(before?.id ?? '', { ...(before as TravelUser), firstName: 'Renamed' });
    travel.calls.length = 0;
    expect(await store.modes.resume(users, clock.now())).toBe(true);
    await fixture.reconcileAfter(120_000);
    expect(fixture.travelerOf('leaver')).toMatchObject({ archived: false });
    expect(await fixture.traveler(ids.deleted)).toMatchObject({ email: addressOf('Deleted') });
    expect(await fixture.findings(ids.renamed)).toEqual([]);
    const patched = travel.calls
      .filter(({ verb }) => verb === 'patch')
      .map((call) => 'id' in call && call.id);
    expect(patched).not.toContain(before?.id);
    expect(await store.modes.resume(users, clock.now())).toBe(false);
  }));

test('a server that learns of the end of the pause after a plan sends what it has planned', async () => {
  const database = await databases.open();
  const command = provisioningStore(database).modes;
  await withFixture(
    async (fixture) => {
      const { bridge, travel, store, clock } = fixture;
      const { id } = await bridge.users.create(users, person('Ada'));
      const traveler = (await fixture.traveler(id)) as TravelUser;
      travel.travelers.set(traveler.id, { ...traveler, firstName: 'Other' });
      await store.modes.pauseAll(clock.now());
      await fixture.importTravelers();
      await command.resume(users, clock.now());
      await fixture.reconcileAfter(0);
      expect(await fixture.findings(id)).toEqual(['*: pausedChange']);
      await store.modes.refresh(clock.now());
      await fixture.reconcileAfter(0);
      expect(await fixture.traveler(id)).toMatchObject({ firstName: 'Ada' });
    },
    { database, name: users, ...harmful },
  );
});
