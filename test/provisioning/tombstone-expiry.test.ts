import { waitUntilIdle } from '../fixtures/idle.ts';
import { person, withFixture } from '../fixtures/provisioning.ts';

const DAY = 24 * 60 * 60_000;

test('a tombstone is deleted 400 days after its user, and the traveler stays archived', () =>
  withFixture(async ({ bridge, store, clock, travel }) => {
    const ada = await bridge.users.create('default', person('Ada'));
    await bridge.users.remove('default', ada.id);
    const background = bridge.startBackground();
    await waitUntilIdle();
    clock.advance(400 * DAY - 60_000);
    await waitUntilIdle();
    expect(await store.identities.findById('default', ada.id)).toMatchObject({ state: 'synced' });
    clock.advance(2 * 60 * 60_000);
    await waitUntilIdle();
    expect(await store.identities.findById('default', ada.id)).toBeUndefined();
    expect(travel.travelers.get(ada.travelUserId ?? '')).toMatchObject({ archived: true });
    await background.stop();
  }));

test('a user that returns after that gets a traveler of its own, because nobody knows whose the archived one is', () =>
  withFixture(async ({ bridge, store, clock, travel }) => {
    const ada = await bridge.users.create('default', person('Ada'));
    await bridge.users.remove('default', ada.id);
    const { now } = clock;
    await store.retention.expireTombstones('default', { before: now() + 1, now: now(), limit: 10 });
    const back = await bridge.users.create('default', person('Ada'));
    expect(back.travelUserId).not.toBe(ada.travelUserId);
    expect(travel.travelers.get(ada.travelUserId ?? '')).toMatchObject({ archived: true });
  }));
