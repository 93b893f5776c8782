import { waitUntilIdle } from '../fixtures/idle.ts';
import { addressOf, allUsers, desiredOf, emailsOf, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

test('a POST makes one traveler with one call', () =>
  withFixture(async ({ bridge, travel, traveler }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    expect(travel.calls.map(({ verb }) => verb)).toEqual(['create']);
    expect(await traveler(ada.id)).toMatchObject({
      email: addressOf('Ada'),
      firstName: 'Ada',
      archived: false,
    });
    expect(ada).toMatchObject({ version: 1, travelUserId: (await traveler(ada.id))?.id });
  }));

test('a change that changes nothing makes no call and leaves version and lastModified alone', () =>
  withFixture(async ({ bridge, travel, clock }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    clock.advance(5_000);
    travel.calls.length = 0;
    const patched = await bridge.users.change(users, ada.id, (user) => ({ ...user }), 'patch');
    const replaced = await bridge.users.change(users, ada.id, () => person('Ada'), 'replace');
    expect(patched).toEqual(ada);
    expect(replaced).toEqual(ada);
    expect(travel.calls).toEqual([]);
  }));

test('a change that changes something makes one call with that and nothing else', () =>
  withFixture(async ({ bridge, travel, clock, patch }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    clock.advance(5_000);
    travel.calls.length = 0;
    await patch(ada.id, { name: { givenName: 'Ada', familyName: 'Lovelace' } });
    expect(travel.calls).toEqual([{ verb: 'patch', id: ada.travelUserId, body: { lastName: 'Lovelace' } }]);
    const after = await bridge.users.read(users, ada.id);
    expect(after).toMatchObject({
      version: 2,
      lastModified: ada.lastModified + 5_000,
      createdAt: ada.createdAt,
    });
  }));

test('a change of an attribute that no rule reads is stored, raises the version and makes no call', () =>
  withFixture(async ({ bridge, travel, patch }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    travel.calls.length = 0;
    await patch(ada.id, { nickName: 'Countess' });
    const after = await bridge.users.read(users, ada.id);
    expect(desiredOf(after).nickName).toBe('Countess');
    expect(after.version).toBe(2);
    expect(travel.calls).toEqual([]);
  }));

test('a removed attribute is removed from the traveler', () =>
  withFixture(async ({ bridge, travel, traveler }) => {
    const ada = await bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    expect((await traveler(ada.id))?.lang).toBe('fr');
    await bridge.users.change(users, ada.id, () => person('Ada'), 'replace');
    expect(travel.calls.at(-1)?.body).toEqual({ lang: null });
    expect(await traveler(ada.id)).not.toHaveProperty('lang');
  }));

test('a POST without active means active, and the view says so', () =>
  withFixture(async ({ bridge, traveler }) => {
    const { active: _, ...silent } = person('Ada');
    const ada = await bridge.users.create(users, silent);
    expect(desiredOf(ada).active).toBe(true);
    expect((await traveler(ada.id))?.archived).toBe(false);
  }));

test('the traveler of a user who is created inactive is archived by the create itself', () =>
  withFixture(async ({ bridge, travel, traveler }) => {
    const ada = await bridge.users.create(users, person('Ada', { active: false }));
    expect(travel.calls.map(({ verb }) => verb)).toEqual(['create']);
    expect((await traveler(ada.id))?.archived).toBe(true);
  }));

test.each([
  ['leaves active out', {}],
  ['sends null', { active: null }],
])('a PUT that %s keeps a person inactive', (_, rest) =>
  withFixture(async ({ bridge, travel, traveler, patch }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    await patch(ada.id, { active: false });
    travel.calls.length = 0;
    const { active: __, ...silent } = person('Ada');
    const after = await bridge.users.change(users, ada.id, () => ({ ...silent, ...rest }), 'replace');
    expect(desiredOf(after).active).toBe(false);
    expect((await traveler(ada.id))?.archived).toBe(true);
    expect(travel.calls).toEqual([]);
  }),
);

test('a userName is taken in any case, by POST and by PATCH, and nothing is stored of the refused write', () =>
  withFixture(async ({ bridge, travel, patch }) => {
    await bridge.users.create(users, person('Ada'));
    const bob = await bridge.users.create(users, person('Bob'));
    const calls = travel.calls.length;
    const again = person('Ada', { userName: 'ADA@corp.example', ...emailsOf('other@corp.example') });
    await expect(bridge.users.create(users, again)).rejects.toMatchObject({ kind: 'conflict' });
    await expect(patch(bob.id, { userName: 'ADA@CORP.example' })).rejects.toMatchObject({ kind: 'conflict' });
    expect(await bridge.users.read(users, bob.id)).toEqual(bob);
    expect((await bridge.users.list(users, allUsers())).total).toBe(2);
    expect(travel.calls).toHaveLength(calls);
  }));

test('a change of a userName to another case of itself is no conflict', () =>
  withFixture(async ({ bridge, patch }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    await patch(ada.id, { userName: 'ADA@corp.example' });
    expect(desiredOf(await bridge.users.read(users, ada.id)).userName).toBe('ADA@corp.example');
  }));

test('simultaneous writes to one user are all applied', () =>
  withFixture(async ({ bridge, traveler, patch, reconcileAfter: pass }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    const names = ['nickName', 'title', 'userType', 'locale', 'timezone', 'division'];
    await Promise.all(names.map((name) => patch(ada.id, { [name]: 'fr' })));
    const after = await bridge.users.read(users, ada.id);
    for (const name of names) expect(desiredOf(after)[name]).toBe('fr');
    expect(after.version).toBe(1 + names.length);
    await pass(1_000);
    expect((await traveler(ada.id))?.lang).toBe('fr');
  }));

test('of simultaneous POSTs with the same userName one succeeds', () =>
  withFixture(async ({ bridge, travel }) => {
    const posts = await Promise.allSettled([1, 2, 3].map(() => bridge.users.create(users, person('Ada'))));
    expect(posts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(
      posts.filter((post) => post.status === 'rejected' && post.reason.kind === 'conflict'),
    ).toHaveLength(2);
    expect(travel.travelers.size).toBe(2);
  }));

test('a POST is answered within the budget while the travel API hangs, and arrives later', () =>
  withFixture(async ({ bridge, travel, clock, identity, traveler, waitForLeases }) => {
    const heldCall = travel.holdCall('create');
    const answer = bridge.users.create(users, person('Ada'));
    await heldCall.reached;
    clock.advance(799);
    clock.advance(1);
    const ada = await answer;
    expect(ada.travelUserId).toBeUndefined();
    expect((await identity(ada.id)).state).toBe('dirty');
    heldCall.release();
    await waitForLeases();
    expect((await identity(ada.id)).state).toBe('synced');
    expect((await traveler(ada.id))?.email).toBe(addressOf('Ada'));
  }));

test('a write while another is under way is answered within the budget, and arrives after it', () =>
  withFixture(async ({ bridge, travel, clock, identity, traveler, waitForLeases, patch }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    const heldCall = travel.holdCall('patch');
    const slow = patch(ada.id, { preferredLanguage: 'fr' });
    await heldCall.reached;
    const other = patch(ada.id, { preferredLanguage: 'en' });
    await waitUntilIdle();
    clock.advance(800);
    await Promise.all([slow, other]);
    heldCall.release();
    await waitForLeases();
    expect((await identity(ada.id)).state).toBe('dirty');
    await bridge.reconcileDue();
    expect((await traveler(ada.id))?.lang).toBe('en');
    expect((await identity(ada.id)).state).toBe('synced');
  }));

test('an unknown user cannot be read, changed or removed', () =>
  withFixture(async ({ bridge }) => {
    const missing = { kind: 'notFound' };
    await expect(bridge.users.read(users, 'nobody')).rejects.toMatchObject(missing);
    await expect(bridge.users.remove(users, 'nobody')).rejects.toMatchObject(missing);
    await expect(bridge.users.change(users, 'nobody', (user) => user, 'patch')).rejects.toMatchObject(
      missing,
    );
  }));
