import { urns } from '../../src/schema/resource.ts';
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

const users = 'default';
const notFound = { kind: 'notFound' };
const refused = { kind: 'refused' };

function travelers({ travel }: ProvisioningFixture) {
  return [...travel.travelers.values()].slice(1);
}

function forbidWrites({ travel }: ProvisioningFixture): void {
  travel.faultFor = ({ verb }) => (verb === 'patch' || verb === 'remove' ? { kind: 'forbidden' } : undefined);
}

test('a deactivation reads the traveler and archives with one call, and the user stays readable', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    travel.calls.length = 0;
    await patch(ada.id, { active: false });
    expect(travel.calls).toEqual([
      { verb: 'read', id: ada.travelUserId },
      { verb: 'patch', id: ada.travelUserId, body: { archived: true } },
    ]);
    expect(desiredOf(await bridge.users.read(users, ada.id)).active).toBe(false);
  }));

test('a reactivation un-archives the same traveler', () =>
  withFixture(async (fixture) => {
    const { patch, bridge } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    await patch(ada.id, { active: false });
    await patch(ada.id, { active: true });
    expect(travelers(fixture)).toEqual([expect.objectContaining({ id: ada.travelUserId, archived: false })]);
  }));

test('a DELETE archives the traveler, and the user is not found any more', () =>
  withFixture(async (fixture) => {
    const { bridge } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    await bridge.users.remove(users, ada.id);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
    await expect(bridge.users.read(users, ada.id)).rejects.toMatchObject(notFound);
    await expect(bridge.users.remove(users, ada.id)).rejects.toMatchObject(notFound);
    await expect(bridge.users.change(users, ada.id, (user) => user, 'patch')).rejects.toMatchObject(notFound);
    expect((await bridge.users.list(users, allUsers())).total).toBe(0);
    const byName = { field: 'userName', operator: 'eq', value: addressOf('Ada') } as const;
    expect((await bridge.users.list(users, usersWhere(byName))).rows).toEqual([]);
  }));

test('a DELETE of an inactive user reads the traveler and changes nothing', () =>
  withFixture(async ({ bridge, travel, patch }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    await patch(ada.id, { active: false });
    travel.calls.length = 0;
    await bridge.users.remove(users, ada.id);
    expect(travel.calls).toEqual([{ verb: 'read', id: ada.travelUserId }]);
  }));

test('with deprovision: delete a DELETE deletes the traveler, and a deactivation still archives it', () =>
  withFixture(
    async (fixture) => {
      const { bridge, patch } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      await patch(ada.id, { active: false });
      expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
      await bridge.users.remove(users, ada.id);
      expect(travelers(fixture)).toEqual([]);
      const back = await bridge.users.create(users, person('Ada'));
      expect(travelers(fixture)).toEqual([
        expect.objectContaining({ id: back.travelUserId, archived: false }),
      ]);
    },
    { policies: { deprovision: 'delete' } },
  ));

test.each(['conflict', 'forbidden'] as const)(
  'a traveler whose deletion the travel API refuses (%s) is archived, and linked again at a return',
  (kind) =>
    withFixture(
      async (fixture) => {
        const { bridge, travel } = fixture;
        const ada = await bridge.users.create(users, person('Ada'));
        travel.faultFor = ({ verb }) => (verb === 'remove' ? { kind } : undefined);
        await bridge.users.remove(users, ada.id);
        expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
        const tombstone = await fixture.identity(ada.id);
        expect([tombstone.state, tombstone.findings.map(({ code }) => code)]).toEqual([
          'synced',
          ['notDeleted'],
        ]);
        await expect(bridge.users.read(users, ada.id)).rejects.toMatchObject(notFound);
        const back = await bridge.users.create(users, person('Ada'));
        expect(back.travelUserId).toBe(ada.travelUserId);
        expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: false })]);
      },
      { policies: { deprovision: 'delete' } },
    ),
);

test('with deprovision: delete a manager is archived at once, and deleted when the reports no longer refer to them', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      const manager = { [urns.enterprise]: { manager: { value: ada.id } } };
      await bridge.users.create(users, person('Bob', manager));
      travel.faultFor = ({ verb, id }) => {
        const isReferredTo = travelers(fixture).some(({ managerId }) => managerId === id);
        return verb === 'remove' && isReferredTo ? { kind: 'conflict' } : undefined;
      };
      await bridge.users.remove(users, ada.id);
      expect(travelers(fixture)).toContainEqual(
        expect.objectContaining({ id: ada.travelUserId, archived: true }),
      );
      await fixture.reconcileAfter(60_000);
      expect(travelers(fixture)).toEqual([expect.objectContaining({ firstName: 'Bob' })]);
      const tombstone = await fixture.identity(ada.id);
      expect([tombstone.state, tombstone.findings]).toEqual(['synced', []]);
    },
    { policies: { deprovision: 'delete' } },
  ));

test('a DELETE of a traveler that is carried out late, after its time-out, is found when the person has returned', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      travel.faultFor = ({ verb }) => (verb === 'remove' ? 'late' : undefined);
      await bridge.users.remove(users, ada.id);
      const back = await bridge.users.create(users, person('Ada'));
      expect(back.travelUserId).toBe(ada.travelUserId);
      // Later than `lateMs` after the call, and before the latest end of the call and `lateMs`.
      await fixture.reconcileAfter(35_000);
      travel.carryOutLateCalls();
      expect(travelers(fixture)).toEqual([]);
      await fixture.reconcileAfter(16_000);
      expect(travelers(fixture)).toEqual([expect.objectContaining({ firstName: 'Ada', archived: false })]);
    },
    { policies: { deprovision: 'delete' } },
  ));

test('the IdP gets 403 if the traveler can neither be deleted nor archived', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      travel.faultFor = ({ verb }) =>
        verb === 'remove' || verb === 'patch' ? { kind: 'forbidden' } : undefined;
      await expect(bridge.users.remove(users, ada.id)).rejects.toMatchObject({ kind: 'refused' });
      expect((await fixture.identity(ada.id)).desired).toMatchObject({ active: false });
    },
    { policies: { deprovision: 'delete' } },
  ));

test.each([
  ['externalId', person('Zoe', { externalId: '00u1' })],
  ['userName', person('Ada', { ...emailsOf('new@corp.example'), userName: 'ADA@corp.example' })],
  ['travel email', person('Ada', { ...emailsOf(addressOf('Ada')), userName: 'zoe@corp.example' })],
])('a POST that matches a deleted user by %s is a return: new SCIM id, same traveler', (_, back) =>
  withFixture(async (fixture) => {
    const { bridge } = fixture;
    const ada = await bridge.users.create(users, person('Ada', { externalId: '00u1' }));
    await bridge.users.remove(users, ada.id);
    const again = await bridge.users.create(users, back);
    expect(again.id).not.toBe(ada.id);
    expect(again.travelUserId).toBe(ada.travelUserId);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: false })]);
    await expect(bridge.users.read(users, ada.id)).rejects.toMatchObject(notFound);
    expect((await fixture.identity(again.id)).state).toBe('synced');
  }),
);

test('the externalId is compared before the userName', () =>
  withFixture(async (fixture) => {
    const { bridge } = fixture;
    const ada = await bridge.users.create(users, person('Ada', { externalId: '1' }));
    const bob = await bridge.users.create(users, person('Bob', { externalId: '2' }));
    await bridge.users.remove(users, ada.id);
    await bridge.users.remove(users, bob.id);
    const back = await bridge.users.create(users, person('Ada', { externalId: '2' }));
    expect(back.travelUserId).toBe(bob.travelUserId);
  }));

test('a return removes roles and fields that are no longer wanted, but not those set by others', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const roles = { [urns.travel]: { roles: [{ value: 'organizer' }] } };
    const ada = await bridge.users.create(users, person('Ada', { ...roles, preferredLanguage: 'fr' }));
    const was = await fixture.traveler(ada.id);
    if (!was) throw new Error('no traveler');
    travel.travelers.set(was.id, { ...was, currency: 'EUR' });
    await bridge.users.remove(users, ada.id);
    const back = await bridge.users.create(users, person('Ada'));
    const now = await fixture.traveler(back.id);
    expect(now).toMatchObject({ id: was.id, archived: false, currency: 'EUR' });
    expect(now).not.toHaveProperty('lang');
    expect(now?.roles ?? []).toEqual([]);
  }));

test('an archived traveler without an identity is that of another person: a newcomer gets one of its own', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, importTravelers } = fixture;
    const names = { firstName: 'Ada', lastName: 'Smith' };
    const old = travel.addTraveler({ email: addressOf('Ada'), archived: true, ...names });
    await importTravelers();
    const ada = await bridge.users.create(users, person('Ada'));
    expect(ada.travelUserId).not.toBe(old.id);
    expect(travelers(fixture)).toMatchObject([
      { id: old.id, archived: true, email: expect.stringMatching(/@jetbridge\.invalid$/) },
      { id: ada.travelUserId, archived: false, email: addressOf('Ada') },
    ]);
    expect(await fixture.findings(ada.id)).toEqual(['*: otherPerson']);
  }));

test.each<'archive' | 'delete'>(['archive', 'delete'])(
  'a return while the %s is still under way waits for it, and ends with an active traveler',
  (deprovision) =>
    withFixture(
      async (fixture) => {
        const { bridge, travel, clock } = fixture;
        const ada = await bridge.users.create(users, person('Ada'));
        const heldCall = travel.holdCall(deprovision === 'archive' ? 'patch' : 'remove');
        const removal = bridge.users.remove(users, ada.id);
        await heldCall.reached;
        clock.advance(800);
        await removal;
        const back = await bridge.users.create(users, person('Ada'));
        await bridge.reconcileDue();
        heldCall.release();
        await removal;
        await reconcileUntilSettled(fixture, back.id);
        expect(travelers(fixture)).toEqual([
          expect.objectContaining({ archived: false, email: addressOf('Ada') }),
        ]);
        expect((await fixture.identity(back.id)).travelId).toBe(travelers(fixture)[0]?.id);
      },
      { policies: { deprovision } },
    ),
);

test.each<'archive' | 'delete'>(['archive', 'delete'])(
  'a return after an %s whose answer was lost ends with an active traveler',
  (deprovision) =>
    withFixture(
      async (fixture) => {
        const { bridge, travel } = fixture;
        const ada = await bridge.users.create(users, person('Ada'));
        travel.faultFor = ({ verb }) => (verb === 'patch' || verb === 'remove' ? 'lose' : undefined);
        await bridge.users.remove(users, ada.id);
        travel.faultFor = () => undefined;
        const back = await bridge.users.create(users, person('Ada'));
        await fixture.reconcileAfter(5_000);
        expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: false })]);
        expect((await fixture.identity(back.id)).travelId).toBe(travelers(fixture)[0]?.id);
      },
      { policies: { deprovision } },
    ),
);

test('a DELETE after a reactivation whose answer was lost archives the traveler', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    await patch(ada.id, { active: false });
    travel.faultFor = () => 'lose';
    await patch(ada.id, { active: true });
    travel.faultFor = () => undefined;
    await bridge.users.remove(users, ada.id);
    await fixture.reconcileAfter(5_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
  }));

test('a deactivation that the travel API refuses answers 403, stays desired, and each repeat tries again', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    forbidWrites(fixture);
    await expect(patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    expect(desiredOf(await bridge.users.read(users, ada.id)).active).toBe(false);
    expect(await fixture.findings(ada.id)).toEqual(['archived: forbidden']);
    await expect(patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    travel.faultFor = () => undefined;
    await patch(ada.id, { active: false });
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('a DELETE that the travel API refuses answers 403 and becomes a deactivation; a repeat tries again', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    forbidWrites(fixture);
    await expect(bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    expect(desiredOf(await bridge.users.read(users, ada.id))).toMatchObject({ active: false });
    expect((await fixture.identity(ada.id)).state).toBe('refused');
    await expect(bridge.users.remove(users, ada.id)).rejects.toMatchObject(refused);
    travel.faultFor = () => undefined;
    await bridge.users.remove(users, ada.id);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
    await expect(bridge.users.read(users, ada.id)).rejects.toMatchObject(notFound);
  }));

test('a deactivation refused as invalid answers 403, and each repeat tries again', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    const fields = [{ field: 'archived', code: 'invalid', message: 'has open trips' }];
    travel.faultFor = ({ verb }) => (verb === 'patch' ? { kind: 'invalid', fields } : undefined);
    await expect(patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    await expect(patch(ada.id, { active: false })).rejects.toMatchObject(refused);
    travel.faultFor = () => undefined;
    await patch(ada.id, { active: false });
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
  }));

test('any other change that the travel API refuses is answered normally', () =>
  withFixture(async (fixture) => {
    const { bridge, patch } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    forbidWrites(fixture);
    await patch(ada.id, { preferredLanguage: 'fr' });
    expect((await fixture.identity(ada.id)).state).toBe('refused');
    expect(await fixture.findings(ada.id)).toEqual(['*: forbidden']);
  }));

test('an active user whose traveler is gone gets a new one', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    travel.travelers.delete(ada.travelUserId ?? '');
    await patch(ada.id, { preferredLanguage: 'fr' });
    expect(travelers(fixture)).toEqual([expect.objectContaining({ email: addressOf('Ada'), lang: 'fr' })]);
    expect((await fixture.identity(ada.id)).travelId).toBe(travelers(fixture)[0]?.id);
  }));

test('an inactive or deleted user whose traveler is gone is synced, and gets a new one at the return', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    travel.travelers.delete(ada.travelUserId ?? '');
    await patch(ada.id, { active: false });
    expect(travelers(fixture)).toEqual([]);
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'synced', travelId: undefined });
    await patch(ada.id, { active: true });
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: false })]);
    travel.travelers.clear();
    await bridge.users.remove(users, ada.id);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('an imported user who is deactivated after the traveler is gone gets no traveler', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch, importTravelers } = fixture;
    const old = travel.addTraveler({ email: addressOf('Ada') });
    await importTravelers();
    const match = { field: 'userName', operator: 'eq', value: addressOf('Ada') } as const;
    const { rows: found } = await bridge.users.list(users, usersWhere(match, 1));
    travel.travelers.delete(old.id);
    await patch(found[0]?.id ?? '', { active: false });
    expect(travelers(fixture)).toEqual([]);
  }));

test('the traveler of a deleted user that was un-archived by hand stays active', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, importTravelers } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    await bridge.users.remove(users, ada.id);
    const [traveler] = travelers(fixture);
    if (!traveler) throw new Error('no traveler');
    travel.travelers.set(traveler.id, { ...traveler, archived: false });
    await importTravelers();
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: false })]);
  }));

test('a return after the process was killed during the archive ends active, even if only the address matches', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    travel.faultFor = () => {
      arrived();
      return 'die';
    };
    const removal = bridge.users.remove(users, ada.id);
    await arrival;
    fixture.clock.advance(800);
    await removal;
    await fixture.restart();
    const back = { ...emailsOf(addressOf('Ada')), userName: 'ada.smith', preferredLanguage: 'fr' };
    await fixture.bridge.users.create(users, person('Ada', back));
    await fixture.reconcileAfter(1_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ lang: 'fr', archived: false })]);
  }));

test('after a pending user is deleted, no work is left', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const { emails: _, ...without } = person('Ada', { userName: 'ada' });
    const ada = await bridge.users.create(users, without);
    await bridge.users.remove(users, ada.id);
    expect(travel.calls).toEqual([]);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('a pending user who gets the address of a deleted one takes over that traveler', () =>
  withFixture(async (fixture) => {
    const { bridge, patch } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    await bridge.users.remove(users, ada.id);
    const { emails: _, ...without } = person('Ada', { userName: 'ada' });
    const back = await bridge.users.create(users, without);
    await patch(back.id, emailsOf(addressOf('Ada')));
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: false })]);
    expect((await fixture.identity(back.id)).travelId).toBe(ada.travelUserId);
  }));

/** Advances the clock and reconciles until the identity is no longer dirty; a return may wait for running calls. */
async function reconcileUntilSettled(fixture: ProvisioningFixture, id: string): Promise<void> {
  await fixture.waitForLeases();
  for (let round = 0; round < 5 && (await fixture.identity(id)).state === 'dirty'; round += 1)
    await fixture.reconcileAfter(60_000);
}

test('another person who is deleted before the attempts have ended, and returns, inherits no value', () =>
  withFixture(inheritsNoValue));

async function inheritsNoValue(fixture: ProvisioningFixture): Promise<void> {
  const { bridge, travel, patch, reconcileAfter } = fixture;
  const ada = await bridge.users.create(users, person('Ada', { externalId: '1' }));
  await patch(ada.id, { active: false });
  const was = await fixture.traveler(ada.id);
  if (!was) throw new Error('no traveler');
  travel.travelers.set(was.id, { ...was, currency: 'EUR', roles: ['accountant'] });
  travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
  await patch(ada.id, { active: true, externalId: '2', name: { givenName: 'Eve', familyName: 'Smith' } });
  await bridge.users.remove(users, ada.id);
  const back = await bridge.users.create(
    users,
    person('Ada', { externalId: '2', name: { givenName: 'Eve', familyName: 'Smith' } }),
  );
  travel.faultFor = () => undefined;
  for (let round = 0; round < 3; round += 1) await reconcileAfter(60_000);
  const now = await fixture.traveler(back.id);
  expect(now).toMatchObject({ archived: false });
  expect(now?.id).not.toBe(was.id);
  expect(now).not.toHaveProperty('currency');
  expect(now?.roles ?? []).toEqual([]);
}
