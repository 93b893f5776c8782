import { type Alarm, alarm } from './alarm.ts';
import { bases as basesOf } from './basis.ts';
import type { Connection } from './connection.ts';
import { discovery as discoveryOf } from './discovery.ts';
import { follower } from './feed.ts';
import { type GroupStory, groupStory } from './groups.ts';
import { type Importer, importer as importerOf } from './import.ts';
import { type Background, background, workOff } from './loop.ts';
import { type Pause, pause, watched } from './pause.ts';
import type {
  Agenda,
  Groups,
  Holds,
  Identities,
  Imports,
  Leases,
  References,
  Surroundings,
} from './ports.ts';
import { promptly as promptlyOf } from './promptly.ts';
import { reconciler as reconcilerOf } from './reconcile.ts';
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
}

/** The bridge: the stories that the front door tells, and what goes on behind them. */
export interface Bridge {
  users: UserStory;
  groups: GroupStory;
  importer: Importer;
  rehearser: Rehearser;
  /** Works off what is due now, until nothing is; answers how many attempts that took. */
  settleDue(): Promise<number>;
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
  const offices = new Map(connections.map((connection) => [connection.id, office(connection, surroundings)]));
  const officeOf = ({ id }: { id: string }): Office => {
    const known = offices.get(id);
    if (!known) throw new Error(`there is no connection ${id}`);
    return known;
  };
  const bases = basesOf();
  const wake = () => {
    for (const { bell } of offices.values()) bell.ring();
  };
  const pauseOf = (connection: Connection) => officeOf(connection).pause;
  const reconciler = reconcilerOf({ ...store, bases, wake, surroundings });
  const seen = {
    attempt: (connection: Connection, id: string) => reconciler.attempt(officeOf(connection).watched, id),
  };
  const work = { ...store, reconciler: seen, pauseOf, surroundings };
  const importer = importerOf({ ...store, bases, wake, surroundings });
  const promptly = promptlyOf(seen, { budgetMs: writeBudgetMs, pauseOf, wake, surroundings });
  const discovery = discoveryOf(store.imports, bases, surroundings);
  const turns = turnsOf(surroundings);
  const changes = rulesChanges({ ...store, surroundings });
  const connectionOf = (id: string) => officeOf({ id }).connection;
  return {
    users: userStory({ ...store, bases, discovery, promptly, connectionOf, wake, surroundings, turns }),
    groups: groupStory({ ...store, surroundings, turns }),
    importer,
    rehearser: rehearserOf({ ...store, bases, surroundings }),
    settleDue: async () => {
      let attempts = 0;
      for (const connection of connections) {
        for (let made = 1; made > 0; attempts += made) made = await workOff(work, connection);
      }
      return attempts;
    },
    run: () =>
      background({
        ...work,
        bases,
        rulesChanges: changes,
        connections,
        importer,
        ...bellsOf(officeOf),
        followerOf: (connection, followRules) =>
          connection.feed &&
          follower({ ...store, bases, wake, surroundings, followRules }, connection, connection.feed.source),
      }),
  };
}

/** What the process keeps for one connection. */
interface Office {
  connection: Connection;
  watched: Connection;
  pause: Pause;
  bell: Alarm;
  importBell: Alarm;
  rulesBell: Alarm;
}

function bellsOf(officeOf: (connection: Connection) => Office) {
  return {
    alarmOf: (connection: Connection) => officeOf(connection).bell,
    importBellOf: (connection: Connection) => officeOf(connection).importBell,
    rulesBellOf: (connection: Connection) => officeOf(connection).rulesBell,
  };
}

function office(connection: Connection, { now }: Surroundings): Office {
  const heed = pause();
  return {
    connection,
    watched: watched(connection, heed, now),
    pause: heed,
    bell: alarm(),
    importBell: alarm(),
    rulesBell: alarm(),
  };
}
