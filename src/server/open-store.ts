import type { Logger } from 'pino';
import type { ThreadLimits } from '../admin/mapping-thread/thread.ts';
import { PASSWORD_COSTS, type PasswordCosts } from '../admin/sign-in/passwords.ts';
import { openSignIns, type SignIns } from '../admin/sign-in/sign-ins.ts';
import { isUnencrypted, UNENCRYPTED_DATABASE } from '../config/database-url.ts';
import { faultLine, SettingsFault } from '../config/faults.ts';
import type { Settings } from '../config/settings.ts';
import { NOT_SERVED, withStoredConnections } from '../config/stored-connections.ts';
import type { HttpDeps } from '../http/app.ts';
import { createLog } from '../http/log.ts';
import { httpMetrics, measureProcess } from '../http/monitoring.ts';
import { addressPredicate } from '../http/proxies.ts';
import type { SocketLimits } from '../http/sockets.ts';
import { sumUpStrangers } from '../http/stranger-lines.ts';
import { exchangeStore } from '../log/exchange-store.ts';
import { exchangeRecorder } from '../log/recorder.ts';
import type { ExchangeRecorder } from '../model/exchange.ts';
import type { Runtime } from '../model/runtime-ports.ts';
import { leaseDuration } from '../provisioning/calls/lease.ts';
import { ensureConnection } from '../store/connections.ts';
import { type ScimTokens, scimTokens } from '../store/credentials/credentials.ts';
import { currentEncryptionKey, encryption, previousEncryptionKey } from '../store/credentials/encryption.ts';
import { peopleSummaries } from '../store/identities/people-summaries.ts';
import { type ProvisioningStore, provisioningStore } from '../store/provisioning-store.ts';
import { joinReplicas, type LiveReplicas, sharedClock } from '../store/queues/live-replicas.ts';
import { replicas } from '../store/queues/replicas.ts';
import { shortenLeases } from '../store/queues/shorten-leases.ts';
import { type RestoreWatch, watchForRestore } from '../store/restore/restore-watch.ts';
import { writeFileOf } from '../store/restore/write-file.ts';
import type { Database } from '../store/sql/database.ts';
import { openDatabase } from '../store/sql/open-database.ts';
import { WriteHealth } from '../store/sql/write-health.ts';
import { readStoredSettings } from '../store/stored-connections.ts';
import { deliveryQueue } from '../store/travel/delivery-queue.ts';
import { hasSecrets, reencryptStoredSecrets } from '../store/travel/travel-secrets.ts';
import type { OpenTracing } from '../tracing/open-telemetry.ts';
import { LEASE_MS } from '../travel/webhooks/dispatcher.ts';
import { refusalDeps } from './access.ts';
import { registerDatabaseMetrics } from './call-metrics.ts';
import { type EmbeddedTravel, openEmbeddedTravel } from './embedded.ts';
import { countLostExchanges, countRefusedSignIns, registerStoreGauges } from './gauges.ts';
import { steadyClock, systemRuntime, wait } from './runtime.ts';
import { registerPeopleGauges, registerReadingGauges, registerWebhookGauges } from './work-metrics.ts';

/** Differences from production, for tests and commands. */
export interface StartOptions {
  /** If false, no background work runs, and only requests cause reconciliations. */
  background?: boolean;
  /** If false, throws NoDatabase if there is no database, and creates nothing. */
  mayCreate?: boolean;
  /** The folder of the built admin page; without it only the API of the page is served. */
  page?: string;
  /** The folder of the documents as pages; without it there are none at /docs. */
  documents?: string;
  /**
   * The program of the thread that computes with mappings (`admin/mapping-thread/worker.ts`); without it the admin API checks, previews and
   * applies none.
   */
  mappingProgram?: string;
  /** The folder of the recorded demo day; without it there is none. */
  demo?: string;
  /**
   * If true, the metrics contain those of the process. Their measurement, a timer among it, ends with the process, so that
   * only a program whose process serves until it ends asks for it.
   */
  measuresProcess?: boolean;
  log?: Logger;
  /** The clock of what guards against strangers: waits of refused sign-ins, minutes of logs, and the age of audit entries. */
  strangerClock?: StrangerClock;
  checkpoint?: Runtime['checkpoint'];
  /** Times and limits, to be set lower than in production. */
  limits?: Partial<SocketLimits>;
  mappingLimits?: Partial<ThreadLimits>;
  /** The interval in milliseconds at which people are counted for the conditions. */
  countMs?: number;
  /** The costs of the hashes of new passwords, to be set lower than in production. */
  passwordCosts?: PasswordCosts;
}

/** `now` returns epoch milliseconds. */
type StrangerClock = { now(): number; wait: Runtime['wait'] };

/** The open database, and the parts of the service that depend only on it and on the settings. */
export interface ServerDeps {
  settings: Settings;
  log: Logger;
  runtime: Runtime;
  database: Database;
  writes: WriteHealth;
  store: ProvisioningStore;
  /** This process among those that use the database. */
  live: LiveReplicas;
  restoreWatch: RestoreWatch;
  tokens: ScimTokens;
  embedded: EmbeddedTravel | undefined;
  refusals: ReturnType<typeof refusalDeps>;
  http: HttpDeps;
  signIns: SignIns;
  passwordCosts: PasswordCosts;
  /** Adds to the log of exchanges; undefined if the settings disable it. */
  recorder: ExchangeRecorder | undefined;
  /**
   * The listener is called with the type of each resource that changes in the embedded travel service. `start` sets it.
   */
  embeddedChanges: { listener(type: string): void };
  /** Writes the pending entries of the log and uses of tokens, and closes the database. */
  close(): Promise<void>;
}

/** Opens and migrates the database, and the stores. A start that fails leaves nothing open that keeps the process alive. */
export async function openStore(given: Settings, options: StartOptions): Promise<ServerDeps> {
  const log = options.log ?? createLog(given.logLevel);
  const { problem, remedy } = UNENCRYPTED_DATABASE;
  if (given.postgres && isUnencrypted(given.postgres.url)) log.warn({ remedy }, problem);
  const database = await openDatabase(given, { exclusive: true, mayCreate: options.mayCreate });
  const clock = sharedClock(steadyClock());
  const runtime = systemRuntime(log, {
    ...options,
    now: clock.now,
    // Replicas compare these times, too, such as those of a departure and of a new user.
    ...(database.dialect.isShared ? { wallClock: clock.now } : {}),
  });
  const deps = { database, log, runtime, passwordCosts: options.passwordCosts ?? PASSWORD_COSTS };
  const writes = new WriteHealth({ database, clock: { now: () => performance.now(), wait }, log });
  const sharedRole = options.background === false ? 'command' : 'replica';
  const role = database.dialect.isShared ? sharedRole : 'only';
  const started: Started[] = [{ close: () => writes.stop() }];
  const close = async () => {
    await Promise.all(started.map((part) => part.close()));
    await database.close();
  };
  let live: LiveReplicas | undefined;
  try {
    const settings = withStoredConnections(given, await readStoredSettings(database), {
      onFaults: (connection, faults) => log.error({ connection, faults: faults.map(faultLine) }, NOT_SERVED),
    });
    const connections = settings.connections.map(({ id }) => id);
    const onSetBack = (time: number) => shortenAfterSetBack(settings, database, time);
    live = await joinReplicas({
      ...{ replicas: replicas(database), clock, wait, log, connections, onSetBack, role },
    });
    const strangerClock = options.strangerClock ?? { now: runtime.wallClock, wait: runtime.wait };
    const parts = await openStores(settings, { ...deps, writes, strangerClock }, started);
    if (options.measuresProcess) measureProcess(parts.http.metrics);
    return { ...parts, live, close };
  } catch (error) {
    await live?.stop();
    await close();
    throw error;
  }
}

/** The open database, with what every part of the service uses. */
type OpenDatabase = Pick<ServerDeps, 'database' | 'log' | 'runtime' | 'writes' | 'passwordCosts'>;

/** A part with timers, which keep the process alive until it is closed. */
interface Started {
  close(): Promise<void>;
}

/** Removes what an earlier process left in the database, and opens the stores. Adds each part that must be closed to `started`. */
async function openStores(
  settings: Settings,
  deps: OpenDatabase & { strangerClock: StrangerClock },
  started: Started[],
): Promise<Omit<ServerDeps, 'live' | 'close'>> {
  const { database, log, runtime, writes, strangerClock, passwordCosts } = deps;
  const encryptionKey = currentEncryptionKey(settings);
  await reencryptSecrets(settings, { database, log });
  for (const warning of settings.warnings) log.warn(warning);
  const store = provisioningStore(database);
  for (const connection of settings.connections) await ensureConnection(database, connection, runtime.now());
  if (!database.dialect.isShared) await takeOver({ database, store, now: runtime.now() });
  const restoreWatch = await watchForRestore({
    ...{ database, modes: store.modes, file: writeFileOf(settings), runtime, log },
  });
  started.push(restoreWatch);
  const tracing = settings.traces && (await openTraces(settings.traces, log));
  if (tracing) started.push(tracing);
  const http = createHttpDeps(settings, store, deps);
  const { metrics } = http;
  // It also deletes what is older than the settings allow.
  const logged = exchangeRecorder({
    ...{ store: exchangeStore(database), clock: strangerClock, log: runtime.log },
    ...{ keep: settings.requestLog, onLoss: countLostExchanges(metrics) },
  });
  started.push(logged);
  const recorder = settings.requestLog.keepDays > 0 ? logged : undefined;
  const embeddedChanges: ServerDeps['embeddedChanges'] = { listener: () => {} };
  const refusals = refusalDeps(database);
  const embedded = await openEmbeddedTravel(settings, {
    ...{ database, log, recorder },
    encryptionKey,
    refusals: refusals.travel,
    onChange: (type) => embeddedChanges.listener(type),
  });
  if (embedded) registerWebhookGauges(metrics, database, runtime.wallClock);
  const tokens = scimTokens(database);
  const lines = sumUpStrangers(strangerClock, log);
  const signIns = openSignIns({
    ...{ database, passwordCosts, clock: strangerClock, wallClock: runtime.wallClock, log },
    onRefusal: countRefusedSignIns(metrics),
  });
  started.push(lines, signIns);
  return {
    ...{ settings, log, runtime, database, writes, store, embedded, refusals, embeddedChanges, recorder },
    ...{ restoreWatch, tokens, signIns, passwordCosts },
    http: { ...http, strangerLines: lines.quota, tracing: tracing?.tracing },
  };
}

/** The packages of OpenTelemetry are loaded only if there are traces. */
async function openTraces(traces: NonNullable<Settings['traces']>, log: Logger): Promise<OpenTracing> {
  const { openTelemetry } = await import('../tracing/open-telemetry.ts');
  return openTelemetry(traces, { log, now: () => performance.now(), wait });
}

/**
 * Decrypts secrets with JETBRIDGE_KEY_PREVIOUS and encrypts them with the current key, so that the variable can be unset. Throws a
 * SettingsFault if the variable is set and does not decrypt all of them. Without the variable, unreadable secrets are only logged:
 * provisioning does not need them, and an admin can give their webhooks new ones.
 */
async function reencryptSecrets(
  settings: Settings,
  { database, log }: Pick<ServerDeps, 'database' | 'log'>,
): Promise<void> {
  if (!(await hasSecrets(database.db))) return;
  const previousKey = previousEncryptionKey(settings);
  const keys = {
    current: encryption(currentEncryptionKey(settings)),
    previous: previousKey ? encryption(previousKey) : undefined,
  };
  const { resealed, unreadable } = await reencryptStoredSecrets(database, keys, Date.now());
  if (unreadable > 0 && previousKey) throw previousKeyFault(unreadable);
  if (unreadable > 0)
    log.error(
      { secrets: unreadable },
      'secrets of webhooks were encrypted with another key than JETBRIDGE_KEY or jetbridge.key: set JETBRIDGE_KEY_PREVIOUS to it, or make new secrets',
    );
  if (previousKey)
    log.info(
      { secrets: resealed },
      'secrets were encrypted with the new key; JETBRIDGE_KEY_PREVIOUS can be unset',
    );
}

function previousKeyFault(count: number): SettingsFault {
  const secrets = count === 1 ? 'the secret of a webhook' : `${count} secrets of webhooks`;
  return new SettingsFault([
    {
      file: 'environment',
      path: 'JETBRIDGE_KEY_PREVIOUS',
      problem: `does not open ${secrets}, and neither does the present key`,
      remedy:
        'Set it to the key they were encrypted with; if that is lost, unset it, start, and make new secrets.',
    },
  ]);
}

/** Ends the leases of earlier processes, which have died: only one process at a time uses the database. */
async function takeOver({
  database,
  store,
  now,
}: Pick<ServerDeps, 'database' | 'store'> & { now: number }): Promise<void> {
  await store.leases.releaseAll();
  await store.tasks.reset();
  await store.rules.forgetFiles();
  await deliveryQueue(database).releaseLeases('all', now);
}

/** Shortens the leases of a shared database whose clock was set back. A connection that is new has none yet. */
async function shortenAfterSetBack(settings: Settings, database: Database, now: number): Promise<void> {
  const connections = settings.connections.filter(({ id }) => database.scopes.has(id));
  const leaseMs = connections.map(({ id, travelApi: { timeoutMs } }): [string, number] => [
    id,
    leaseDuration({ callTimeoutMs: timeoutMs }),
  ]);
  await shortenLeases(database, now, { leaseMs: Object.fromEntries(leaseMs), queueLeaseMs: LEASE_MS });
}

function createHttpDeps(
  { trustedProxies }: Settings,
  store: ProvisioningStore,
  { log, runtime, database, writes }: OpenDatabase,
): HttpDeps {
  const metrics = httpMetrics();
  registerStoreGauges(metrics, store, writes);
  registerDatabaseMetrics(metrics, database);
  const { wallClock: now } = runtime;
  registerPeopleGauges(metrics, { peopleSummaries: peopleSummaries(database), now });
  registerReadingGauges(metrics, { tasks: store.tasks, now });
  const isTrusted = addressPredicate(trustedProxies);
  return { log, metrics, newId: runtime.newId, now: () => performance.now(), isTrusted };
}
