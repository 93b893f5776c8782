import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';

const users = 'default';
const HOUR_MS = 3_600_000;
const BOUND = 5;
const small = { safetyValve: { share: 0.05, minimum: BOUND, windowMs: HOUR_MS } };

/** Creates users, and clears the recorded calls. */
async function createUsers(fixture: ProvisioningFixture, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await fixture.bridge.users.create(users, person(`P${n}`))).id);
  fixture.travel.calls.length = 0;
  return ids;
}

function countArchived({ travel }: ProvisioningFixture): number {
  return [...travel.travelers.values()].filter((traveler) => traveler.archived).length;
}

async function heldCount({ store }: ProvisioningFixture): Promise<number> {
  const counts = await store.holds.countHolds();
  return counts.filter(({ cause }) => cause === 'safetyValve').reduce((sum, { count }) => sum + count, 0);
}

async function heldIds({ store }: ProvisioningFixture): Promise<string[]> {
  return (await store.holds.findHeldPeople({ cause: 'safetyValve', limit: 1_000 })).map(({ id }) => id);
}

async function decide(
  { store, clock, bridge }: ProvisioningFixture,
  ids: string[],
  answer: 'approved' | 'discarded',
) {
  await saveDecision(store, users, { ids }, answer, clock.now());
  await bridge.reconcileDue();
}

const deactivate = (fixture: ProvisioningFixture, ids: string[]) =>
  forEachId(ids, (id) => fixture.patch(id, { active: false }));
const remove = ({ bridge }: ProvisioningFixture, ids: string[]) =>
  forEachId(ids, (id) => bridge.users.remove(users, id));

async function forEachId(ids: string[], act: (id: string) => Promise<unknown>): Promise<void> {
  for (const id of ids) await act(id);
}

/** Deactivates 8 of 12 users: 5 are archived, and 3 are held. */
function withThreeHeld(
  run: (fixture: ProvisioningFixture, ids: string[], held: string[]) => Promise<void>,
  leave = deactivate,
  options: Parameters<typeof withFixture>[1] = { policies: small },
): Promise<void> {
  return withFixture(async (fixture) => {
    const ids = await createUsers(fixture, 12);
    await leave(fixture, ids.slice(0, 8));
    await run(fixture, ids, await heldIds(fixture));
  }, options);
}

test.each([
  ['deactivations', deactivate],
  ['deletions', remove],
])('the first of many %s are sent; the others are answered normally and held', (_, leave) =>
  withThreeHeld(async (fixture, _ids, held) => {
    expect(countArchived(fixture)).toBe(BOUND);
    expect(held).toHaveLength(3);
    for (const id of held) expect((await fixture.identity(id)).state).toBe('held');
  }, leave),
);

test('eight parallel attempts archive no more users than the valve allows', () =>
  withFixture(
    async (fixture) => {
      const ids = await createUsers(fixture, 24);
      fixture.travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
      await deactivate(fixture, ids.slice(0, 20));
      fixture.travel.faultFor = () => undefined;
      fixture.clock.advance(120_000);
      const other = fixture.replica();
      await Promise.all([fixture.bridge.reconcileDue(), other.reconcileDue(), other.reconcileDue()]);
      expect(countArchived(fixture)).toBe(BOUND);
      expect(await heldCount(fixture)).toBe(15);
    },
    { policies: small },
  ));

test('simultaneous requests archive no more users than the valve allows', () =>
  withFixture(
    async (fixture) => {
      const ids = await createUsers(fixture, 24);
      await Promise.all(ids.slice(0, 20).map((id) => fixture.patch(id, { active: false })));
      await fixture.bridge.reconcileDue();
      expect(countArchived(fixture)).toBe(BOUND);
      expect(await heldCount(fixture)).toBe(15);
    },
    { policies: small },
  ));

test('the share refers to the number of users when the window began', () =>
  withFixture(
    async (fixture) => {
      const ids = await createUsers(fixture, 25);
      await deactivate(fixture, ids.slice(0, 8));
      expect(countArchived(fixture)).toBe(5);
    },
    { policies: { safetyValve: { share: 0.2, minimum: 3, windowMs: HOUR_MS } } },
  ));

test('the window slides: an hour later as many users may leave again, and held ones stay held', () =>
  withThreeHeld(async (fixture, ids) => {
    fixture.clock.advance(HOUR_MS - 1);
    await deactivate(fixture, ids.slice(8, 9));
    expect(countArchived(fixture)).toBe(BOUND);
    fixture.clock.advance(1);
    await deactivate(fixture, ids.slice(9, 12));
    expect(countArchived(fixture)).toBe(BOUND + 3);
    expect(await heldCount(fixture)).toBe(4);
  }));

test.each(['a touch', 'an import', 'a restart'])('%s an hour later archives no held user', (cause) =>
  withThreeHeld(async (fixture, _ids, held) => {
    fixture.clock.advance(2 * HOUR_MS);
    if (cause === 'a touch') await fixture.store.reconcileQueue.markDirty(users, held, fixture.clock.now());
    if (cause === 'a restart') await fixture.restart();
    for (const id of held) {
      const traveler = await fixture.traveler(id);
      if (traveler && cause === 'an import')
        fixture.travel.travelers.set(traveler.id, { ...traveler, phone: '+1' } as never);
    }
    await fixture.importTravelers();
    expect(countArchived(fixture)).toBe(BOUND);
    expect((await heldIds(fixture)).toSorted()).toEqual(held.toSorted());
  }),
);

test('a held user stays held after a failed call', () =>
  withThreeHeld(async (fixture, _ids, [ada = '', ...held]) => {
    fixture.clock.advance(2 * HOUR_MS);
    fixture.travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
    await fixture.store.imports.saveObserved(users, [{ id: ada, observed: undefined }], fixture.clock.now());
    await fixture.store.reconcileQueue.markDirty(users, [ada], fixture.clock.now());
    await fixture.bridge.reconcileDue();
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(120_000);
    expect((await heldIds(fixture)).toSorted()).toEqual([ada, ...held].toSorted());
  }));

test('an approval archives at once, beyond the limit, and does not count towards it', () =>
  withThreeHeld(async (fixture, ids, held) => {
    await decide(fixture, held, 'approved');
    expect(countArchived(fixture)).toBe(8);
    expect(await heldCount(fixture)).toBe(0);
    fixture.clock.advance(HOUR_MS);
    await deactivate(fixture, ids.slice(8));
    expect(countArchived(fixture)).toBe(12);
  }));

test('an approval survives a travel API that is down, and a restart', () =>
  withThreeHeld(async (fixture, _ids, held) => {
    fixture.travel.faultFor = ({ verb }) =>
      verb === 'patch' ? { kind: 'unavailable', text: 'down' } : undefined;
    await decide(fixture, held, 'approved');
    expect(countArchived(fixture)).toBe(BOUND);
    await fixture.restart();
    await fixture.reconcileAfter(120_000);
    expect(countArchived(fixture)).toBe(8);
  }));

test('a discard ends the hold: the traveler stays active, with the name of the admin and the date', () =>
  withThreeHeld(async (fixture, _ids, held) => {
    const [ada = ''] = held;
    const { store, clock, bridge } = fixture;
    await saveDecision(store, users, { ids: held }, 'discarded', clock.now(), 'Grace Hopper');
    await bridge.reconcileDue();
    expect(await heldCount(fixture)).toBe(0);
    const kept = await fixture.identity(ada);
    expect(kept).toMatchObject({ state: 'synced', hold: undefined, desired: { active: false } });
    expect(kept.findings).toMatchObject([{ field: 'archived', code: 'keptActive' }]);
    const date = new Date(clock.now()).toISOString().slice(0, 10);
    expect(kept.findings[0]?.reason).toContain(`Grace Hopper keeps the traveler active since ${date}`);
    clock.advance(2 * HOUR_MS);
    await store.reconcileQueue.markDirty(users, held, clock.now());
    await fixture.restart();
    await fixture.importTravelers();
    expect(countArchived(fixture)).toBe(BOUND);
    expect(await fixture.findings(ada)).toEqual(['archived: keptActive']);
  }));

/** Discards the departures of three users; the window of the safety valve then moves on, so that it would let all of them pass. */
function withThreeKept(
  run: (fixture: ProvisioningFixture, kept: string[]) => Promise<void>,
  leave = deactivate,
) {
  return withThreeHeld(async (fixture, _ids, held) => {
    await decide(fixture, held, 'discarded');
    fixture.clock.advance(2 * HOUR_MS);
    await run(fixture, held);
  }, leave);
}

test('after a discard, a request that does not state the deactivation again is carried out, and holds nothing', () =>
  withThreeKept(async (fixture, [ada = '']) => {
    await fixture.patch(ada, { displayName: 'Somebody' });
    await fixture.patch(ada, { preferredLanguage: 'fr' });
    expect(await fixture.traveler(ada)).toMatchObject({ archived: false, lang: 'fr' });
    expect(await fixture.identity(ada)).toMatchObject({ state: 'synced', hold: undefined });
    expect(await fixture.findings(ada)).toEqual(['archived: keptActive']);
  }));

const requestsThatLeave: [string, (fixture: ProvisioningFixture, id: string) => Promise<unknown>][] = [
  ['PATCH that states active: false again', (fixture, id) => fixture.patch(id, { active: false })],
  ['PATCH that also changes something', (fixture, id) => fixture.patch(id, { active: false, title: 'Dr.' })],
  [
    'PUT that states active: false again',
    (fixture, id) =>
      fixture.bridge.users.change(users, id, (user) => ({ ...user, active: false }), 'replace'),
  ],
  ['DELETE', (fixture, id) => fixture.bridge.users.remove(users, id)],
];

test.each(requestsThatLeave)('after a discard, a %s is held again, however few people leave', (_, send) =>
  withThreeKept(async (fixture, [ada = '']) => {
    await send(fixture, ada);
    expect(await heldIds(fixture)).toEqual([ada]);
    expect(await fixture.traveler(ada)).toMatchObject({ archived: false });
    const [finding] = (await fixture.identity(ada)).findings;
    expect(finding?.reason).toMatch(/^An admin has discarded the departure of this person before/);
    await decide(fixture, [ada], 'approved');
    expect(await fixture.identity(ada)).toMatchObject({ state: 'synced', findings: [] });
    expect(countArchived(fixture)).toBe(BOUND + 1);
  }),
);

test('a departure that was held again can be discarded again', () =>
  withThreeKept(async (fixture, [ada = '']) => {
    await fixture.patch(ada, { active: false });
    await decide(fixture, [ada], 'discarded');
    expect(await heldIds(fixture)).toEqual([]);
    await fixture.patch(ada, { title: 'Dr.' });
    expect(await fixture.findings(ada)).toEqual(['archived: keptActive']);
    await fixture.patch(ada, { active: false });
    expect(await heldIds(fixture)).toEqual([ada]);
  }));

test('a reactivation after a discard ends the finding, and the next departure is an ordinary one', () =>
  withThreeKept(async (fixture, [ada = '']) => {
    await fixture.patch(ada, { active: true });
    expect(await fixture.findings(ada)).toEqual([]);
    await fixture.patch(ada, { active: false });
    expect(await fixture.traveler(ada)).toMatchObject({ archived: true });
  }));

test('after a discarded DELETE the user is gone, the traveler stays active, and another DELETE is held again', () =>
  withThreeKept(async (fixture, [ada = '']) => {
    expect(await fixture.findings(ada)).toEqual(['archived: keptActive']);
    await expect(fixture.bridge.users.remove(users, ada)).rejects.toMatchObject({ kind: 'notFound' });
    await fixture.bridge.reconcileDue();
    expect(await heldIds(fixture)).toEqual([ada]);
    expect(countArchived(fixture)).toBe(BOUND);
  }, remove));

test('a reactivation ends the hold even if the travel API is down', () =>
  withThreeHeld(async (fixture, _ids, held) => {
    const [ada = '', bob = ''] = held;
    await fixture.patch(ada, { active: true });
    expect(await heldCount(fixture)).toBe(2);
    expect((await fixture.identity(ada)).state).toBe('synced');
    fixture.travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
    await fixture.patch(bob, { active: true });
    expect(await heldCount(fixture)).toBe(1);
    expect(await heldIds(fixture)).not.toContain(bob);
    expect(
      await saveDecision(fixture.store, users, { cause: 'safetyValve' }, 'approved', fixture.clock.now()),
    ).toBe(1);
  }));

test('a user who leaves and returns repeatedly counts once', () =>
  withFixture(
    async (fixture) => {
      const ids = await createUsers(fixture, 10);
      const [ada = '', ...others] = ids;
      for (let times = 0; times < 8; times += 1) {
        await fixture.patch(ada, { active: false });
        await fixture.patch(ada, { active: true });
      }
      await deactivate(fixture, others.slice(0, 4));
      expect(countArchived(fixture)).toBe(4);
      expect(await heldCount(fixture)).toBe(0);
      await deactivate(fixture, others.slice(4, 5));
      expect(await heldCount(fixture)).toBe(1);
    },
    { policies: small },
  ));

test('a user who is deleted, created again and deleted again counts once', () =>
  withFixture(
    async (fixture) => {
      const ids = await createUsers(fixture, 10);
      let [ada = ''] = ids;
      for (let times = 0; times < 5; times += 1) {
        await remove(fixture, [ada]);
        ada = (await fixture.bridge.users.create(users, person('P0'))).id;
      }
      await deactivate(fixture, ids.slice(1, 5));
      expect(countArchived(fixture)).toBe(4);
      expect(await heldCount(fixture)).toBe(0);
      await deactivate(fixture, ids.slice(5, 6));
      expect(await heldCount(fixture)).toBe(1);
    },
    { policies: small },
  ));

test('an archive that fails and is retried counts once', () =>
  withFixture(
    async (fixture) => {
      const ids = await createUsers(fixture, 10);
      fixture.travel.faultFor = ({ verb }) =>
        verb === 'patch' ? { kind: 'unavailable', text: 'down' } : undefined;
      await deactivate(fixture, ids.slice(0, 5));
      for (let times = 0; times < 5; times += 1) await fixture.reconcileAfter(120_000);
      fixture.travel.faultFor = () => undefined;
      await fixture.reconcileAfter(120_000);
      expect(countArchived(fixture)).toBe(5);
      expect(await heldCount(fixture)).toBe(0);
    },
    { policies: small },
  ));

test('a user who was approved, returned and leaves again is held anew', () =>
  withThreeHeld(async (fixture, _ids, [ada = '']) => {
    await decide(fixture, [ada], 'approved');
    await fixture.patch(ada, { active: true });
    expect(await fixture.traveler(ada)).toMatchObject({ archived: false });
    await fixture.patch(ada, { active: false });
    expect(await fixture.traveler(ada)).toMatchObject({ archived: false });
    expect(await heldIds(fixture)).toContain(ada);
    await decide(fixture, [ada], 'approved');
    expect(await fixture.traveler(ada)).toMatchObject({ archived: true });
  }));

test('with deprovision "delete", deletions are held, those of archived travelers included', () =>
  withFixture(
    async (fixture) => {
      const ids = await createUsers(fixture, 20);
      await deactivate(fixture, ids.slice(0, 5));
      fixture.clock.advance(2 * HOUR_MS);
      await deactivate(fixture, ids.slice(5, 10));
      fixture.clock.advance(2 * HOUR_MS);
      expect(countArchived(fixture)).toBe(10);
      await remove(fixture, ids.slice(0, 10));
      expect(fixture.travel.travelers.size).toBe(1 + 20 - BOUND);
      expect(await heldCount(fixture)).toBe(5);
      await decide(fixture, await heldIds(fixture), 'approved');
      expect(fixture.travel.travelers.size).toBe(1 + 10);
    },
    { policies: { ...small, deprovision: 'delete' } },
  ));

test('a deactivation and the deletion that follows it count once', () =>
  withFixture(
    async (fixture) => {
      const ids = await createUsers(fixture, 10);
      await deactivate(fixture, ids.slice(0, 5));
      await remove(fixture, ids.slice(0, 5));
      expect(fixture.travel.travelers.size).toBe(6);
      expect(await heldCount(fixture)).toBe(0);
    },
    { policies: { ...small, deprovision: 'delete' } },
  ));

test('a held user who is then deleted stays held, and an approval archives', () =>
  withThreeHeld(async (fixture, _ids, [ada = '']) => {
    await fixture.bridge.users.remove(users, ada);
    await expect(fixture.bridge.users.read(users, ada)).rejects.toMatchObject({ kind: 'notFound' });
    expect(await fixture.traveler(ada)).toMatchObject({ archived: false });
    await decide(fixture, [ada], 'approved');
    expect(await fixture.traveler(ada)).toMatchObject({ archived: true });
  }));

test('a held user who is deleted and created again keeps the traveler, and the hold ends', () =>
  withThreeHeld(async (fixture, ids, held) => {
    const [ada = ''] = held;
    const name = `P${ids.indexOf(ada)}`;
    await fixture.bridge.users.remove(users, ada);
    const traveler = await fixture.traveler(ada);
    const back = await fixture.bridge.users.create(users, person(name));
    expect(back.travelUserId).toBe(traveler?.id);
    expect(await fixture.traveler(back.id)).toMatchObject({ archived: false });
    expect(await heldCount(fixture)).toBe(2);
    await fixture.reconcileAfter(2 * HOUR_MS);
    expect(countArchived(fixture)).toBe(BOUND);
  }));

test('without a safety valve no archive is held', () =>
  withFixture(
    async (fixture) => {
      await deactivate(fixture, (await createUsers(fixture, 12)).slice(0, 9));
      expect(countArchived(fixture)).toBe(9);
    },
    { policies: { safetyValve: undefined } },
  ));

test('other fields of a held user are still updated', () =>
  withThreeHeld(async (fixture, _ids, [ada = '']) => {
    await fixture.patch(ada, { name: { givenName: 'Nina', familyName: 'Smith' } });
    expect(await fixture.traveler(ada)).toMatchObject({ firstName: 'Nina', archived: false });
    expect(await heldIds(fixture)).toContain(ada);
  }));

test('by default 20 of 40 users may leave, and a restart keeps the count', () =>
  withFixture(async (fixture) => {
    const ids = await createUsers(fixture, 40);
    await deactivate(fixture, ids.slice(0, 15));
    await fixture.restart();
    await deactivate(fixture, ids.slice(15, 35));
    expect(countArchived(fixture)).toBe(20);
    expect(await heldCount(fixture)).toBe(15);
  }));

test('a reactivated user does not count as held while the connection pauses', () =>
  withThreeHeld(async (fixture, _ids, [ada = '']) => {
    const throttled = { kind: 'unavailable', text: '429', isThrottled: true, retryAfterMs: 60_000 } as const;
    fixture.travel.faultFor = () => throttled;
    await fixture.bridge.users.create(users, person('Probe'));
    await fixture.patch(ada, { active: true });
    expect(await heldIds(fixture)).not.toContain(ada);
    expect(await heldCount(fixture)).toBe(2);
  }));
