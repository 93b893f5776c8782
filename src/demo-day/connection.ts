import { DEMO_CONNECTION } from '../admin/demo-day.ts';
import { connectionSchema } from '../config/connection-schema.ts';
import type { ConnectionSettings, Settings } from '../config/settings.ts';
import { defaultPolicies } from '../provisioning/policies.ts';
import type { Log, Runtime } from '../provisioning/runtime-ports.ts';
import { findDemoDay, type StoredDemoDay } from '../store/demo-day.ts';
import type { ProvisioningStore } from '../store/provisioning-store.ts';
import type { LiveReplicas } from '../store/queues/live-replicas.ts';
import type { Database } from '../store/sql/database.ts';
import type { TravelDeps } from '../travel/collection.ts';
import { readSavedDemoDay } from './lease.ts';

/** The interval at which a replica looks whether another one has created or removed the demo day, in milliseconds. */
const FOLLOW_MS = 1_000;

/** The parts of the service that the demo day works with. */
export interface ServiceParts {
  settings: Settings;
  database: Database;
  store: ProvisioningStore;
  runtime: Runtime;
  log: Pick<Log, 'warn' | 'error'>;
  live: Pick<LiveReplicas, 'recordServed'>;
  embedded: { travel: TravelDeps } | undefined;
}

/** Dependencies of the connection of the demo day. */
export interface DemoConnectionDeps {
  parts: ServiceParts;
  /** Serves a connection from now on. If it imports no travelers, the other connections of its account do. */
  serveConnection(settings: ConnectionSettings, options: { isImported: boolean }): void;
  /** Ends that; does nothing if the connection is not served. */
  endConnection(id: string): Promise<void>;
}

/** The connection of the demo day, as this process serves it. */
export interface DemoConnection {
  /** Reads the demo day, and serves its connection unless there is none or it is being removed. */
  sync(): Promise<StoredDemoDay | undefined>;
  /** Does so again and again if other processes use the database, else once. */
  follow(signal: AbortSignal): Promise<void>;
  /** The number of removals that this process has seen. */
  removals(): number;
}

/** Serves the connection of the demo day as long as it exists, whichever process has created it. */
export function demoConnection(
  deps: DemoConnectionDeps,
  readMapping: () => ConnectionSettings['mapping'],
): DemoConnection {
  const { database, runtime, live } = deps.parts;
  let isServed = false;
  let wasStored = false;
  let removals = 0;
  const syncOnce = async () => {
    const found = await findDemoDay(database, DEMO_CONNECTION, runtime.now());
    if (found) database.scopes.add({ account: found.account, connection: DEMO_CONNECTION });
    const phase = readSavedDemoDay(found?.state)?.phase;
    if (found && (phase === 'playing' || phase === 'played')) {
      await live.recordServed(DEMO_CONNECTION, true);
      if (!isServed) deps.serveConnection(demoSettings(found.account, readMapping()), { isImported: false });
      isServed = true;
    } else {
      await deps.endConnection(DEMO_CONNECTION);
      isServed = false;
      await live.recordServed(DEMO_CONNECTION, false);
    }
    if (!found && wasStored) {
      database.scopes.remove(DEMO_CONNECTION);
      removals += 1;
    }
    wasStored = found !== undefined;
    return found;
  };
  let last: ReturnType<typeof syncOnce> = Promise.resolve(undefined);
  const sync = () => {
    // One after the other, because each acts on what it has read.
    last = last.then(syncOnce, syncOnce);
    return last;
  };
  const follow = async (signal: AbortSignal) => {
    do {
      await sync().catch((error: unknown) =>
        runtime.log.warn({ err: error }, 'the demo day could not be read; retrying'),
      );
      if (database.dialect.isShared) await runtime.wait(FOLLOW_MS, signal);
    } while (database.dialect.isShared && !signal.aborted);
  };
  return { sync, follow, removals: () => removals };
}

function demoSettings(account: string, mapping: ConnectionSettings['mapping']): ConnectionSettings {
  return {
    ...{
      id: DEMO_CONNECTION,
      source: 'demoDay',
      account,
      mapping,
      mappingFile: 'demo/mapping.json',
      scimToken: undefined,
    },
    mode: 'live',
    travelApi: { ...connectionSchema.parse({}).travelApi, url: 'embedded', key: undefined, feed: false },
    // It links no traveler of others, and shows how an admin decides about somebody who returns.
    policies: { ...defaultPolicies, onExistingUser: 'refuse', onReturn: 'hold' },
  };
}
