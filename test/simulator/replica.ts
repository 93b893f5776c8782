import { IDLE_MS } from '../../src/provisioning/background.ts';
import { foreignValues, MIN_PEOPLE } from '../../src/provisioning/people/foreign-values.ts';
import type { ConnectionWithMapping } from '../../src/provisioning/rules/configured-mapping.ts';
import { type ProvisioningService, provisioningService } from '../../src/provisioning/service.ts';
import { type ProvisioningStore, provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Random } from '../fixtures/seeded.ts';
import type { AttemptWatch } from './attempts.ts';
import type { MemoryDatabase } from './memory-database.ts';
import type { Story } from './story.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * A process that ends at one of its next effects: just before it, or just after it was carried out. An effect is here any call of the store
 * or the travel API that is no read, whoever makes it. `during` counts only calls that change a traveler: the process ends while the travel
 * API carries the call out. An end between two effects is the same wherever it is.
 */
export interface Kill {
  effects: number;
  edge: 'before' | 'during' | 'after';
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
  /** The number of effects so far. */
  effects(): number;
  refreshRules(): void;
  importAgain(): void;
  retryUnresolved(): Promise<void>;
  /** Aborts what the process waits for, after its end: Node.js keeps each signal to which somebody listens, and all that the listener knows. */
  forget(): void;
}

export interface ReplicaDeps {
  database: MemoryDatabase;
  time: VirtualTime;
  random: Random;
  story: Story;
  attempts: AttemptWatch;
  /** Milliseconds by which the wall clock differs from the other one. */
  clockShift(): number;
  newId(): string;
  /** True if queries may take some time, as those of a database server do. */
  isStoreRemote: boolean;
  /** The connections as this process sees them, with a travel API that has no gate yet. */
  connections(name: string): ConnectionWithMapping[];
}

/** The interval at which a process looks which connections are paused, in milliseconds. */
export const MODES_MS = 5_000;
const WRITE_BUDGET_MS = 800;
/** The time that a query to a store on another machine may need to get there, in milliseconds. It gets there after the end of its process, too. */
export const SLOWEST_QUERY_MS = 120;

/** Starts a process on the database, with its background loops. It knows the paused connections before it does anything. */
export async function startReplica(deps: ReplicaDeps, name: string): Promise<Replica> {
  const { time, random, story } = deps;
  const gate = newGate(deps, name);
  const realStore = provisioningStore(deps.database);
  await realStore.modes.refresh(time.now());
  const idling = newIdling(deps);
  const store = idling.watched(deps.attempts.watched(gatedStore(realStore, gate)));
  const wait = async (ms: number, signal?: AbortSignal, isNeeded = () => true) => {
    await time.wait(ms, signal, () => !gate.isAlive() || isNeeded());
    await gate.pass();
  };
  const service = provisioningService({
    store,
    connections: deps.connections(name).map((connection) => gatedConnection(connection, gate)),
    writeBudgetMs: WRITE_BUDGET_MS,
    foreignValues: foreignValuesOf(deps, name),
    runtime: {
      now: time.now,
      wallClock: () => time.now() + deps.clockShift(),
      newId: deps.newId,
      random: () => random.below(1_000) / 1_000,
      wait: (ms, signal) => (ms === IDLE_MS ? wait(ms, signal, () => !idling.isIdle()) : wait(ms, signal)),
      log: { info: () => {}, warn: () => {}, error: (fields, message) => story.error(name, fields, message) },
      checkpoint: () => {},
    },
  });
  const loops = service.startBackground();
  void refreshModes(store, deps, { wait, isAlive: gate.isAlive });
  return {
    ...{ name, service, store: realStore, isAlive: gate.isAlive, isFrozen: gate.isFrozen, kill: gate.kill },
    ...{
      killAt: gate.killAt,
      freeze: gate.freeze,
      thaw: gate.thaw,
      death: gate.death,
      effects: gate.effects,
    },
    refreshRules: loops.refreshRules,
    importAgain: loops.importAgain,
    retryUnresolved: loops.retryUnresolved,
    forget: () => void loops.stop(),
  };
}

/** Each process starts as after a long time without one. The alarm that the database may have been restored needs several people. */
function foreignValuesOf({ time, story }: ReplicaDeps, name: string) {
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const watch = foreignValues({ gapMs: Number.POSITIVE_INFINITY, runtime: { now: time.now, log } });
  watch.onSuspicion((connection, people) => {
    if (people !== MIN_PEOPLE) story.error(name, { id: connection }, `an alarm about ${people} people`);
  });
  return watch;
}

interface ModesWatch {
  wait(ms: number, signal: undefined, isNeeded: () => boolean): Promise<void>;
  isAlive(): boolean;
}

/** Learns now and then which connections are in shadow mode, as the watch for restored backups does. */
async function refreshModes(
  { modes }: ProvisioningStore,
  { database, time }: ReplicaDeps,
  { wait, isAlive }: ModesWatch,
): Promise<void> {
  while (isAlive()) {
    const seen = database.changes('connection');
    await modes.refresh(time.now());
    await wait(MODES_MS, undefined, () => database.changes('connection') !== seen);
  }
}

type Gate = ReturnType<typeof newGate>;

/** Everything between a process and its surroundings: it lets a call pass, delays it, or ends the process. */
function newGate({ time, random, story, isStoreRemote }: ReplicaDeps, name: string) {
  let isAlive = true;
  let thawed: Promise<void> | undefined;
  let thaw = () => {};
  let armed: Kill | undefined;
  let effects = 0;
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
    armed = { ...armed, effects: armed.effects - 1 };
    if (armed.effects > 0) return false;
    armed = undefined;
    story.tell(`${name} is killed ${edge} ${port}`);
    kill();
    return true;
  };
  const through = async <T>(port: string, call: () => Promise<T>): Promise<T> => {
    await pass();
    story.port(name, port);
    if (isRead(port)) return call().finally(pass);
    effects += 1;
    if (isKilledHere('before', port)) await pass();
    const answering = call();
    if (isChangingCall(port) && isKilledHere('during', port)) await pass();
    const answer = await answering;
    if (isKilledHere('after', port)) await pass();
    await pass();
    return answer;
  };
  return {
    ...{ through, pass, kill, death, isAlive: () => isAlive, effects: () => effects },
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
        if (isStoreRemote && random.below(12) === 0) await time.wait(1 + random.below(SLOWEST_QUERY_MS));
        const end = time.begin();
        try {
          return await query();
        } finally {
          end();
        }
      }),
  };
}

function isRead(port: string): boolean {
  return /(^|\.)(find|is|read|list|count|refresh|lookups|ownUser|feed)/.test(port);
}

function isChangingCall(port: string): boolean {
  return ['create', 'patch', 'remove'].includes(port);
}

/** The functions of the store that answer from memory. */
const SYNCHRONOUS = new Set(['modes.pausedAt', 'modes.shadowSince']);

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
 * Skips looks at a queue in which nothing is due: most of the time of a history would go into them. A connection looks again once an
 * identity has changed, or the time has come at which one is due.
 */
function newIdling({ database, time }: ReplicaDeps) {
  const idle = new Map<string, { changes: number; until: number }>();
  const isUnchanged = (known: { changes: number; until: number }) =>
    time.now() < known.until && known.changes === database.changes('identity');
  return {
    /** True if each connection has looked, and need not look again yet. */
    isIdle: () => idle.size > 0 && [...idle.values()].every(isUnchanged),
    /** Returns the store with a `findDue` that does not search while nothing can be found. */
    watched: (store: ProvisioningStore): ProvisioningStore => ({
      ...store,
      reconcileQueue: {
        ...store.reconcileQueue,
        findDue: async (now, limit, connections) => {
          for (const connection of connections) {
            const known = idle.get(connection);
            if (known && isUnchanged(known)) continue;
            idle.set(connection, {
              changes: database.changes('identity'),
              until: firstDue(database, connection),
            });
          }
          return time.now() < Math.min(...connections.map((one) => idle.get(one)?.until ?? 0))
            ? []
            : store.reconcileQueue.findDue(now, limit, connections);
        },
      },
    }),
  };
}

/** Returns the time at which the first identity of a connection is due or its lease ends. */
function firstDue(database: MemoryDatabase, connection: string): number {
  const { due } = database.readRow(
    `select min(max(coalesce(lease_until, 0), case when state = 'dirty' then next_attempt_at when check_at > 0 then check_at end)) as due
      from identity where connection_id = ?`,
    [connection],
  );
  return due ?? Number.POSITIVE_INFINITY;
}

type Port = (...values: never[]) => Promise<unknown>;

function gatedConnection(connection: ConnectionWithMapping, { through }: Gate): ConnectionWithMapping {
  const { travel, lookups, feed } = connection;
  return {
    ...connection,
    travel: {
      create: (body, key, cause) => through('create', () => travel.create(body, key, cause)),
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
