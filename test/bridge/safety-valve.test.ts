import { type BridgeHouse, inHouse, person } from '../support/bridge-house.ts';

const users = 'default';
const HOUR_MS = 3_600_000;
const BOUND = 5;
const small = { safetyValve: { share: 0.05, minimum: BOUND, windowMs: HOUR_MS } };

/** Makes so many people, and forgets the calls that made them. */
async function crowd(house: BridgeHouse, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await house.bridge.users.create(users, person(`P${n}`))).id);
  house.travel.calls.length = 0;
  return ids;
}

function archived({ travel }: BridgeHouse): number {
  return [...travel.people.values()].filter((one) => one.archived).length;
}

async function heldCount({ store }: BridgeHouse): Promise<number> {
  const counts = await store.holds.counts();
  return counts.filter(({ cause }) => cause === 'safetyValve').reduce((sum, { count }) => sum + count, 0);
}

async function heldIds({ store }: BridgeHouse): Promise<string[]> {
  return (await store.holds.list({ cause: 'safetyValve', limit: 1_000 })).map(({ id }) => id);
}

async function decide(
  { store, clock, bridge }: BridgeHouse,
  ids: string[],
  answer: 'approved' | 'discarded',
) {
  await store.holds.decide(users, { ids }, answer, clock.now());
  await bridge.settleDue();
}

const deactivate = (house: BridgeHouse, ids: string[]) =>
  eachOf(ids, (id) => house.patch(id, { active: false }));
const remove = ({ bridge }: BridgeHouse, ids: string[]) =>
  eachOf(ids, (id) => bridge.users.remove(users, id));

async function eachOf(ids: string[], act: (id: string) => Promise<unknown>): Promise<void> {
  for (const id of ids) await act(id);
}

/** 8 of 12 people leave: 5 may, and 3 are held. */
function withThreeHeld(
  story: (house: BridgeHouse, ids: string[], held: string[]) => Promise<void>,
  leave = deactivate,
  options: Parameters<typeof inHouse>[1] = { policies: small },
): Promise<void> {
  return inHouse(async (house) => {
    const ids = await crowd(house, 12);
    await leave(house, ids.slice(0, 8));
    await story(house, ids, await heldIds(house));
  }, options);
}

test.each([
  ['deactivations', deactivate],
  ['deletions', remove],
])('of many %s at once the first pass, and the rest is answered normally and held', (_, leave) =>
  withThreeHeld(async (house, _ids, held) => {
    expect(archived(house)).toBe(BOUND);
    expect(held).toHaveLength(3);
    for (const id of held) expect((await house.identity(id)).state).toBe('held');
  }, leave),
);

test('eight lanes that work at the bound let nobody more pass', () =>
  inHouse(
    async (house) => {
      const ids = await crowd(house, 24);
      house.travel.trouble = () => ({ kind: 'unavailable', text: 'down' });
      await deactivate(house, ids.slice(0, 20));
      house.travel.trouble = () => undefined;
      house.clock.advance(120_000);
      const other = house.replica();
      await Promise.all([house.bridge.settleDue(), other.settleDue(), other.settleDue()]);
      expect(archived(house)).toBe(BOUND);
      expect(await heldCount(house)).toBe(15);
    },
    { policies: small },
  ));

test('requests that come all at once let nobody more pass', () =>
  inHouse(
    async (house) => {
      const ids = await crowd(house, 24);
      await Promise.all(ids.slice(0, 20).map((id) => house.patch(id, { active: false })));
      await house.bridge.settleDue();
      expect(archived(house)).toBe(BOUND);
      expect(await heldCount(house)).toBe(15);
    },
    { policies: small },
  ));

test('the share counts the people who were there when the window began', () =>
  inHouse(
    async (house) => {
      const ids = await crowd(house, 50);
      await deactivate(house, ids.slice(0, 15));
      expect(archived(house)).toBe(10);
    },
    { policies: { safetyValve: { share: 0.2, minimum: 3, windowMs: HOUR_MS } } },
  ));

test('the window slides: an hour later as many may leave again, and whoever is held still is', () =>
  withThreeHeld(async (house, ids) => {
    house.clock.advance(HOUR_MS - 1);
    await deactivate(house, ids.slice(8, 9));
    expect(archived(house)).toBe(BOUND);
    house.clock.advance(1);
    await deactivate(house, ids.slice(9, 12));
    expect(archived(house)).toBe(BOUND + 3);
    expect(await heldCount(house)).toBe(4);
  }));

test.each(['a touch', 'an import', 'a restart'])('%s an hour later lets nobody pass who is held', (cause) =>
  withThreeHeld(async (house, _ids, held) => {
    house.clock.advance(2 * HOUR_MS);
    if (cause === 'a touch') await house.store.agenda.touch(users, held, house.clock.now());
    if (cause === 'a restart') await house.restart();
    for (const id of held) {
      const traveler = await house.traveler(id);
      if (traveler && cause === 'an import')
        house.travel.people.set(traveler.id, { ...traveler, phone: '+1' } as never);
    }
    await house.imported();
    expect(archived(house)).toBe(BOUND);
    expect((await heldIds(house)).toSorted()).toEqual(held.toSorted());
  }),
);

test('a call that fails leaves somebody held who was held', () =>
  withThreeHeld(async (house, _ids, [ada = '', ...held]) => {
    house.clock.advance(2 * HOUR_MS);
    house.travel.trouble = () => ({ kind: 'unavailable', text: 'down' });
    await house.store.imports.observe(users, [{ id: ada, observed: undefined }], house.clock.now());
    await house.store.agenda.touch(users, [ada], house.clock.now());
    await house.bridge.settleDue();
    house.travel.trouble = () => undefined;
    await house.pass(120_000);
    expect((await heldIds(house)).toSorted()).toEqual([ada, ...held].toSorted());
  }));

test('an approval archives at once, beyond the bound, and takes no place of it', () =>
  withThreeHeld(async (house, ids, held) => {
    await decide(house, held, 'approved');
    expect(archived(house)).toBe(8);
    expect(await heldCount(house)).toBe(0);
    house.clock.advance(HOUR_MS);
    await deactivate(house, ids.slice(8));
    expect(archived(house)).toBe(12);
  }));

test('an approval survives a travel API that is down, and a restart', () =>
  withThreeHeld(async (house, _ids, held) => {
    house.travel.trouble = ({ verb }) =>
      verb === 'patch' ? { kind: 'unavailable', text: 'down' } : undefined;
    await decide(house, held, 'approved');
    expect(archived(house)).toBe(BOUND);
    await house.restart();
    await house.pass(120_000);
    expect(archived(house)).toBe(8);
  }));

test('what is discarded stays, whatever comes by, until the IdP writes again: then it is asked anew', () =>
  withThreeHeld(async (house, _ids, held) => {
    const [ada = ''] = held;
    await decide(house, held, 'discarded');
    expect(await heldCount(house)).toBe(0);
    house.clock.advance(2 * HOUR_MS);
    await house.store.agenda.touch(users, held, house.clock.now());
    await house.restart();
    await house.imported();
    expect(archived(house)).toBe(BOUND);
    await house.patch(ada, { displayName: 'Somebody' });
    expect(await house.traveler(ada)).toMatchObject({ archived: true });
  }));

test('a write of the IdP to somebody who was discarded is held as long as the window is full', () =>
  withThreeHeld(async (house, _ids, [ada = '']) => {
    await decide(house, [ada], 'discarded');
    await house.patch(ada, { displayName: 'Somebody' });
    expect(archived(house)).toBe(BOUND);
    expect(await heldIds(house)).toContain(ada);
  }));

test('a reactivation ends the wait, though the travel API is down', () =>
  withThreeHeld(async (house, _ids, held) => {
    const [ada = '', bob = ''] = held;
    await house.patch(ada, { active: true });
    expect(await heldCount(house)).toBe(2);
    expect((await house.identity(ada)).state).toBe('synced');
    house.travel.trouble = () => ({ kind: 'unavailable', text: 'down' });
    await house.patch(bob, { active: true });
    expect(await heldCount(house)).toBe(1);
    expect(await heldIds(house)).not.toContain(bob);
    expect(
      await house.store.holds.decide(users, { cause: 'safetyValve' }, 'approved', house.clock.now()),
    ).toBe(1);
  }));

test('one person who comes and goes takes one place', () =>
  inHouse(
    async (house) => {
      const ids = await crowd(house, 10);
      const [ada = '', ...others] = ids;
      for (let times = 0; times < 30; times += 1) {
        await house.patch(ada, { active: false });
        await house.patch(ada, { active: true });
      }
      await deactivate(house, others.slice(0, 4));
      expect(archived(house)).toBe(4);
      expect(await heldCount(house)).toBe(0);
      await deactivate(house, others.slice(4, 5));
      expect(await heldCount(house)).toBe(1);
    },
    { policies: small },
  ));

test('an archive that fails and is tried again counts once', () =>
  inHouse(
    async (house) => {
      const ids = await crowd(house, 10);
      house.travel.trouble = ({ verb }) =>
        verb === 'patch' ? { kind: 'unavailable', text: 'down' } : undefined;
      await deactivate(house, ids.slice(0, 5));
      for (let times = 0; times < 5; times += 1) await house.pass(120_000);
      house.travel.trouble = () => undefined;
      await house.pass(120_000);
      expect(archived(house)).toBe(5);
      expect(await heldCount(house)).toBe(0);
    },
    { policies: small },
  ));

test('somebody who was approved, came back and leaves again is asked about anew', () =>
  withThreeHeld(async (house, _ids, [ada = '']) => {
    await decide(house, [ada], 'approved');
    await house.patch(ada, { active: true });
    expect(await house.traveler(ada)).toMatchObject({ archived: false });
    await house.patch(ada, { active: false });
    expect(await house.traveler(ada)).toMatchObject({ archived: false });
    expect(await heldIds(house)).toContain(ada);
    await decide(house, [ada], 'approved');
    expect(await house.traveler(ada)).toMatchObject({ archived: true });
  }));

test('with deprovision "delete", deletions are held, those of archived travelers included', () =>
  inHouse(
    async (house) => {
      const ids = await crowd(house, 20);
      await deactivate(house, ids.slice(0, 5));
      house.clock.advance(2 * HOUR_MS);
      await deactivate(house, ids.slice(5, 10));
      house.clock.advance(2 * HOUR_MS);
      expect(archived(house)).toBe(10);
      await remove(house, ids.slice(0, 10));
      expect(house.travel.people.size).toBe(1 + 20 - BOUND);
      expect(await heldCount(house)).toBe(5);
      await decide(house, await heldIds(house), 'approved');
      expect(house.travel.people.size).toBe(1 + 10);
    },
    { policies: { ...small, deprovision: 'delete' } },
  ));

test('a deactivation and the deletion that follows it take one place', () =>
  inHouse(
    async (house) => {
      const ids = await crowd(house, 10);
      await deactivate(house, ids.slice(0, 5));
      await remove(house, ids.slice(0, 5));
      expect(house.travel.people.size).toBe(6);
      expect(await heldCount(house)).toBe(0);
    },
    { policies: { ...small, deprovision: 'delete' } },
  ));

test('somebody who is held and then deleted stays held, and an approval archives', () =>
  withThreeHeld(async (house, _ids, [ada = '']) => {
    await house.bridge.users.remove(users, ada);
    await expect(house.bridge.users.read(users, ada)).rejects.toMatchObject({ kind: 'notFound' });
    expect(await house.traveler(ada)).toMatchObject({ archived: false });
    await decide(house, [ada], 'approved');
    expect(await house.traveler(ada)).toMatchObject({ archived: true });
  }));

test('somebody who is held, deleted and created again keeps the traveler, and nothing is held any more', () =>
  withThreeHeld(async (house, ids, held) => {
    const [ada = ''] = held;
    const name = `P${ids.indexOf(ada)}`;
    await house.bridge.users.remove(users, ada);
    const traveler = await house.traveler(ada);
    const back = await house.bridge.users.create(users, person(name));
    expect(back.travelUserId).toBe(traveler?.id);
    expect(await house.traveler(back.id)).toMatchObject({ archived: false });
    expect(await heldCount(house)).toBe(2);
    await house.pass(2 * HOUR_MS);
    expect(archived(house)).toBe(BOUND);
  }));

test('without a valve everybody may leave', () =>
  inHouse(
    async (house) => {
      await deactivate(house, (await crowd(house, 12)).slice(0, 9));
      expect(archived(house)).toBe(9);
    },
    { policies: { safetyValve: undefined } },
  ));

test('other fields of somebody who is held go on', () =>
  withThreeHeld(async (house, _ids, [ada = '']) => {
    await house.patch(ada, { name: { givenName: 'Nina', familyName: 'Smith' } });
    expect(await house.traveler(ada)).toMatchObject({ firstName: 'Nina', archived: false });
    expect(await heldIds(house)).toContain(ada);
  }));

test('by default twenty may leave, and a restart forgets none of them', () =>
  inHouse(async (house) => {
    const ids = await crowd(house, 40);
    await deactivate(house, ids.slice(0, 15));
    await house.restart();
    await deactivate(house, ids.slice(15, 35));
    expect(archived(house)).toBe(20);
    expect(await heldCount(house)).toBe(15);
  }));

test('while the connection pauses, nobody counts as held who was reactivated', () =>
  withThreeHeld(async (house, _ids, [ada = '']) => {
    const throttled = { kind: 'unavailable', text: '429', isThrottled: true, retryAfterMs: 60_000 } as const;
    house.travel.trouble = () => throttled;
    await house.bridge.users.create(users, person('Probe'));
    await house.patch(ada, { active: true });
    expect(await heldIds(house)).not.toContain(ada);
    expect(await heldCount(house)).toBe(2);
  }));
