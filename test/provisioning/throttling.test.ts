import type { TravelFailure } from '../../src/model/travel-ports.ts';
import { fakeFeed } from '../fixtures/fake-feed.ts';
import type { Call } from '../fixtures/fake-travel.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

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

/** Advances the clock second by second, reconciles each time as the background loop does, and returns the calls with their times. */
async function recordCalls(
  fixture: ProvisioningFixture,
  seconds: number,
): Promise<{ second: number; call: Call }[]> {
  const recorded: { second: number; call: Call }[] = [];
  for (let second = 1; second <= seconds; second += 1) {
    fixture.travel.calls.length = 0;
    fixture.clock.advance(1_000);
    await fixture.bridge.reconcileDue();
    recorded.push(...fixture.travel.calls.map((call) => ({ second, call })));
  }
  return recorded;
}

const reasons = ({ bridge }: ProvisioningFixture) => bridge.pauses().map(({ reason }) => reason);

test('with a Retry-After of an hour, a probe follows after a minute, then every half minute, leavers first', () =>
  withFixture(async (fixture) => {
    const leo = await fixture.bridge.users.create(users, person('Leo'));
    const leoId = (await fixture.identity(leo.id)).travelId;
    fixture.travel.faultFor = () => throttled;
    await fixture.bridge.users.create(users, person('Ada'));
    expect(reasons(fixture)).toEqual(['throttled']);
    await fixture.bridge.users.create(users, person('Bob'));
    await fixture.patch(leo.id, { active: false });
    const recorded = await recordCalls(fixture, 130);
    expect(recorded.map(({ second }) => second)).toEqual([60, 90, 120]);
    expect(recorded[0]?.call.id).toBe(leoId);
    fixture.travel.faultFor = () => undefined;
    const [probe] = await recordCalls(fixture, 30);
    expect(probe?.call.id).toBe(leoId);
    expect(reasons(fixture)).toEqual([undefined]);
    expect((await fixture.traveler(leo.id))?.archived).toBe(true);
  }));

test('a write of the IdP resets the back-off of its user, and never ends the pause', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = () => throttled;
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    fixture.travel.calls.length = 0;
    for (let second = 0; second < 59; second += 1) {
      fixture.clock.advance(1_000);
      await fixture.patch(ada.id, { nickName: `A${second}` });
      await fixture.bridge.reconcileDue();
    }
    expect(fixture.travel.calls).toEqual([]);
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'dirty', attempts: 0 });
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(1_000);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test.each([
  ['500', faulty],
  ['500 with Retry-After', { ...faulty, retryAfterMs: HOUR_MS }],
  ['no answer', silent],
])('a person whose calls always fail with %s does not delay other people', (_, failure) =>
  withFixture(async (fixture) => {
    const eve = await fixture.bridge.users.create(users, person('Eve'));
    const { travelId } = await fixture.identity(eve.id);
    fixture.travel.faultFor = ({ id }) => (id === travelId ? failure : undefined);
    for (let change = 0; change < 20; change += 1) {
      await fixture.patch(eve.id, { preferredLanguage: change % 2 ? 'fr' : 'de' });
      await fixture.reconcileAfter(100);
    }
    expect(reasons(fixture)).toEqual([undefined]);
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect((await fixture.identity(ada.id)).state).toBe('synced');
    await recordCalls(fixture, 200);
    const { nextAttemptAt = 0 } = await fixture.identity(eve.id);
    expect(nextAttemptAt - fixture.clock.now()).toBeLessThanOrEqual(60_000);
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(60_000);
    expect((await fixture.identity(eve.id)).state).toBe('synced');
  }),
);

test('500 for all calls does not pause the connection: each identity backs off alone', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = () => faulty;
    for (const name of ['Ada', 'Bob', 'Cy', 'Di', 'Ed', 'Flo', 'Gil'])
      await fixture.bridge.users.create(users, person(name));
    expect(fixture.travel.writes()).toHaveLength(7);
    expect(reasons(fixture)).toEqual([undefined]);
  }));

test('429 for a page of an import pauses the connection, and an import of a paused one makes no call', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = ({ verb }) => (verb === 'readPage' ? throttled : undefined);
    await fixture.bridge.importer.run(fixture.connection);
    expect(reasons(fixture)).toEqual(['throttled']);
    fixture.travel.calls.length = 0;
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.bridge.importer.run(fixture.connection);
    await fixture.bridge.users.list(users, {
      where: { field: 'email', operator: 'eq', value: addressOf('Bob') },
      order: { by: 'position', descending: false },
      start: { offset: 0 },
      limit: 10,
      residual: undefined,
      withGroups: true,
    });
    expect(fixture.travel.calls).toEqual([]);
    // The identities in the queue come first; a connection with an empty queue is probed by the import.
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(60_000);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('an import probes a connection whose queue is empty', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = () => throttled;
    await fixture.bridge.importer.run(fixture.connection);
    fixture.travel.faultFor = () => undefined;
    fixture.clock.advance(62_000);
    expect(await fixture.bridge.importer.run(fixture.connection)).toMatchObject({ complete: true });
    expect(reasons(fixture)).toEqual([undefined]);
  }));

test('429 for a read of the event feed pauses the connection', async () => {
  const feed = fakeFeed();
  await withFixture(
    async (fixture) => {
      feed.faultFor = () => throttled;
      const background = fixture.bridge.startBackground();
      try {
        await waitUntilIdle();
        expect(reasons(fixture)).toEqual(['throttled']);
        await fixture.bridge.users.create(users, person('Ada'));
        expect(fixture.travel.writes()).toEqual([]);
      } finally {
        await background.stop();
      }
    },
    { feed: { everyMs: 2_000, source: feed } },
  );
});
