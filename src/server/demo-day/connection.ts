import { DEMO_CONNECTION } from '../../admin/demo-day.ts';
import { connectionSchema } from '../../config/schema.ts';
import type { ConnectionSettings } from '../../config/settings.ts';
import { defaultPolicies } from '../../provisioning/policies.ts';
import type { ProvisioningService } from '../../provisioning/service.ts';
import { findDemoDay, type StoredDemoDay } from '../../store/demo-day.ts';
import { type EmbeddedAddress, type OpenConnection, openConnection } from '../open-connection.ts';
import type { ServerDeps } from '../open-store.ts';
import { readSavedDemoDay } from './lease.ts';

/** The interval at which a replica looks whether another one has created or removed the demo day, in milliseconds. */
const FOLLOW_MS = 1_000;

/** Dependencies of the connection of the demo day. */
export interface DemoConnectionDeps {
  parts: ServerDeps;
  /** The connections that this process serves. That of the demo day is added to the list, and removed from it. */
  connections: OpenConnection[];
  provisioning: ProvisioningService;
  embeddedAddress: EmbeddedAddress;
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
  const { database, runtime, settings, live } = deps.parts;
  const configured = settings.connections.map(({ id }) => id);
  let isRecorded = false;
  const record = async (isServed: boolean) => {
    if (isServed === isRecorded) return;
    await live.recordServed(isServed ? [...configured, DEMO_CONNECTION] : configured);
    isRecorded = isServed;
  };
  let wasStored = false;
  let removals = 0;
  const syncOnce = async () => {
    const found = await findDemoDay(database, DEMO_CONNECTION, runtime.now());
    if (found) database.scopes.add({ account: found.account, connection: DEMO_CONNECTION });
    const phase = readSavedDemoDay(found?.state)?.phase;
    if (found && (phase === 'playing' || phase === 'played')) {
      await record(true);
      serve(deps, found.account, readMapping);
    } else {
      await endServing(deps);
      await record(false);
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

function serve(
  { parts, connections, provisioning, embeddedAddress }: DemoConnectionDeps,
  account: string,
  readMapping: () => ConnectionSettings['mapping'],
): void {
  if (connections.some(isDemo)) return;
  const { settings, live, recorder, runtime } = parts;
  const shared = { embeddedAddress, common: settings, sharers: live.count, recorder };
  const open = openConnection(demoSettings({ account, mapping: readMapping() }), shared, runtime);
  // The other connections of the account import the travelers whom nobody has linked.
  const connection = { ...open.connection, isImported: false };
  connections.push({ ...open, connection });
  provisioning.addConnection(connection);
}

async function endServing({ connections, provisioning }: DemoConnectionDeps): Promise<void> {
  const index = connections.findIndex(isDemo);
  if (index < 0) return;
  const [open] = connections.splice(index, 1);
  await provisioning.removeConnection(DEMO_CONNECTION);
  open?.close();
}

function isDemo({ connection: { id } }: OpenConnection): boolean {
  return id === DEMO_CONNECTION;
}

function demoSettings({
  account,
  mapping,
}: Pick<ConnectionSettings, 'account' | 'mapping'>): ConnectionSettings {
  return {
    ...{ id: DEMO_CONNECTION, account, mapping, mappingFile: 'demo/mapping.json', scimToken: undefined },
    travelApi: { ...connectionSchema.parse({}).travelApi, url: 'embedded', key: undefined, feed: false },
    // It links no traveler of others, and shows how an admin decides about somebody who returns.
    policies: { ...defaultPolicies, onExistingUser: 'refuse', onReturn: 'hold' },
  };
}
