import type { ConnectionSettings } from '../config/settings.ts';
import { type ForeignValues, foreignValues } from '../provisioning/people/foreign-values.ts';
import { type ProvisioningService, provisioningService } from '../provisioning/service.ts';
import { countTravelCalls } from './call-metrics.ts';
import { registerServiceGauges } from './gauges.ts';
import { type EmbeddedAddress, type OpenConnection, openConnection } from './open-connection.ts';
import type { ServerDeps } from './open-store.ts';

/** The provisioning service and its connections. */
export interface OpenProvisioning {
  /** The list changes while the service runs. */
  connections: OpenConnection[];
  provisioning: ProvisioningService;
  suspicion: ForeignValues;
  /** Serves one more connection. */
  serveConnection(settings: ConnectionSettings): void;
  /** Serves a connection no longer; does nothing if it is not served. */
  endConnection(id: string): Promise<void>;
}

/** Opens the connections of the settings, each with its client for the travel API, and the provisioning service. */
export function openProvisioning(
  { settings, store, runtime, live, restoreWatch, recorder, http: { metrics, tracing } }: ServerDeps,
  embeddedAddress: EmbeddedAddress,
): OpenProvisioning {
  const deps = { embeddedAddress, common: settings, sharers: live.count, recorder, tracing };
  const countCall = countTravelCalls(metrics);
  const open = (connection: ConnectionSettings) =>
    openConnection(connection, { ...deps, onCall: (call) => countCall(connection.id, call) }, runtime);
  const connections = settings.connections.map(open);
  const suspicion = foreignValues({ gapMs: restoreWatch.gapMs, runtime });
  const provisioning = provisioningService({
    ...{ store, runtime, tracing },
    connections: connections.map(({ connection }) => connection),
    writeBudgetMs: settings.writeBudgetMs,
    onWrite: restoreWatch.countWrite,
    foreignValues: suspicion,
  });
  registerServiceGauges(metrics, { store, provisioning, connections, live, suspicion });
  return {
    ...{ connections, provisioning, suspicion },
    serveConnection: (added) => {
      const opened = open(added);
      connections.push(opened);
      provisioning.addConnection(opened.connection);
    },
    endConnection: async (id) => {
      const index = connections.findIndex(({ connection }) => connection.id === id);
      if (index < 0) return;
      const [ended] = connections.splice(index, 1);
      await provisioning.removeConnection(id);
      ended?.close();
    },
  };
}
