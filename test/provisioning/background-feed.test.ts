import type { FeedPage, TravelAnswer } from '../../src/model/travel-ports.ts';
import type { Background } from '../../src/provisioning/background.ts';
import { feedReadAt } from '../../src/provisioning/import/feed-task.ts';
import { type FakeFeed, fakeFeed } from '../fixtures/fake-feed.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import { type ProvisioningFixture, provisioningFixture } from '../fixtures/provisioning.ts';

const EVERY_MS = 2_000;
const HOUR_MS = 60 * 60_000;

let fixture: ProvisioningFixture;
let feed: FakeFeed;
let background: Background | undefined;
beforeEach(async () => {
  feed = fakeFeed();
  fixture = await provisioningFixture({ feed: { everyMs: EVERY_MS, source: feed } });
});
afterEach(async () => {
  await background?.stop();
  background = undefined;
  await fixture.close();
});

/** Starts the loops and waits for their first run. */
async function start(): Promise<void> {
  background = fixture.bridge.startBackground();
  await waitUntilIdle();
}

async function advance(ms: number): Promise<void> {
  fixture.clock.advance(ms);
  await waitUntilIdle();
}

const countImports = () => fixture.travel.calls.filter(({ verb }) => verb === 'readPage').length;

/** Adds a traveler by hand, with its event, and returns its id. */
function addTraveler(email: string): string {
  const traveler = fixture.travel.addTraveler({ email });
  feed.addEvent('user.created', traveler);
  return traveler.id;
}

async function isKnown(travelId: string): Promise<boolean> {
  return (await fixture.store.identities.find('default', { by: 'travelId', value: travelId })).length > 0;
}

test('the feed position is taken before the first import, so that no change is missed between them', async () => {
  let feedRequests = 0;
  fixture.travel.faultFor = ({ verb }) => {
    if (verb === 'readPage') feedRequests ||= feed.requests.length;
    return undefined;
  };
  await start();
  expect([feedRequests, countImports()]).toEqual([1, 1]);
});

test('a traveler created by hand is known after the next poll, without an import', async () => {
  await start();
  const id = addTraveler('ada@corp.example');
  await advance(EVERY_MS - 1);
  expect(await isKnown(id)).toBe(false);
  await advance(1);
  expect(await isKnown(id)).toBe(true);
  const next = addTraveler('bob@corp.example');
  await advance(EVERY_MS);
  expect([await isKnown(next), countImports()]).toEqual([true, 1]);
});

test('the time of the last reading of the feed is kept while it cannot be read', async () => {
  const readAt = async () =>
    (await fixture.store.tasks.listStates('feed')).map(({ state }) => feedReadAt(state));
  const began = fixture.clock.wallClock();
  await start();
  expect(await readAt()).toEqual([began]);
  await advance(EVERY_MS);
  expect(await readAt()).toEqual([began + EVERY_MS]);
  feed.faultFor = () => ({ kind: 'unavailable', text: 'down' });
  await advance(EVERY_MS);
  expect(await readAt()).toEqual([began + EVERY_MS]);
});

test('each poll without events is one small request', async () => {
  await start();
  for (let look = 0; look < 5; look += 1) await advance(EVERY_MS);
  expect(feed.requests.map(({ limit }) => limit)).toEqual([1, 1, 1, 1, 1, 1]);
});

test('a lost position causes an import at once', async () => {
  feed.addEvent('invoice.created');
  await start();
  feed.events.splice(0);
  feed.addEvent('invoice.created');
  const id = fixture.travel.addTraveler({ email: 'unheard@corp.example' }).id;
  feed.events[0] = { id: 'other', kind: 'invoice.created', traveler: undefined, previousEmail: undefined };
  await advance(EVERY_MS);
  expect([await isKnown(id), countImports()]).toEqual([true, 2]);
  await advance(EVERY_MS);
  expect(countImports()).toBe(2);
});

test('a travel API without a feed is imported every hour, and asked for a feed every hour', async () => {
  feed.faultFor = () => ({ kind: 'ok', value: 'none' });
  await start();
  for (let look = 0; look < 10; look += 1) await advance(EVERY_MS);
  expect([feed.requests.length, countImports()]).toEqual([2, 1]);
  const id = fixture.travel.addTraveler({ email: 'later@corp.example' }).id;
  await advance(HOUR_MS);
  expect([await isKnown(id), countImports()]).toEqual([true, 2]);
  feed.faultFor = () => undefined;
  await advance(HOUR_MS);
  const next = addTraveler('next@corp.example');
  await advance(EVERY_MS);
  expect(await isKnown(next)).toBe(true);
});

test.each<TravelAnswer<FeedPage | 'none'>>([{ kind: 'unavailable', text: 'down' }, { kind: 'unauthorized' }])(
  'a feed that answers $kind is polled less and less often, finally once a minute',
  async (answer) => {
    await start();
    feed.faultFor = () => answer;
    feed.requests.length = 0;
    for (let second = 0; second < 600; second += 2) {
      fixture.clock.advance(EVERY_MS);
      await waitUntilIdle(2);
    }
    // The intervals are 2, 4, 8, 16 and 32 seconds, then one minute.
    expect(feed.requests.length).toBeGreaterThan(10);
    expect(feed.requests.length).toBeLessThan(16);
    feed.faultFor = () => undefined;
    const id = addTraveler('back@corp.example');
    await advance(60_000);
    expect(await isKnown(id)).toBe(true);
  },
);

test('the hourly import runs beside the feed and finds what the feed missed', async () => {
  await start();
  const id = fixture.travel.addTraveler({ email: 'unheard@corp.example' }).id;
  await advance(HOUR_MS);
  expect([await isKnown(id), countImports()]).toEqual([true, 2]);
});
