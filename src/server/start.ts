import type { Express, Request } from 'express';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import { type HttpDeps, httpApp } from '../http/app.ts';
import { createLog } from '../http/log.ts';
import { healthRoutes, httpMetrics, measureProcess, metricsRoutes } from '../http/monitoring.ts';
import {
  addressPredicate,
  enforceHttps,
  isLoopback,
  originReader,
  transportReader,
} from '../http/proxies.ts';
import { type LimitHandlers, type SocketLimits, socketLimits } from '../http/sockets.ts';
import { MAX_DELAY_MS } from '../provisioning/circuit-breaker.ts';
import { isLookedUp } from '../provisioning/event-feed.ts';
import { holdAlarms } from '../provisioning/hold-alarms.ts';
import type { Identity } from '../provisioning/identity.ts';
import type { ImportOptions, ImportResult } from '../provisioning/import.ts';
import type { Runtime } from '../provisioning/runtime-ports.ts';
import {
  type ProvisioningService,
  type ProvisioningStore,
  provisioningService,
} from '../provisioning/service.ts';
import type { TravelFailure } from '../provisioning/travel-ports.ts';
import { scimApp } from '../scim/app.ts';
import { answerUnreadableRequest, refuseExpectation, refusePipelinedRequest } from '../scim/errors.ts';
import { repairFutureTimes } from '../store/clock-repair.ts';
import { ensureConnection } from '../store/connections.ts';
import { type ScimTokens, scimTokens } from '../store/credentials.ts';
import type { Database } from '../store/database.ts';
import { deliveryQueue } from '../store/delivery-queue.ts';
import { reportedHolds } from '../store/hold-alarms.ts';
import { openDatabase } from '../store/open-database.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import { replicas } from '../store/replicas.ts';
import { requestLog } from '../store/request-log.ts';
import { WriteHealth } from '../store/write-health.ts';
import { createRequestLogWriter } from '../travel/request-log-writer.ts';
import { MAX_WAIT_MS } from '../travel/webhooks/attempt.ts';
import { createFirstToken, oauthRoutes, refusalDeps, scimAuthenticator } from './access.ts';
import { adminRoutes, makeFirstAdmin } from './admin.ts';
import { alertSender } from './alerts.ts';
import { type EmbeddedTravel, openEmbeddedTravel } from './embedded.ts';
import { reencryptSecrets } from './encryption-keys.ts';
import {
  registerHolds,
  registerIdentities,
  registerImports,
  registerMappingFaults,
  registerPauses,
  registerReplicas,
  registerStaleLookups,
  registerWriteHealth,
} from './gauges.ts';
import {
  createHttpServer,
  type HttpServer,
  type LoopbackServer,
  listen,
  openLoopbackServer,
  refusePlainHttp,
  stopServer,
} from './http-server.ts';
import { joinReplicas, type LiveReplicas } from './live-replicas.ts';
import { reloadMappingFiles } from './mapping-files.ts';
import {
  type EmbeddedAddress,
  findRefusedCredentials,
  type OpenConnection,
  openConnection,
} from './open-connection.ts';
import { sharedClock, steadyClock, systemRuntime, wait } from './runtime.ts';
import { type TokenUses, writeTokenUses } from './token-uses.ts';

/** A running service. */
export interface Service {
  url: string;
  /**
   * Creates the secrets that a first start needs and the settings do not give. They are stored as hashes only, so the caller must
   * show them.
   */
  makeSecrets(): Promise<{ scimToken: string | undefined; travelApiKey: string | undefined }>;
  /** Creates the account `admin` if there is no account yet. Returns the password that the caller must show. */
  makeFirstAdmin(): Promise<string | undefined>;
  /** Returns the connections whose credential the travel API refuses. Those whose travel API cannot be asked are left out. */
  findRefusedCredentials(): Promise<{ connection: string; keyEnv: string }[]>;
  /** Reads all travelers of a connection now. */
  importTravelers(
    connection: string,
    onPage: (read: number, total: number) => void,
    options?: ImportOptions,
  ): Promise<ImportResult | TravelFailure>;
  /** Reconciles every identity that is due, then returns all identities of a connection. */
  identities(connection: string): Promise<Identity[]>;
  /** Reads the certificate files again and serves new TLS connections with them. */
  renewCertificate(): void;
  /** Reads the mapping files again and puts those that have changed in force. */
  reloadMappingFiles(): Promise<void>;
  /** Stops accepting requests, waits a limited time for running work, ends the background work, closes the database. */
  close(): Promise<void>;
}

/** Differences from production, for tests and commands. */
export interface StartOptions {
  /** If false, no background work runs, and only requests cause reconciliations. */
  background?: boolean;
  /** The folder of the built admin page; without it only the API of the page is served. */
  page?: string;
  log?: Logger;
  checkpoint?: Runtime['checkpoint'];
  /** Times and limits, to be set lower than in production. */
  limits?: Partial<SocketLimits>;
}

/** The open database, and the parts of the service that depend only on it and on the settings. */
interface ServerDeps {
  settings: Settings;
  log: Logger;
  runtime: Runtime;
  database: Database;
  writes: WriteHealth;
  store: ProvisioningStore;
  /** This process among those that use the database. */
  live: LiveReplicas;
  tokens: ScimTokens;
  tokenUses: TokenUses;
  embedded: EmbeddedTravel | undefined;
  refusals: ReturnType<typeof refusalDeps>;
  http: HttpDeps;
  /**
   * The listener is called with the type of each resource that changes in the embedded travel service. `start` sets it.
   */
  embeddedChanges: { listener(type: string): void };
  /** Writes the pending entries of the request log and uses of tokens, and closes the database. */
  close(): Promise<void>;
}

/** Starts the service on one port: opens the store, wires all parts together, starts the background work. */
export async function start(settings: Settings, options: StartOptions = {}): Promise<Service> {
  const deps = await openStore(settings, options);
  const servers = await openServers(deps, options.limits);
  const { server, loopbackServer, url } = servers;
  // The server already accepts connections. Do not await anything before `serve`, so that the first request finds its
  // handler.
  const { connections, provisioning } = openProvisioning(deps, servers.embeddedAddress);
  const app = createApp(deps, provisioning, { ...servers, page: options.page });
  server.serve(requestHandlers(app, deps.http));
  const background = options.background === false ? undefined : startBackground(deps, provisioning);
  // A failed write may have prevented later steps, such as marking dependent identities as dirty. An import repeats
  // them.
  deps.writes.onRecovery(() => background?.importAgain());
  deps.embeddedChanges.listener = (type) => {
    if (!isLookedUp(type)) return;
    for (const { connection } of connections) connection.lookups.expire();
    background?.refreshRules();
  };
  return {
    url,
    makeSecrets: async () => ({
      scimToken: await createFirstToken(deps),
      travelApiKey: await deps.embedded?.createFirstKey(),
    }),
    makeFirstAdmin: () => makeFirstAdmin(settings, deps),
    findRefusedCredentials: () => findRefusedCredentials(connections),
    importTravelers: (id, onPage, options) =>
      provisioning.importer.run(connectionNamed(connections, id), onPage, options),
    identities: async (id) => {
      await provisioning.reconcileDue();
      return (await deps.store.identities.findPage(id, 0, Number.MAX_SAFE_INTEGER)).identities;
    },
    close: async () => {
      await waitAtMost(STOP_MS, deps.runtime, stopWork(server, provisioning, background));
      for (const connection of connections) connection.close();
      await loopbackServer?.close();
      await deps.live.stop();
      await deps.close();
    },
    renewCertificate: server.renewCertificate,
    reloadMappingFiles: () =>
      reloadMappingFiles({
        ...deps,
        provisioning,
        connectionNamed: (id) => connectionNamed(connections, id),
      }),
  };
}

/** Opens and migrates the database, and the stores. A start that fails leaves nothing open that keeps the process alive. */
async function openStore(settings: Settings, options: StartOptions): Promise<ServerDeps> {
  const log = options.log ?? createLog(settings.logLevel);
  const database = await openDatabase(settings, { exclusive: true });
  const clock = sharedClock(steadyClock());
  const deps = { database, log, runtime: systemRuntime(log, { ...options, now: clock.now }) };
  const writes = new WriteHealth({ database, clock: { now: () => performance.now(), wait }, log });
  try {
    const parts = await openStores(settings, deps, writes);
    const isReplica = database.dialect.isShared && options.background !== false;
    const live = await joinReplicas({ replicas: replicas(database), clock, log, isReplica });
    return { ...parts, live };
  } catch (error) {
    await writes.stop();
    await database.close();
    throw error;
  }
}

/** Removes what an earlier process left in the database, and opens the stores. */
async function openStores(
  settings: Settings,
  { database, log, runtime }: Pick<ServerDeps, 'database' | 'log' | 'runtime'>,
  writes: WriteHealth,
): Promise<Omit<ServerDeps, 'live'>> {
  await reencryptSecrets(settings, { database, log, now: Date.now() });
  const store = provisioningStore(database);
  for (const { id, account } of settings.connections) await ensureConnection(database, { id, account });
  if (!database.dialect.isShared) await takeOver(settings, { database, store, now: runtime.now() });
  const requestLogWriter = createRequestLogWriter({
    requests: requestLog(database),
    clock: { now: runtime.wallClock, wait: runtime.wait },
    log,
  });
  const embeddedChanges: ServerDeps['embeddedChanges'] = { listener: () => {} };
  const refusals = refusalDeps(database);
  const embedded = await openEmbeddedTravel(settings, {
    ...{ database, log, requestLogWriter },
    refusals: refusals.travel,
    onChange: (type) => embeddedChanges.listener(type),
  });
  const tokens = scimTokens(database);
  const tokenUses = writeTokenUses({ tokens, wait: runtime.wait, log });
  return {
    ...{ settings, log, runtime, database, writes, store, embedded, refusals, embeddedChanges },
    ...{ tokens, tokenUses },
    http: createHttpDeps(settings, { log, runtime, store, writes }),
    close: async () => {
      await Promise.all([requestLogWriter.close(), tokenUses.close(), writes.stop()]);
      await database.close();
    },
  };
}

/** Ends the leases of earlier processes, which have died: only one process at a time uses the database. */
async function takeOver(
  { connections }: Settings,
  { database, store, now }: Pick<ServerDeps, 'database' | 'store'> & { now: number },
): Promise<void> {
  await store.leases.releaseAll();
  await store.tasks.reset();
  await store.rules.forgetFiles();
  await deliveryQueue(database).releaseLeases('all', now);
  // If the clock was set back while the service was stopped, retries would otherwise wait for hours.
  await repairFutureTimes(database, now, {
    attemptMs: MAX_DELAY_MS,
    checkMs: Object.fromEntries(connections.map(({ id, travelApi }) => [id, travelApi.lateMs])),
    deliveryMs: MAX_WAIT_MS,
  });
}

function createHttpDeps(
  { trustedProxies }: Settings,
  { log, runtime, store, writes }: Pick<ServerDeps, 'log' | 'runtime' | 'store' | 'writes'>,
): HttpDeps {
  const metrics = httpMetrics();
  measureProcess(metrics);
  registerIdentities(metrics, store);
  registerWriteHealth(metrics, writes);
  registerHolds(metrics, store);
  registerImports(metrics, store);
  const isTrusted = addressPredicate(trustedProxies);
  return { log, metrics, newId: runtime.newId, now: () => performance.now(), isTrusted };
}

interface Servers {
  server: HttpServer;
  /**
   * A second server for the bridge's own calls to the embedded service by plain HTTP; undefined if the public server
   * allows plain HTTP.
   */
  loopbackServer: LoopbackServer | undefined;
  url: string;
  embeddedAddress: EmbeddedAddress;
}

/** Starts to listen. The public server has no handler yet: its requests wait until `serve` is called. */
async function openServers(
  { settings, log, live, embedded, http, close }: ServerDeps,
  limits: Partial<SocketLimits> | undefined,
): Promise<Servers> {
  const server = createHttpServer(settings.tls, log, { ...socketLimits(settings.maxConnections), ...limits });
  const isPlain = !settings.tls && !settings.requireHttps;
  const loopbackServer = isPlain || !embedded ? undefined : await openLoopbackServer(embedded.app, http);
  const url = await listen(server, settings).catch(async (error: unknown) => {
    await loopbackServer?.close();
    await live.stop();
    await close();
    throw error;
  });
  const embeddedAddress = { url: loopbackServer?.url ?? url, key: embedded?.bridgeKey ?? '' };
  return { server, loopbackServer, url, embeddedAddress };
}

function openProvisioning(
  { settings, store, runtime, live, http: { metrics } }: ServerDeps,
  embeddedAddress: EmbeddedAddress,
): { connections: OpenConnection[]; provisioning: ProvisioningService } {
  const connections = settings.connections.map((connection) =>
    openConnection(connection, { embeddedAddress, common: settings, sharers: live.count }, runtime),
  );
  const provisioning = provisioningService({
    ...{ store, runtime },
    connections: connections.map(({ connection }) => connection),
    writeBudgetMs: settings.writeBudgetMs,
  });
  registerStaleLookups(metrics, connections);
  registerPauses(metrics, provisioning);
  registerReplicas(metrics, live);
  registerMappingFaults(metrics, provisioning);
  return { connections, provisioning };
}

/** The application, and handlers for requests that never reach it; these log and count their requests as well. */
function requestHandlers(handle: Express, http: HttpDeps): LimitHandlers {
  return {
    handle,
    refuse: httpApp(http, (app) => app.use(refusePipelinedRequest)),
    refuseExpectation: httpApp(http, (app) => app.use(refuseExpectation)),
    answerFault: answerUnreadableRequest(() => new Date()),
  };
}

/** Mounts every path that docs/architecture.md lists. */
function createApp(
  deps: ServerDeps,
  { users, groups }: ProvisioningService,
  { server: { messageClasses }, url, page }: Servers & { page: string | undefined },
): Express {
  const { settings, database, writes, embedded, refusals, http } = deps;
  const isReady = () => database.ping().then(() => true);
  const authenticate = scimAuthenticator(deps);
  const isTrusted = addressPredicate(settings.trustedProxies);
  const [transportOf, originOf] = [transportReader(isTrusted, isLoopback), originReader(isTrusted)];
  const chosenUrl = settings.publicUrl?.replace(/\/+$/, '');
  const publicUrl = (request: Request) => chosenUrl ?? originOf(request) ?? url;
  const isRequired = settings.requireHttps;
  const served = embedded
    ? 'SCIM 2.0 is at /scim/v2, the travel service at /api, its description at /api/docs.'
    : 'SCIM 2.0 is at /scim/v2.';
  return httpApp({ ...http, messageClasses, served }, (app) => {
    // Each layer slows every request, so omit this one if all requests are plain and local.
    if (isRequired || settings.tls || settings.trustedProxies.length > 0)
      app.use(enforceHttps({ transportOf, refuse: refusePlainHttp, isRequired }));
    // The most frequent paths come first.
    const { now } = http;
    app.use('/scim/v2', scimApp({ users, groups, authenticate, refusals: refusals.scim, publicUrl, now }));
    if (embedded) app.use('/api', embedded.app);
    const isSecure = (request: Request) => transportOf(request) === 'https';
    app.use('/admin', adminRoutes({ ...deps, isSecure, page }));
    app.get('/', (_request, response) => response.redirect('/admin'));
    app.use('/oauth/token', oauthRoutes({ ...deps, limit: refusals.limit }, chosenUrl ?? url));
    app.use(healthRoutes({ isReady, writes }), metricsRoutes(http.metrics, { now, wait }));
  });
}

/** Starts the loops of the bridge and of the embedded travel service. */
function startBackground(
  { settings, runtime, log, database, store, live, embedded }: ServerDeps,
  provisioning: ProvisioningService,
): ReturnType<ProvisioningService['startBackground']> {
  const loops = provisioning.startBackground();
  const retryUnresolved = () =>
    void loops.retryUnresolved().catch((error: unknown) => {
      log.error({ err: error }, 'identities that wait could not be marked; the next import repeats it');
    });
  live.onDeath(retryUnresolved);
  // This process may be one that died before.
  retryUnresolved();
  const alerts = alertSender(settings.alerts, { clock: runtime, log });
  const alarms = holdAlarms({ holds: store.holds, reportedHolds: reportedHolds(database), alerts, runtime });
  const embeddedLoops = embedded?.run();
  return {
    refreshRules: loops.refreshRules,
    importAgain: loops.importAgain,
    retryUnresolved: loops.retryUnresolved,
    stop: async () => {
      await Promise.all([loops.stop(), embeddedLoops?.stop(), alarms.stop(), alerts.close()]);
    },
  };
}

function connectionNamed(connections: OpenConnection[], id: string): OpenConnection['connection'] {
  const found = connections.find(({ connection }) => connection.id === id);
  if (!found) throw new Error(`there is no connection ${id}`);
  return found.connection;
}

/** The time that running requests and travel calls get to finish when the service stops, in milliseconds. */
const STOP_MS = 10_000;

/** Waits for the work, but no longer than `ms` milliseconds. */
async function waitAtMost(ms: number, runtime: Pick<Runtime, 'wait'>, work: Promise<void>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([work, runtime.wait(ms, timer.signal)]);
  // A pending timer would keep the process alive.
  timer.abort();
}

/** Ends requests and loops, then waits until running reconciliations have stored their outcomes. */
async function stopWork(
  { server }: HttpServer,
  provisioning: ProvisioningService,
  background: ReturnType<ProvisioningService['startBackground']> | undefined,
): Promise<void> {
  await Promise.all([stopServer(server), background?.stop()]);
  await provisioning.idle();
}
