import { rmSync } from 'node:fs';
import { conditionAlarms } from '../../src/alerts/condition-alarms.ts';
import { findConditions } from '../../src/provisioning/conditions/conditions.ts';
import { applyMapping } from '../../src/provisioning/mapping-changes/apply-mapping.ts';
import { findVersion } from '../../src/provisioning/rules/mapping-versions.ts';
import { conditionFactReader } from '../../src/store/condition-facts.ts';
import { encryption } from '../../src/store/credentials/encryption.ts';
import { reportedConditions } from '../../src/store/queues/reported-conditions.ts';
import { watchForRestore } from '../../src/store/restore/restore-watch.ts';
import { writeFileOf } from '../../src/store/restore/write-file.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { deliveryQueue } from '../../src/store/travel/delivery-queue.ts';
import { travelStore } from '../../src/store/travel/travel-writes.ts';
import { webhookRecords } from '../../src/store/travel/webhook-deliveries.ts';
import { createWebhooks } from '../../src/travel/webhooks/webhooks.ts';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { fakeFeed } from '../fixtures/fake-feed.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import { type ProvisioningFixture, person, provisioningFixture } from '../fixtures/provisioning.ts';
import { recordingDatabase } from '../fixtures/recording-database.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { mappingOf } from '../fixtures/translator.ts';

const SECOND_MS = 1_000;
const log = { info: () => {}, warn: () => {}, error: () => {} };

let folder: string;
let database: Database;
let steps: string[];
let fixture: ProvisioningFixture;
let running: { stop(): Promise<void> }[];
beforeEach(async () => {
  folder = createDataFolder('jetbridge-idle-');
  database = await openTestDatabase(folder);
  steps = [];
  const feed = { everyMs: 2 * SECOND_MS, source: fakeFeed() };
  fixture = await provisioningFixture({ database: recordingDatabase(database, steps), feed });
  running = [];
});
afterEach(async () => {
  for (const one of running) await one.stop();
  await database.close();
  rmSync(folder, { recursive: true });
});

/** Starts the loops of a process, which looks at the database with this clock: those of `server/start.ts`. */
async function startLoops(): Promise<void> {
  const { bridge, store, clock } = fixture;
  const recorded = recordingDatabase(database, steps);
  const file = writeFileOf({ data: folder, postgres: undefined });
  const watch = await watchForRestore({ database: recorded, modes: store.modes, file, runtime: clock, log });
  watch.onLook(bridge.followRules);
  const stored = conditionFactReader(recorded, clock.now);
  const read = async () => {
    const known = await stored.read();
    const facts = { ...known, now: clock.now(), local: [], missingGroups: [] };
    return { conditions: findConditions(facts), facts };
  };
  const alarms = conditionAlarms({
    ...{ conditions: { read }, reported: reportedConditions(recorded), alerts: { send: () => {} } },
    ...{ afterMs: SECOND_MS, runtime: { ...clock, log } },
  });
  const travel = { store: travelStore(recorded), now: clock.now, newId: () => 'new', onChange: () => {} };
  const webhooks = createWebhooks({
    ...{
      travel,
      queue: deliveryQueue(recorded),
      records: webhookRecords(recorded, encryption(new Uint8Array(32))),
    },
    ...{ clock, log, resolve: async () => [], allowPrivate: true, random: () => 0.5 },
  });
  running.push({ stop: watch.close }, alarms, webhooks.run(), bridge.startBackground());
  await waitUntilIdle();
}

async function advance(ms: number): Promise<string[]> {
  steps.length = 0;
  fixture.clock.advance(ms);
  await waitUntilIdle();
  return steps.toSorted();
}

test('an idle second is one look at each queue, at the connections, and at what the conditions follow', async () => {
  await startLoops();
  const look = [
    ...['select database_record', 'select connection'],
    // The dirty people, those who leave, and the checks of travelers are one statement.
    'select identity',
    // The conditions: the held people, the connections, and what was reported.
    ...['select connection', 'select identity', 'select reported_condition'],
    // Webhooks, working and failing ones.
    'select travel_delivery_queue',
  ];
  const pollOfFeed = [
    'select background_task',
    'update background_task',
    'commit',
    'update background_task',
    'commit',
  ];
  // Webhooks wait for 20 ms more, in which notifications are collected.
  const waits = [SECOND_MS - 20, 20, 20];
  for (const ms of waits) await advance(ms);
  const second: string[] = [];
  for (const ms of waits) second.push(...(await advance(ms)));
  expect(second.toSorted()).toEqual([...look, ...pollOfFeed].toSorted());
});

test('a mapping that a command applies is in force in every process within two seconds', async () => {
  const { bridge, store, clock, connection } = fixture;
  const { id } = await bridge.users.create('default', person('Ada', { nickName: 'Countess' }));
  await startLoops();
  await advance(SECOND_MS);
  const expected = (await findVersion(store.rules, 'default'))?.generation ?? 0;
  const mapping = mappingOf({ scimUserMapping: [{ scimAttribute: 'nickName', userAttribute: 'firstName' }] });
  const change = { mapping, expected, author: 'ada', source: 'command' } as const;
  await applyMapping({ ...store, runtime: clock }, connection, { change });
  expect(await fixture.traveler(id)).toMatchObject({ firstName: 'Ada' });
  await advance(SECOND_MS);
  await advance(SECOND_MS);
  expect(await fixture.traveler(id)).toMatchObject({ firstName: 'Countess' });
});
