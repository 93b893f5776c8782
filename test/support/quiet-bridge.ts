import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KyselyPlugin } from 'kysely';
import { bases } from '../../src/bridge/basis.ts';
import type { Connection } from '../../src/bridge/connection.ts';
import { type GroupStory, groupStory } from '../../src/bridge/groups.ts';
import { defaultPolicies } from '../../src/bridge/policies.ts';
import type { Surroundings } from '../../src/bridge/ports.ts';
import { turns } from '../../src/bridge/turns.ts';
import { type UserStory, userStory } from '../../src/bridge/users.ts';
import { bridgeStore } from '../../src/store/bridge-store.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { openEmbedded } from '../../src/store/database.ts';
import { wait } from '../../src/surroundings.ts';
import { parseMapping } from '../../src/translator/mapping.ts';
import { fakeTravel } from './fake-travel.ts';

/** The bridge's stories on a database of their own; the travel service is never spoken to. */
export interface QuietBridge {
  users: UserStory;
  groups: GroupStory;
  /** Is thrown by every story from now on. */
  failWith(error: Error | undefined): void;
  close(): Promise<void>;
}

/** How the surroundings differ from a clock that ticks with each story. */
export interface QuietOptions {
  now?: Surroundings['now'];
  /** Sees every statement and what it answers. */
  watcher?: KyselyPlugin;
  /** Is awaited each time a list of groups has been read, before anything else is read for it. */
  afterGroupList?: () => Promise<void>;
  /** What the ids of users and groups begin with; by default `u` and `g`. */
  prefixes?: { user: string; group: string };
}

/** Ids are u1, u2, g1 …; a second passes with every story that is told. */
export async function quietBridge({
  now,
  watcher,
  afterGroupList = async () => {},
  prefixes = { user: 'u', group: 'g' },
}: QuietOptions = {}): Promise<QuietBridge> {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-scim-'));
  const database = await openEmbedded(directory, true);
  const connections = ['default', 'second'].map(connectionOf);
  for (const { id, account } of connections) await ensureConnection(database, { id, account });
  let failure: Error | undefined;
  let time = Date.UTC(2026, 10, 20, 10);
  const tick = () => {
    if (failure) throw failure;
    time += 1000;
  };
  const watched = watcher ? { ...database, db: database.db.withPlugin(watcher) } : database;
  const store = bridgeStore(watched);
  const list: typeof store.groups.list = async (...query) => {
    const found = await store.groups.list(...query);
    await afterGroupList();
    return found;
  };
  const paused = { ...store, groups: { ...store.groups, list } };
  const shop = shopOf(paused, connections, now ?? (() => time));
  return {
    users: ticking(userStory(shop(prefixes.user)), tick),
    groups: ticking(groupStory(shop(prefixes.group)), tick),
    failWith: (error) => {
      failure = error;
    },
    close: async () => {
      await database.close();
      rmSync(directory, { recursive: true });
    },
  };
}

/** What the stories work with; their ids begin with a letter of their own. */
function shopOf(store: ReturnType<typeof bridgeStore>, connections: Connection[], now: () => number) {
  const shared = {
    ...store,
    bases: bases(),
    discovery: { seek: async () => false },
    promptly: { reconcile: async () => 'later' as const },
    turns: turns({ now }),
    connectionOf: (id: string) => {
      const known = connections.find((one) => one.id === id);
      if (!known) throw new Error(`there is no connection ${id}`);
      return known;
    },
    wake: () => {},
  };
  return (letter: string) => {
    let last = 0;
    const surroundings: Surroundings = {
      now,
      wallClock: now,
      newId: () => {
        last += 1;
        return `${letter}${last}`;
      },
      random: () => 0.5,
      wait,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      checkpoint: () => {},
    };
    return { ...shared, surroundings };
  };
}

function connectionOf(id: string): Connection {
  const parsed = parseMapping({ scimUserMapping: [] });
  if (!('mapping' in parsed)) throw new Error(JSON.stringify(parsed.faults));
  const { users, lookups } = fakeTravel();
  return {
    id,
    account: id,
    mapping: parsed.mapping,
    policies: defaultPolicies,
    parkingDomain: 'jetbridge.invalid',
    minimumShare: 0.5,
    lateMs: 30_000,
    tombstoneDays: 400,
    travel: users,
    lookups,
  };
}

/** The same story, with a tick in front of each of its parts. */
function ticking<Story extends object>(story: Story, tick: () => void): Story {
  const parts = Object.entries(story).map(([name, part]) => [
    name,
    async (...values: unknown[]) => {
      tick();
      return part(...values);
    },
  ]);
  return Object.fromEntries(parts);
}
