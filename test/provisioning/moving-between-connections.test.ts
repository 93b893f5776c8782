import { setImmediate } from 'node:timers/promises';
import { holdFirstCall } from '../fixtures/holding-first.ts';
import {
  addressOf,
  emailsOf,
  managedBy,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

const more = { more: ['other'] };

function travelers({ travel }: ProvisioningFixture) {
  return [...travel.travelers.values()].slice(1);
}

async function reconcileUntilIdle(fixture: ProvisioningFixture, rounds = 4): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await fixture.reconcileAfter(31_000);
}

const steps: Record<string, (fixture: ProvisioningFixture) => { reached: Promise<void>; release(): void }> = {
  'before its commit': ({ store }) => {
    const { held, ...rest } = holdFirstCall(store.identities.commit);
    store.identities.commit = held;
    return rest;
  },
  'before its create': ({ travel }) => travel.holdCall('create'),
  'before its outcome is saved': ({ store }) => {
    const { held, ...rest } = holdFirstCall(store.leases.finish);
    store.leases.finish = held;
    return rest;
  },
};

describe.each(Object.keys(steps))(
  'when two connections create the same person, and the first create is held %s,',
  (step) => {
    test.each(['default', 'other'])('one POST is a 201 and the other a 409 (first: %s)', (first) =>
      withFixture(async (fixture) => {
        const { bridge } = fixture;
        const second = first === 'default' ? 'other' : 'default';
        const heldStep = steps[step]?.(fixture);
        const firstCreate = bridge.users.create(first, person('Ada', { userName: 'one' }));
        await heldStep?.reached;
        const secondCreate = bridge.users.create(
          second,
          person('Ada', { userName: 'two', ...emailsOf('ADA@corp.example') }),
        );
        const answers = Promise.allSettled([firstCreate, secondCreate]);
        await secondCreate.catch(() => undefined);
        heldStep?.release();
        const ends = await answers;
        await fixture.waitForLeases();
        await reconcileUntilIdle(fixture);
        expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
        expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
          reason: { kind: 'conflict' },
        });
        expect(travelers(fixture)).toHaveLength(1);
      }, more),
    );
  },
);

test('an address whose create failed for good is free for another connection', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    travel.faultFor = ({ verb }) => (verb === 'create' ? { kind: 'forbidden' } : undefined);
    const first = await bridge.users.create('default', person('Ada', { userName: 'one' }));
    expect(await fixture.identity(first.id)).toMatchObject({ state: 'refused', creating: undefined });
    travel.faultFor = () => undefined;
    const second = await bridge.users.create('other', person('Ada', { userName: 'two' }));
    expect(second.travelUserId).toBeDefined();
    await reconcileUntilIdle(fixture);
    expect(travelers(fixture)).toHaveLength(1);
  }, more));

test('a person who moves keeps the traveler, and both connections get a finding', () =>
  withFixture(async (fixture) => {
    const { bridge } = fixture;
    const ada = await bridge.users.create(
      'default',
      person('Ada', { externalId: '1', preferredLanguage: 'fr' }),
    );
    await bridge.users.remove('default', ada.id);
    const back = await bridge.users.create('other', person('Ada', { userName: 'a', externalId: '2' }));
    await reconcileUntilIdle(fixture);
    const [only, ...others] = travelers(fixture);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ archived: false, id: (await fixture.identity(back.id, 'other')).travelId });
    expect(only).not.toHaveProperty('lang');
    expect(await fixture.findings(back.id, 'other')).toEqual(['*: movedFrom']);
    expect(await fixture.findings(ada.id)).toEqual(['*: movedTo']);
  }, more));

test('a person who moves without the manager loses the manager at once, and nothing is sent later', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    await bridge.users.create('default', person('Boss', { userName: 'boss' }));
    const ada = await bridge.users.create('default', person('Ada', managedBy('boss')));
    await bridge.users.remove('default', ada.id);
    const moved = person('Ada', { ...managedBy('boss'), userName: 'a' });
    const back = await bridge.users.create('other', moved);
    await reconcileUntilIdle(fixture);
    expect(await fixture.traveler(back.id, 'other')).not.toHaveProperty('managerId');
    expect(await fixture.findings(back.id, 'other')).toContain('managerId: managerGone');
    travel.calls.length = 0;
    await fixture.importTravelers(fixture.connectionOf('other'));
    expect(travel.writes()).toEqual([]);
  }, more));

test.each([5_000, 600_000])(
  'a person who moves keeps the traveler although the clock was %d ms ahead when the old user was deleted',
  (aheadMs) =>
    withFixture(async (fixture) => {
      const { bridge, store, clock } = fixture;
      const ada = await bridge.users.create('default', person('Ada', { userName: 'one' }));
      clock.setWallClock(aheadMs);
      await bridge.users.remove('default', ada.id);
      // The address of the traveler is not known at the POST: the leaver is found only by the traveler.
      await store.imports.saveObserved('default', [{ id: ada.id, observed: undefined }], clock.now());
      clock.setWallClock(-aheadMs);
      clock.advance(1_000);
      const back = await bridge.users.create('other', person('Ada', { userName: 'two' }));
      await reconcileUntilIdle(fixture);
      const [only, ...others] = travelers(fixture);
      expect(others).toEqual([]);
      expect(only).toMatchObject({ archived: false, email: addressOf('Ada') });
      expect((await fixture.identity(back.id, 'other')).travelId).toBe(only?.id);
    }, more),
);

test.each(['externalId', 'userName'])('a user of another connection is not matched by %s', (by) =>
  withFixture(async (fixture) => {
    const { bridge } = fixture;
    const ada = await bridge.users.create('default', person('Ada', { externalId: '1', userName: 'ada' }));
    await bridge.users.remove('default', ada.id);
    const name = by === 'userName' ? { userName: 'ada' } : { externalId: '1', userName: 'eve' };
    const eve = await bridge.users.create('other', person('Eve', name));
    await reconcileUntilIdle(fixture);
    expect(eve.travelUserId).not.toBe((await fixture.identity(ada.id)).travelId);
    expect(travelers(fixture)).toEqual([
      expect.objectContaining({ email: addressOf('Ada'), archived: true }),
      expect.objectContaining({ email: addressOf('Eve'), archived: false }),
    ]);
  }, more),
);

test('a person who moves while the archive is under way ends up active', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, clock } = fixture;
    const ada = await bridge.users.create('default', person('Ada'));
    const held = travel.holdCall('patch');
    const removal = bridge.users.remove('default', ada.id);
    await held.reached;
    clock.advance(800);
    await removal;
    const back = await bridge.users.create('other', person('Ada', { userName: 'a' }));
    held.release();
    await fixture.waitForLeases();
    await reconcileUntilIdle(fixture, 6);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: false })]);
    expect((await fixture.identity(back.id, 'other')).travelId).toBe(travelers(fixture)[0]?.id);
  }, more));

test('a person who moves ends up active if the archive is carried out between the read and the first PATCH', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const ada = await bridge.users.create('default', person('Ada'));
    travel.faultFor = ({ verb }) => (verb === 'patch' ? 'late' : undefined);
    await bridge.users.remove('default', ada.id);
    travel.faultFor = ({ verb }) => {
      if (verb === 'patch') travel.carryOutLateCalls();
      return undefined;
    };
    const user = person('Ada', { userName: 'a', preferredLanguage: 'fr' });
    const back = await bridge.users.create('other', user);
    await reconcileUntilIdle(fixture, 6);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: false, lang: 'fr' })]);
    expect((await fixture.identity(back.id, 'other')).travelId).toBe(travelers(fixture)[0]?.id);
  }, more));

test('a person who moves ends up active if the archive is carried out between the read and the takeover', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, store } = fixture;
    const ada = await bridge.users.create('default', person('Ada'));
    travel.faultFor = ({ verb }) => (verb === 'read' ? { kind: 'unavailable', text: 'refused' } : undefined);
    await bridge.users.remove('default', ada.id);
    travel.faultFor = () => undefined;
    const { held, reached, release } = holdFirstCall(store.identities.isErased);
    store.identities.isErased = held;
    const creation = bridge.users.create('other', person('Ada', { userName: 'a' }));
    await reached;
    await fixture.reconcileAfter(2_000);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true })]);
    release();
    const back = await creation;
    await fixture.waitForLeases();
    await reconcileUntilIdle(fixture);
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: false })]);
    expect((await fixture.identity(back.id, 'other')).travelId).toBe(travelers(fixture)[0]?.id);
  }, more));

test('an administrator who moves is held', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const ada = await bridge.users.create('default', person('Ada'));
    await bridge.users.remove('default', ada.id);
    const [was] = travelers(fixture);
    if (was) travel.travelers.set(was.id, { ...was, roles: ['admin'] });
    const back = await bridge.users.create('other', person('Ada', { userName: 'a' }));
    await reconcileUntilIdle(fixture);
    expect((await fixture.identity(back.id, 'other')).state).toBe('held');
    expect(travelers(fixture)).toEqual([expect.objectContaining({ archived: true, roles: ['admin'] })]);
  }, more));

test('people of two connections swap their addresses', () =>
  withFixture(async (fixture) => {
    const { bridge } = fixture;
    const ada = await bridge.users.create('default', person('Ada', { userName: 'ada' }));
    const bob = await bridge.users.create('other', person('Bob', { userName: 'bob' }));
    await fixture.patch(ada.id, emailsOf(addressOf('Bob')));
    await fixture.patch(bob.id, emailsOf(addressOf('Ada')), 'other');
    await reconcileUntilIdle(fixture);
    expect((await fixture.traveler(ada.id))?.email).toBe(addressOf('Bob'));
    expect((await fixture.traveler(bob.id, 'other'))?.email).toBe(addressOf('Ada'));
  }, more));

test('a person who moves gets no second traveler by a create under the userName that is carried out late', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const shared = emailsOf(addressOf('Shared'));
    const bob = await bridge.users.create('default', person('Bob', { userName: 'bob', emails: [] }));
    const ada = await bridge.users.create('other', person('Ada', { userName: 'ada', ...shared }));
    const held = travel.holdCall('patch');
    const removal = bridge.users.remove('other', ada.id);
    await held.reached;
    travel.faultFor = ({ verb }) => (verb === 'create' ? 'late' : undefined);
    await fixture.patch(bob.id, shared);
    const back = await bridge.users.create('default', person('Ada', { ...shared, externalId: '2' }));
    travel.faultFor = () => undefined;
    held.release();
    await removal;
    await fixture.waitForLeases();
    await reconcileUntilIdle(fixture, 1);
    await fixture.patch(back.id, { preferredLanguage: 'fr' });
    travel.carryOutLateCalls();
    await reconcileUntilIdle(fixture);
    const own = travelers(fixture).filter(({ archived, firstName }) => !archived && firstName === 'Ada');
    expect(own).toEqual([expect.objectContaining({ id: (await fixture.identity(back.id)).travelId })]);
  }, more));

test('a person who moves while the traveler is deleted gets another one', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel, store } = fixture;
      const ada = await bridge.users.create('default', person('Ada', { externalId: '1' }));
      const deletion = travel.holdCall('remove');
      const removal = bridge.users.remove('default', ada.id);
      await deletion.reached;
      const back = await bridge.users.create('other', person('Ada', { userName: 'a', externalId: '2' }));
      const { held, ...search } = holdFirstCall(store.identities.findHolder);
      store.identities.findHolder = held;
      const attempt = fixture.reconcileAfter(2_000);
      // The traveler was read just before it is deleted.
      await search.reached;
      deletion.release();
      await removal;
      while ((await fixture.identity(ada.id)).travelId !== undefined) await setImmediate();
      search.release();
      await attempt;
      await reconcileUntilIdle(fixture);
      expect(await fixture.traveler(back.id, 'other')).toMatchObject({ archived: false });
    },
    { ...more, policies: { deprovision: 'delete' } },
  ));
