import type { TravelUsers } from '../../src/model/travel-ports.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { ConnectionWithMapping } from '../../src/provisioning/rules/configured-mapping.ts';
import { type ProvisioningService, provisioningService } from '../../src/provisioning/service.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { type Random, seededRandom } from '../fixtures/seeded.ts';
import { type AttemptWatch, newAttemptWatch } from './attempts.ts';
import { type Knowledge, newKnowledge } from './knowledge.ts';
import { ACCOUNT, EMPTY, type MemoryDatabase } from './memory-database.ts';
import { connections as connectionNames, humanOf, newPerson } from './people.ts';
import { judgeWrite, sentences } from './promises.ts';
import { type Kill, type Replica, SLOWEST_QUERY_MS, startReplica } from './replica.ts';
import type { Setup } from './setup.ts';
import { newStory, type Story } from './story.ts';
import { type SimulatedTravel, simulatedTravel } from './travel-api.ts';
import { publishLookups } from './travel-moves.ts';
import { asSet, type Catalog, fieldValue } from './travelers.ts';
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
  connections: ConnectionWithMapping[];
  store: ReturnType<typeof provisioningStore>;
  /** A service without background work, for reads. */
  reader: ProvisioningService;
  knowledge: Knowledge;
  /** The times at which connections have gone into shadow mode. */
  shadowSince: Map<string, number>;
  /** The time until which a process may be frozen. */
  standStillUntil: number;
  /** Returns a process that runs, once there is one. */
  runningReplica(): Promise<Replica>;
  /** Ends all processes, lets `change` do something with the database, and starts processes again. */
  replaceDatabase(change: () => Promise<void>): Promise<void>;
  killAt(replica: number, kill: Kill): void;
  freeze(replica: number, ms: number): void;
  shiftWallClock(ms: number): void;
  /** Ends all trouble: no process is frozen or about to be killed, and as many run as at the beginning. */
  recover(): Promise<void>;
  replicas(): Replica[];
  /** Ends all processes. */
  close(): Promise<void>;
}

const LIMITS = { callTimeoutMs: 10_000, lateMs: 30_000 };
/** An attempt that has begun before the mode was known goes on: it may wait for calls that are not answered, at most for this time. */
const IN_FLIGHT_MS = 15_000;

/** Opens a world on an empty database. The seed decides everything that chance decides. */
export async function openWorld(
  database: MemoryDatabase,
  {
    seed,
    setup,
    people: count,
    isDetailed = false,
  }: { seed: number; setup: Setup; people: number; isDetailed?: boolean },
): Promise<World> {
  database.putBack(EMPTY);
  const time = virtualTime(START);
  const random = seededRandom(seed);
  const story = newStory(time.now, isDetailed);
  const people = Array.from({ length: count }, (_, slot) => newPerson(slot));
  const knowledge = newKnowledge(setup.policies, newCatalog(), people);
  const watch = writeWatch(knowledge);
  const travel = simulatedTravel({
    ...{ time, random, story, connection: LIMITS },
    habits: setup.habits,
    ...watch,
  });
  publishLookups(travel, knowledge.catalog);
  const shadowSince = new Map<string, number>();
  const connections = connectionNames.map((id) =>
    connectionOf(id, setup, {
      travel,
      onSent: (text) => judgeMode({ knowledge, shadowSince }, id, text, time.now()),
    }),
  );
  const store = provisioningStore(database);
  const attempts = newAttemptWatch(time.now, (travelId) => knowledge.doubtful.add(travelId));
  const world: World = {
    ...{
      time,
      random,
      story,
      attempts,
      travel,
      database,
      connections,
      store,
      knowledge,
      shadowSince,
      standStillUntil: 0,
    },
    ...processes({ time, random, story, attempts, travel, database, connections, store }, setup),
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

function newCatalog(): Catalog {
  return {
    custom: { team: 'cf-team', title: 'cf-title', floor: 'cf-floor' },
    costCenters: new Map([['CC-1', 'cc-0']]),
    costCenterNames: new Map([['cc-0', 'CC-1']]),
  };
}

/** Judges each write of the bridge as it is carried out, and keeps the knowledge about travelers. */
function writeWatch(knowledge: Knowledge) {
  const { catalog, owners, foreign, doubtful, broken } = knowledge;
  return {
    onWrite: (before: TravelUser | undefined, after: TravelUser | undefined) => {
      broken.push(...judgeWrite(knowledge, before, after));
      // A traveler that the bridge does not know from before a restore may get the address of another human before the name.
      const human = before?.lastName === after?.lastName ? undefined : humanOf(after?.lastName);
      if (after && human && !owners.has(after.id)) owners.set(after.id, human);
      const values = foreign.get(after?.id ?? '');
      for (const [field, value] of values ?? [])
        if (after && asSet(fieldValue(after, field, catalog)) !== value) values?.delete(field);
    },
    onUnanswered: (text: string) => {
      const [, id] = /(?:patch |remove |\/)(t-\d+)/.exec(text) ?? [];
      if (id) doubtful.add(id);
    },
  };
}

/** In shadow mode everything is foreign: nothing is sent. */
function judgeMode(
  { knowledge, shadowSince }: Pick<World, 'knowledge' | 'shadowSince'>,
  connection: string,
  text: string,
  now: number,
): void {
  const since = shadowSince.get(connection);
  if (since !== undefined && now > since + IN_FLIGHT_MS)
    knowledge.broken.push(`${connection} sends ${text} in shadow mode [5. ${sentences[5]}]`);
}

function connectionOf(
  id: string,
  { policies, hasFeed }: Setup,
  { travel, onSent }: { travel: SimulatedTravel; onSent(text: string): void },
): ConnectionWithMapping {
  return {
    ...{ id, account: ACCOUNT, mapping: undefined, policies, ...LIMITS },
    ...{ parkingDomain: 'jetbridge.invalid', minimumShare: 0, maxImported: undefined, tombstoneDays: 400 },
    ...{ travel: watchedUsers(travel.users, onSent), lookups: travel.newLookups() },
    feed: hasFeed ? { everyMs: FEED_MS, source: travel.feed } : undefined,
  };
}

/** Returns the travel API with a note of each call that changes something. */
function watchedUsers(users: TravelUsers, onSent: (text: string) => void): TravelUsers {
  return {
    ...users,
    create: (traveler, key, cause) => {
      onSent('a create');
      return users.create(traveler, key, cause);
    },
    patch: (id, change, cause) => {
      onSent(`a change of ${id}`);
      return users.patch(id, change, cause);
    },
    remove: (id, cause) => {
      onSent(`a deletion of ${id}`);
      return users.remove(id, cause);
    },
  };
}

type Processes = Pick<
  World,
  | 'runningReplica'
  | 'replaceDatabase'
  | 'killAt'
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
        connections: () => connections.map((one) => ({ ...one, lookups: travel.newLookups() })),
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
