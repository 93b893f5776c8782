import type { TravelFailure } from '../../src/bridge/ports.ts';
import { addressOf, type BridgeHouse, inHouse, person } from '../support/bridge-house.ts';
import { fakeFeed } from '../support/fake-feed.ts';
import type { Call } from '../support/fake-travel.ts';

const users = 'default';
const HOUR_MS = 3_600_000;
const throttled: TravelFailure = {
  kind: 'unavailable',
  text: '429',
  isThrottled: true,
  retryAfterMs: HOUR_MS,
};
const faulty: TravelFailure = { kind: 'unavailable', text: '500' };
const silent: TravelFailure = { kind: 'unavailable', text: 'ECONNRESET', isUnanswered: true };

/** Lets time pass a second at a time, as the loop would, and answers when calls were made, in seconds, and for whom. */
async function calls(house: BridgeHouse, seconds: number): Promise<{ second: number; call: Call }[]> {
  const made: { second: number; call: Call }[] = [];
  for (let second = 1; second <= seconds; second += 1) {
    house.travel.calls.length = 0;
    house.clock.advance(1_000);
    await house.bridge.settleDue();
    made.push(...house.travel.calls.map((call) => ({ second, call })));
  }
  return made;
}

const reasons = ({ bridge }: BridgeHouse) => bridge.pauses().map(({ reason }) => reason);

test('a travel API that asks to wait for an hour is asked after a minute, then each half minute, leavers first', () =>
  inHouse(async (house) => {
    const leo = await house.bridge.users.create(users, person('Leo'));
    const leoId = (await house.identity(leo.id)).travelId;
    house.travel.trouble = () => throttled;
    await house.bridge.users.create(users, person('Ada'));
    expect(reasons(house)).toEqual(['throttled']);
    await house.bridge.users.create(users, person('Bob'));
    await house.patch(leo.id, { active: false });
    const made = await calls(house, 130);
    expect(made.map(({ second }) => second)).toEqual([60, 90, 120]);
    expect(made[0]?.call.id).toBe(leoId);
    house.travel.trouble = () => undefined;
    const [probe] = await calls(house, 30);
    expect(probe?.call.id).toBe(leoId);
    expect(reasons(house)).toEqual([undefined]);
    expect((await house.traveler(leo.id))?.archived).toBe(true);
  }));

test('a write of the IdP resets the back-off of that person, and never ends the pause', () =>
  inHouse(async (house) => {
    house.travel.trouble = () => throttled;
    const ada = await house.bridge.users.create(users, person('Ada'));
    house.travel.calls.length = 0;
    for (let second = 0; second < 59; second += 1) {
      house.clock.advance(1_000);
      await house.patch(ada.id, { nickName: `A${second}` });
      await house.bridge.settleDue();
    }
    expect(house.travel.calls).toEqual([]);
    expect(await house.identity(ada.id)).toMatchObject({ state: 'dirty', attempts: 0 });
    house.travel.trouble = () => undefined;
    await house.pass(1_000);
    expect((await house.identity(ada.id)).state).toBe('synced');
  }));

test.each([
  ['500', faulty],
  ['500 with Retry-After', { ...faulty, retryAfterMs: HOUR_MS }],
  ['no answer', silent],
])('one person for whom the travel API always has %s stops nobody else', (_, failure) =>
  inHouse(async (house) => {
    const eve = await house.bridge.users.create(users, person('Eve'));
    const { travelId } = await house.identity(eve.id);
    house.travel.trouble = ({ id }) => (id === travelId ? failure : undefined);
    for (let change = 0; change < 20; change += 1) {
      await house.patch(eve.id, { preferredLanguage: change % 2 ? 'fr' : 'de' });
      await house.pass(100);
    }
    expect(reasons(house)).toEqual([undefined]);
    const ada = await house.bridge.users.create(users, person('Ada'));
    expect((await house.identity(ada.id)).state).toBe('synced');
    await calls(house, 200);
    const { nextAttemptAt = 0 } = await house.identity(eve.id);
    expect(nextAttemptAt - house.clock.now()).toBeLessThanOrEqual(60_000);
    house.travel.trouble = () => undefined;
    await house.pass(60_000);
    expect((await house.identity(eve.id)).state).toBe('synced');
  }),
);

test('500 for everybody stops nobody: each backs off alone', () =>
  inHouse(async (house) => {
    house.travel.trouble = () => faulty;
    for (const name of ['Ada', 'Bob', 'Cy', 'Di', 'Ed', 'Flo', 'Gil'])
      await house.bridge.users.create(users, person(name));
    expect(house.travel.writes()).toHaveLength(7);
    expect(reasons(house)).toEqual([undefined]);
  }));

test('429 for a page of an import pauses the connection, and an import of a paused one makes no call', () =>
  inHouse(async (house) => {
    house.travel.trouble = ({ verb }) => (verb === 'page' ? throttled : undefined);
    await house.bridge.importer.run(house.connection);
    expect(reasons(house)).toEqual(['throttled']);
    house.travel.calls.length = 0;
    const ada = await house.bridge.users.create(users, person('Ada'));
    await house.bridge.importer.run(house.connection);
    await house.bridge.users.list(users, {
      where: { field: 'email', is: 'eq', value: addressOf('Bob') },
      order: { by: 'position', descending: false },
      place: { offset: 0 },
      limit: 10,
      residual: undefined,
      withGroups: true,
    });
    expect(house.travel.calls).toEqual([]);
    // The people in the queue come first; who has nothing in it is probed for by the import.
    house.travel.trouble = () => undefined;
    await house.pass(60_000);
    expect((await house.identity(ada.id)).state).toBe('synced');
  }));

test('an import probes where nobody is in the queue', () =>
  inHouse(async (house) => {
    house.travel.trouble = () => throttled;
    await house.bridge.importer.run(house.connection);
    house.travel.trouble = () => undefined;
    house.clock.advance(62_000);
    expect(await house.bridge.importer.run(house.connection)).toMatchObject({ complete: true });
    expect(reasons(house)).toEqual([undefined]);
  }));

test('429 for a reading of the feed pauses the connection', async () => {
  const feed = fakeFeed();
  await inHouse(
    async (house) => {
      feed.trouble = () => throttled;
      const background = house.bridge.run();
      try {
        for (let turn = 0; turn < 300 && reasons(house)[0] === undefined; turn += 1)
          await new Promise(setImmediate);
        expect(reasons(house)).toEqual(['throttled']);
        await house.bridge.users.create(users, person('Ada'));
        expect(house.travel.writes()).toEqual([]);
      } finally {
        await background.stop();
      }
    },
    { feed: { everyMs: 2_000, source: feed } },
  );
});
