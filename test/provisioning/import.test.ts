import { importFailedSince, lastImportOf, withFailedImport } from '../../src/provisioning/import/import.ts';
import { urns } from '../../src/schema/resource.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import {
  addressOf,
  allUsers,
  desiredOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  usersWhere,
  withFixture,
} from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';

const users = 'default';

function byName(name: string) {
  return usersWhere({ field: 'userName', operator: 'eq', value: addressOf(name) });
}

async function findUser({ bridge }: ProvisioningFixture, name: string) {
  const { rows: list } = await bridge.users.list(users, byName(name));
  const [view] = list;
  return view && { ...view, desired: desiredOf(view) };
}

test('existing people are visible after an import, which sends no write', () =>
  withFixture(async (fixture) => {
    fixture.travel.addTraveler({ email: addressOf('Ada'), firstName: 'Ada', lastName: 'Smith', lang: 'fr' });
    fixture.travel.addTraveler({ email: addressOf('Bob'), archived: true });
    await fixture.importTravelers();
    const all = await fixture.bridge.users.list(users, allUsers());
    // The traveler of the credential is hidden.
    expect(all.total).toBe(2);
    expect(await findUser(fixture, 'Ada')).toMatchObject({
      desired: { name: { givenName: 'Ada', familyName: 'Smith' }, preferredLanguage: 'fr', active: true },
    });
    expect((await findUser(fixture, 'Bob'))?.desired.active).toBe(false);
    expect(fixture.travel.writes()).toEqual([]);
  }));

test('an unclaimed identity follows the travel service', () =>
  withFixture(async (fixture) => {
    const ada = fixture.travel.addTraveler({ email: addressOf('Ada'), firstName: 'Ada' });
    await fixture.importTravelers();
    const before = await findUser(fixture, 'Ada');
    fixture.travel.travelers.set(ada.id, { ...ada, firstName: 'Augusta', archived: true });
    await fixture.importTravelers();
    const after = await findUser(fixture, 'Ada');
    expect(after).toMatchObject({
      id: before?.id,
      desired: { name: { givenName: 'Augusta' }, active: false },
    });
    expect(after?.version).toBe(2);
    expect(fixture.travel.writes()).toEqual([]);
  }));

test('a person whose traveler was deleted is no longer visible', () =>
  withFixture(async (fixture) => {
    const ada = fixture.travel.addTraveler({ email: addressOf('Ada') });
    await fixture.importTravelers();
    fixture.travel.travelers.delete(ada.id);
    fixture.clock.advance(60_000);
    await fixture.importTravelers();
    expect(await findUser(fixture, 'Ada')).toBeUndefined();
  }));

test('a PATCH claims an imported person: its values are sent, and all others stay', () =>
  withFixture(async (fixture) => {
    const old = fixture.travel.addTraveler({
      email: addressOf('Ada'),
      firstName: 'Ada',
      currency: 'EUR',
      lang: 'fr',
    });
    await fixture.importTravelers();
    const ada = await findUser(fixture, 'Ada');
    await fixture.patch(ada?.id ?? '', { name: { givenName: 'Ada', familyName: 'King' } });
    expect(fixture.travel.writes().map(({ body }) => body)).toEqual([{ lastName: 'King' }]);
    expect(await fixture.identity(ada?.id ?? '')).toMatchObject({
      claimed: true,
      travelId: old.id,
      state: 'synced',
    });
    expect(await fixture.traveler(ada?.id ?? '')).toMatchObject({
      currency: 'EUR',
      lang: 'fr',
      lastName: 'King',
    });
  }));

test('a PATCH that removes an attribute removes it from the traveler, but a PUT without it does not', () =>
  withFixture(async (fixture) => {
    fixture.travel.addTraveler({ email: addressOf('Ada'), lang: 'fr' });
    fixture.travel.addTraveler({ email: addressOf('Bob'), lang: 'fr' });
    await fixture.importTravelers();
    const [ada, bob] = [await findUser(fixture, 'Ada'), await findUser(fixture, 'Bob')];
    const without = ({ preferredLanguage: _, ...rest }: object & { preferredLanguage?: unknown }) => rest;
    await fixture.bridge.users.change(users, ada?.id ?? '', (user) => without(user), 'patch');
    await fixture.bridge.users.change(users, bob?.id ?? '', () => person('Bob'), 'replace');
    expect(await fixture.traveler(ada?.id ?? '')).not.toHaveProperty('lang');
    expect(await fixture.traveler(bob?.id ?? '')).toMatchObject({ lang: 'fr', firstName: 'Bob' });
  }));

test('a POST claims an imported person under a new SCIM id', () =>
  withFixture(async (fixture) => {
    const old = fixture.travel.addTraveler({ email: addressOf('Ada'), currency: 'EUR' });
    await fixture.importTravelers();
    const listed = await findUser(fixture, 'Ada');
    const ada = await fixture.bridge.users.create(users, person('Ada', { userName: 'ada' }));
    expect(ada.id).not.toBe(listed?.id);
    expect(ada.travelUserId).toBe(old.id);
    expect(await fixture.traveler(ada.id)).toMatchObject({ firstName: 'Ada', currency: 'EUR' });
    expect((await fixture.bridge.users.list(users, allUsers())).total).toBe(1);
  }));

test('an import skips a traveler whose create has no known outcome', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = ({ verb }) => (verb === 'create' ? 'lose' : undefined);
    await fixture.bridge.users.create(users, person('Ada', { userName: 'ada' }));
    await fixture.bridge.importer.run(fixture.connection);
    expect((await fixture.bridge.users.list(users, allUsers())).total).toBe(1);
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(5_000);
    await fixture.importTravelers();
    expect((await fixture.bridge.users.list(users, allUsers())).total).toBe(1);
  }));

test('an import without changes reads its pages and sends no other call', () =>
  withFixture(async (fixture) => {
    await fixture.bridge.users.create(users, person('Ada'));
    fixture.travel.addTraveler({ email: addressOf('Bob') });
    await fixture.importTravelers();
    fixture.travel.calls.length = 0;
    await fixture.importTravelers();
    expect(fixture.travel.calls.map(({ verb }) => verb)).toEqual(['readPage']);
  }));

test('an identity that could not follow its traveler because its userName was taken follows once it is free', () =>
  withFixture(async (fixture) => {
    const old = fixture.travel.addTraveler({ email: addressOf('Ada') });
    await fixture.importTravelers();
    const bob = await fixture.bridge.users.create(users, person('Bob', { userName: addressOf('Eve') }));
    fixture.travel.travelers.set(old.id, { ...old, email: addressOf('Eve') });
    await fixture.importTravelers();
    expect(await findUser(fixture, 'Ada')).toMatchObject({ travelUserId: old.id });
    await fixture.patch(bob.id, { userName: addressOf('Bob') });
    await fixture.importTravelers();
    expect(await findUser(fixture, 'Eve')).toMatchObject({ travelUserId: old.id });
    expect(await findUser(fixture, 'Ada')).toBeUndefined();
  }));

test('an import of many pages reads all travelers', () =>
  withFixture(async (fixture) => {
    for (let number = 0; number < 250; number += 1)
      fixture.travel.addTraveler({ email: `p${number}@corp.example` });
    const progress: number[] = [];
    expect(await fixture.bridge.importer.run(fixture.connection, (read) => progress.push(read))).toEqual({
      read: 251,
      complete: true,
    });
    expect(progress).toEqual([100, 200, 251]);
    expect((await fixture.bridge.users.list(users, allUsers(0))).total).toBe(250);
  }));

test('an import that fails half-way deletes no user', () =>
  withFixture(async (fixture) => {
    fixture.travel.addTraveler({ email: addressOf('Ada') });
    await fixture.importTravelers();
    fixture.clock.advance(60_000);
    fixture.travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
    expect(await fixture.bridge.importer.run(fixture.connection)).toMatchObject({ kind: 'unavailable' });
    fixture.travel.faultFor = () => undefined;
    expect(await findUser(fixture, 'Ada')).toBeDefined();
  }));

test('of two imports that overlap, the later one deletes nobody whom both have listed', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, clock, connection } = fixture;
    travel.addTraveler({ email: addressOf('Ada') });
    const bob = travel.addTraveler({ email: addressOf('Bob') });
    await fixture.importTravelers();
    const before = await findUser(fixture, 'Ada');
    travel.travelers.delete(bob.id);
    clock.advance(60_000);
    const page = travel.holdCall('readPage');
    const earlier = bridge.importer.run(connection);
    await page.reached;
    clock.advance(1_000);
    // The later one lists Ada, and asks for Bob, who is missing.
    const read = travel.holdCall('read');
    const later = fixture.replica().importer.run(connection);
    await read.reached;
    page.release();
    await waitUntilIdle();
    read.release();
    await Promise.all([earlier, later]);
    expect(await findUser(fixture, 'Ada')).toEqual(before);
  }));

test('a claimed person whose traveler was deleted gets a new one after an import', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    fixture.travel.travelers.delete(ada.travelUserId ?? '');
    fixture.clock.advance(60_000);
    await fixture.importTravelers();
    expect((await fixture.traveler(ada.id))?.email).toBe(addressOf('Ada'));
    expect((await fixture.identity(ada.id)).travelId).not.toBe(ada.travelUserId);
  }));

test.each(['the list', 'the read of a changed traveler'])(
  'a person of another connection gets the address of a traveler that is missing in %s',
  (where) =>
    withFixture(
      async (fixture) => {
        const { bridge, travel, clock } = fixture;
        const { id: ada } = await bridge.users.create(users, person('Ada'));
        const traveler = await fixture.traveler(ada);
        if (!traveler) throw new Error('there is no traveler');
        travel.travelers.set(traveler.id, { ...traveler, email: 'hand@corp.example' });
        await fixture.importTravelers();
        const { id: bob } = await bridge.users.create('other', person('Bob'));
        await fixture.patch(bob, emailsOf('hand@corp.example'), 'other');
        await fixture.reconcileAfter(61_000);
        const page = where === 'the list' ? undefined : travel.holdCall('read');
        if (page) travel.travelers.set(traveler.id, { ...traveler, firstName: 'Augusta' });
        else travel.travelers.delete(traveler.id);
        clock.advance(60_000);
        const imported = fixture.importTravelers();
        await page?.reached;
        travel.travelers.delete(traveler.id);
        page?.release();
        await imported;
        expect((await fixture.traveler(ada))?.email).toBe(addressOf('Ada'));
        expect((await fixture.traveler(bob, 'other'))?.email).toBe('hand@corp.example');
      },
      { more: ['other'] },
    ),
);

test('a filter that finds nothing searches the travel API once, and finds the person there', () =>
  withFixture(async (fixture) => {
    const old = fixture.travel.addTraveler({ email: addressOf('Ada') });
    expect(await findUser(fixture, 'Ada')).toMatchObject({ travelUserId: old.id });
    const byEmail = { field: 'email', operator: 'eq', value: addressOf('Ada') } as const;
    const again = await fixture.bridge.users.list(users, usersWhere(byEmail));
    expect(again.rows).toHaveLength(1);
    expect(fixture.travel.calls.map(({ verb }) => verb)).toEqual(['findByEmails']);
  }));

test('a search without result is remembered for ten seconds, and a failure counts as one', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
    expect(await findUser(fixture, 'Ada')).toBeUndefined();
    fixture.travel.faultFor = () => undefined;
    fixture.travel.addTraveler({ email: addressOf('Ada') });
    fixture.clock.advance(9_999);
    expect(await findUser(fixture, 'Ada')).toBeUndefined();
    expect(fixture.travel.calls).toHaveLength(1);
    fixture.clock.advance(1);
    expect(await findUser(fixture, 'Ada')).toBeDefined();
  }));

test('text that is no email address, or belongs to a person known by another name, is not searched for', () =>
  withFixture(async (fixture) => {
    await fixture.bridge.users.create(
      users,
      person('Bob', { userName: 'bob', ...emailsOf(addressOf('Ada')) }),
    );
    fixture.travel.calls.length = 0;
    await fixture.bridge.users.list(
      users,
      usersWhere({ field: 'userName', operator: 'eq', value: 'nobody' }),
    );
    const long = `${'a'.repeat(65_000)}@corp.example`;
    await fixture.bridge.users.list(users, usersWhere({ field: 'userName', operator: 'eq', value: long }));
    expect(fixture.travel.calls).toEqual([]);
    expect(await findUser(fixture, 'Ada')).toBeUndefined();
    expect(await findUser(fixture, 'Ada')).toBeUndefined();
    expect(fixture.travel.calls).toHaveLength(1);
  }));

test('linking an administrator is held, nothing is sent, and a deactivation or DELETE is refused', () =>
  withFixture(async (fixture) => {
    const admin = fixture.travel.addTraveler({ email: addressOf('Ada'), roles: ['admin'] });
    const posted = await fixture.bridge.users.create(users, person('Ada'));
    expect(await fixture.identity(posted.id)).toMatchObject({ state: 'held', creating: undefined });
    expect(await fixture.findings(posted.id)).toEqual(['roles: privileged']);
    await fixture.bridge.users.remove(users, posted.id);
    const boss = fixture.travel.addTraveler({ email: addressOf('Boss'), roles: ['authAdmin'] });
    await fixture.importTravelers();
    const listed = await findUser(fixture, 'Boss');
    const id = listed?.id ?? '';
    await expect(fixture.patch(id, { active: false })).rejects.toMatchObject({ kind: 'refused' });
    expect(await fixture.identity(id)).toMatchObject({ state: 'held', hold: { cause: 'guarded' } });
    await expect(fixture.bridge.users.remove(users, id)).rejects.toMatchObject({ kind: 'refused' });
    expect(await fixture.identity(id)).toMatchObject({ state: 'held', desired: { active: false } });
    expect(fixture.travel.travelers.get(admin.id)).toEqual(admin);
    expect(fixture.travel.travelers.get(boss.id)).toEqual(boss);
  }));

test('an approved administrator is archived at once even if the safety valve allows no more people to leave', () =>
  withFixture(
    async ({ bridge, travel, traveler, patch, identity, store, clock }) => {
      const bob = await bridge.users.create(users, person('Bob'));
      const ada = await bridge.users.create(users, person('Ada'));
      await patch(bob.id, { active: false });
      const was = await traveler(ada.id);
      if (!was) throw new Error('there is no traveler');
      travel.travelers.set(was.id, { ...was, roles: ['admin'] });
      await expect(patch(ada.id, { active: false })).rejects.toMatchObject({ kind: 'refused' });
      await saveDecision(store, users, { ids: [ada.id] }, 'approved', clock.now());
      await bridge.reconcileDue();
      expect(await traveler(ada.id)).toMatchObject({ archived: true, roles: ['admin'] });
      expect(await identity(ada.id)).toMatchObject({ state: 'synced', hold: undefined });
    },
    { policies: { safetyValve: { share: 0, minimum: 1, windowMs: 3_600_000 } } },
  ));

test('the IdP may write an administrator that it made one', () =>
  withFixture(
    async (fixture) => {
      const roles = { [urns.travel]: { roles: [{ value: 'admin' }] } };
      const ada = await fixture.bridge.users.create(users, person('Ada', roles));
      await fixture.patch(ada.id, { preferredLanguage: 'fr' });
      expect(await fixture.traveler(ada.id)).toMatchObject({ roles: ['admin'], lang: 'fr' });
    },
    { mapping: { scimUserMapping: [], roles: { allow: ['admin'] } } },
  ));

test('the traveler of the credential is never written', () =>
  withFixture(async (fixture) => {
    const email = 'bridge@travel.example';
    const before = [...fixture.travel.travelers.values()];
    const { id: own } = await fixture.bridge.users.create(
      users,
      person('Eve', { userName: 'eve', ...emailsOf(email) }),
    );
    await fixture.importTravelers();
    await fixture.patch(own, { preferredLanguage: 'fr' });
    expect(await fixture.findings(own)).toContain('*: ownCredential');
    await expect(fixture.patch(own, { active: false })).rejects.toMatchObject({ kind: 'refused' });
    await expect(fixture.bridge.users.remove(users, own)).rejects.toMatchObject({ kind: 'refused' });
    expect([...fixture.travel.travelers.values()]).toEqual(before);
  }));

test('imports fail since the first failure, and the last one that has ended is still known', () => {
  const first = withFailedImport(undefined, 5);
  expect([importFailedSince(first), lastImportOf(first)]).toEqual([5, undefined]);
  const ended = { isIncomplete: false, at: 7, ms: 2, read: 3 };
  const second = withFailedImport(withFailedImport(ended, 8), 9);
  expect([importFailedSince(second), lastImportOf(second)]).toMatchObject([8, ended]);
  expect(importFailedSince(ended)).toBeUndefined();
});
