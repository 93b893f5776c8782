import { Counter, Gauge } from 'prom-client';
import type { HttpMetrics } from '../http/monitoring.ts';
import type { AlarmCount } from '../model/holds.ts';
import { pauseReasons } from '../model/travel-ports.ts';
import type { FoundConditions } from '../provisioning/conditions/conditions.ts';
import type { ForeignValues } from '../provisioning/people/foreign-values.ts';
import { stateNamesText } from '../provisioning/people/person-texts.ts';
import type { ProvisioningService } from '../provisioning/service.ts';
import type { ProvisioningStore } from '../store/provisioning-store.ts';
import type { LiveReplicas } from '../store/queues/live-replicas.ts';
import type { WriteHealth } from '../store/sql/write-health.ts';
import type { OpenConnection } from './open-connection.ts';

/** Returns a function that reads, and that shares the reading with those who ask meanwhile, such as several gauges at one scrape. */
export function joinReads<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= read().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** The value of one series. Its labels are members too; members that are no labels are ignored. */
interface Row {
  count: number;
}

interface GaugeDefinition {
  name: string;
  help: string;
  labels?: string[];
  read(): Row[] | Promise<Row[]>;
}

/** Registers a gauge whose series are read anew at each scrape. */
export function registerGauge(
  { registry }: HttpMetrics,
  { name, help, labels = [], read }: GaugeDefinition,
): void {
  new Gauge({
    ...{ name, help, labelNames: labels, registers: [registry] },
    async collect() {
      const rows = await read();
      this.reset();
      for (const row of rows) {
        const own = Object.entries(row).filter(([member]) => labels.includes(member));
        this.set(Object.fromEntries(own), row.count);
      }
    },
  });
}

/** Registers the metrics of what the database has. */
export function registerStoreGauges(
  metrics: HttpMetrics,
  { reconcileQueue, holds, people }: ProvisioningStore,
  writes: WriteHealth,
): void {
  registerGauge(metrics, {
    name: 'jetbridge_identities',
    help: `SCIM users by connection and state: ${stateNamesText}.`,
    labels: ['connection', 'state'],
    read: () => reconcileQueue.countByState(),
  });
  registerGauge(metrics, {
    name: 'jetbridge_out_of_scope',
    help: 'SCIM users whom the scope of the mapping leaves out, by connection; there is no series while there are none.',
    labels: ['connection'],
    read: () => people.countOutOfScope(),
  });
  registerGauge(metrics, {
    name: 'jetbridge_store_writes_failing',
    help: '1 while the database cannot be written, as on a full disk; else 0.',
    read: () => [{ count: writes.failure() === undefined ? 0 : 1 }],
  });
  registerGauge(metrics, {
    name: 'jetbridge_held',
    help: 'People whose changes wait for an admin, by connection and cause.',
    labels: ['connection', 'cause'],
    read: () => holds.countHolds(),
  });
}

interface ServiceParts {
  store: ProvisioningStore;
  provisioning: ProvisioningService;
  connections: OpenConnection[];
  live: LiveReplicas;
  /** The signs of a restore that is not known. */
  suspicion: ForeignValues;
}

/** Registers the metrics of the connections and of the replicas. */
export function registerServiceGauges(
  metrics: HttpMetrics,
  { provisioning, connections, live, suspicion }: ServiceParts,
): void {
  registerGauge(metrics, {
    name: 'jetbridge_travel_api_paused',
    help: 'Whether the calls of a connection to its travel API pause, by reason.',
    labels: ['connection', 'reason'],
    // 0 for the reasons that do not apply, because an alert can only watch a series that exists.
    read: () =>
      provisioning
        .pauses()
        .flatMap(({ connection, reason: present }) =>
          pauseReasons.map((reason) => ({ connection, reason, count: reason === present ? 1 : 0 })),
        ),
  });
  registerGauge(metrics, {
    name: 'jetbridge_foreign_values',
    help: 'People whose travelers had values that were never sent when the server started after ten minutes without one; from three on, the database may have been restored.',
    labels: ['connection'],
    read: () => suspicion.counts().map(({ connection, people }) => ({ connection, count: people })),
  });
  registerGauge(metrics, {
    name: 'jetbridge_replicas',
    help: 'Live replicas that use the same database, as this one knows them; they share the limits of the travel APIs.',
    read: () => [{ count: live.count() }],
  });
  registerGauge(metrics, {
    name: 'jetbridge_mapping_faults',
    help: 'Places of the mapping whose names the travel service does not know or take; the fields stay as they are.',
    labels: ['connection'],
    read: provisioning.mappingFaults,
  });
  registerGauge(metrics, {
    name: 'jetbridge_lookup_stale',
    help: 'Lookups by connection and part that the travel API no longer lets us read; an older reading serves.',
    labels: ['connection', 'part'],
    read: () =>
      connections.flatMap(({ connection, staleLookups }) =>
        staleLookups().map((part) => ({ connection: connection.id, part, count: 1 })),
      ),
  });
}

/** Registers a metric: the open conditions, by connection, kind and severity. */
export function registerConditions(metrics: HttpMetrics, read: () => Promise<FoundConditions>): void {
  registerGauge(metrics, {
    name: 'jetbridge_conditions',
    help: 'Open conditions that need attention, by connection (empty: the whole service), kind and severity.',
    labels: ['connection', 'kind', 'severity'],
    read: async () => {
      const counts = new Map<string, { connection: string; kind: string; severity: string; count: number }>();
      for (const { connection = '', kind, severity } of (await read()).conditions) {
        const key = JSON.stringify([connection, kind, severity]);
        counts.set(key, { connection, kind, severity, count: (counts.get(key)?.count ?? 0) + 1 });
      }
      return [...counts.values()];
    },
  });
}

/** Registers a metric: the number of people whose travelers may differ from the answers of the travel API, by connection and cause. */
export function registerUnconfirmed(metrics: HttpMetrics, read: () => Promise<AlarmCount[]>): void {
  registerGauge(metrics, {
    name: 'jetbridge_unconfirmed',
    help: 'People whose travelers may differ from the answers of the travel API, by connection and cause.',
    labels: ['connection', 'cause'],
    read,
  });
}

/** Registers a metric: the exchanges that could not be written to the log. Returns the function that counts some. */
export function countLostExchanges({ registry }: HttpMetrics): (count: number) => void {
  const lost = new Counter({
    name: 'jetbridge_exchanges_lost_total',
    help: 'Exchanges that could not be written to the log of exchanges.',
    registers: [registry],
  });
  return (count) => lost.inc(count);
}

/** The labels of refused sign-ins, by the operation. */
const waysToSignIn = new Map([
  ['signIn', 'password'],
  ['signInWithOpenid', 'openid'],
]);

/** Registers a metric: the sign-ins to the admin page that were refused. Returns the function that counts one. */
export function countRefusedSignIns({ registry }: HttpMetrics): (action: string) => void {
  const refused = new Counter({
    name: 'jetbridge_sign_ins_refused_total',
    help: 'Sign-ins to the admin page that were refused, by the way to sign in.',
    labelNames: ['way'],
    registers: [registry],
  });
  // An alert can only watch a series that exists.
  for (const way of waysToSignIn.values()) refused.inc({ way }, 0);
  return (action) => refused.inc({ way: waysToSignIn.get(action) ?? 'other' });
}
