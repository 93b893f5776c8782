import type { MemberChange } from '../../src/model/group-ports.ts';
import { type ScimResource, urns } from '../../src/schema/resource.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import {
  addressOf,
  desiredOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';

const users = 'default';
const refused = { kind: 'refused', message: expect.stringContaining('administers the travel service') };
const heldAsGuarded = { state: 'held', hold: { cause: 'guarded' } };

const noRoles = { roles: [], [urns.travel]: {} };
const withRoles = (...roles: string[]): ScimResource => ({ roles: roles.map((value) => ({ value })) });

/** A fixture whose mapping may give every role. */
function withEveryRoleAllowed(run: (fixture: ProvisioningFixture) => Promise<void>): Promise<void> {
  const roles = { allow: ['admin', 'authAdmin', 'organizer'] };
  return withFixture(run, { mapping: { scimUserMapping: [], roles } });
}

/** Changes the traveler of a user by hand; neither an import nor the event feed reports it. */
async function changeByHand(fixture: ProvisioningFixture, id: string, values: object): Promise<void> {
  const traveler = await fixture.traveler(id);
  if (!traveler) throw new Error('there is no traveler');
  fixture.travel.travelers.set(traveler.id, { ...traveler, ...values });
}

/** Imports a traveler that existed before, and returns the SCIM id. */
async function importTraveler(fixture: ProvisioningFixture, roles: string[]): Promise<string> {
  const { id } = fixture.travel.addTraveler({ email: addressOf('Ada'), firstName: 'Ada', roles });
  await fixture.importTravelers();
  const [imported] = await fixture.store.identities.find(users, { by: 'travelId', value: id });
  if (!imported) throw new Error('nobody was imported');
  return imported.id;
}

async function approve({ store, bridge, clock }: ProvisioningFixture, id: string): Promise<void> {
  expect(await saveDecision(store, users, { ids: [id] }, 'approved', clock.now())).toBe(1);
  await bridge.reconcileDue();
}

const change = (fixture: ProvisioningFixture, id: string, values: ScimResource) => fixture.patch(id, values);

/** The ways in which a user becomes an administrator other than by the mapping. */
const admins: [string, (fixture: ProvisioningFixture) => Promise<string>][] = [
  [
    'who was provisioned by the bridge and promoted by hand',
    async (fixture) => {
      const { id } = await fixture.bridge.users.create(users, person('Ada'));
      await changeByHand(fixture, id, { roles: ['admin'] });
      return id;
    },
  ],
  [
    'who was promoted to authAdmin, which an import has read',
    async (fixture) => {
      const { id } = await fixture.bridge.users.create(users, person('Ada'));
      await changeByHand(fixture, id, { roles: ['authAdmin'] });
      await fixture.importTravelers();
      return id;
    },
  ],
  [
    'who was imported and claimed by a PATCH',
    async (fixture) => {
      const id = await importTraveler(fixture, ['admin']);
      await change(fixture, id, { title: 'Dr.' });
      return id;
    },
  ],
  [
    'who was imported and claimed by a POST',
    async (fixture) => {
      fixture.travel.addTraveler({ email: addressOf('Ada'), roles: ['admin'] });
      await fixture.importTravelers();
      return (await fixture.bridge.users.create(users, person('Ada'))).id;
    },
  ],
  [
    'of whom the last observation is missing',
    async (fixture) => {
      const { id } = await fixture.bridge.users.create(users, person('Ada'));
      await changeByHand(fixture, id, { roles: ['admin'] });
      const now = fixture.clock.now();
      await fixture.store.imports.saveObserved(users, [{ id, observed: undefined }], now);
      return id;
    },
  ],
  [
    'with one role of the mapping and one given by hand',
    async (fixture) => {
      const { id } = await fixture.bridge.users.create(users, person('Ada', withRoles('admin')));
      await changeByHand(fixture, id, { roles: ['admin', 'authAdmin'] });
      return id;
    },
  ],
  [
    'whose role the mapping gave and took away before somebody gave it again',
    async (fixture) => {
      const { id } = await fixture.bridge.users.create(users, person('Ada', withRoles('admin')));
      await change(fixture, id, noRoles);
      await changeByHand(fixture, id, { roles: ['admin'] });
      return id;
    },
  ],
];

describe.each(admins)('an administrator %s', (_, createAdmin) => {
  test('is not deactivated: each request answers 403, the user stays inactive, an approval archives at once', () =>
    withEveryRoleAllowed(async (fixture) => {
      const id = await createAdmin(fixture);
      for (let repeat = 0; repeat < 3; repeat += 1)
        await expect(change(fixture, id, { active: false })).rejects.toMatchObject(refused);
      expect(await fixture.identity(id)).toMatchObject({ ...heldAsGuarded, desired: { active: false } });
      expect((await fixture.traveler(id))?.archived).toBe(false);
      await approve(fixture, id);
      expect(await fixture.identity(id)).toMatchObject({ state: 'synced', hold: undefined });
      expect((await fixture.traveler(id))?.archived).toBe(true);
    }));

  test('is not deleted: each request answers 403, the user stays and is inactive, an approval archives at once', () =>
    withEveryRoleAllowed(async (fixture) => {
      const id = await createAdmin(fixture);
      for (let repeat = 0; repeat < 3; repeat += 1)
        await expect(fixture.bridge.users.remove(users, id)).rejects.toMatchObject(refused);
      expect(desiredOf(await fixture.bridge.users.read(users, id)).active).toBe(false);
      expect(await fixture.identity(id)).toMatchObject(heldAsGuarded);
      expect((await fixture.traveler(id))?.archived).toBe(false);
      await approve(fixture, id);
      expect((await fixture.traveler(id))?.archived).toBe(true);
      await fixture.bridge.users.remove(users, id);
      await expect(fixture.bridge.users.read(users, id)).rejects.toMatchObject({ kind: 'notFound' });
    }));

  test('keeps email and roles, with a finding, while other fields are written', () =>
    withEveryRoleAllowed(async (fixture) => {
      const id = await createAdmin(fixture);
      const before = await fixture.traveler(id);
      const values = { ...emailsOf('new@corp.example'), ...withRoles('organizer'), ...nameOf('Anna') };
      await change(fixture, id, values);
      expect(await fixture.traveler(id)).toMatchObject({
        ...{ email: before?.email, roles: before?.roles, firstName: 'Anna' },
      });
      expect(await fixture.findings(id)).toContain('roles: guarded');
      expect((await fixture.identity(id)).state).toBe('synced');
    }));
});

function nameOf(givenName: string): ScimResource {
  return { name: { givenName, familyName: 'Smith' } };
}

test('a role that the mapping gave can be removed by the mapping, and its owner can be archived', () =>
  withEveryRoleAllowed(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', withRoles('admin', 'organizer')));
    const bob = await fixture.bridge.users.create(users, person('Bob', withRoles('admin')));
    await fixture.patch(ada.id, withRoles('organizer'));
    await fixture.bridge.users.remove(users, bob.id);
    expect(await fixture.traveler(ada.id)).toMatchObject({ roles: ['organizer'] });
    expect(await fixture.traveler(bob.id)).toMatchObject({ archived: true });
  }));

test('an imported administrator whose roles the IdP removes keeps them, and is not archived', () =>
  withEveryRoleAllowed(async (fixture) => {
    const id = await importTraveler(fixture, ['admin', 'organizer']);
    await fixture.patch(id, noRoles);
    expect(await fixture.traveler(id)).toMatchObject({ roles: ['admin', 'organizer'] });
    expect(await fixture.findings(id)).toContain('roles: guarded');
    await expect(fixture.patch(id, { active: false })).rejects.toMatchObject(refused);
    expect(await fixture.traveler(id)).toMatchObject({ roles: ['admin', 'organizer'], archived: false });
    await expect(fixture.bridge.users.remove(users, id)).rejects.toMatchObject(refused);
    expect(await fixture.traveler(id)).toMatchObject({ archived: false });
  }));

test('a PATCH with the role and the deactivation does not archive an imported administrator', () =>
  withEveryRoleAllowed(async (fixture) => {
    const id = await importTraveler(fixture, ['admin']);
    await expect(fixture.patch(id, { ...noRoles, active: false })).rejects.toMatchObject(refused);
    expect(await fixture.traveler(id)).toMatchObject({ roles: ['admin'], archived: false });
  }));

test('a held deactivation is sent by itself once the role is removed by hand', () =>
  withEveryRoleAllowed(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await changeByHand(fixture, ada.id, { roles: ['admin'] });
    await expect(fixture.patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    await changeByHand(fixture, ada.id, { roles: [] });
    await fixture.importTravelers();
    expect(await fixture.traveler(ada.id)).toMatchObject({ archived: true });
    expect(await fixture.store.holds.countHolds()).toEqual([]);
  }));

test('a reactivation ends the hold, and an earlier approval does not count for a later deactivation', () =>
  withEveryRoleAllowed(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await changeByHand(fixture, ada.id, { roles: ['admin'] });
    await expect(fixture.patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    await fixture.patch(ada.id, { active: true });
    expect(await fixture.store.holds.countHolds()).toEqual([]);
    await expect(fixture.patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    await approve(fixture, ada.id);
    await fixture.patch(ada.id, { active: true });
    expect(await fixture.traveler(ada.id)).toMatchObject({ archived: false, roles: ['admin'] });
    await expect(fixture.patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    expect(await fixture.traveler(ada.id)).toMatchObject({ archived: false });
  }));

test('a discarded deactivation stays discarded after an import, and each new request answers 403', () =>
  withEveryRoleAllowed(async (fixture) => {
    const { store, clock, bridge } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    await changeByHand(fixture, ada.id, { roles: ['admin'] });
    await expect(bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    await saveDecision(store, users, { ids: [ada.id] }, 'discarded', clock.now());
    await bridge.reconcileDue();
    await fixture.importTravelers();
    expect(await store.holds.countHolds()).toEqual([]);
    await expect(fixture.patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    expect(await fixture.traveler(ada.id)).toMatchObject({ archived: false });
    await expect(bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    expect(await store.holds.countHolds()).toEqual([expect.objectContaining({ cause: 'guarded', count: 1 })]);
  }));

test('a role that was given between the last read and the DELETE is noticed', () =>
  withEveryRoleAllowed(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.importTravelers();
    const call = fixture.travel.holdCall('read');
    const removal = fixture.bridge.users.remove(users, ada.id);
    await call.reached;
    await changeByHand(fixture, ada.id, { roles: ['admin'] });
    call.release();
    await expect(removal).rejects.toMatchObject(refused);
    expect(await fixture.traveler(ada.id)).toMatchObject({ archived: false });
  }));

test('the user whose credential the bridge uses is never deactivated or deleted, and no approval changes that', () =>
  withEveryRoleAllowed(async (fixture) => {
    const own = { kind: 'refused', message: expect.stringContaining('Jetbridge itself uses') };
    await fixture.importTravelers();
    const { id } = await fixture.bridge.users.create(users, person('Eve', emailsOf('bridge@travel.example')));
    fixture.travel.calls.length = 0;
    for (let repeat = 0; repeat < 2; repeat += 1) {
      await expect(fixture.patch(id, { active: false })).rejects.toMatchObject(own);
      await expect(fixture.bridge.users.remove(users, id)).rejects.toMatchObject(own);
    }
    expect(desiredOf(await fixture.bridge.users.read(users, id)).active).toBe(true);
    expect(await fixture.store.holds.countHolds()).toEqual([]);
    expect(await saveDecision(fixture.store, users, { ids: [id] }, 'approved', fixture.clock.now())).toBe(0);
    await fixture.importTravelers();
    expect(fixture.travel.writes()).toEqual([]);
  }));

/** The ways to take an administrator out of use. */
const removals: [string, (fixture: ProvisioningFixture, id: string) => Promise<unknown>][] = [
  ['PATCH', (fixture, id) => change(fixture, id, { active: false })],
  ['DELETE', (fixture, id) => fixture.bridge.users.remove(users, id)],
];

describe.each(removals)('a %s that takes an administrator out of use', (_, remove) => {
  test.each(['other', 'same'])(
    'answers 403 although an attempt of the %s process holds the lease when it arrives',
    (which) =>
      withEveryRoleAllowed(async (fixture) => {
        const ada = await fixture.bridge.users.create(users, person('Ada'));
        await changeByHand(fixture, ada.id, { roles: ['admin'] });
        await fixture.store.reconcileQueue.markDirty(users, [ada.id], fixture.clock.now());
        await fixture.store.imports.saveObserved(
          users,
          [{ id: ada.id, observed: undefined }],
          fixture.clock.now(),
        );
        const call = fixture.travel.holdCall('read');
        const background = (which === 'same' ? fixture.bridge : fixture.replica()).reconcileDue();
        await call.reached;
        const answered = expect(remove(fixture, ada.id)).rejects.toMatchObject(refused);
        await waitUntilIdle();
        call.release();
        await background;
        await waitUntilIdle();
        fixture.clock.advance(100);
        await answered;
        expect(await fixture.identity(ada.id)).toMatchObject(heldAsGuarded);
        expect(await fixture.traveler(ada.id)).toMatchObject({ archived: false });
      }),
  );
});

test('a repeated deactivation of an administrator waits for the attempt that holds the lease, and answers 403', () =>
  withEveryRoleAllowed(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await changeByHand(fixture, ada.id, { roles: ['admin'] });
    await expect(change(fixture, ada.id, { active: false })).rejects.toMatchObject(refused);
    const call = fixture.travel.holdCall('read');
    const other = expect(change(fixture, ada.id, { active: false })).rejects.toMatchObject(refused);
    await call.reached;
    const repeated = expect(change(fixture, ada.id, { active: false })).rejects.toMatchObject(refused);
    await waitUntilIdle();
    call.release();
    await Promise.all([other, repeated]);
  }));

test('a repeated DELETE answers 403 if the first one was committed but never answered', () =>
  withEveryRoleAllowed(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await changeByHand(fixture, ada.id, { roles: ['admin'] });
    const call = fixture.travel.holdCall('read');
    void fixture.bridge.users.remove(users, ada.id);
    await call.reached;
    await fixture.restart();
    call.release();
    await expect(fixture.bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    expect(desiredOf(await fixture.bridge.users.read(users, ada.id)).active).toBe(false);
    await expect(fixture.bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
  }));

test('a repeated DELETE answers 403 even if the background loop was faster than the repetition', () =>
  withEveryRoleAllowed(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await changeByHand(fixture, ada.id, { roles: ['admin'] });
    const call = fixture.travel.holdCall('read');
    void fixture.bridge.users.remove(users, ada.id);
    await call.reached;
    await fixture.restart();
    call.release();
    await fixture.bridge.reconcileDue();
    expect(await fixture.store.holds.countHolds()).toEqual([
      expect.objectContaining({ cause: 'guarded', count: 1 }),
    ]);
    await expect(fixture.bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    await approve(fixture, ada.id);
    expect(await fixture.traveler(ada.id)).toMatchObject({ archived: true });
  }));

test('a DELETE archives a traveler that was un-archived by hand, whatever was observed last', () =>
  withEveryRoleAllowed(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.patch(ada.id, { active: false });
    await changeByHand(fixture, ada.id, { archived: false });
    await fixture.bridge.users.remove(users, ada.id);
    expect(await fixture.traveler(ada.id)).toMatchObject({ archived: true });
  }));

test('an administrator who waits for an address and is deactivated is held without calls until an admin decides', () =>
  withEveryRoleAllowed(async (fixture) => {
    const { bridge, travel } = fixture;
    await bridge.users.create(users, person('Bob'));
    const ada = await bridge.users.create(users, person('Ada'));
    await change(fixture, ada.id, emailsOf(addressOf('Bob')));
    await changeByHand(fixture, ada.id, { roles: ['admin'] });
    await expect(change(fixture, ada.id, { active: false })).rejects.toMatchObject(refused);
    travel.calls.length = 0;
    await bridge.reconcileDue();
    expect(await fixture.identity(ada.id)).toMatchObject(heldAsGuarded);
    expect(travel.calls.length).toBeLessThan(3);
  }));

test('a refused DELETE does not bring the user back into groups that are written without the user meanwhile', () =>
  withEveryRoleAllowed(async (fixture) => {
    const { groups, users: people } = fixture.bridge;
    const ada = await people.create(users, person('Ada'));
    const bob = await people.create(users, person('Bob'));
    await changeByHand(fixture, ada.id, { roles: ['admin'] });
    const idOf = async (displayName: string) =>
      (await groups.create(users, { displayName }, [{ value: ada.id }])).id;
    const [replaced, reduced, extended] = [
      await idOf('Replaced'),
      await idOf('Reduced'),
      await idOf('Extended'),
    ];
    const change = (id: string, ...members: MemberChange[]) =>
      groups.change(users, id, { attributes: (attributes) => attributes, members }, false);
    const call = fixture.travel.holdCall('read');
    const answer = people.remove(users, ada.id);
    await call.reached;
    await change(replaced, { kind: 'replace', members: [] });
    await change(reduced, { kind: 'remove', values: [ada.id] });
    await change(extended, { kind: 'add', members: [{ value: bob.id }] });
    call.release();
    await expect(answer).rejects.toMatchObject(refused);
    const membersOf = async (id: string) =>
      (await groups.read(users, id, true)).members?.map(({ value }) => value);
    expect(await membersOf(replaced)).toEqual([]);
    expect(await membersOf(reduced)).toEqual([]);
    expect(await membersOf(extended)).toEqual([bob.id, ada.id]);
  }));

test('a refused DELETE leaves the user in the groups, even if the process ends before the answer', () =>
  withEveryRoleAllowed(async (fixture) => {
    const { groups, users: people } = fixture.bridge;
    const ada = await people.create(users, person('Ada'));
    await changeByHand(fixture, ada.id, { roles: ['admin'] });
    const member = { value: ada.id, display: 'Ada of Staff' };
    const { id } = await groups.create(users, { displayName: 'Staff' }, [member]);
    const plain = await groups.create(users, { displayName: 'Plain' }, [{ value: ada.id }]);
    const members = async () => (await fixture.bridge.groups.read(users, id, true)).members;
    await expect(people.remove(users, ada.id)).rejects.toMatchObject(refused);
    expect(await members()).toEqual([{ ...member, names: 'User' }]);
    expect((await fixture.bridge.groups.read(users, plain.id, true)).members).toEqual([
      { value: ada.id, names: 'User' },
    ]);
    const call = fixture.travel.holdCall('read');
    void people.remove(users, ada.id);
    await call.reached;
    expect(await members()).toEqual([]);
    await fixture.restart();
    call.release();
    await expect(fixture.bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    expect(await members()).toEqual([{ ...member, names: 'User' }]);
    expect((await fixture.bridge.groups.read(users, plain.id, true)).members).toEqual([
      { value: ada.id, names: 'User' },
    ]);
    await approve(fixture, ada.id);
    await fixture.bridge.users.remove(users, ada.id);
    expect(await members()).toEqual([]);
  }));
