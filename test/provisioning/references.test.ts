import { type ScimResource, urns } from '../../src/schema/resource.ts';
import { waitForLockWaits } from '../fixtures/lock-waits.ts';
import {
  addressOf,
  emailsOf,
  managedBy,
  person,
  provisioningFixture,
  withFixture,
} from '../fixtures/provisioning.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { describeOnPostgres } from '../fixtures/test-database.ts';

const users = 'default';
const managedByUri = ($ref: string) => ({ [urns.enterprise]: { manager: { $ref } } });
const { open } = temporaryDatabases('jetbridge-references-');

test.each<[string, (boss: { id: string; travelUserId: string | undefined }) => object]>([
  ['SCIM id', ({ id }) => managedBy(id)],
  ['travel user id', ({ travelUserId }) => managedBy(travelUserId ?? '')],
  ['email', () => managedBy('BOSS@corp.example')],
  ['externalId', () => managedBy('00uBoss')],
  ['userName', () => managedBy('Boss.Login')],
  ['relative URI alone', ({ id }) => managedByUri(`../Users/${id}`)],
  ['absolute URI alone', ({ id }) => managedByUri(`https://bridge.corp.example/scim/v2/Users/${id}`)],
  [
    'URI with a query and a slash at its end',
    ({ id }) => managedByUri(`/scim/v2/users/${id}/?attributes=id`),
  ],
  ['URI of an encoded externalId', () => managedByUri('Users/00u%42oss')],
  ['URI as value', ({ id }) => managedBy(`Users/${id}`)],
  ['email with invisible characters', () => managedBy('\u200eboss@corp.example\u200b')],
  ['travel extension id', ({ travelUserId }) => ({ [urns.travel]: { manager: { id: travelUserId ?? '' } } })],
  ['travel extension email', () => ({ [urns.travel]: { manager: { email: addressOf('Boss') } } })],
])('a manager is found by %s', (_, naming) =>
  withFixture(async ({ bridge, traveler, findings }) => {
    const boss = await bridge.users.create(
      users,
      person('Boss', { userName: 'boss.login', externalId: '00uBoss' }),
    );
    const ada = await bridge.users.create(users, person('Ada', { ...naming(boss) }));
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
    expect(await findings(ada.id)).toEqual([]);
  }),
);

const numbered = (employeeNumber: string) => ({ [urns.enterprise]: { employeeNumber } });
const byNumber = { mapping: { manager: { by: 'employeeNumber' } } };

test.each<[string, string, ScimResource]>([
  ['employeeNumber', 'A-7', numbered('a-7')],
  ['externalId', '00uBoss', { externalId: '00uBoss' }],
  ['userName', 'boss.login', { userName: 'Boss.Login' }],
  ['userName', 'boss@corp.example', {}],
])('a mapping has managers found by %s, also if they come later, and by nothing else', (by, value, named) =>
  withFixture(
    async ({ bridge, traveler, findings, reconcileAfter }) => {
      const others: Record<string, ScimResource> = {
        employeeNumber: { externalId: value },
        externalId: numbered(value),
        userName: { externalId: value },
      };
      await bridge.users.create(users, person('Namesake', others[by]));
      const ada = await bridge.users.create(users, person('Ada', managedBy(value)));
      expect(await findings(ada.id)).toEqual(['managerId: managerUnknown']);
      const boss = await bridge.users.create(users, person('Boss', named));
      await reconcileAfter(0);
      expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
      expect(await findings(ada.id)).toEqual([]);
    },
    { mapping: { manager: { by } } },
  ),
);

test('a URI names the manager by id, whatever attribute the mapping has managers found by', () =>
  withFixture(async ({ bridge, traveler }) => {
    const boss = await bridge.users.create(users, person('Boss', numbered('7')));
    const ada = await bridge.users.create(users, person('Ada', managedByUri(`../Users/${boss.id}`)));
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
  }, byNumber));

test('a manager who gets the number that a report names is found', () =>
  withFixture(async ({ bridge, traveler, patch, reconcileAfter }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const ada = await bridge.users.create(users, person('Ada', managedBy('7')));
    await patch(boss.id, numbered('7'));
    await reconcileAfter(0);
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
  }, byNumber));

test('the value of a manager comes before its URI, and an unknown one is reported once', () =>
  withFixture(async ({ bridge, traveler, findings }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const other = await bridge.users.create(users, person('Other'));
    const manager = (value: string, $ref: string) => ({ [urns.enterprise]: { manager: { value, $ref } } });
    const ada = await bridge.users.create(users, person('Ada', manager(boss.id, `../Users/${other.id}`)));
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
    const bob = await bridge.users.create(users, person('Bob', manager('m-1', '../Users/m-1')));
    expect(await findings(bob.id)).toEqual(['managerId: managerUnknown']);
  }));

test('a URI that names no user is reported as it was sent', () =>
  withFixture(async ({ bridge, identity }) => {
    const ada = await bridge.users.create(users, person('Ada', managedByUri('../Users/m-1')));
    expect((await identity(ada.id)).findings).toMatchObject([
      { field: 'managerId', code: 'managerUnknown', value: '../Users/m-1' },
    ]);
  }));

test.each([
  ['by URI', '../Users/00uBoss'],
  ['with invisible characters', '00uBoss\u200b'],
])('a manager who is named %s and created after the report is set', (_, value) =>
  withFixture(async ({ bridge, traveler, reconcileAfter }) => {
    const ada = await bridge.users.create(users, person('Ada', managedBy(value)));
    const boss = await bridge.users.create(users, person('Boss', { externalId: '00uBoss' }));
    await reconcileAfter(0);
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
  }),
);

test('a value with invisible characters is found as the other user sends it, too', () =>
  withFixture(async ({ bridge, traveler }) => {
    const boss = await bridge.users.create(users, person('Boss', { externalId: 'E-17\u200b' }));
    const ada = await bridge.users.create(users, person('Ada', managedBy('E-17\u200b')));
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
  }));

test('a manager who is created after the report is set', () =>
  withFixture(async ({ bridge, traveler, findings, reconcileAfter }) => {
    const ada = await bridge.users.create(users, person('Ada', managedBy('00uBoss')));
    expect(await findings(ada.id)).toEqual(['managerId: managerUnknown']);
    const boss = await bridge.users.create(users, person('Boss', { externalId: '00uBoss' }));
    await reconcileAfter(0);
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
    expect(await findings(ada.id)).toEqual([]);
  }));

test('a manager who is created while the report is being created is set', () =>
  withFixture(async ({ bridge, travel, traveler, reconcileAfter, waitForLeases }) => {
    const heldCall = travel.holdCall('create');
    const posted = bridge.users.create(users, person('Ada', managedBy('00uBoss')));
    await heldCall.reached;
    const boss = await bridge.users.create(users, person('Boss', { externalId: '00uBoss' }));
    heldCall.release();
    const ada = await posted;
    await waitForLeases();
    await reconcileAfter(0);
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
  }));

test('a manager without a traveler is set once the traveler exists', () =>
  withFixture(async ({ bridge, traveler, findings, reconcileAfter, patch }) => {
    const { emails: _, ...pending } = person('Boss', { userName: 'boss' });
    const boss = await bridge.users.create(users, pending);
    const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
    expect(await findings(ada.id)).toEqual(['managerId: managerNotLinked']);
    await patch(boss.id, emailsOf(addressOf('Boss')));
    await reconcileAfter(0);
    const { travelUserId } = await bridge.users.read(users, boss.id);
    expect((await traveler(ada.id))?.managerId).toBe(travelUserId);
  }));

test('a manager who gets the name that the report refers to is set', () =>
  withFixture(async ({ bridge, traveler, reconcileAfter, patch }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const ada = await bridge.users.create(users, person('Ada', managedBy('E-17')));
    await patch(boss.id, { externalId: 'E-17' });
    await reconcileAfter(0);
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
  }));

test('a manager who is found by an import is set', () =>
  withFixture(async ({ bridge, travel, traveler, importTravelers }) => {
    const ada = await bridge.users.create(users, person('Ada', managedBy(addressOf('Boss'))));
    const boss = travel.addTraveler({ email: addressOf('Boss') });
    await importTravelers();
    expect((await traveler(ada.id))?.managerId).toBe(boss.id);
  }));

test('a manager whose imported traveler has disappeared is removed from the report', () =>
  withFixture(async ({ bridge, travel, traveler, importTravelers, clock }) => {
    const boss = travel.addTraveler({ email: addressOf('Boss') });
    await importTravelers();
    const ada = await bridge.users.create(users, person('Ada', managedBy(addressOf('Boss'))));
    expect((await traveler(ada.id))?.managerId).toBe(boss.id);
    travel.travelers.delete(boss.id);
    clock.advance(60_000);
    await importTravelers();
    expect(await traveler(ada.id)).not.toHaveProperty('managerId');
  }));

test('a deleted manager is removed from the report, with a finding', () =>
  withFixture(async ({ bridge, traveler, findings, reconcileAfter }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const ada = await bridge.users.create(users, person('Ada', managedBy(addressOf('Boss'))));
    await bridge.users.remove(users, boss.id);
    await reconcileAfter(0);
    expect(await traveler(ada.id)).not.toHaveProperty('managerId');
    expect(await findings(ada.id)).toEqual([expect.stringMatching(/^managerId: manager/)]);
  }));

test('a manager whose DELETE the travel API refuses is left out as a deactivated one', () =>
  withFixture(async ({ bridge, travel, traveler, reconcileAfter }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const ada = await bridge.users.create(users, person('Ada', managedBy(addressOf('Boss'))));
    travel.faultFor = ({ id, verb }) =>
      verb === 'patch' && id === boss.travelUserId ? { kind: 'forbidden' } : undefined;
    await expect(bridge.users.remove(users, boss.id)).rejects.toMatchObject({ kind: 'refused' });
    await reconcileAfter(0);
    await reconcileAfter(1_000);
    expect((await traveler(ada.id))?.managerId).toBeUndefined();
  }));

test('a deactivated manager is left out also after another write of the report', () =>
  withFixture(async ({ bridge, traveler, patch, reconcileAfter }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
    await patch(boss.id, { active: false });
    await reconcileAfter(0);
    await patch(ada.id, { nickName: 'A' });
    expect((await traveler(ada.id))?.managerId).toBeUndefined();
  }));

test('a manager who returns after a DELETE is set again', () =>
  withFixture(async ({ bridge, traveler, findings, reconcileAfter }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const ada = await bridge.users.create(users, person('Ada', managedBy(addressOf('Boss'))));
    await bridge.users.remove(users, boss.id);
    await reconcileAfter(0);
    const back = await bridge.users.create(users, person('Boss'));
    await reconcileAfter(0);
    expect((await traveler(ada.id))?.managerId).toBe(back.travelUserId);
    expect(await findings(ada.id)).toEqual([]);
  }));

test('a manager whose traveler was created again is set to the new one', () =>
  withFixture(async ({ bridge, travel, traveler, reconcileAfter, patch }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
    travel.travelers.delete(boss.travelUserId ?? '');
    await patch(boss.id, { preferredLanguage: 'fr' });
    await reconcileAfter(0);
    const { travelUserId } = await bridge.users.read(users, boss.id);
    expect(travelUserId).not.toBe(boss.travelUserId);
    expect((await traveler(ada.id))?.managerId).toBe(travelUserId);
  }));

test('a manager whose traveler is gone for good is removed from the report', () =>
  withFixture(async ({ bridge, travel, traveler, patch, reconcileAfter }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
    travel.travelers.delete(boss.travelUserId ?? '');
    await patch(boss.id, { active: false });
    await reconcileAfter(0);
    expect(await traveler(ada.id)).not.toHaveProperty('managerId');
  }));

test('a user is never their own manager', () =>
  withFixture(async ({ bridge, traveler, findings }) => {
    const ada = await bridge.users.create(users, person('Ada', managedBy(addressOf('Ada'))));
    expect(await traveler(ada.id)).not.toHaveProperty('managerId');
    expect(await findings(ada.id)).toEqual(['managerId: managerSelf']);
  }));

test.each([2, 3])(
  'a cycle of %i managers is left open, with a finding, until one of them leaves it',
  (size) =>
    withFixture(async ({ bridge, traveler, findings, reconcileAfter, patch, importTravelers }) => {
      const names = ['Ada', 'Bob', 'Cy'].slice(0, size);
      const ids: string[] = [];
      for (const [index, name] of names.entries()) {
        const boss = addressOf(names[(index + 1) % size] ?? '');
        ids.push((await bridge.users.create(users, person(name, managedBy(boss)))).id);
      }
      await reconcileAfter(0);
      const bosses = async () => Promise.all(ids.map(async (id) => (await traveler(id))?.managerId));
      const without = (await bosses()).indexOf(undefined);
      expect((await bosses()).filter((boss) => boss !== undefined)).toHaveLength(size - 1);
      expect(await findings(ids[without] ?? '')).toEqual(['managerId: managerCircle']);
      const [leaver, victim] = [ids[(without + 1) % size] ?? '', ids[without] ?? ''];
      await patch(leaver, { [urns.enterprise]: {} });
      await reconcileAfter(0);
      await importTravelers();
      expect((await traveler(victim))?.managerId).toBe((await traveler(leaver))?.id);
      expect(await findings(victim)).toEqual([]);
    }),
);

test('two users who become each other’s manager at the same moment form no cycle', () =>
  withFixture(async ({ bridge, travel, traveler, patch, reconcileAfter }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    const bob = await bridge.users.create(users, person('Bob'));
    const heldCall = travel.holdCall('patch');
    const first = patch(ada.id, managedBy(bob.id));
    await heldCall.reached;
    await patch(bob.id, managedBy(ada.id));
    heldCall.release();
    await first;
    await reconcileAfter(0);
    const bosses = [(await traveler(ada.id))?.managerId, (await traveler(bob.id))?.managerId];
    expect(bosses.filter((boss) => boss !== undefined).length).toBeLessThan(2);
  }));

test('a later user with the same name changes no manager', () =>
  withFixture(async ({ bridge, traveler, patch, reconcileAfter }) => {
    const boss = await bridge.users.create(users, person('Boss', { externalId: 'chief' }));
    const ada = await bridge.users.create(users, person('Ada', managedBy('chief')));
    await patch(boss.id, { externalId: 'former' });
    await bridge.users.create(users, person('New', { externalId: 'chief' }));
    await reconcileAfter(0);
    await patch(ada.id, { nickName: 'A' });
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
  }));

test('a manager who cannot be found any more stays, as long as the value is the same', () =>
  withFixture(async ({ bridge, traveler, patch }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
    await patch(ada.id, managedBy('nobody'));
    expect(await traveler(ada.id)).not.toHaveProperty('managerId');
  }));

test('a removed manager is removed from the traveler', () =>
  withFixture(async ({ bridge, traveler, patch, findings }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
    await patch(ada.id, { [urns.enterprise]: {} });
    expect(await traveler(ada.id)).not.toHaveProperty('managerId');
    expect(await findings(ada.id)).toEqual([]);
  }));

test('a manager is looked up in the same connection only', () =>
  withFixture(
    async ({ bridge, findings }) => {
      await bridge.users.create('other', person('Boss'));
      const ada = await bridge.users.create(users, person('Ada', managedBy(addressOf('Boss'))));
      expect(await findings(ada.id)).toEqual(['managerId: managerUnknown']);
    },
    { more: ['other'] },
  ));

describeOnPostgres('overlapping transactions', () => {
  test('the DELETE of a manager succeeds if marking the reports loses a deadlock', async () => {
    const database = await open();
    const { bridge } = await provisioningFixture({ database });
    const boss = await bridge.users.create(users, person('Boss'));
    const ids: string[] = [];
    for (const name of ['Ada', 'Bob'])
      ids.push((await bridge.users.create(users, person(name, managedBy(boss.id)))).id);
    await bridge.reconcileDue();
    const [first, last] = ids.sort();
    let removing: Promise<unknown> | undefined;
    await database.transaction(async (tx) => {
      const touch = (id = '') =>
        tx.updateTable('identity').set({ check_at: 0 }).where('id', '=', id).execute();
      await touch(last);
      // On a slow machine the database may choose this transaction as the victim, which then runs again.
      if (!removing) {
        removing = bridge.users.remove(users, boss.id);
        await waitForLockWaits(database, 1);
      }
      await touch(first);
    });
    await removing;
    await expect(bridge.users.read(users, boss.id)).rejects.toMatchObject({ kind: 'notFound' });
  });
});
