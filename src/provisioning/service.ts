import {
  type Background,
  type BackgroundDeps,
  background,
  reconcileDue,
  type WakeSignal,
  wakeSignal,
} from './background.ts';
import {
  type CircuitBreaker,
  circuitBreaker,
  type PauseReason,
  withCircuitBreaker,
  withReportedAnswers,
} from './circuit-breaker.ts';
import type { Connection } from './connection.ts';
import { feedFollower } from './event-feed.ts';
import { existingUserFinder as discoveryOf, type ExistingUserFinder } from './find-existing.ts';
import type { Groups } from './group-ports.ts';
import { type GroupService, groupService } from './groups.ts';
import { type Importer, importer as importerOf } from './import.ts';
import { scanQueue as turnsOf } from './list-users.ts';
import { type MappingPreviewer, mappingPreviewer as rehearserOf } from './preview-mapping.ts';
import { type Reconciler, reconciler as reconcilerOf } from './reconcile.ts';
import { rulesChanges } from './rules-change.ts';
import { rulesSnapshots as basesOf } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type {
  Holds,
  Identities,
  Imports,
  Leases,
  ReconcileQueue,
  References,
  Retention,
} from './store-ports.ts';
import { reconcileWithinBudget as promptlyOf, type UserService, userService } from './users.ts';

/** The store's side of the bridge. */
export interface ProvisioningStore {
  identities: Identities;
  leases: Leases;
  reconcileQueue: ReconcileQueue;
  references: References;
  imports: Imports;
  groups: Groups;
  holds: Holds;
  retention: Retention;
}

/** The bridge: the stories that the front door tells, and what goes on behind them. */
export interface ProvisioningService {
  users: UserService;
  groups: GroupService;
  importer: Importer;
  rehearser: MappingPreviewer;
  /** How many places of each connection's mapping are at fault. */
  mappingFaults(): { connection: string; count: number }[];
  /** Works off what is due now, until nothing is; answers how many attempts that took. */
  settleDue(): Promise<number>;
  /** Resolves when no attempt to reconcile is under way. */
  idle(): Promise<void>;
  /** The connections, and why each of them makes no calls to its travel API for the moment. */
  pauses(): { connection: string; reason: PauseReason | undefined }[];
  /** Starts the background loops; without it only writes reconcile. */
  run(): Background;
}

interface Parts {
  store: ProvisioningStore;
  connections: Connection[];
  runtime: Runtime;
  /** How long a write may wait for the travel API, in milliseconds. */
  writeBudgetMs: number;
}

/** Puts the bridge together for these connections. */
export function provisioningService({
  store,
  connections,
  runtime,
  writeBudgetMs,
}: Parts): ProvisioningService {
  const officeOf = officesOf(connections, runtime);
  const bases = basesOf(runtime.log);
  const wake = () => {
    for (const connection of connections) officeOf(connection).bell.ring();
  };
  const pauseOf = (connection: Connection) => officeOf(connection).pause;
  const changes = rulesChanges({ ...store, runtime });
  const reconciler = reconcilerOf({ ...store, rulesSnapshots: bases, wake, runtime, rulesChanges: changes });
  const seen = watching(reconciler, (connection) => officeOf(connection).watched);
  const work = { ...store, reconciler: seen, pauseOf, runtime };
  const restrainedOf = (connection: Connection) => officeOf(connection).restrained;
  const importer = restrainedImporter(importerOf({ ...store, bases, wake, runtime }), restrainedOf);
  const promptly = promptlyOf(seen, { budgetMs: writeBudgetMs, pauseOf, wake, runtime });
  const discovery = restrainedDiscovery(discoveryOf(store.imports, bases, runtime), restrainedOf);
  const turns = turnsOf(runtime);
  return {
    users: userService({
      ...{ ...store, bases, discovery, promptly, wake, runtime, turns },
      connectionOf: (id) => officeOf({ id }).connection,
    }),
    groups: groupService({ ...store, runtime, turns }),
    importer,
    rehearser: rehearserOf({ ...store, bases, runtime }),
    mappingFaults: bases.mappingFaults,
    settleDue: () => workOffAll(work, connections),
    idle: reconciler.idle,
    pauses: () => connections.map(({ id }) => ({ connection: id, reason: officeOf({ id }).pause.reason() })),
    run: () =>
      background({
        ...work,
        bases,
        connections: connections.map(restrainedOf),
        rulesChanges: changes,
        importer,
        ...bellsOf(officeOf),
        followerOf: (connection, followRules) =>
          connection.feed &&
          feedFollower({ ...store, bases, wake, runtime, followRules }, connection, connection.feed.source),
      }),
  };
}

type Restrain = (connection: Connection) => Connection;

function restrainedImporter({ run, incomplete }: Importer, restrain: Restrain): Importer {
  return { run: (connection, onPage, options) => run(restrain(connection), onPage, options), incomplete };
}

function restrainedDiscovery({ seek }: ExistingUserFinder, restrain: Restrain): ExistingUserFinder {
  return { seek: (connection, text) => seek(restrain(connection), text) };
}

async function workOffAll(work: BackgroundDeps, connections: Connection[]): Promise<number> {
  let attempts = 0;
  for (const connection of connections) {
    for (let made = 1; made > 0; attempts += made) made = await reconcileDue(work, connection);
  }
  return attempts;
}

/** The same reconciler, from whose travel calls the connection's pause learns. */
function watching(reconciler: Reconciler, watchedOf: (connection: Connection) => Connection): Reconciler {
  return {
    reconcile: (connection, id) => reconciler.reconcile(watchedOf(connection), id),
    releaseUnsaved: reconciler.releaseUnsaved,
    idle: reconciler.idle,
  };
}

/** What the process keeps for one connection. */
interface Office {
  connection: Connection;
  /** As attempts of the queue and of writes use it. */
  watched: Connection;
  /** As everything else uses it. */
  restrained: Connection;
  pause: CircuitBreaker;
  bell: WakeSignal;
  importBell: WakeSignal;
  rulesBell: WakeSignal;
}

function officesOf(connections: Connection[], runtime: Runtime): (connection: { id: string }) => Office {
  const offices = new Map(connections.map((connection) => [connection.id, office(connection, runtime)]));
  return ({ id }) => {
    const known = offices.get(id);
    if (!known) throw new Error(`there is no connection ${id}`);
    return known;
  };
}

function bellsOf(officeOf: (connection: Connection) => Office) {
  return {
    alarmOf: (connection: Connection) => officeOf(connection).bell,
    importBellOf: (connection: Connection) => officeOf(connection).importBell,
    rulesBellOf: (connection: Connection) => officeOf(connection).rulesBell,
  };
}

function office(connection: Connection, { now, log }: Runtime): Office {
  const { id } = connection;
  const heed = circuitBreaker({
    opened: (reason, ms) => {
      log.warn({ connection: id, reason, ms }, 'calls to the travel API pause; nothing is lost');
    },
    closed: (reason) => log.info({ connection: id, reason }, 'calls to the travel API go on'),
  });
  return {
    connection,
    watched: withReportedAnswers(connection, heed, now),
    restrained: withCircuitBreaker(connection, heed, now),
    pause: heed,
    bell: wakeSignal(),
    importBell: wakeSignal(),
    rulesBell: wakeSignal(),
  };
}
