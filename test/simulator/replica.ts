import type { Connection } from '../../src/provisioning/connection.ts';
import { type ProvisioningService, provisioningService } from '../../src/provisioning/service.ts';
import { type ProvisioningStore, provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Random } from '../fixtures/seeded.ts';
import type { MemoryDatabase } from './memory-database.ts';
import type { Story } from './story.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A process that ends at one of its next port calls: just before the call is made, or just after it was carried out. */
export interface Kill {
  calls: number;
  edge: 'before' | 'after';
}

/** One process of the bridge. Everything that it does outside of itself goes through its gate. */
export interface Replica {
  name: string;
  service: ProvisioningService;
  store: ProvisioningStore;
  isAlive(): boolean;
  isFrozen(): boolean;
  /** Ends the process: nothing that it waits for ever returns. */
  kill(): void;
  killAt(kill: Kill): void;
  /** Stops the process: it goes on after `thaw`, as if no time had passed for it. */
  freeze(): void;
  thaw(): void;
  /** Resolves when the process ends. */
  death: Promise<'dead'>;
  /** The number of port calls so far. */
  calls(): number;
  refreshRules(): void;
  importAgain(): void;
  retryUnresolved(): Promise<void>;
}

export interface ReplicaDeps {
  database: MemoryDatabase;
  time: VirtualTime;
  random: Random;
  story: Story;
  /** Milliseconds by which the wall clock differs from the other one. */
  clockShift(): number;
  newId(): string;
  /** True if queries may take some time, as those of a database server do. */
  isStoreRemote: boolean;
  /** The connections as this process sees them, with a travel API that has no gate yet. */
  connections(name: string): Connection[];
}

const MODES_MS = 5_000;
const WRITE_BUDGET_MS = 800;

/** Starts a process on the database, with its background loops. It knows the paused connections before it does anything. */
export async function startReplica(deps: ReplicaDeps, name: string): Promise<Replica> {
  const { time, random, story } = deps;
  const gate = newGate(deps, name);
  const realStore = provisioningStore(deps.database);
  await realStore.modes.refresh(time.now());
  const store = withQuickIdling(gatedStore(realStore, gate), deps);
  const wait = async (ms: number, signal?: AbortSignal) => {
    await time.wait(ms, signal);
    await gate.pass();
  };
  const service = provisioningService({
    store,
    connections: deps.connections(name).map((connection) => gatedConnection(connection, gate)),
    writeBudgetMs: WRITE_BUDGET_MS,
    runtime: {
      now: time.now,
      wallClock: () => time.now() + deps.clockShift(),
      newId: deps.newId,
      random: () => random.below(1_000) / 1_000,
      wait,
      log: { info: () => {}, warn: () => {}, error: (fields, message) => story.error(name, fields, message) },
      checkpoint: () => {},
    },
  });
  const loops = service.startBackground();
  void refreshModes(store, { wait, now: time.now, isAlive: gate.isAlive, onPause: loops.importAgain });
  return {
    ...{ name, service, store: realStore, isAlive: gate.isAlive, isFrozen: gate.isFrozen, kill: gate.kill },
    ...{ killAt: gate.killAt, freeze: gate.freeze, thaw: gate.thaw, death: gate.death, calls: gate.calls },
    refreshRules: loops.refreshRules,
    importAgain: loops.importAgain,
    retryUnresolved: loops.retryUnresolved,
  };
}

/** Learns now and then which connections are paused, as the watch for restored backups does. */
async function refreshModes(
  { modes }: ProvisioningStore,
  {
    wait,
    now,
    isAlive,
    onPause,
  }: { wait(ms: number): Promise<void>; now(): number; isAlive(): boolean; onPause(): void },
): Promise<void> {
  while (isAlive()) {
    if ((await modes.refresh(now())).isPausedAnew) onPause();
    await wait(MODES_MS);
  }
}

type Gate = ReturnType<typeof newGate>;

/** Everything between a process and its surroundings: it lets a call pass, delays it, or ends the process. */
function newGate({ time, random, story, isStoreRemote }: ReplicaDeps, name: string) {
  let isAlive = true;
  let thawed: Promise<void> | undefined;
  let thaw = () => {};
  let armed: Kill | undefined;
  let calls = 0;
  let die: (value: 'dead') => void = () => {};
  const death = new Promise<'dead'>((resolve) => {
    die = resolve;
  });
  const kill = () => {
    if (!isAlive) return;
    isAlive = false;
    thaw();
    die('dead');
  };
  /** Resolves while the process runs; never if it has ended. */
  const pass = async (): Promise<void> => {
    while (thawed && isAlive) await thawed;
    if (!isAlive) await new Promise(() => {});
  };
  const isKilledHere = (edge: Kill['edge'], port: string): boolean => {
    if (!armed || armed.edge !== edge || !isAlive) return false;
    armed = { ...armed, calls: armed.calls - 1 };
    if (armed.calls > 0) return false;
    armed = undefined;
    story.tell(`${name} is killed ${edge} ${port}`);
    kill();
    return true;
  };
  const through = async <T>(port: string, call: () => Promise<T>): Promise<T> => {
    await pass();
    calls += 1;
    if (isKilledHere('before', port)) await pass();
    story.port(name, port);
    const answer = await call();
    if (isKilledHere('after', port)) await pass();
    await pass();
    return answer;
  };
  return {
    ...{ through, pass, kill, death, isAlive: () => isAlive, calls: () => calls },
    killAt: (one: Kill) => {
      armed = one;
    },
    isFrozen: () => thawed !== undefined,
    freeze: () => {
      thawed ??= new Promise((resolve) => {
        thaw = () => {
          thawed = undefined;
          resolve();
        };
      });
    },
    thaw: () => thaw(),
    query: <T>(port: string, query: () => Promise<T>): Promise<T> =>
      through(port, async () => {
        if (isStoreRemote && random.below(12) === 0) await time.wait(1 + random.below(120));
        const end = time.begin();
        try {
          return await query();
        } finally {
          end();
        }
      }),
  };
}

/** The functions of the store that answer from memory. */
const SYNCHRONOUS = new Set(['modes.pausedAt']);

function gatedStore(store: ProvisioningStore, gate: Gate): ProvisioningStore {
  const gated = Object.entries(store).map(([part, functions]) => [
    part,
    Object.fromEntries(
      Object.entries(functions).map(([name, real]) => {
        const port = `${part}.${name}`;
        if (SYNCHRONOUS.has(port)) return [name, real];
        return [name, (...values: never[]) => gate.query(port, () => (real as Port)(...values))];
      }),
    ),
  ]);
  return Object.fromEntries(gated) as ProvisioningStore; // Of the same parts and functions.
}

/**
 * Returns the store with a `findDue` that answers at once while nothing can be due: most of the time of a history goes into looks at an idle
 * queue, each second.
 */
function withQuickIdling(store: ProvisioningStore, { database, time }: ReplicaDeps): ProvisioningStore {
  const { reconcileQueue } = store;
  const idle = new Map<string, { changes: number; until: number }>();
  return {
    ...store,
    reconcileQueue: {
      ...reconcileQueue,
      findDue: async (now, limit, connections) => {
        const key = connections.join();
        const known = idle.get(key);
        if (known && time.now() < known.until && known.changes === database.changes()) return [];
        const due = await reconcileQueue.findDue(now, limit, connections);
        if (due.length === 0)
          idle.set(key, { changes: database.changes(), until: await nextDue(database, now) });
        return due;
      },
    },
  };
}

async function nextDue({ db }: MemoryDatabase, now: number): Promise<number> {
  const times = await db
    .selectFrom('identity')
    .select(({ fn }) => [
      fn.min('next_attempt_at').filterWhere('next_attempt_at', '>', now).as('attempt'),
      fn.min('check_at').filterWhere('check_at', '>', now).as('check'),
      fn.min('lease_until').filterWhere('lease_until', '>', now).as('lease'),
    ])
    .executeTakeFirstOrThrow();
  return Math.min(...Object.values(times).map((at) => Number(at ?? Number.POSITIVE_INFINITY)));
}

type Port = (...values: never[]) => Promise<unknown>;

function gatedConnection(connection: Connection, { through }: Gate): Connection {
  const { travel, lookups, feed } = connection;
  return {
    ...connection,
    travel: {
      create: (body, cause) => through('create', () => travel.create(body, cause)),
      read: (id, cause) => through('read', () => travel.read(id, cause)),
      patch: (id, body, cause) => through('patch', () => travel.patch(id, body, cause)),
      remove: (id, cause) => through('remove', () => travel.remove(id, cause)),
      findByEmails: (emails, timeoutMs, cause) =>
        through('findByEmails', () => travel.findByEmails(emails, timeoutMs, cause)),
      readPage: (offset, limit) => through('readPage', () => travel.readPage(offset, limit)),
      serverTime: travel.serverTime,
    },
    lookups: {
      ...lookups,
      current: () => through('lookups', () => lookups.current()),
      refresh: () => through('lookups', () => lookups.refresh()),
      readOwnUser: () => through('ownUser', () => lookups.readOwnUser()),
    },
    ...(feed
      ? {
          feed: {
            ...feed,
            source: { readPage: (limit, from) => through('feed', () => feed.source.readPage(limit, from)) },
          },
        }
      : {}),
  };
}
