import { urns } from '../../src/schema/resource.ts';
import {
  addressOf,
  type BridgeHouse,
  desiredOf,
  emailsOf,
  everybody,
  inHouse,
  listed,
  person,
} from '../support/bridge-house.ts';

const users = 'default';

function byName(name: string) {
  return listed({ field: 'userName', is: 'eq', value: addressOf(name) });
}

async function found({ bridge }: BridgeHouse, name: string) {
  const { rows: list } = await bridge.users.list(users, byName(name));
  const [view] = list;
  return view && { ...view, desired: desiredOf(view) };
}

test('people who were there before are shown after an import, and no call writes', () =>
  inHouse(async (house) => {
    house.travel.add({ email: addressOf('Ada'), firstName: 'Ada', lastName: 'Smith', lang: 'fr' });
    house.travel.add({ email: addressOf('Bob'), archived: true });
    await house.imported();
    const all = await house.bridge.users.list(users, everybody());
    // The credential's own traveler is one of them.
    expect(all.total).toBe(3);
    expect(await found(house, 'Ada')).toMatchObject({
      desired: { name: { givenName: 'Ada', familyName: 'Smith' }, preferredLanguage: 'fr', active: true },
    });
    expect((await found(house, 'Bob'))?.desired.active).toBe(false);
    expect(house.travel.writes()).toEqual([]);
  }));

test('whoever no IdP wrote follows the travel service', () =>
  inHouse(async (house) => {
    const ada = house.travel.add({ email: addressOf('Ada'), firstName: 'Ada' });
    await house.imported();
    const before = await found(house, 'Ada');
    house.travel.people.set(ada.id, { ...ada, firstName: 'Augusta', archived: true });
    await house.imported();
    const after = await found(house, 'Ada');
    expect(after).toMatchObject({
      id: before?.id,
      desired: { name: { givenName: 'Augusta' }, active: false },
    });
    expect(after?.version).toBe(2);
    expect(house.travel.writes()).toEqual([]);
  }));

test('whoever vanished is shown no more', () =>
  inHouse(async (house) => {
    const ada = house.travel.add({ email: addressOf('Ada') });
    await house.imported();
    house.travel.people.delete(ada.id);
    house.clock.advance(60_000);
    await house.imported();
    expect(await found(house, 'Ada')).toBeUndefined();
  }));

test('a PATCH claims: what it says is sent, and what it does not speak of stays', () =>
  inHouse(async (house) => {
    const old = house.travel.add({ email: addressOf('Ada'), firstName: 'Ada', currency: 'EUR', lang: 'fr' });
    await house.imported();
    const ada = await found(house, 'Ada');
    await house.patch(ada?.id ?? '', { name: { givenName: 'Ada', familyName: 'King' } });
    expect(house.travel.writes().map(({ body }) => body)).toEqual([{ lastName: 'King' }]);
    expect(await house.identity(ada?.id ?? '')).toMatchObject({
      claimed: true,
      travelId: old.id,
      state: 'synced',
    });
    expect(await house.traveler(ada?.id ?? '')).toMatchObject({
      currency: 'EUR',
      lang: 'fr',
      lastName: 'King',
    });
  }));

test('a PATCH that removes an attribute removes it from the traveler, a PUT that leaves it out does not', () =>
  inHouse(async (house) => {
    house.travel.add({ email: addressOf('Ada'), lang: 'fr' });
    house.travel.add({ email: addressOf('Bob'), lang: 'fr' });
    await house.imported();
    const [ada, bob] = [await found(house, 'Ada'), await found(house, 'Bob')];
    const without = ({ preferredLanguage: _, ...rest }: object & { preferredLanguage?: unknown }) => rest;
    await house.bridge.users.change(users, ada?.id ?? '', (user) => without(user), 'patch');
    await house.bridge.users.change(users, bob?.id ?? '', () => person('Bob'), 'replace');
    expect(await house.traveler(ada?.id ?? '')).not.toHaveProperty('lang');
    expect(await house.traveler(bob?.id ?? '')).toMatchObject({ lang: 'fr', firstName: 'Bob' });
  }));

test('a POST takes over whom an import showed, under the id that was shown', () =>
  inHouse(async (house) => {
    const old = house.travel.add({ email: addressOf('Ada'), currency: 'EUR' });
    await house.imported();
    const shown = await found(house, 'Ada');
    const ada = await house.bridge.users.create(users, person('Ada', { userName: 'ada' }));
    expect(ada).toMatchObject({ id: shown?.id, travelUserId: old.id });
    expect(await house.traveler(ada.id)).toMatchObject({ firstName: 'Ada', currency: 'EUR' });
    expect((await house.bridge.users.list(users, everybody())).total).toBe(2);
  }));

test('where existing people are refused, a POST of one is a conflict', () =>
  inHouse(
    async (house) => {
      house.travel.add({ email: addressOf('Ada') });
      await house.imported();
      await expect(house.bridge.users.create(users, person('Ada'))).rejects.toMatchObject({
        kind: 'conflict',
      });
      expect(house.travel.writes()).toEqual([]);
    },
    { policies: { onExistingUser: 'refuse' } },
  ));

test('an import passes over a traveler whose create is open', () =>
  inHouse(async (house) => {
    house.travel.trouble = ({ verb }) => (verb === 'create' ? 'lose' : undefined);
    await house.bridge.users.create(users, person('Ada', { userName: 'ada' }));
    await house.bridge.importer.run(house.connection);
    expect((await house.bridge.users.list(users, everybody())).total).toBe(2);
    house.travel.trouble = () => undefined;
    await house.pass(5_000);
    await house.imported();
    expect((await house.bridge.users.list(users, everybody())).total).toBe(2);
  }));

test('an import that sees nothing new makes no call but for its pages', () =>
  inHouse(async (house) => {
    await house.bridge.users.create(users, person('Ada'));
    house.travel.add({ email: addressOf('Bob') });
    await house.imported();
    house.travel.calls.length = 0;
    await house.imported();
    expect(house.travel.calls.map(({ verb }) => verb)).toEqual(['page']);
  }));

test('who could not follow the traveler, as somebody had the name, does so when it is free', () =>
  inHouse(async (house) => {
    const old = house.travel.add({ email: addressOf('Ada') });
    await house.imported();
    const bob = await house.bridge.users.create(users, person('Bob', { userName: addressOf('Eve') }));
    house.travel.people.set(old.id, { ...old, email: addressOf('Eve') });
    await house.imported();
    expect(await found(house, 'Ada')).toMatchObject({ travelUserId: old.id });
    await house.patch(bob.id, { userName: addressOf('Bob') });
    await house.imported();
    expect(await found(house, 'Eve')).toMatchObject({ travelUserId: old.id });
    expect(await found(house, 'Ada')).toBeUndefined();
  }));

test('an import of many pages sees everybody', () =>
  inHouse(async (house) => {
    for (let number = 0; number < 250; number += 1) house.travel.add({ email: `p${number}@corp.example` });
    const progress: number[] = [];
    expect(await house.bridge.importer.run(house.connection, (read) => progress.push(read))).toEqual({
      read: 251,
      complete: true,
    });
    expect(progress).toEqual([100, 200, 251]);
    expect((await house.bridge.users.list(users, everybody(0))).total).toBe(251);
  }));

test('an import that fails half-way removes nobody', () =>
  inHouse(async (house) => {
    house.travel.add({ email: addressOf('Ada') });
    await house.imported();
    house.clock.advance(60_000);
    house.travel.trouble = () => ({ kind: 'unavailable', text: 'down' });
    expect(await house.bridge.importer.run(house.connection)).toMatchObject({ kind: 'unavailable' });
    house.travel.trouble = () => undefined;
    expect(await found(house, 'Ada')).toBeDefined();
  }));

test('a claimed person whose traveler vanished gets a new one after an import', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    house.travel.people.delete(ada.travelUserId ?? '');
    house.clock.advance(60_000);
    await house.imported();
    expect((await house.traveler(ada.id))?.email).toBe(addressOf('Ada'));
    expect((await house.identity(ada.id)).travelId).not.toBe(ada.travelUserId);
  }));

test('a search that misses asks the travel API once, and finds', () =>
  inHouse(async (house) => {
    const old = house.travel.add({ email: addressOf('Ada') });
    expect(await found(house, 'Ada')).toMatchObject({ travelUserId: old.id });
    const byEmail = { field: 'email', is: 'eq', value: addressOf('Ada') } as const;
    const again = await house.bridge.users.list(users, listed(byEmail));
    expect(again.rows).toHaveLength(1);
    expect(house.travel.calls.map(({ verb }) => verb)).toEqual(['byEmail']);
  }));

test('a miss is remembered for ten seconds, a failure is a miss', () =>
  inHouse(async (house) => {
    house.travel.trouble = () => ({ kind: 'unavailable', text: 'down' });
    expect(await found(house, 'Ada')).toBeUndefined();
    house.travel.trouble = () => undefined;
    house.travel.add({ email: addressOf('Ada') });
    house.clock.advance(9_999);
    expect(await found(house, 'Ada')).toBeUndefined();
    expect(house.travel.calls).toHaveLength(1);
    house.clock.advance(1);
    expect(await found(house, 'Ada')).toBeDefined();
  }));

test('what is no address, or what the IdP knows under another name, is not asked for again', () =>
  inHouse(async (house) => {
    await house.bridge.users.create(users, person('Bob', { userName: 'bob', ...emailsOf(addressOf('Ada')) }));
    house.travel.calls.length = 0;
    await house.bridge.users.list(users, listed({ field: 'userName', is: 'eq', value: 'nobody' }));
    const long = `${'a'.repeat(65_000)}@corp.example`;
    await house.bridge.users.list(users, listed({ field: 'userName', is: 'eq', value: long }));
    expect(house.travel.calls).toEqual([]);
    expect(await found(house, 'Ada')).toBeUndefined();
    expect(await found(house, 'Ada')).toBeUndefined();
    expect(house.travel.calls).toHaveLength(1);
  }));

test('an administrator is not linked unseen: held, not written, and a deactivation or DELETE is refused', () =>
  inHouse(async (house) => {
    const admin = house.travel.add({ email: addressOf('Ada'), roles: ['admin'] });
    const posted = await house.bridge.users.create(users, person('Ada'));
    expect(await house.identity(posted.id)).toMatchObject({ state: 'held', creating: undefined });
    expect(await house.findings(posted.id)).toEqual(['roles: privileged']);
    await house.bridge.users.remove(users, posted.id);
    const boss = house.travel.add({ email: addressOf('Boss'), roles: ['authAdmin'] });
    await house.imported();
    const shown = await found(house, 'Boss');
    const id = shown?.id ?? '';
    await expect(house.patch(id, { active: false })).rejects.toMatchObject({ kind: 'refused' });
    expect(await house.identity(id)).toMatchObject({ state: 'held', hold: { cause: 'guarded' } });
    await expect(house.bridge.users.remove(users, id)).rejects.toMatchObject({ kind: 'refused' });
    expect(await house.identity(id)).toMatchObject({ state: 'held', desired: { active: false } });
    expect(house.travel.people.get(admin.id)).toEqual(admin);
    expect(house.travel.people.get(boss.id)).toEqual(boss);
  }));

test('an approved administrator is archived at once, though the safety valve lets no more people leave', () =>
  inHouse(
    async ({ bridge, travel, traveler, patch, identity, store, clock }) => {
      const bob = await bridge.users.create(users, person('Bob'));
      const ada = await bridge.users.create(users, person('Ada'));
      await patch(bob.id, { active: false });
      const was = await traveler(ada.id);
      if (!was) throw new Error('there is no traveler');
      travel.people.set(was.id, { ...was, roles: ['admin'] });
      await expect(patch(ada.id, { active: false })).rejects.toMatchObject({ kind: 'refused' });
      await store.holds.decide(users, { ids: [ada.id] }, 'approved', clock.now());
      await bridge.settleDue();
      expect(await traveler(ada.id)).toMatchObject({ archived: true, roles: ['admin'] });
      expect(await identity(ada.id)).toMatchObject({ state: 'synced', hold: undefined });
    },
    { policies: { safetyValve: { share: 0, minimum: 1, windowMs: 3_600_000 } } },
  ));

test('an administrator whom the IdP made stays the IdP’s', () =>
  inHouse(
    async (house) => {
      const roles = { [urns.travel]: { roles: [{ value: 'admin' }] } };
      const ada = await house.bridge.users.create(users, person('Ada', roles));
      await house.patch(ada.id, { preferredLanguage: 'fr' });
      expect(await house.traveler(ada.id)).toMatchObject({ roles: ['admin'], lang: 'fr' });
    },
    { mapping: { scimUserMapping: [], roles: { allow: ['admin'] } } },
  ));

test('the credential’s own traveler is never written', () =>
  inHouse(async (house) => {
    const email = 'bridge@travel.example';
    const before = [...house.travel.people.values()];
    const linked = await house.bridge.users.create(
      users,
      person('Eve', { userName: 'eve', ...emailsOf(email) }),
    );
    expect((await house.identity(linked.id)).travelId).toBeUndefined();
    await house.imported();
    const match = { field: 'userName', is: 'eq', value: email } as const;
    const { rows: list } = await house.bridge.users.list(users, listed(match, 1));
    const own = list[0]?.id ?? '';
    await house.patch(own, { preferredLanguage: 'fr' });
    expect(await house.findings(own)).toContain('*: ownCredential');
    await expect(house.patch(own, { active: false })).rejects.toMatchObject({ kind: 'refused' });
    await expect(house.bridge.users.remove(users, own)).rejects.toMatchObject({ kind: 'refused' });
    expect([...house.travel.people.values()]).toEqual(before);
  }));
