import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bridge, type BridgeStore, bridge } from '../../src/bridge/bridge.ts';
import type { Connection } from '../../src/bridge/connection.ts';
import type { Identity } from '../../src/bridge/identity.ts';
import type { UserField, Where } from '../../src/bridge/list-query.ts';
import { defaultPolicies, type Policies } from '../../src/bridge/policies.ts';
import type { Surroundings, TravelUsers } from '../../src/bridge/ports.ts';
import type { ListedUser, UserQuery } from '../../src/bridge/user-list.ts';
import { type ScimResource, urns } from '../../src/schema/resource.ts';
import { bridgeStore } from '../../src/store/bridge-store.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { type Database, openEmbedded } from '../../src/store/database.ts';
import { parseMapping } from '../../src/translator/mapping.ts';
import type { TravelUser } from '../../src/translator/travel-user.ts';
import { type Clock, clock } from './clock.ts';
import { type FakeTravel, fakeTravel } from './fake-travel.ts';

/** A bridge on a real store and a fake travel API, with time standing still and no background loops. */
export interface BridgeHouse {
  bridge: Bridge;
  store: BridgeStore;
  travel: FakeTravel;
  clock: Clock;
  connection: Connection;
  /** The connection of that id. */
  connectionOf(id: string): Connection;
  /** The identity as kept, tombstones included. */
  identity(id: string, connection?: string): Promise<Identity>;
  /** The traveler linked to a SCIM user. */
  traveler(id: string, connection?: string): Promise<TravelUser | undefined>;
  /** The ids of the findings' fields and codes, e.g. `email: emailTaken`. */
  findings(id: string, connection?: string): Promise<string[]>;
  /** Works off what is due, then lets `ms` pass and does it again; for what backs off. */
  pass(ms: number): Promise<void>;
  /** Imports, and works off what that made due. */
  imported(connection?: Connection): Promise<void>;
  /** Resolves when no reconciliation is under way. */
  quiet(): Promise<void>;
  /** What a kill and a new start leave: a new bridge on the same store, and the calls of the old one are never answered. */
  restart(): Promise<void>;
  /** Another process on the same store. */
  replica(): Bridge;
  /** Writes the desired state anew, as a PATCH would. */
  patch(id: string, values: ScimResource, connection?: string): Promise<void>;
  close(): Promise<void>;
}

interface Options {
  policies?: Partial<Policies>;
  mapping?: unknown;
  /** Null: nobody parks an address. */
  parkingDomain?: string | null;
  /** More connections; those that name an account of their own get a travel service of their own. */
  more?: (string | { id: string; account: string; travel: FakeTravel })[];
  random?: () => number;
  /** Of every connection; without it no feed is followed. */
  feed?: Connection['feed'];
  /** A database that several houses share one after the other; each then needs a connection and account of its own name. */
  database?: Database;
  name?: string;
}

/** A person as an IdP would send one. */
export function person(name: string, extra: ScimResource = {}): ScimResource {
  const email = addressOf(name);
  return {
    userName: email,
    name: { givenName: name, familyName: 'Smith' },
    emails: [{ value: email, type: 'work', primary: true }],
    active: true,
    ...extra,
  };
}

/** The address of a `person`. */
export function addressOf(name: string): string {
  return `${name.toLowerCase()}@corp.example`;
}

/** The `emails` of somebody with one work address. */
export function emailsOf(address: string): ScimResource {
  return { emails: [{ value: address, type: 'work', primary: true }] };
}

/** The enterprise extension with a manager (RFC 7643 §4.3). */
export function managedBy(value: string): ScimResource {
  return { [urns.enterprise]: { manager: { value } } };
}

/** A list of users in the stable order, from the first on. */
export function listed(where: Where<UserField>, limit = 10): UserQuery {
  const order = { by: 'position', descending: false } as const;
  return { where, order, place: { offset: 0 }, limit, residual: undefined, withGroups: true };
}

/** A list of everybody. */
export function everybody(limit = 10): UserQuery {
  return listed({ all: [] }, limit);
}

/** The desired state of a user as the front door gets it. */
export function desiredOf({ desired }: Pick<ListedUser, 'desired'>): ScimResource {
  return JSON.parse(desired ?? 'null');
}

/** Opens a house of its own for one test; `close` takes it down. */
export async function bridgeHouse(options: Options = {}): Promise<BridgeHouse> {
  const { database, close } = await ownDatabase(options);
  const time = clock();
  const travel = fakeTravel(time.now);
  const connections = connectionsOf(travel, options);
  for (const { id, account } of connections) await ensureConnection(database, { id, account });
  const [connection] = connections;
  if (!connection) throw new Error('there is no connection');
  const store = bridgeStore(database);
  const newBridge = builder({ store, connections, time, random: options.random ?? (() => 0.5) });
  const reading = readingOf(store, travel, connection.id);
  let running = newBridge();
  const house: BridgeHouse = {
    ...reading,
    bridge: running.bridge,
    store,
    travel,
    clock: time,
    connection,
    connectionOf: (id) => connections.find((one) => one.id === id) ?? connection,
    pass: async (ms) => {
      await house.bridge.settleDue();
      time.advance(ms);
      await house.bridge.settleDue();
    },
    imported: async (of = connection) => {
      const outcome = await house.bridge.importer.run(of);
      if ('kind' in outcome) throw new Error(`the import failed: ${outcome.kind}`);
      await house.bridge.settleDue();
    },
    quiet: () => quiet(database),
    restart: async () => {
      running.kill();
      await store.leases.releaseAll();
      running = newBridge();
      house.bridge = running.bridge;
      travel.trouble = () => undefined;
    },
    replica: () => newBridge().bridge,
    patch: async (id, values, of = connection.id) => {
      await house.bridge.users.change(of, id, (current) => ({ ...current, ...values }), 'patch');
    },
    close,
  };
  return house;
}

async function ownDatabase(options: Options): Promise<{ database: Database; close(): Promise<void> }> {
  if (options.database) return { database: options.database, close: async () => {} };
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-'));
  const database = await openEmbedded(directory, true);
  const close = async () => {
    await database.close();
    rmSync(directory, { recursive: true });
  };
  return { database, close };
}

function readingOf(
  store: BridgeStore,
  travel: FakeTravel,
  home: string,
): Pick<BridgeHouse, 'identity' | 'traveler' | 'findings'> {
  const identity = async (id: string, connection = home): Promise<Identity> => {
    const found = await store.identities.byId(connection, id);
    if (!found) throw new Error(`there is no identity ${id}`);
    return found;
  };
  return {
    identity,
    traveler: async (id, connection) => travel.people.get((await identity(id, connection)).travelId ?? ''),
    findings: async (id, connection) =>
      (await identity(id, connection)).findings.map(({ field, code }) => `${field}: ${code}`),
  };
}

interface Ground {
  store: BridgeStore;
  connections: Connection[];
  time: Clock;
  random: () => number;
}

/** A bridge that can be killed: its calls to the travel API are then never made, or never answered. */
function builder({ store, connections, time, random }: Ground): () => { bridge: Bridge; kill(): void } {
  let last = 0;
  const surroundings: Surroundings = {
    ...time,
    newId: () => {
      last += 1;
      // Each attempt takes one: a house that never comes to rest must not hang the test.
      if (last > 5_000) throw new Error('this house never comes to rest');
      return `id-${String(last).padStart(6, '0')}`;
    },
    random,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    checkpoint: () => {},
  };
  return () => {
    let isAlive = true;
    const mortal = connections.map((connection) => ({
      ...connection,
      travel: untilDeath(connection.travel, () => isAlive),
    }));
    return {
      bridge: bridge({ store, connections: mortal, writeBudgetMs: 800, surroundings }),
      kill: () => {
        isAlive = false;
      },
    };
  };
}

function untilDeath(travel: TravelUsers, isAlive: () => boolean): TravelUsers {
  const mortal = async <T>(call: () => Promise<T>): Promise<T> => {
    const answer = isAlive() ? await call() : undefined;
    return isAlive() && answer !== undefined ? answer : new Promise(() => {});
  };
  return {
    create: (user) => mortal(() => travel.create(user)),
    read: (id) => mortal(() => travel.read(id)),
    patch: (id, patch) => mortal(() => travel.patch(id, patch)),
    remove: (id) => mortal(() => travel.remove(id)),
    byEmail: (emails, timeoutMs) => mortal(() => travel.byEmail(emails, timeoutMs)),
    page: (offset, limit) => mortal(() => travel.page(offset, limit)),
    serverTime: travel.serverTime,
  };
}

async function quiet({ db }: Database): Promise<void> {
  const isLeased = () =>
    db.selectFrom('identity').select('id').where('lease_until', 'is not', null).executeTakeFirst();
  while (await isLeased()) await new Promise((resolve) => setImmediate(resolve));
}

function connectionsOf(travel: FakeTravel, options: Options): Connection[] {
  const more = (options.more ?? []).map((one) =>
    typeof one === 'string' ? { id: one, account: options.name ?? 'travel', travel } : one,
  );
  const first = { id: options.name ?? 'default', account: options.name ?? 'travel', travel };
  return [first, ...more].map((one) => connectionOf(one, options));
}

function connectionOf(
  { id, account, travel }: { id: string; account: string; travel: FakeTravel },
  options: Options,
): Connection {
  const parsed = parseMapping(options.mapping ?? { scimUserMapping: [] });
  if (!('mapping' in parsed)) throw new Error(JSON.stringify(parsed.faults));
  return {
    id,
    account,
    mapping: parsed.mapping,
    policies: { ...defaultPolicies, ...options.policies },
    parkingDomain:
      options.parkingDomain === null ? undefined : (options.parkingDomain ?? 'jetbridge.invalid'),
    minimumShare: 0.5,
    lateMs: 30_000,
    tombstoneDays: 400,
    travel: travel.users,
    lookups: travel.lookups,
    feed: options.feed,
  };
}

/** Runs a test in a house of its own. */
export async function inHouse(
  test: (house: BridgeHouse) => Promise<void>,
  options: Options = {},
): Promise<void> {
  const house = await bridgeHouse(options);
  try {
    await test(house);
  } finally {
    await house.close();
  }
}
