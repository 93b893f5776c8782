import { type ScimResource, urns } from '../../src/schema/resource.ts';
import {
  addressOf,
  type BridgeHouse,
  desiredOf,
  emailsOf,
  inHouse,
  person,
} from '../support/bridge-house.ts';

const users = 'default';
const refused = { kind: 'refused', message: expect.stringContaining('administers the travel service') };
const held = { state: 'held', hold: { cause: 'guarded' } };

const noRoles = { roles: [], [urns.travel]: {} };
const withRoles = (...roles: string[]): ScimResource => ({ roles: roles.map((value) => ({ value })) });

/** A house whose mapping may give every role. */
function inAllowingHouse(story: (house: BridgeHouse) => Promise<void>): Promise<void> {
  const roles = { allow: ['admin', 'authAdmin', 'organizer'] };
  return inHouse(story, { mapping: { scimUserMapping: [], roles } });
}

/** Changes the traveler of a user by hand, without anybody telling the bridge. */
async function byHand(house: BridgeHouse, id: string, values: object): Promise<void> {
  const traveler = await house.traveler(id);
  if (!traveler) throw new Error('there is no traveler');
  house.travel.people.set(traveler.id, { ...traveler, ...values });
}

/** The SCIM id of somebody who was in the travel service before. */
async function importedWith(house: BridgeHouse, roles: string[]): Promise<string> {
  const { id } = house.travel.add({ email: addressOf('Ada'), firstName: 'Ada', roles });
  await house.imported();
  const [imported] = await house.store.identities.find(users, { by: 'travelId', value: id });
  if (!imported) throw new Error('nobody was imported');
  return imported.id;
}

async function approve({ store, bridge, clock }: BridgeHouse, id: string): Promise<void> {
  expect(await store.holds.decide(users, { ids: [id] }, 'approved', clock.now())).toBe(1);
  await bridge.settleDue();
}

const change = (house: BridgeHouse, id: string, values: ScimResource) => house.patch(id, values);

/** Everything by which somebody becomes an administrator without the mapping, and is known to an IdP. */
const admins: [string, (house: BridgeHouse) => Promise<string>][] = [
  [
    'whom the bridge provisioned and somebody promoted by hand',
    async (house) => {
      const { id } = await house.bridge.users.create(users, person('Ada'));
      await byHand(house, id, { roles: ['admin'] });
      return id;
    },
  ],
  [
    'who was promoted to authAdmin, and of whom an import told',
    async (house) => {
      const { id } = await house.bridge.users.create(users, person('Ada'));
      await byHand(house, id, { roles: ['authAdmin'] });
      await house.imported();
      return id;
    },
  ],
  [
    'who was imported and claimed by a PATCH',
    async (house) => {
      return importedWith(house, ['admin']);
    },
  ],
  [
    'who was imported and claimed by a POST',
    async (house) => {
      house.travel.add({ email: addressOf('Ada'), roles: ['admin'] });
      await house.imported();
      return (await house.bridge.users.create(users, person('Ada'))).id;
    },
  ],
  [
    'of whom the last observation is missing',
    async (house) => {
      const { id } = await house.bridge.users.create(users, person('Ada'));
      await byHand(house, id, { roles: ['admin'] });
      const now = house.clock.now();
      await house.store.imports.observe(users, [{ id, observed: undefined }], now);
      return id;
    },
  ],
  [
    'with one role of the mapping and one given by hand',
    async (house) => {
      const { id } = await house.bridge.users.create(users, person('Ada', withRoles('admin')));
      await byHand(house, id, { roles: ['admin', 'authAdmin'] });
      return id;
    },
  ],
  [
    'whose role the mapping gave and took away before somebody gave it again',
    async (house) => {
      const { id } = await house.bridge.users.create(users, person('Ada', withRoles('admin')));
      await change(house, id, noRoles);
      await byHand(house, id, { roles: ['admin'] });
      return id;
    },
  ],
];

describe.each(admins)('an administrator %s', (_, made) => {
  test('is not deactivated: each request answers 403, the user stays inactive, an approval archives at once', () =>
    inAllowingHouse(async (house) => {
      const id = await made(house);
      for (let repeat = 0; repeat < 3; repeat += 1)
        await expect(change(house, id, { active: false })).rejects.toMatchObject(refused);
      expect(await house.identity(id)).toMatchObject({ ...held, desired: { active: false } });
      expect((await house.traveler(id))?.archived).toBe(false);
      await approve(house, id);
      expect(await house.identity(id)).toMatchObject({ state: 'synced', hold: undefined });
      expect((await house.traveler(id))?.archived).toBe(true);
    }));

  test('is not deleted: each request answers 403, the user stays and is inactive, an approval archives at once', () =>
    inAllowingHouse(async (house) => {
      const id = await made(house);
      for (let repeat = 0; repeat < 3; repeat += 1)
        await expect(house.bridge.users.remove(users, id)).rejects.toMatchObject(refused);
      expect(desiredOf(await house.bridge.users.read(users, id)).active).toBe(false);
      expect(await house.identity(id)).toMatchObject(held);
      expect((await house.traveler(id))?.archived).toBe(false);
      await approve(house, id);
      expect((await house.traveler(id))?.archived).toBe(true);
      await house.bridge.users.remove(users, id);
      await expect(house.bridge.users.read(users, id)).rejects.toMatchObject({ kind: 'notFound' });
    }));

  test('keeps email and roles, with a finding, while other fields are written', () =>
    inAllowingHouse(async (house) => {
      const id = await made(house);
      const before = await house.traveler(id);
      const values = { ...emailsOf('new@corp.example'), ...withRoles('organizer'), ...named('Anna') };
      await change(house, id, values);
      expect(await house.traveler(id)).toMatchObject({
        ...{ email: before?.email, roles: before?.roles, firstName: 'Anna' },
      });
      expect(await house.findings(id)).toContain('roles: guarded');
      expect((await house.identity(id)).state).toBe('synced');
    }));
});

function named(givenName: string): ScimResource {
  return { name: { givenName, familyName: 'Smith' } };
}

test('a role that the mapping gave the mapping can take away, and its owner can leave', () =>
  inAllowingHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada', withRoles('admin', 'organizer')));
    const bob = await house.bridge.users.create(users, person('Bob', withRoles('admin')));
    await house.patch(ada.id, withRoles('organizer'));
    await house.bridge.users.remove(users, bob.id);
    expect(await house.traveler(ada.id)).toMatchObject({ roles: ['organizer'] });
    expect(await house.traveler(bob.id)).toMatchObject({ archived: true });
  }));

test('an imported administrator whose roles the IdP removes stays one, and is not archived', () =>
  inAllowingHouse(async (house) => {
    const id = await importedWith(house, ['admin', 'organizer']);
    await house.patch(id, noRoles);
    expect(await house.traveler(id)).toMatchObject({ roles: ['admin', 'organizer'] });
    expect(await house.findings(id)).toContain('roles: guarded');
    await expect(house.patch(id, { active: false })).rejects.toMatchObject(refused);
    expect(await house.traveler(id)).toMatchObject({ roles: ['admin', 'organizer'], archived: false });
    await expect(house.bridge.users.remove(users, id)).rejects.toMatchObject(refused);
    expect(await house.traveler(id)).toMatchObject({ archived: false });
  }));

test('the role and the deactivation in one PATCH archive no imported administrator', () =>
  inAllowingHouse(async (house) => {
    const id = await importedWith(house, ['admin']);
    await expect(house.patch(id, { ...noRoles, active: false })).rejects.toMatchObject(refused);
    expect(await house.traveler(id)).toMatchObject({ roles: ['admin'], archived: false });
  }));

test('once the role is taken away by hand, the deactivation that was held goes on by itself', () =>
  inAllowingHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    await byHand(house, ada.id, { roles: ['admin'] });
    await expect(house.patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    await byHand(house, ada.id, { roles: [] });
    await house.imported();
    expect(await house.traveler(ada.id)).toMatchObject({ archived: true });
    expect(await house.store.holds.counts()).toEqual([]);
  }));

test('a reactivation ends the wait, and an answer that was given before counts for no later deactivation', () =>
  inAllowingHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    await byHand(house, ada.id, { roles: ['admin'] });
    await expect(house.patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    await house.patch(ada.id, { active: true });
    expect(await house.store.holds.counts()).toEqual([]);
    await expect(house.patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    await approve(house, ada.id);
    await house.patch(ada.id, { active: true });
    expect(await house.traveler(ada.id)).toMatchObject({ archived: false, roles: ['admin'] });
    await expect(house.patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    expect(await house.traveler(ada.id)).toMatchObject({ archived: false });
  }));

test('what an admin discards stays, whatever comes by, and each new request answers 403 again', () =>
  inAllowingHouse(async (house) => {
    const { store, clock, bridge } = house;
    const ada = await bridge.users.create(users, person('Ada'));
    await byHand(house, ada.id, { roles: ['admin'] });
    await expect(bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    await store.holds.decide(users, { ids: [ada.id] }, 'discarded', clock.now());
    await bridge.settleDue();
    await house.imported();
    expect(await store.holds.counts()).toEqual([]);
    await expect(house.patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    expect(await house.traveler(ada.id)).toMatchObject({ archived: false });
    await expect(bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    expect(await store.holds.counts()).toEqual([expect.objectContaining({ cause: 'guarded', count: 1 })]);
  }));

test('a promotion between the observation and the DELETE is seen', () =>
  inAllowingHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    await house.imported();
    const call = house.travel.hold('read');
    const gone = house.bridge.users.remove(users, ada.id);
    await call.reached;
    await byHand(house, ada.id, { roles: ['admin'] });
    call.release();
    await expect(gone).rejects.toMatchObject(refused);
    expect(await house.traveler(ada.id)).toMatchObject({ archived: false });
  }));

test('the user whose credential the bridge uses is never deactivated or deleted, and no approval changes that', () =>
  inAllowingHouse(async (house) => {
    const own = { kind: 'refused', message: expect.stringContaining('Jetbridge itself uses') };
    await house.imported();
    const [self] = await house.store.identities.find(users, { by: 'travelId', value: 't-1' });
    const id = self?.id ?? '';
    house.travel.calls.length = 0;
    for (let repeat = 0; repeat < 2; repeat += 1) {
      await expect(house.patch(id, { active: false })).rejects.toMatchObject(own);
      await expect(house.bridge.users.remove(users, id)).rejects.toMatchObject(own);
    }
    expect(desiredOf(await house.bridge.users.read(users, id)).active).toBe(false);
    expect(await house.store.holds.counts()).toEqual([]);
    expect(await house.store.holds.decide(users, { ids: [id] }, 'approved', house.clock.now())).toBe(0);
    await house.imported();
    expect(house.travel.writes()).toEqual([]);
  }));

test('a DELETE that was committed and never answered is told with 403 when it is repeated', () =>
  inAllowingHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    await byHand(house, ada.id, { roles: ['admin'] });
    const call = house.travel.hold('read');
    void house.bridge.users.remove(users, ada.id);
    await call.reached;
    await house.restart();
    call.release();
    await expect(house.bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    expect(desiredOf(await house.bridge.users.read(users, ada.id)).active).toBe(false);
    await expect(house.bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
  }));

test('the same when the background loop was quicker than the repetition', () =>
  inAllowingHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    await byHand(house, ada.id, { roles: ['admin'] });
    const call = house.travel.hold('read');
    void house.bridge.users.remove(users, ada.id);
    await call.reached;
    await house.restart();
    call.release();
    await house.bridge.settleDue();
    expect(await house.store.holds.counts()).toEqual([
      expect.objectContaining({ cause: 'guarded', count: 1 }),
    ]);
    await expect(house.bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    await approve(house, ada.id);
    expect(await house.traveler(ada.id)).toMatchObject({ archived: true });
  }));

test('a DELETE archives a traveler whom somebody un-archived by hand, whatever was observed last', () =>
  inAllowingHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    await house.patch(ada.id, { active: false });
    await byHand(house, ada.id, { archived: false });
    await house.bridge.users.remove(users, ada.id);
    expect(await house.traveler(ada.id)).toMatchObject({ archived: true });
  }));

test('an administrator who waits for an address and is deactivated is at rest until an admin decides', () =>
  inAllowingHouse(async (house) => {
    const { bridge, travel } = house;
    await bridge.users.create(users, person('Bob'));
    const ada = await bridge.users.create(users, person('Ada'));
    await change(house, ada.id, emailsOf(addressOf('Bob')));
    await byHand(house, ada.id, { roles: ['admin'] });
    await expect(change(house, ada.id, { active: false })).rejects.toMatchObject(refused);
    travel.calls.length = 0;
    await bridge.settleDue();
    expect(await house.identity(ada.id)).toMatchObject(held);
    expect(travel.calls.length).toBeLessThan(3);
  }));

test('a DELETE that is refused leaves the user in the groups, also when the process ends before its answer', () =>
  inAllowingHouse(async (house) => {
    const { groups, users: people } = house.bridge;
    const ada = await people.create(users, person('Ada'));
    await byHand(house, ada.id, { roles: ['admin'] });
    const member = { value: ada.id, display: 'Ada of Staff' };
    const { id } = await groups.create(users, { displayName: 'Staff' }, [member]);
    const plain = await groups.create(users, { displayName: 'Plain' }, [{ value: ada.id }]);
    const members = async () => (await house.bridge.groups.read(users, id, true)).members;
    await expect(people.remove(users, ada.id)).rejects.toMatchObject(refused);
    expect(await members()).toEqual([{ ...member, names: 'User' }]);
    expect((await house.bridge.groups.read(users, plain.id, true)).members).toEqual([
      { value: ada.id, names: 'User' },
    ]);
    const call = house.travel.hold('read');
    void people.remove(users, ada.id);
    await call.reached;
    expect(await members()).toEqual([]);
    await house.restart();
    call.release();
    await expect(house.bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    expect(await members()).toEqual([{ ...member, names: 'User' }]);
    expect((await house.bridge.groups.read(users, plain.id, true)).members).toEqual([
      { value: ada.id, names: 'User' },
    ]);
    await approve(house, ada.id);
    await house.bridge.users.remove(users, ada.id);
    expect(await members()).toEqual([]);
  }));
