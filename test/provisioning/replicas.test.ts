import type { Background } from '../../src/provisioning/background.ts';
import { leasedConnection } from '../../src/provisioning/calls/lease.ts';
import type { ProvisioningService } from '../../src/provisioning/service.ts';
import { fakeFeed } from '../fixtures/fake-feed.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import { type ProvisioningFixture, person, provisioningFixture } from '../fixtures/provisioning.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 60 * 60_000;
const FEED_MS = 2_000;
/** A replica that was killed at any instant is replaced within this time. */
const TAKEOVER_MS = 30_000;

const feed = fakeFeed();
let fixture: ProvisioningFixture;
let replicas: ProvisioningService[];
let running: Background[];
beforeEach(async () => {
  feed.requests.length = 0;
  fixture = await provisioningFixture({ feed: { everyMs: FEED_MS, source: feed } });
  replicas = [fixture.bridge, fixture.replica(), fixture.replica()];
  running = [];
});
afterEach(async () => {
  // A call that hangs would keep its loop from ending.
  fixture.travel.faultFor = () => undefined;
  await Promise.race([Promise.all(running.map((one) => one.stop())), waitUntilIdle(50)]);
  await fixture.close();
});

async function start(...which: ProvisioningService[]): Promise<void> {
  running.push(...which.map((one) => one.startBackground()));
  await waitUntilIdle();
}

async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += SECOND_MS) {
    fixture.clock.advance(SECOND_MS);
    await waitUntilIdle(60);
  }
}

const countPages = () => fixture.travel.calls.filter(({ verb }) => verb === 'readPage').length;

test('one of three replicas imports, and again after an hour', async () => {
  await start(...replicas);
  expect(countPages()).toBe(1);
  fixture.clock.advance(HOUR_MS - SECOND_MS);
  await waitUntilIdle();
  expect(countPages()).toBe(1);
  await advance(10 * SECOND_MS);
  expect(countPages()).toBe(2);
});

test('one of three replicas polls the feed, and any other continues at its position', async () => {
  await start(...replicas);
  const before = feed.requests.length;
  await advance(5 * FEED_MS);
  const polls = feed.requests.length - before;
  expect(polls).toBeGreaterThan(2);
  expect(polls).toBeLessThanOrEqual(5);
  for (const one of running.splice(0)) await one.stop();
  const traveler = fixture.travel.addTraveler({ email: 'ada@corp.example' });
  feed.addEvent('user.created', traveler);
  await start(fixture.replica());
  await advance(10 * SECOND_MS);
  const found = await fixture.store.identities.find('default', { by: 'travelId', value: traveler.id });
  expect([found.length, countPages()]).toEqual([1, 1]);
});

test('an import whose replica dies is done by another one within 30 seconds', async () => {
  fixture.travel.faultFor = ({ verb }) => (verb === 'readPage' && countPages() === 1 ? 'hang' : undefined);
  await start(...replicas);
  expect(countPages()).toBe(1);
  await advance(10 * SECOND_MS);
  expect(countPages()).toBe(1);
  await advance(TAKEOVER_MS - 10 * SECOND_MS);
  expect(countPages()).toBe(2);
});

test('a person whose replica dies during the create is provisioned by another one within 30 seconds, once', async () => {
  const [dying, ...others] = replicas;
  fixture.travel.faultFor = ({ verb }) => (verb === 'create' ? 'die' : undefined);
  const creating = dying?.users.create('default', person('Ada'));
  await waitUntilIdle();
  fixture.travel.faultFor = () => undefined;
  await start(...others);
  await advance(TAKEOVER_MS);
  const ada = await creating;
  expect(await fixture.identity(ada?.id ?? '')).toMatchObject({ state: 'synced' });
  expect(fixture.travel.writes().filter(({ verb }) => verb === 'create')).toHaveLength(1);
});

describe('the lease of a reconciliation', () => {
  const now = () => fixture.clock.now();
  const guard = (extend: (ms: number) => Promise<boolean>) =>
    leasedConnection(fixture.connection, { since: now(), now, extend });

  test('is extended before a call whose deadline it might not outlast, and not before others', async () => {
    const extensions: number[] = [];
    const { travel } = guard(async (ms) => {
      extensions.push(ms);
      return true;
    });
    await travel.read('t-1');
    fixture.clock.advance(8 * SECOND_MS);
    await travel.read('t-1');
    expect(extensions).toEqual([]);
    fixture.clock.advance(1);
    await Promise.all([travel.read('t-1'), travel.read('t-1')]);
    expect(extensions).toEqual([20_000]);
    await travel.read('t-1');
    expect(extensions).toEqual([20_000]);
  });

  test('that has ended lets no call be sent', async () => {
    const { travel } = guard(async () => false);
    fixture.clock.advance(15 * SECOND_MS);
    const failure = { kind: 'unavailable', text: 'the lease has ended', isRejected: true };
    expect(await travel.patch('t-1', {})).toEqual(failure);
    expect(await travel.remove('t-1')).toEqual(failure);
    expect(fixture.travel.calls).toEqual([]);
  });

  test('is extended before the next call after the clock was set back, because it may end sooner', async () => {
    const extensions: number[] = [];
    const { travel } = guard(async (ms) => extensions.push(ms) > 0);
    fixture.clock.advance(-600_000);
    await travel.read('t-1');
    await travel.read('t-1');
    expect(extensions).toEqual([20_000]);
  });

  test('lasts longer if the time limit of calls is longer', async () => {
    const slow = { ...fixture.connection, callTimeoutMs: 60_000 };
    const extensions: number[] = [];
    const extend = async (ms: number) => extensions.push(ms) > 0;
    const { travel } = leasedConnection(slow, { since: now(), now, extend });
    await travel.read('t-1');
    expect(extensions).toEqual([]);
    fixture.clock.advance(10 * SECOND_MS);
    await travel.read('t-1');
    expect(extensions).toEqual([64_000]);
  });
});
