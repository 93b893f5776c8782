import { Counter, Gauge } from 'prom-client';
import type { HttpMetrics } from '../http/monitoring.ts';
import { pauseReasons } from '../provisioning/circuit-breaker.ts';
import type { ForeignValues } from '../provisioning/foreign-values.ts';
import type { AlarmCount } from '../provisioning/holds.ts';
import { countImportsAtMaximum, isIncompleteImport } from '../provisioning/import.ts';
import type { ProvisioningService } from '../provisioning/service.ts';
import type { ProvisioningStore } from '../store/provisioning-store.ts';
import type { WriteHealth } from '../store/write-health.ts';
import type { LiveReplicas } from './live-replicas.ts';
import type { OpenConnection } from './open-connection.ts';

/** Registers a metric: the number of SCIM users of each connection by state. */
export function registerIdentities({ registry }: HttpMetrics, { reconcileQueue }: ProvisioningStore): void {
  new Gauge({
    name: 'jetbridge_identities',
    help: 'SCIM users by connection and state; dirty ones are on their way to the travel service.',
    labelNames: ['connection', 'state'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { connection, state, count } of await reconcileQueue.countByState())
        this.set({ connection, state }, count);
    },
  });
}

/** Registers metrics: whether the last import of a connection, by any replica, was incomplete or ended at its maximum. */
export function registerImports({ registry }: HttpMetrics, { tasks }: ProvisioningStore): void {
  new Gauge({
    name: 'jetbridge_import_incomplete',
    help: '1 while the last import of a connection saw too few of the known travelers to conclude that the others are gone.',
    labelNames: ['connection'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { connection, state } of await tasks.listStates('import'))
        this.set({ connection }, isIncompleteImport(state) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'jetbridge_import_maximum',
    help: 'The number of travelers at which the last import of a connection has ended although the travel API lists more; no series otherwise.',
    labelNames: ['connection'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { connection, count } of await countImportsAtMaximum(tasks)) this.set({ connection }, count);
    },
  });
}

/**
 * Registers a metric: whether calls to the travel API pause. Its value is 1 for the present reason and 0 for all
 * others, because an alert can only watch a series that exists.
 */
export function registerPauses({ registry }: HttpMetrics, { pauses }: ProvisioningService): void {
  new Gauge({
    name: 'jetbridge_travel_api_paused',
    help: 'Whether the calls of a connection to its travel API pause, by reason.',
    labelNames: ['connection', 'reason'],
    registers: [registry],
    collect() {
      for (const { connection, reason } of pauses())
        for (const one of pauseReasons) this.set({ connection, reason: one }, one === reason ? 1 : 0);
    },
  });
}

/** Registers metrics: the paused connections, the people whose changes wait in them, and the signs of a restore that is not known. */
export function registerPausedConnections(
  { registry }: HttpMetrics,
  { modes }: ProvisioningStore,
  suspicion: ForeignValues,
): void {
  new Gauge({
    name: 'jetbridge_paused_changes',
    help: 'People whose changes wait in a paused connection, by what would be sent; there is no series while a connection is live.',
    labelNames: ['connection', 'change'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { connection, people } of await modes.listPaused())
        for (const [change, count] of Object.entries(people)) this.set({ connection, change }, count);
    },
  });
  new Gauge({
    name: 'jetbridge_foreign_values',
    help: 'People whose travelers had values that were never sent when the server started after ten minutes without one; from three on, the database may have been restored.',
    labelNames: ['connection'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { connection, people } of suspicion.counts()) this.set({ connection }, people);
    },
  });
}

/** Registers a metric: the number of live replicas. */
export function registerReplicas({ registry }: HttpMetrics, live: LiveReplicas): void {
  new Gauge({
    name: 'jetbridge_replicas',
    help: 'Live replicas that use the same database, as this one knows them; they share the limits of the travel APIs.',
    registers: [registry],
    collect() {
      this.set(live.count());
    },
  });
}

/** Registers a metric: the number of faults of each mapping. */
export function registerMappingFaults(
  { registry }: HttpMetrics,
  { mappingFaults }: ProvisioningService,
): void {
  new Gauge({
    name: 'jetbridge_mapping_faults',
    help: 'Places of the mapping whose names the travel service does not know or take; the fields stay as they are.',
    labelNames: ['connection'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { connection, count } of mappingFaults()) this.set({ connection }, count);
    },
  });
}

/** Registers a metric: whether writes to the database fail. */
export function registerWriteHealth({ registry }: HttpMetrics, writes: WriteHealth): void {
  new Gauge({
    name: 'jetbridge_store_writes_failing',
    help: '1 while the database cannot be written, as on a full disk; else 0.',
    registers: [registry],
    collect() {
      this.set(writes.failure() === undefined ? 0 : 1);
    },
  });
}

/** Registers a metric: the number of people whose changes are held, by connection and cause. */
export function registerHolds({ registry }: HttpMetrics, { holds }: ProvisioningStore): void {
  new Gauge({
    name: 'jetbridge_held',
    help: 'People whose changes wait for an admin, by connection and cause.',
    labelNames: ['connection', 'cause'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { connection, cause, count } of await holds.countHolds())
        this.set({ connection, cause }, count);
    },
  });
}

/** Registers a metric: the number of people whose travelers may differ from the answers of the travel API, by connection and cause. */
export function registerUnconfirmed({ registry }: HttpMetrics, count: () => Promise<AlarmCount[]>): void {
  new Gauge({
    name: 'jetbridge_unconfirmed',
    help: 'People whose travelers may differ from the answers of the travel API, by connection and cause.',
    labelNames: ['connection', 'cause'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { connection, cause, count: people } of await count())
        this.set({ connection, cause }, people);
    },
  });
}

/** Registers a metric: the lookups that can no longer be read, so that older values are used. */
export function registerStaleLookups({ registry }: HttpMetrics, connections: OpenConnection[]): void {
  new Gauge({
    name: 'jetbridge_lookup_stale',
    help: 'Lookups by connection and part that the travel API no longer lets us read; an older reading serves.',
    labelNames: ['connection', 'part'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { connection, staleLookups } of connections)
        for (const part of staleLookups()) this.set({ connection: connection.id, part }, 1);
    },
  });
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
