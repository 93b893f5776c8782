import type { Background } from '../../src/provisioning/background.ts';
import { type FakeFeed, fakeFeed } from '../fixtures/fake-feed.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import { type ProvisioningFixture, person, provisioningFixture } from '../fixtures/provisioning.ts';

/** The shortest and the longest interval between two readings of the rules, in milliseconds. */
const SOONEST_MS = 250;
const MINUTE_MS = 60_000;
const FEED_MS = 2_000;

const project = { id: 'cf-1', name: 'Project', dataType: 'text', disabled: false, options: [] };

let fixture: ProvisioningFixture;
let feed: FakeFeed;
let background: Background;
let readings: number;
beforeEach(async () => {
  feed = fakeFeed();
  fixture = await provisioningFixture({ feed: { everyMs: FEED_MS, source: feed } });
  readings = 0;
  const { refresh } = fixture.connection.lookups;
  fixture.connection.lookups.refresh = () => {
    readings += 1;
    return refresh();
  };
});
afterEach(async () => {
  await background.stop();
  await fixture.close();
});

async function advance(ms: number): Promise<void> {
  fixture.clock.advance(ms);
  await waitUntilIdle();
}

async function start(): Promise<void> {
  background = fixture.bridge.startBackground();
  await waitUntilIdle();
  await advance(SOONEST_MS);
  readings = 0;
}

test('rules are read again at once after a change, and otherwise after a minute', async () => {
  await start();
  background.refreshRules();
  await waitUntilIdle();
  expect(readings).toBe(1);
  await advance(SOONEST_MS);
  await advance(MINUTE_MS - SOONEST_MS - 1);
  expect(readings).toBe(1);
  await advance(1);
  expect(readings).toBe(2);
});

test('two hundred simultaneous changes cause two readings, and the last change is applied', async () => {
  fixture.travel.lookupData = { ...fixture.travel.lookupData, customFields: [project] };
  const { id } = await fixture.bridge.users.create('default', person('Ada', { title: 'Engines' }));
  await start();
  for (let n = 0; n < 200; n += 1) {
    background.refreshRules();
    await new Promise(setImmediate);
  }
  fixture.travel.lookupData = {
    ...fixture.travel.lookupData,
    scimUserMappings: [{ scimAttribute: 'title', customFieldId: 'cf-1' }],
  };
  background.refreshRules();
  await waitUntilIdle();
  expect(readings).toBe(1);
  await advance(SOONEST_MS);
  await advance(SOONEST_MS);
  expect(readings).toBe(2);
  expect((await fixture.traveler(id))?.customFields).toEqual([
    { customFieldId: 'cf-1', values: [{ data: 'Engines' }] },
  ]);
});

test('two hundred events about lookups cause one reading, and other events cause none', async () => {
  await start();
  for (let n = 0; n < 200; n += 1) feed.addEvent('costCenter.updated');
  await advance(FEED_MS);
  expect(readings).toBe(1);
  for (let n = 0; n < 200; n += 1) feed.addEvent('projectCode.updated');
  await advance(FEED_MS);
  await advance(FEED_MS);
  expect(readings).toBe(1);
});
