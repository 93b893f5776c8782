import { isDeepStrictEqual } from 'node:util';
import { type Fault, faultLine } from '../config/faults.ts';
import type { ConnectionSettings } from '../config/settings.ts';
import { NOT_SERVED, withStoredConnections } from '../config/stored-connections.ts';
import type { StoredConnections } from '../operations/deps.ts';
import type { ConnectionState } from '../store/connection-modes.ts';
import { deleteConnection } from '../store/connections.ts';
import { readStoredSettings } from '../store/stored-connections.ts';
import type { OpenProvisioning } from './open-provisioning.ts';
import type { ServerDeps } from './open-store.ts';

/** The interval at which a removed connection is looked at until no replica serves it, in milliseconds. */
const FORGET_MS = 1_000;

interface StoredConnectionsDeps
  extends Pick<ServerDeps, 'settings' | 'database' | 'store' | 'runtime' | 'live' | 'embedded'>,
    Pick<OpenProvisioning, 'connections' | 'serveConnection' | 'endConnection'> {
  log: { error(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** The connections of the database, as this process serves them. */
export interface ServedStoredConnections extends StoredConnections {
  /** Follows the changes of other processes, if others use the database. */
  follow(connections: readonly Pick<ConnectionState, 'connection' | 'settings'>[]): void;
  stop(): Promise<void>;
}

/** Serves the connections that are stored in the database as long as they are. The start has opened those that were stored then. */
export function storedConnections(deps: StoredConnectionsDeps): ServedStoredConnections {
  const { database, log } = deps;
  const end = new AbortController();
  const report = faultReporter(log);
  let last = Promise.resolve();
  const sync = () => {
    // One after the other, because each acts on what it has read.
    const syncOnce = () => syncConnections(deps, report);
    last = last.then(syncOnce, syncOnce);
    return last;
  };
  const forgotten = new Map<string, Promise<void>>();
  let followed: string | undefined;
  return {
    sync,
    isBeingForgotten: (id) => forgotten.has(id),
    forget: (id) => {
      const work = forget(deps, id, end.signal)
        .catch((error: unknown) =>
          log.error(
            { err: error, connection: id },
            `a removed connection was not forgotten; run ${REPAIR} ${id}`,
          ),
        )
        .finally(() => forgotten.delete(id));
      forgotten.set(id, work);
    },
    follow: (connections) => {
      const stored = JSON.stringify(connections.map(({ connection, settings }) => [connection, settings]));
      if (!database.dialect.isShared || stored === followed || end.signal.aborted) return;
      followed = stored;
      sync().catch((error: unknown) => {
        followed = undefined;
        log.warn({ err: error }, 'the stored connections could not be read; retrying');
      });
    },
    stop: async () => {
      end.abort();
      await Promise.all([last.catch(() => {}), ...forgotten.values()]);
    },
  };
}

const REPAIR = 'npx jetbridge connections forget';

/** Logs the faults of each stored connection once, until they are others. */
function faultReporter(log: StoredConnectionsDeps['log']): (id: string, faults: Fault[]) => void {
  const reported = new Map<string, string>();
  return (connection, faults) => {
    const lines = faults.map(faultLine);
    if (reported.get(connection) === lines.join('\n')) return;
    reported.set(connection, lines.join('\n'));
    log.error({ connection, faults: lines }, NOT_SERVED);
  };
}

async function syncConnections(
  deps: StoredConnectionsDeps,
  onFaults: (id: string, faults: Fault[]) => void,
): Promise<void> {
  const { settings, database, live, connections } = deps;
  const ofFile = settings.connections.filter(({ source }) => source === 'file');
  const stored = await readStoredSettings(database);
  const all = withStoredConnections({ ...settings, connections: ofFile }, stored, { onFaults });
  const wanted = all.connections.filter(({ source }) => source === 'database');
  for (const { id, source } of connections.map((served) => served.settings)) {
    if (source !== 'database' || wanted.some((one) => one.id === id)) continue;
    await deps.endConnection(id);
    await live.recordServed(id, false);
  }
  for (const one of wanted) await serve(deps, one);
}

/** Serves a connection as it is stored now. Its policies, limits and SCIM profile change in place, so that its requests and its work go on. */
async function serve(deps: StoredConnectionsDeps, wanted: ConnectionSettings): Promise<void> {
  const { id, account, travelApi, policies, access, scim } = wanted;
  const served = deps.connections.find(({ settings }) => settings.id === id)?.settings;
  if (served && served.account === account && isDeepStrictEqual(served.travelApi, travelApi)) {
    Object.assign(served.policies, policies);
    Object.assign(served.access, access);
    served.scim = scim;
    return;
  }
  // The embedded service runs only if a connection uses it when the process starts.
  if (travelApi.url === 'embedded' && !deps.embedded) return;
  if (served) await deps.endConnection(id);
  deps.database.scopes.add({ account, connection: id });
  await deps.live.recordServed(id, true);
  // Nothing may be sent for a connection that begins in shadow mode.
  await deps.store.modes.refresh(deps.runtime.now());
  deps.serveConnection(wanted);
}

/** Deletes a connection that is no longer stored, once no process serves it. */
async function forget(
  { database, runtime }: StoredConnectionsDeps,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if ((await readStoredSettings(database)).some((stored) => stored.id === id)) return;
    if ((await deleteConnection(database, { connection: id, now: runtime.now() })) === 'done') return;
    await runtime.wait(FORGET_MS, signal);
  }
}
