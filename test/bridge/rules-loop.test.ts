import type { Background } from '../../src/bridge/loop.ts';
import { type BridgeHouse, bridgeHouse, person } from '../support/bridge-house.ts';
import { type FakeFeed, fakeFeed } from '../support/fake-feed.ts';

/** From one reading of the rules to the next, at least and at most. */
const SOONEST_MS = 250;
const MINUTE_MS = 60_000;
const FEED_MS = 2_000;

const project = { id: 'cf-1', name: 'Project', dataType: 'text', disabled: false, options: [] };

let house: BridgeHouse;
let feed: FakeFeed;
let background: Background;
let readings: number;
beforeEach(async () => {
  feed = fakeFeed();
  house = await bridgeHouse({ feed: { everyMs: FEED_MS, source: feed } });
  readings = 0;
  const { refresh } = house.connection.lookups;
  house.connection.lookups.refresh = () => {
    readings += 1;
    return refresh();
  };
});
afterEach(async () => {
  await background.stop();
  await house.close();
});

/** Lets everything go on that can without time passing; a bound, as nothing here takes a hundredth of it. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 300; turn += 1) await new Promise(setImmediate);
}

async function pass(ms: number): Promise<void> {
  house.clock.advance(ms);
  await settled();
}

async function start(): Promise<void> {
  background = house.bridge.run();
  await settled();
  await pass(SOONEST_MS);
  readings = 0;
}

test('rules are read anew at once when something changed, and else after a minute', async () => {
  await start();
  background.refreshRules();
  await settled();
  expect(readings).toBe(1);
  await pass(SOONEST_MS);
  await pass(MINUTE_MS - SOONEST_MS - 1);
  expect(readings).toBe(1);
  await pass(1);
  expect(readings).toBe(2);
});

test('two hundred changes in a moment are two readings, and the last of them is followed', async () => {
  house.travel.known = { ...house.travel.known, customFields: [project] };
  const { id } = await house.bridge.users.create('default', person('Ada', { title: 'Engines' }));
  await start();
  for (let n = 0; n < 200; n += 1) {
    background.refreshRules();
    await new Promise(setImmediate);
  }
  house.travel.known = {
    ...house.travel.known,
    scimUserMappings: [{ scimAttribute: 'title', customFieldId: 'cf-1' }],
  };
  background.refreshRules();
  await settled();
  expect(readings).toBe(1);
  await pass(SOONEST_MS);
  await pass(SOONEST_MS);
  expect(readings).toBe(2);
  expect((await house.traveler(id))?.customFields).toEqual([
    { customFieldId: 'cf-1', values: [{ data: 'Engines' }] },
  ]);
});

test('what the feed tells of two hundred changes is one reading, and of what is not looked up none', async () => {
  await start();
  for (let n = 0; n < 200; n += 1) feed.tell('costCenter.updated');
  await pass(FEED_MS);
  expect(readings).toBe(1);
  for (let n = 0; n < 200; n += 1) feed.tell('projectCode.updated');
  await pass(FEED_MS);
  await pass(FEED_MS);
  expect(readings).toBe(1);
});
