import type { Decision } from '../../src/provisioning/identity.ts';
import type { Policies } from '../../src/provisioning/policies.ts';
import { type ScimResource, urns } from '../../src/schema/resource.ts';
import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';

const users = 'default';
const bert = { name: { givenName: 'Bert', familyName: 'Quinn' } };
const asAdmin = { [urns.travel]: { roles: [{ value: 'admin' }] } };
const adminsAllowed = { scimUserMapping: [], roles: { allow: ['admin'] } };
const heldValve = { share: 0, minimum: 0, windowMs: 3_600_000 };

interface Options {
  policies?: Partial<Policies>;
  mapping?: unknown;
  more?: string[];
}

const hold: Options = { policies: { onReturn: 'hold' } };
const adminByMapping: Options = { mapping: adminsAllowed };

/** Lets nothing change the travelers until the returned function is called. */
function stopWrites({ travel }: ProvisioningFixture): () => void {
  travel.faultFor = ({ verb }) =>
    verb === 'patch' || verb === 'create' ? { kind: 'unavailable', text: '503' } : undefined;
  return () => {
    travel.faultFor = () => undefined;
  };
}

async function settle(fixture: ProvisioningFixture): Promise<void> {
  for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
  expect(await fixture.bridge.reconcileDue()).toBe(0);
}

async function decide(
  fixture: ProvisioningFixture,
  id: string,
  answer: Decision['answer'],
  connection = users,
): Promise<void> {
  await saveDecision(fixture.store, connection, { ids: [id] }, answer, fixture.clock.now());
  await settle(fixture);
}

/** Creates Ada, whose departure the travel API does not carry out yet. */
async function pendingLeaver(
  fixture: ProvisioningFixture,
  { isDeleted, attributes = {} }: { isDeleted: boolean; attributes?: ScimResource },
): Promise<{ id: string; travelId: string; resume(): void }> {
  const ada = await fixture.bridge.users.create(users, person('Ada', { userName: 'ada.one', ...attributes }));
  const resume = stopWrites(fixture);
  if (isDeleted) await fixture.bridge.users.remove(users, ada.id);
  else await fixture.patch(ada.id, { active: false });
  return { id: ada.id, travelId: ada.travelUserId ?? '', resume };
}

describe.each<[string, Options, ScimResource, boolean]>([
  ['onReturn: hold', hold, {}, true],
  ['onReturn: hold, and a deactivation', hold, {}, false],
  ['an administrator by the mapping', adminByMapping, asAdmin, true],
])('with %s, a successor who is held before the leaver is archived', (_, options, attributes, isDeleted) => {
  const post = async (fixture: ProvisioningFixture, newcomer: ScimResource = {}) => {
    const old = await pendingLeaver(fixture, { isDeleted, attributes });
    const user = await fixture.bridge.users.create(
      users,
      person('Ada', {
        userName: 'ada.one',
        ...(isDeleted ? {} : { userName: 'ada.two' }),
        ...bert,
        ...newcomer,
      }),
    );
    old.resume();
    await settle(fixture);
    return { ...old, newcomer: user.id };
  };

  test('does not prevent the departure, and a discard leaves the traveler with the leaver', () =>
    withFixture(async (fixture) => {
      const { id, travelId, newcomer } = await post(fixture);
      const traveler = () => fixture.travel.travelers.get(travelId);
      expect(await fixture.identity(newcomer)).toMatchObject({ state: 'held', hold: { cause: 'return' } });
      expect(traveler()).toMatchObject({ archived: true, firstName: 'Ada' });
      await decide(fixture, newcomer, 'discarded');
      expect(traveler()).toMatchObject({ archived: true, firstName: 'Ada' });
      expect((await fixture.identity(id)).travelId).toBe(travelId);
      expect(fixture.travel.travelers.size).toBe(2);
    }, options));

  test('gets the traveler of the leaver with an approval', () =>
    withFixture(async (fixture) => {
      const { id, travelId, newcomer } = await post(fixture);
      await decide(fixture, newcomer, 'approved');
      expect(await fixture.traveler(newcomer)).toMatchObject({
        ...{ id: travelId, archived: false, firstName: 'Bert', email: addressOf('Ada') },
      });
      expect(await fixture.findings(newcomer)).toEqual(['*: otherPerson']);
      expect((await fixture.identity(id)).findings[0]?.reason).toContain('has the traveler now');
      expect(fixture.travel.travelers.size).toBe(2);
    }, options));
});

test.each([true, false])(
  'an approval hands the traveler over also if the newcomer has another address (after a DELETE: %s)',
  (isDeleted) =>
    withFixture(async (fixture) => {
      const ada = await fixture.bridge.users.create(users, person('Ada', { externalId: 'ada' }));
      if (isDeleted) await fixture.bridge.users.remove(users, ada.id);
      else await fixture.patch(ada.id, { active: false });
      const user = await fixture.bridge.users.create(
        users,
        person('Bert', { ...bert, externalId: 'ada', userName: 'ada' }),
      );
      await settle(fixture);
      expect((await fixture.identity(user.id)).state).toBe('held');
      await decide(fixture, user.id, 'approved');
      expect(await fixture.traveler(user.id)).toMatchObject({
        ...{ id: ada.travelUserId, archived: false, firstName: 'Bert', email: addressOf('Bert') },
      });
    }, hold),
);

/** A newcomer in the place of a leaver with the externalId `ada`. */
const bertWithBobsAddress = person('Bert', {
  ...bert,
  externalId: 'ada',
  userName: 'bert',
  ...emailsOf(addressOf('Bob')),
});

test('an approval leaves the newcomer no address of the leaver: while the wanted one is taken, the traveler has a parking address', () =>
  withFixture(async (fixture) => {
    const { bridge } = fixture;
    const ada = await bridge.users.create(users, person('Ada', { externalId: 'ada' }));
    const bob = await bridge.users.create(users, person('Bob'));
    await bridge.users.remove(users, ada.id);
    const user = await bridge.users.create(users, bertWithBobsAddress);
    await settle(fixture);
    await decide(fixture, user.id, 'approved');
    expect(await fixture.traveler(user.id)).toMatchObject({
      ...{ id: ada.travelUserId, archived: false, firstName: 'Bert' },
      email: expect.stringMatching(/@jetbridge\.invalid$/),
    });
    expect(await fixture.findings(user.id)).toEqual(['*: otherPerson', 'email: emailTaken']);
    await fixture.reconcileAfter(61_000);
    expect((await fixture.traveler(user.id))?.email).toMatch(/@jetbridge\.invalid$/);
    await fixture.patch(bob.id, emailsOf('bob.two@corp.example'));
    await settle(fixture);
    expect(await fixture.traveler(user.id)).toMatchObject({ id: ada.travelUserId, email: addressOf('Bob') });
  }, hold));

test('with onReturn: revive it has, too', () =>
  withFixture(
    async (fixture) => {
      const { bridge } = fixture;
      const ada = await bridge.users.create(users, person('Ada', { externalId: 'ada' }));
      await bridge.users.create(users, person('Bob'));
      await bridge.users.remove(users, ada.id);
      const user = await bridge.users.create(users, bertWithBobsAddress);
      await settle(fixture);
      expect(await fixture.findings(user.id)).toEqual(['*: otherPerson', 'email: emailTaken']);
      expect(await fixture.traveler(user.id)).toMatchObject({
        ...{ id: ada.travelUserId, archived: false, firstName: 'Bert' },
        email: expect.stringMatching(/@jetbridge\.invalid$/),
      });
    },
    { policies: { onReturn: 'revive' } },
  ));

test('so it has while a traveler without a user has the wanted address', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const ada = await bridge.users.create(users, person('Ada', { externalId: 'ada' }));
    travel.addTraveler({ id: 'bob', email: addressOf('Bob') });
    await bridge.users.remove(users, ada.id);
    const user = await bridge.users.create(users, bertWithBobsAddress);
    await settle(fixture);
    await decide(fixture, user.id, 'approved');
    expect(await fixture.traveler(user.id)).toMatchObject({
      ...{ id: ada.travelUserId, archived: false, firstName: 'Bert' },
      email: expect.stringMatching(/@jetbridge\.invalid$/),
    });
    travel.travelers.delete('bob');
    await fixture.importTravelers();
    await settle(fixture);
    expect(await fixture.traveler(user.id)).toMatchObject({ id: ada.travelUserId, email: addressOf('Bob') });
  }, hold));

test('after an approval the newcomer has an own traveler if the leaver has come back meanwhile', () =>
  withFixture(async (fixture) => {
    const old = await pendingLeaver(fixture, { isDeleted: true, attributes: { externalId: '00u1' } });
    old.resume();
    const user = await fixture.bridge.users.create(users, person('Bert', { ...bert, userName: 'ada.one' }));
    const back = await fixture.bridge.users.create(users, person('Ada', { externalId: '00u1' }));
    await settle(fixture);
    expect(await fixture.traveler(back.id)).toMatchObject({ id: old.travelId, archived: false });
    await decide(fixture, user.id, 'approved');
    expect(await fixture.traveler(user.id)).toMatchObject({ email: addressOf('Bert'), archived: false });
    expect(await fixture.traveler(back.id)).toMatchObject({ id: old.travelId, firstName: 'Ada' });
  }, hold));

test('a successor in another connection who is held does not prevent the departure, and an approval moves the traveler', () =>
  withFixture(
    async (fixture) => {
      const old = await pendingLeaver(fixture, { isDeleted: true });
      const user = await fixture.bridge.users.create('entra', person('Ada', bert));
      old.resume();
      await settle(fixture);
      expect(fixture.travel.travelers.get(old.travelId)).toMatchObject({ archived: true, firstName: 'Ada' });
      await decide(fixture, user.id, 'approved', 'entra');
      expect(await fixture.traveler(user.id, 'entra')).toMatchObject({ id: old.travelId, archived: false });
      expect(await fixture.findings(old.id)).toEqual(['*: otherPerson', '*: movedTo']);
    },
    { ...hold, more: ['entra'] },
  ));

describe('a SCIM user who is activated again for another person', () => {
  const reactivate = async (fixture: ProvisioningFixture) => {
    const old = await pendingLeaver(fixture, { isDeleted: false });
    await fixture.patch(old.id, { ...bert, active: true });
    old.resume();
    await settle(fixture);
    return old;
  };

  test('is held once the traveler of the leaver is archived, and a discard leaves it so', () =>
    withFixture(async (fixture) => {
      const { id } = await reactivate(fixture);
      expect(await fixture.identity(id)).toMatchObject({ state: 'held', hold: { cause: 'return' } });
      expect(await fixture.traveler(id)).toMatchObject({ archived: true, firstName: 'Ada' });
      expect((await fixture.identity(id)).findings[0]?.remedy).toContain('leave the traveler archived');
      await decide(fixture, id, 'discarded');
      expect(await fixture.traveler(id)).toMatchObject({ archived: true, firstName: 'Ada' });
    }, hold));

  test('gets the traveler with an approval', () =>
    withFixture(async (fixture) => {
      const { id, travelId } = await reactivate(fixture);
      await decide(fixture, id, 'approved');
      expect(await fixture.traveler(id)).toMatchObject({ id: travelId, archived: false, firstName: 'Bert' });
    }, hold));

  test('is held with an archived traveler also if the names follow the activation', () =>
    withFixture(async (fixture) => {
      const ada = await fixture.bridge.users.create(users, person('Ada'));
      await fixture.patch(ada.id, { active: false });
      await fixture.patch(ada.id, { active: true });
      await settle(fixture);
      expect(await fixture.traveler(ada.id)).toMatchObject({ archived: false });
      await fixture.patch(ada.id, bert);
      await settle(fixture);
      expect(await fixture.identity(ada.id)).toMatchObject({ state: 'held', hold: { cause: 'return' } });
      expect(await fixture.traveler(ada.id)).toMatchObject({ archived: true, firstName: 'Ada' });
    }, hold));

  test('is archived by the next attempt if the outcome of the archive is not known', () =>
    withFixture(async (fixture) => {
      const old = await pendingLeaver(fixture, { isDeleted: false });
      await fixture.patch(old.id, { ...bert, active: true });
      fixture.travel.faultFor = ({ verb }) => (verb === 'patch' ? 'lose' : undefined);
      await fixture.reconcileAfter(61_000);
      old.resume();
      await settle(fixture);
      expect(await fixture.traveler(old.id)).toMatchObject({ archived: true, firstName: 'Ada' });
      expect(await fixture.identity(old.id)).toMatchObject({ state: 'held' });
    }, hold));

  test('is held again after a deactivation and an activation, as no admin has decided', () =>
    withFixture(async (fixture) => {
      const { id, travelId } = await reactivate(fixture);
      fixture.clock.advance(90_000_000);
      await fixture.patch(id, { title: 'Weaver' });
      await fixture.patch(id, { active: false });
      await settle(fixture);
      expect(await fixture.traveler(id)).toMatchObject({ archived: true });
      await fixture.patch(id, { active: true });
      await settle(fixture);
      expect(await fixture.identity(id)).toMatchObject({ state: 'held', hold: { cause: 'return' } });
      expect(fixture.travel.travelers.get(travelId)).toMatchObject({ archived: true, firstName: 'Ada' });
    }, hold));
});

test('the traveler of a leaver that a late create makes while the return is held is archived, even if the travel API does not send its time', () =>
  withFixture(async (fixture) => {
    const { travel, bridge } = fixture;
    travel.now = undefined;
    travel.faultFor = ({ verb }) => (verb === 'create' ? 'late' : undefined);
    const ada = await bridge.users.create(users, person('Ada'));
    await fixture.patch(ada.id, { active: false });
    await fixture.patch(ada.id, { ...bert, active: true });
    expect(await fixture.identity(ada.id)).toMatchObject({ hold: { cause: 'return' } });
    travel.carryOutLateCalls();
    await settle(fixture);
    expect([...travel.travelers.values()].slice(1)).toEqual([
      expect.objectContaining({ archived: true, firstName: 'Ada' }),
    ]);
  }, hold));

test('a return that an admin has discarded is looked for without a create', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, store, clock } = fixture;
    travel.addTraveler({
      email: addressOf('Ada'),
      archived: true,
      ...{ firstName: 'Eve', lastName: 'Stone' },
    });
    const { id } = await bridge.users.create(users, person('Ada'));
    expect(await fixture.identity(id)).toMatchObject({ state: 'held', hold: { cause: 'return' } });
    await decide(fixture, id, 'discarded');
    travel.calls.length = 0;
    await store.reconcileQueue.markDirty(users, [id], clock.now());
    await settle(fixture);
    expect(await fixture.identity(id)).toMatchObject({ state: 'held', hold: { cause: 'return' } });
    expect(travel.writes()).toEqual([]);
  }, hold));

describe('a leaver whose departure the safety valve holds', () => {
  const heldLeaver = async (fixture: ProvisioningFixture, isDeleted: boolean) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', { userName: 'ada.one' }));
    if (isDeleted) await fixture.bridge.users.remove(users, ada.id);
    else await fixture.patch(ada.id, { active: false });
    await settle(fixture);
    expect(await fixture.identity(ada.id)).toMatchObject({ hold: { cause: 'safetyValve' } });
    return { id: ada.id, travelId: ada.travelUserId ?? '' };
  };
  const newcomer = person('Ada', { userName: 'ada.two', ...bert });

  describe.each([
    { onReturn: 'hold', isDeleted: true },
    { onReturn: 'revive', isDeleted: false },
  ] as const)('with onReturn: $onReturn (after a DELETE: $isDeleted)', ({ onReturn, isDeleted }) => {
    const options = { policies: { onReturn, safetyValve: heldValve } };

    test('keeps the traveler, and both wait for an admin', () =>
      withFixture(async (fixture) => {
        const { id, travelId } = await heldLeaver(fixture, isDeleted);
        const user = await fixture.bridge.users.create(users, newcomer);
        await settle(fixture);
        expect(fixture.travel.travelers.get(travelId)).toMatchObject({ archived: false, firstName: 'Ada' });
        expect(await fixture.identity(id)).toMatchObject({ hold: { cause: 'safetyValve' } });
        expect(await fixture.identity(user.id)).toMatchObject({ hold: { cause: 'return' } });
        await decide(fixture, id, 'approved');
        expect(fixture.travel.travelers.get(travelId)).toMatchObject({ archived: true, firstName: 'Ada' });
        expect(await fixture.identity(user.id)).toMatchObject({ hold: { cause: 'return' } });
      }, options));

    test('stays active after a discard, whatever becomes of the successor', () =>
      withFixture(async (fixture) => {
        const { id, travelId } = await heldLeaver(fixture, isDeleted);
        await decide(fixture, id, 'discarded');
        const user = await fixture.bridge.users.create(users, newcomer);
        await settle(fixture);
        await decide(fixture, user.id, 'discarded');
        expect(fixture.travel.travelers.get(travelId)).toMatchObject({ archived: false, firstName: 'Ada' });
        expect(await fixture.findings(id)).toContain('archived: keptActive');
      }, options));

    test.each([false, true])(
      'stays as it is when the user is activated for another person, until that is decided (kept active before: %s)',
      (isKept) =>
        withFixture(async (fixture) => {
          const { id } = await heldLeaver(fixture, false);
          if (isKept) await decide(fixture, id, 'discarded');
          await fixture.patch(id, { ...bert, active: true });
          await settle(fixture);
          expect(await fixture.identity(id)).toMatchObject({ state: 'held', hold: { cause: 'return' } });
          expect(await fixture.traveler(id)).toMatchObject({ archived: false, firstName: 'Ada' });
          const [finding] = (await fixture.identity(id)).findings;
          expect(finding).toMatchObject({
            reason: expect.stringContaining('still active'),
            remedy: expect.stringContaining('archive the traveler'),
          });
          await decide(fixture, id, 'discarded');
          expect(await fixture.traveler(id)).toMatchObject({ archived: true, firstName: 'Ada' });
        }, options),
    );
  });

  test.each([false, true])(
    'keeps the hold or the decision when the user is activated for another person with onReturn: separate (kept active: %s)',
    (isKept) =>
      withFixture(
        async (fixture) => {
          const { id, travelId } = await heldLeaver(fixture, false);
          if (isKept) await decide(fixture, id, 'discarded');
          fixture.clock.advance(7_200_000);
          await fixture.patch(id, { ...bert, ...emailsOf('bert@corp.example'), active: true });
          await settle(fixture);
          expect(fixture.travel.travelers.get(travelId)).toMatchObject({ archived: false, firstName: 'Ada' });
          expect(await fixture.traveler(id)).toMatchObject({ firstName: 'Bert', email: 'bert@corp.example' });
          const tombstone = await fixture.store.identities.findHolder('travel', { travelId });
          expect(tombstone?.findings.map(({ code }) => code)).toContain(
            isKept ? 'keptActive' : 'safetyValve',
          );
        },
        { policies: { safetyValve: heldValve } },
      ),
  );
});

test('the leaver gets the own traveler back by a POST after the user of the held return was deleted', () =>
  withFixture(async (fixture) => {
    const values = { userName: 'ada.one', externalId: '00u1' };
    const ada = await fixture.bridge.users.create(users, person('Ada', { ...values, title: 'Weaver' }));
    await fixture.patch(ada.id, { active: false });
    await fixture.patch(ada.id, { ...bert, externalId: '00u2', active: true });
    await fixture.bridge.users.remove(users, ada.id);
    await settle(fixture);
    const back = await fixture.bridge.users.create(users, person('Ada', values));
    await settle(fixture);
    expect(await fixture.identity(back.id)).toMatchObject({ state: 'synced' });
    expect(await fixture.traveler(back.id)).toMatchObject({ id: ada.travelUserId, archived: false });
  }, hold));

describe('an approval of a return', () => {
  const heldNewcomer = async (fixture: ProvisioningFixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', { externalId: 'ada' }));
    await fixture.patch(ada.id, { active: false });
    const newcomer = person('Bert', { ...bert, externalId: 'ada', userName: 'ada' });
    const { id } = await fixture.bridge.users.create(users, newcomer);
    await settle(fixture);
    return { leaver: ada.id, travelId: ada.travelUserId, id };
  };
  const approve = async ({ store, clock, bridge }: ProvisioningFixture, id: string) => {
    await saveDecision(store, users, { ids: [id] }, 'approved', clock.now());
    await bridge.reconcileDue();
  };

  test('waits for the end of an attempt at the leaver', () =>
    withFixture(async (fixture) => {
      const { leaver, travelId, id } = await heldNewcomer(fixture);
      const lease = { token: 'attempt', ms: 10_000, now: fixture.clock.now() };
      await fixture.store.leases.acquire(users, leaver, lease);
      await approve(fixture, id);
      await fixture.store.leases.release(users, leaver, lease.token);
      await settle(fixture);
      expect(await fixture.traveler(id)).toMatchObject({ id: travelId, archived: false, firstName: 'Bert' });
    }, hold));

  test('that has linked the traveler is final, if the IdP writes before the rest is done', () =>
    withFixture(async (fixture) => {
      const { travelId, id } = await heldNewcomer(fixture);
      const resume = stopWrites(fixture);
      await approve(fixture, id);
      await fixture.patch(id, { title: 'Weaver' });
      resume();
      await settle(fixture);
      expect(await fixture.traveler(id)).toMatchObject({ id: travelId, archived: false, firstName: 'Bert' });
      expect(await fixture.identity(id)).toMatchObject({ state: 'synced' });
    }, hold));
});

test('with onReturn: revive a traveler that has become an administrator stays as it is until an admin decides', () =>
  withFixture(
    async ({ travel, ...fixture }) => {
      const old = await pendingLeaver({ ...fixture, travel }, { isDeleted: false });
      const traveler = travel.travelers.get(old.travelId);
      if (traveler) travel.travelers.set(old.travelId, { ...traveler, roles: ['admin'] });
      await fixture.patch(old.id, { ...bert, active: true });
      old.resume();
      await settle({ ...fixture, travel });
      expect(await fixture.identity(old.id)).toMatchObject({ state: 'held', hold: { cause: 'return' } });
      expect(await fixture.traveler(old.id)).toMatchObject({
        archived: false,
        firstName: 'Ada',
        roles: ['admin'],
      });
      await decide({ ...fixture, travel }, old.id, 'discarded');
      expect(await fixture.traveler(old.id)).toMatchObject({
        archived: true,
        firstName: 'Ada',
        roles: ['admin'],
      });
    },
    { policies: { onReturn: 'revive' } },
  ));

test('a departure that the travel API accepts and does not carry out is sent again each hour while the return is held', () =>
  withFixture(async (fixture) => {
    const { id } = await fixture.bridge.users.create(users, person('Ada'));
    fixture.travel.faultFor = ({ body }) => {
      delete body?.['archived'];
      return undefined;
    };
    await fixture.patch(id, { active: false });
    await fixture.patch(id, { active: true, ...bert });
    await fixture.reconcileAfter(31_000);
    expect((await fixture.findings(id)).toSorted()).toEqual(['*: returnHeld', 'archived: notApplied']);
    await decide(fixture, id, 'discarded');
    await fixture.reconcileAfter(31 * 60_000);
    expect(fixture.travel.calls.filter(({ verb }) => verb === 'patch')).toHaveLength(1);
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(31 * 60_000);
    expect(await fixture.traveler(id)).toMatchObject({ archived: true, firstName: 'Ada' });
    expect(await fixture.findings(id)).not.toContain('archived: notApplied');
  }, hold));
