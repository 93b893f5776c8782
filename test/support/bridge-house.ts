import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bridge, bridge } from '../../src/bridge/bridge.ts';
import type { Connection, Policies } from '../../src/bridge/connection.ts';
import type { Identity } from '../../src/bridge/identity.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import { bridgeStore } from '../../src/store/bridge-store.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { openEmbedded } from '../../src/store/database.ts';
import { parseMapping } from '../../src/translator/mapping.ts';
import type { TravelUser } from '../../src/translator/travel-user.ts';
import { type Clock, clock } from './clock.ts';
import { type FakeTravel, fakeTravel } from './fake-travel.ts';

/** A bridge on a real store and a fake travel API, with time standing still and no background loops. */
export interface BridgeHouse {
  bridge: Bridge;
  travel: FakeTravel;
  clock: Clock;
  connection: Connection;
  /** The identity as kept, tombstones included. */
  identity(id: string, connection?: string): Promise<Identity>;
  /** The traveler linked to a SCIM user. */
  traveler(id: string): Promise<TravelUser | undefined>;
  /** The ids of the findings' fields and codes, e.g. `email: emailTaken`. */
  findings(id: string): Promise<string[]>;
  /** Works off what is due, then lets `ms` pass and does it again; for what backs off. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

interface Options {
  policies?: Partial<Policies>;
  mapping?: unknown;
  /** More connections to the same travel account. */
  more?: string[];
  random?: () => number;
}

/** A person as an IdP would send one. */
export function person(name: string, extra: ScimResource = {}): ScimResource {
  const email = `${name.toLowerCase()}@corp.example`;
  return {
    userName: email,
    name: { givenName: name, familyName: 'Smith' },
    emails: [{ value: email, type: 'work', primary: true }],
    active: true,
    ...extra,
  };
}

/** Opens a house of its own for one test; `close` takes it down. */
export async function bridgeHouse(options: Options = {}): Promise<BridgeHouse> {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-'));
  const database = await openEmbedded(directory, true);
  const travel = fakeTravel();
  const time = clock();
  const connections = ['default', ...(options.more ?? [])].map((id) => connectionOf(id, travel, options));
  for (const { id, account } of connections) await ensureConnection(database, { id, account });
  const store = bridgeStore(database);
  let last = 0;
  const house = bridge({
    store,
    connections,
    writeBudgetMs: 800,
    surroundings: {
      ...time,
      newId: () => {
        last += 1;
        return `id-${String(last).padStart(6, '0')}`;
      },
      random: options.random ?? (() => 0.5),
      log: { info: () => {}, warn: () => {}, error: () => {} },
      checkpoint: () => {},
    },
  });
  const identity = async (id: string, connection = 'default'): Promise<Identity> => {
    const found = await store.identities.byId(connection, id);
    if (!found) throw new Error(`there is no identity ${id}`);
    return found;
  };
  const [connection] = connections;
  if (!connection) throw new Error('there is no connection');
  return {
    bridge: house,
    travel,
    clock: time,
    connection,
    identity,
    traveler: async (id) => travel.people.get((await identity(id)).travelId ?? ''),
    findings: async (id) => (await identity(id)).findings.map(({ field, code }) => `${field}: ${code}`),
    pass: async (ms) => {
      await house.settleDue();
      time.advance(ms);
      await house.settleDue();
    },
    close: async () => {
      await database.close();
      rmSync(directory, { recursive: true });
    },
  };
}

function connectionOf(id: string, travel: FakeTravel, options: Options): Connection {
  const parsed = parseMapping(options.mapping ?? { scimUserMapping: [] });
  if (!('mapping' in parsed)) throw new Error(JSON.stringify(parsed.faults));
  return {
    id,
    account: 'travel',
    mapping: parsed.mapping,
    policies: { onExistingUser: 'link', deprovision: 'archive', ...options.policies },
    travel: travel.users,
    lookups: travel.lookups,
  };
}
