import { type Alarm, alarm } from './alarm.ts';
import { bases as basesOf } from './basis.ts';
import type { Connection } from './connection.ts';
import { type Discovery, discovery as discoveryOf } from './discovery.ts';
import { follower } from './feed.ts';
import { type GroupStory, groupStory } from './groups.ts';
import { type Importer, importer as importerOf } from './import.ts';
import { type Background, background, type WorkShop, workOff } from './loop.ts';
import { type Pause, type PauseReason, pause, restrained, watched } from './pause.ts';
import type {
  Agenda,
  Groups,
  Holds,
  Identities,
  Imports,
  Leases,
  References,
  Retention,
  Surroundings,
} from './ports.ts';
import { promptly as promptlyOf } from './promptly.ts';
import { type Reconciler, reconciler as reconcilerOf } from './reconcile.ts';
import { type Rehearser, rehearser as rehearserOf } from './rehearsal.ts';
import { rulesChanges } from './rules-change.ts';
import { turns as turnsOf } from './turns.ts';
import { type UserStory, userStory } from './users.ts';

/** The store's side of the bridge. */
export interface BridgeStore {
  identities: Identities;
  leases: Leases;
  agenda: Agenda;
  references: References;
  imports: Imports;
  groups: Groups;
  holds: Holds;
  retention: Retention;
}

/** The bridge: the stories that the front door tells, and what goes on behind them. */
export interface Bridge {
  users: UserStory;
  groups: GroupStory;
  importer: Importer;
  rehearser: Rehearser;
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
  store: BridgeStore;
  connections: Connection[];
  surroundings: Surroundings;
  /** How long a write may wait for the travel API, in milliseconds. */
  writeBudgetMs: number;
}

/** Puts the bridge together for these connections. */
export function bridge({ store, connections, surroundings, writeBudgetMs }: Parts): Bridge {
  const officeOf = officesOf(connections, surroundings);
  const bases = basesOf(surroundings.log);
  const wake = () => {
    for (const connection of connections) officeOf(connection).bell.ring();
  };
  const pauseOf = (connection: Connection) => officeOf(connection).pause;
  const changes = rulesChanges({ ...store, surroundings });
  const reconciler = reconcilerOf({ ...store, bases, wake, surroundings, rulesChanges: changes });
  const seen = watching(reconciler, (connection) => officeOf(connection).watched);
  const work = { ...store, reconciler: seen, pauseOf, surroundings };
  const restrainedOf = (connection: Connection) => officeOf(connection).restrained;
  const importer = restrainedImporter(importerOf({ ...store, bases, wake, surroundings }), restrainedOf);
  const promptly = promptlyOf(seen, { budgetMs: writeBudgetMs, pauseOf, wake, surroundings });
  const discovery = restrainedDiscovery(discoveryOf(store.imports, bases, surroundings), restrainedOf);
  const turns = turnsOf(surroundings);
  return {
    users: userStory({
      ...{ ...store, bases, discovery, promptly, wake, surroundings, turns },
      connectionOf: (id) => officeOf({ id }).connection,
    }),
    groups: groupStory({ ...store, surroundings, turns }),
    importer,
    rehearser: rehearserOf({ ...store, bases, surroundings }),
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
          follower({ ...store, bases, wake, surroundings, followRules }, connection, connection.feed.source),
      }),
  };
}

type Restrain = (connection: Connection) => Connection;

function restrainedImporter({ run, incomplete }: Importer, restrain: Restrain): Importer {
  return { run: (connection, onPage, options) => run(restrain(connection), onPage, options), incomplete };
}

function restrainedDiscovery({ seek }: Discovery, restrain: Restrain): Discovery {
  return { seek: (connection, text) => seek(restrain(connection), text) };
}

async function workOffAll(work: WorkShop, connections: Connection[]): Promise<number> {
  let attempts = 0;
  for (const connection of connections) {
    for (let made = 1; made > 0; attempts += made) made = await workOff(work, connection);
  }
  return attempts;
}

/** The same reconciler, from whose travel calls the connection's pause learns. */
function watching(reconciler: Reconciler, watchedOf: (connection: Connection) => Connection): Reconciler {
  return {
    attempt: (connection, id) => reconciler.attempt(watchedOf(connection), id),
    releaseUnkept: reconciler.releaseUnkept,
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
  pause: Pause;
  bell: Alarm;
  importBell: Alarm;
  rulesBell: Alarm;
}

function officesOf(
  connections: Connection[],
  surroundings: Surroundings,
): (connection: { id: string }) => Office {
  const offices = new Map(connections.map((connection) => [connection.id, office(connection, surroundings)]));
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

function office(connection: Connection, { now, log }: Surroundings): Office {
  const { id } = connection;
  const heed = pause({
    opened: (reason, ms) => {
      log.warn({ connection: id, reason, ms }, 'calls to the travel API pause; nothing is lost');
    },
    closed: (reason) => log.info({ connection: id, reason }, 'calls to the travel API go on'),
  });
  return {
    connection,
    watched: watched(connection, heed, now),
    restrained: restrained(connection, heed, now),
    pause: heed,
    bell: alarm(),
    importBell: alarm(),
    rulesBell: alarm(),
  };
}
