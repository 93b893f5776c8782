import type { CallCause } from '../../src/log/exchange.ts';
import type { Connection } from '../../src/provisioning/connection.ts';
import type { Runtime } from '../../src/provisioning/runtime-ports.ts';
import { type ProvisioningService, provisioningService } from '../../src/provisioning/service.ts';
import type { TravelUsers } from '../../src/provisioning/travel-ports.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { type Random, seededRandom } from '../fixtures/seeded.ts';
import { connections as connectionNames } from '../histories/identity-providers.ts';
import type { MappingName } from '../histories/mappings.ts';
import { type AttemptWatch, newAttemptWatch } from './attempts.ts';
import { ACCOUNT, EMPTY, type MemoryDatabase } from './memory-database.ts';
import { type Kill, type Replica, SLOWEST_QUERY_MS, startReplica } from './replica.ts';
import type { Setup } from './setup.ts';
import { newShadowWatch, noteShadowCall, type ShadowWatch, withShadowWatched } from './shadow.ts';
import { newStory, type Story } from './story.ts';
import { type SimulatedTravel, simulatedTravel } from './travel-api.ts';
import { type VirtualTime, virtualTime } from './virtual-time.ts';

/** The interval at which the feed is read, in milliseconds. */
export const FEED_MS = 4_000;
const START = Date.UTC(2026, 10, 20, 10);
/** The time in which the first import has ended, in milliseconds. */
const FIRST_IMPORT_MS = 2_000;
/** The time in which a process that has died is noticed by the others, in milliseconds. */
const DEATH_NOTICED_MS = 15_000;

/** Everything that a history plays in: time, travel service, database and processes. */
export interface World {
  time: VirtualTime;
  random: Random;
  story: Story;
  attempts: AttemptWatch;
  travel: SimulatedTravel;
  database: MemoryDatabase;
  connections: Connection[];
  store: ReturnType<typeof provisioningStore>;
  /** The clock and the ids of commands that are given beside the processes. */
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>;
  /** A service without background work, for reads. */
  reader: ProvisioningService;
  /** The mapping that was in force at the backup; undefined if there is no backup. */
  backupMapping: MappingName | undefined;
  /** The time at which the database was restored last. */
  restoredAt: number | undefined;
  pauseWatch: PauseWatch;
  shadowWatch: ShadowWatch;
  /** Returns a process that runs, once there is one. */
  runningReplica(): Promise<Replica>;
  /** Ends all processes, lets `change` do something with the database, and starts processes again. */
  replaceDatabase(change: () => Promise<void>): Promise<void>;
  killAt(replica: number, kill: Kill): void;
  /** Ends a process, which starts again with a mapping file. */
  restartWithFile(replica: number, file: MappingFile): void;
  freeze(replica: number, ms: number): void;
  shiftWallClock(ms: number): void;
  /** Ends all trouble: no process is frozen or about to be killed, and as many run as at the beginning. */
  recover(): Promise<void>;
  replicas(): Replica[];
  /** Ends all processes. */
  close(): Promise<void>;
}

/** The mapping file of a process, for all connections. */
export type MappingFile = Pick<Connection, 'mapping' | 'mappingFile'>;

/** For whom a traveler was written. */
export interface SentInPause {
  /** The family names that it had before and after the writes. */
  names: Set<string>;
  /** The users who were reconciled: the traveler may have the name of a user who got it after the backup. */
  causes: { connection: string; id: string }[];
}

/** The writes to the travel API since a restored database paused the connections. */
interface PauseWatch {
  isOn: boolean;
  /** What was written, by the id of the traveler or the name of a new one. */
  sent: Map<string, SentInPause>;
}

/** Opens a world on an empty database. The seed decides everything that chance decides. */
export async function openWorld(
  database: MemoryDatabase,
  { seed, setup, isDetailed = false }: { seed: number; setup: Setup; isDetailed?: boolean },
): Promise<World> {
  database.putBack(EMPTY);
  const time = virtualTime(START);
  const random = seededRandom(seed);
  const story = newStory(time.now, isDetailed);
  const { habits } = setup;
  const travel = simulatedTravel({ time, random, story, habits, connection: LIMITS });
  const pauseWatch: PauseWatch = { isOn: false, sent: new Map() };
  const shadowWatch = newShadowWatch();
  const connections = connectionNames.map((id) => {
    const note = (call: string) => noteShadowCall(shadowWatch, id, call, time.now());
    return connectionOf(id, setup, { travel, pauseWatch, note });
  });
  const store = provisioningStore(database);
  const attempts = newAttemptWatch(time.now);
  const watches: AttemptWatch = {
    ...attempts,
    watched: (one) => withShadowWatched(attempts.watched(one), shadowWatch, time.now),
  };
  const world: World = {
    ...{ time, random, story, attempts, travel, database, connections, store, backupMapping: undefined },
    restoredAt: undefined,
    ...{ pauseWatch, shadowWatch },
    ...processes({ time, random, story, attempts: watches, travel, database, connections, store }, setup),
    reader: provisioningService({
      ...{ store, connections, writeBudgetMs: 0 },
      runtime: {
        ...{ now: time.now, wallClock: time.now, newId: () => '', random: () => 0, wait: time.wait },
        ...{ checkpoint: () => {}, log: { info: () => {}, warn: () => {}, error: () => {} } },
      },
    }),
  };
  await world.recover();
  await time.run(FIRST_IMPORT_MS);
  return world;
}

const LIMITS = { callTimeoutMs: 10_000, lateMs: 30_000 };

/** The travel API of a connection, and who sees its calls with an effect. */
interface WatchedTravel {
  travel: SimulatedTravel;
  pauseWatch: PauseWatch;
  note(call: string): void;
}

function connectionOf(
  id: string,
  { policies, hasFeed }: Setup,
  { travel, pauseWatch, note }: WatchedTravel,
): Connection {
  return {
    ...{ id, account: ACCOUNT, mapping: undefined, policies, ...LIMITS },
    ...{ parkingDomain: 'jetbridge.invalid', minimumShare: 0, maxImported: undefined, tombstoneDays: 400 },
    ...{
      travel: watchedUsers(id, { travel, pauseWatch, note }),
      lookups: travel.newLookups(),
    },
    feed: hasFeed ? { everyMs: FEED_MS, source: travel.feed } : undefined,
  };
}

/** Returns the travel API with a note of each write during the pause after a restore, and in shadow mode. */
function watchedUsers(
  connection: string,
  { travel: { users, fake }, pauseWatch: watch, note: noteCall }: WatchedTravel,
): TravelUsers {
  const note = (id: string, cause: CallCause | undefined, after?: unknown) => {
    noteCall(id);
    if (!watch.isOn) return;
    const sent = watch.sent.get(id) ?? { names: new Set(), causes: [] };
    watch.sent.set(id, sent);
    for (const name of [fake.travelers.get(id)?.lastName, after])
      if (typeof name === 'string') sent.names.add(name);
    if (cause?.person !== undefined) sent.causes.push({ connection, id: cause.person });
  };
  return {
    ...users,
    create: (traveler, key, cause) => {
      note(`new ${traveler.lastName}`, cause, traveler.lastName);
      return users.create(traveler, key, cause);
    },
    patch: (id, change, cause) => {
      note(id, cause, change.lastName);
      return users.patch(id, change, cause);
    },
    remove: (id, cause) => {
      note(id, cause);
      return users.remove(id, cause);
    },
  };
}

type Processes = Pick<
  World,
  | 'runtime'
  | 'runningReplica'
  | 'replaceDatabase'
  | 'killAt'
  | 'restartWithFile'
  | 'freeze'
  | 'shiftWallClock'
  | 'recover'
  | 'replicas'
  | 'close'
>;

type Surroundings = Pick<
  World,
  'time' | 'random' | 'story' | 'attempts' | 'travel' | 'database' | 'connections' | 'store'
>;

function processes(
  { time, random, story, attempts, travel, database, connections, store }: Surroundings,
  { replicas: count }: Setup,
): Processes {
  const replicas: Replica[] = [];
  const files = new Map<number, MappingFile>();
  let started = 0;
  let ids = 0;
  let shift = 0;
  let isClosed = false;
  /** True while the database is replaced, and no process may start. */
  let isDown = false;
  const isStoreRemote = count > 1;
  const newId = () => {
    ids += 1;
    return `00000000-0000-7000-8000-${ids.toString(16).padStart(12, '0')}`;
  };
  const start = async (slot: number) => {
    if (!isStoreRemote) {
      await store.leases.releaseAll();
      await store.tasks.reset();
      await store.rules.forgetFiles();
    }
    started += 1;
    const replica = await startReplica(
      {
        ...{ database, time, random, story, attempts, newId, isStoreRemote, clockShift: () => shift },
        connections: () =>
          connections.map((one) => ({ ...one, lookups: travel.newLookups(), ...files.get(slot) })),
      },
      `r${started}`,
    );
    // Two processes that died in this slot, one soon after the other, may be replaced at the same moment.
    replicas[slot]?.kill();
    replicas[slot] = replica;
    void replica.retryUnresolved();
    void replica.death.then(() => (isClosed ? undefined : replaceDead(slot)));
    return replica;
  };
  const replaceDead = async (slot: number) => {
    await time.wait(random.pick([0, 100, 3_000, 12_000]));
    while (isDown) await time.wait(100);
    if (isClosed || replicas[slot]?.isAlive()) return;
    const replica = await start(slot);
    story.tell(`${replica.name} starts`);
    if (!isStoreRemote) return;
    await time.wait(DEATH_NOTICED_MS);
    for (const one of replicas) if (one.isAlive()) void one.retryUnresolved();
  };
  return {
    runtime: { now: time.now, wallClock: () => time.now() + shift, newId },
    replaceDatabase: async (change) => {
      isDown = true;
      for (const replica of replicas) replica.kill();
      // By then no query is on its way any more, and a process that was about to start has started.
      await time.wait(SLOWEST_QUERY_MS + 1);
      for (const replica of replicas) replica.kill();
      await change();
      isDown = false;
    },
    replicas: () => replicas.filter((one) => one.isAlive()),
    runningReplica: async () => {
      for (;;) {
        const running = replicas.filter((one) => one.isAlive());
        const replica = running[random.below(running.length)];
        if (replica) return replica;
        await time.wait(100);
      }
    },
    killAt: (slot, kill) => replicas[slot % count]?.killAt(kill),
    restartWithFile: (slot, file) => {
      files.set(slot, file);
      replicas[slot]?.kill();
    },
    freeze: (slot, ms) => {
      const replica = replicas[slot % count];
      if (!replica || replica.isFrozen() || !replica.isAlive()) return;
      story.tell(`${replica.name} is frozen`);
      replica.freeze();
      void time.wait(ms).then(() => {
        if (replica.isFrozen()) story.tell(`${replica.name} goes on`);
        replica.thaw();
      });
    },
    shiftWallClock: (ms) => {
      shift += ms;
    },
    recover: async () => {
      if (isDown) return;
      for (const replica of replicas) {
        replica.killAt({ effects: Number.POSITIVE_INFINITY, edge: 'before' });
        if (replica.isFrozen()) replica.thaw();
      }
      for (let slot = 0; slot < count; slot += 1) if (!replicas[slot]?.isAlive()) await start(slot);
    },
    close: async () => {
      isClosed = true;
      for (const replica of replicas) replica.kill();
      // What the database does at this moment ends.
      await time.run(0);
      for (const replica of replicas) replica.forget();
    },
  };
}
