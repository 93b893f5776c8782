import { randomUUID } from 'node:crypto';
import type { Express, Request } from 'express';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import { type HttpDeps, httpApp } from '../http/app.ts';
import { hashSecret, newSecret, type RefusalDeps } from '../http/authentication.ts';
import { newLog } from '../http/log.ts';
import { healthRoutes, httpMetrics, measureProcess, metricsRoutes } from '../http/monitoring.ts';
import { type Arrival, addressesOf, arrivals, httpsDoor, isLoopback } from '../http/proxies.ts';
import { type Handlers, limitsOf, type SocketLimits } from '../http/sockets.ts';
import { LONGEST_MS } from '../provisioning/circuit-breaker.ts';
import { isLookedUp } from '../provisioning/event-feed.ts';
import { holdAlarms } from '../provisioning/hold-alarms.ts';
import type { Identity } from '../provisioning/identity.ts';
import type { Imported, ImportOptions } from '../provisioning/import.ts';
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
import { type Database, openEmbedded } from '../store/database.ts';
import { deliveryQueue } from '../store/delivery-queue.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import { requestLog } from '../store/request-log.ts';
import { WriteHealth } from '../store/write-health.ts';
import { createRequestLogWriter, type RequestLogWriter } from '../travel/request-log-writer.ts';
import { MAX_WAIT_MS } from '../travel/webhooks/attempt.ts';
import { oauthRoutes, refusalDeps, scimAuthenticator } from './access.ts';
import { alertSender } from './alerts.ts';
import { createEmbeddedTravel, type EmbeddedTravel } from './embedded.ts';
import { currentEncryptionKey, reencryptSecrets } from './encryption-keys.ts';
import {
  registerHolds,
  registerIdentities,
  registerImports,
  registerMappingFaults,
  registerPauses,
  registerStaleLookups,
  registerWriteHealth,
} from './gauges.ts';
import { createHttpServer, listen, openLoopbackServer, refusePlainHttp, stopServer } from './http-server.ts';
import { type OpenConnection, openConnection } from './open-connection.ts';
import { systemRuntime, wait } from './runtime.ts';

/** A service that runs. */
export interface Service {
  url: string;
  /** Makes the secrets that a first start needs and nobody chose, for somebody who shows them: they are kept hashed. */
  makeSecrets(): Promise<{ scimToken: string | undefined; travelApiKey: string | undefined }>;
  /** Reads all travelers of a connection now. */
  importTravelers(
    connection: string,
    onPage: (read: number, total: number) => void,
    options?: ImportOptions,
  ): Promise<Imported | TravelFailure>;
  /** The identities of a connection as they are kept, once what is due has been worked off. */
  identities(connection: string): Promise<Identity[]>;
  /** Serves with what is in the files of the certificate by now. */
  renewCertificate(): void;
  /** Stops accepting, lets run what runs for a while, ends the background work, closes the database. */
  close(): Promise<void>;
}

/** What tests and commands want otherwise. */
export interface StartOptions {
  /** False: nothing happens by itself, only writes reconcile. */
  background?: boolean;
  log?: Logger;
  checkpoint?: Runtime['checkpoint'];
  /** Shorter times and lower numbers than those of production. */
  limits?: Partial<SocketLimits>;
}

/** Everything that stands between the settings and the first request. */
interface ServerDeps {
  settings: Settings;
  log: Logger;
  runtime: Runtime;
  database: Database;
  writes: WriteHealth;
  store: ProvisioningStore;
  tokens: ScimTokens;
  embedded: EmbeddedTravel | undefined;
  refusals: ReturnType<typeof refusalDeps>;
  /** Wired once there is somebody to be told that the embedded service's rules or lookups changed. */
  notices: { onChange(type: string): void };
  /** Writes the rest of the request log, and closes the database. */
  close(): Promise<void>;
}

/** Puts everything together, and serves it on one port. */
export async function start(settings: Settings, options: StartOptions = {}): Promise<Service> {
  const ground = await openStore(settings, options);
  const deps = createHttpDeps(ground);
  const { door, inner, url, embedding } = await openServers(ground, deps, options.limits);
  // From here on without waiting, so that no request comes before there is somebody to answer it.
  const { runtime, store, embedded, notices, writes } = ground;
  const connected = settings.connections.map((one) =>
    openConnection(one, { embedding, common: settings }, runtime),
  );
  const connections = connected.map(({ connection }) => connection);
  registerStaleLookups(deps.metrics, connected);
  const built = provisioningService({
    store,
    connections,
    runtime,
    writeBudgetMs: settings.writeBudgetMs,
  });
  registerPauses(deps.metrics, built);
  registerMappingFaults(deps.metrics, built);
  registerImports(deps.metrics, built.importer);
  door.serve(requestHandlers(createApp(ground, { deps, built, url }), deps));
  const background = options.background === false ? undefined : startBackground(ground, built);
  // What followed from the last writes, such as looking again at those who waited for them, may have been lost.
  writes.onRecovery(() => background?.importAgain());
  notices.onChange = (type) => {
    if (!isLookedUp(type)) return;
    for (const one of connected) one.connection.lookups.expire();
    background?.refreshRules();
  };
  return {
    url,
    makeSecrets: async () => ({
      scimToken: await createFirstToken(ground.tokens, settings),
      travelApiKey: await embedded?.firstKey(),
    }),
    importTravelers: (id, onPage, options) =>
      built.importer.run(connectionNamed(connected, id).connection, onPage, options),
    identities: async (id) => {
      await built.settleDue();
      return (await store.identities.findPage(id, 0, Number.MAX_SAFE_INTEGER)).identities;
    },
    close: async () => {
      await waitAtMost(STOP_MS, runtime, stopWork(door.server, built, background));
      for (const one of connected) one.close();
      await inner?.close();
      await ground.close();
    },
    renewCertificate: door.renewCertificate,
  };
}

/** How long requests, and calls to the travel API that are under way, may take to end when the service stops. */
const STOP_MS = 10_000;

/** Waits for the work at most so long. */
async function waitAtMost(ms: number, runtime: Pick<Runtime, 'wait'>, work: Promise<void>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([work, runtime.wait(ms, ended.signal)]);
  // A timer that is left would keep the process alive.
  ended.abort();
}

/** Ends requests and loops, and lets attempts under way keep what they came to. */
async function stopWork(
  server: Parameters<typeof stopServer>[0],
  built: ProvisioningService,
  background: ReturnType<ProvisioningService['run']> | undefined,
): Promise<void> {
  await Promise.all([stopServer(server), background?.stop()]);
  await built.idle();
}

/** The door for everybody, with nobody behind it yet, and where that one speaks or demands HTTPS, the bridge's own. */
async function openServers(
  { settings, log, embedded, close }: ServerDeps,
  deps: HttpDeps,
  limits: Partial<SocketLimits> | undefined,
) {
  const door = createHttpServer(settings.tls, log, { ...limitsOf(settings.maxConnections), ...limits });
  const isPlain = !settings.tls && !settings.requireHttps;
  const inner = isPlain || !embedded ? undefined : await openLoopbackServer(embedded.app, deps);
  const url = await listen(door, settings).catch(async (error: unknown) => {
    await inner?.close();
    await close();
    throw error;
  });
  const embedding = { url: inner?.url ?? url, key: embedded?.bridgeKey ?? '' };
  return { door, inner, url, embedding };
}

/** What happens without anybody asking, here and in the embedded travel service. */
function startBackground(
  { settings, runtime, log, store, embedded }: ServerDeps,
  built: ProvisioningService,
): ReturnType<ProvisioningService['run']> {
  const bridging = built.run();
  const alerts = alertSender(settings.alerts, { clock: runtime, log });
  const alarms = holdAlarms({ holds: store.holds, alerts, runtime });
  const travel = embedded?.run();
  return {
    refreshRules: bridging.refreshRules,
    importAgain: bridging.importAgain,
    stop: async () => {
      await Promise.all([bridging.stop(), travel?.stop(), alarms.stop(), alerts.close()]);
    },
  };
}

/** The database, migrated and ours alone, with what a first start makes in it. */
async function openStore(settings: Settings, options: StartOptions): Promise<ServerDeps> {
  const log = options.log ?? newLog(settings.logLevel);
  const database = await openEmbedded(settings.data, true);
  await reencryptSecrets(settings, { database, log, now: Date.now() }).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const writes = new WriteHealth({ database, clock: { now: () => performance.now(), wait }, log });
  const store = provisioningStore(database);
  for (const { id, account } of settings.connections) await ensureConnection(database, { id, account });
  const runtime = systemRuntime(log, options.checkpoint);
  // Nobody else has this database: leases that are left are those of a process that died.
  await store.leases.releaseAll();
  await deliveryQueue(database).releaseLeases('all', runtime.now());
  await repairFutureTimes(database, runtime.now(), {
    attemptMs: LONGEST_MS,
    checkMs: Object.fromEntries(settings.connections.map(({ id, travelApi }) => [id, travelApi.lateMs])),
    deliveryMs: MAX_WAIT_MS,
  });
  const kept = scimTokens(database);
  const keeper = createRequestLogWriter({
    requests: requestLog(database),
    clock: { now: runtime.wallClock, wait: runtime.wait },
    log,
  });
  const notices: ServerDeps['notices'] = { onChange: () => {} };
  const refusals = refusalDeps(database);
  const known = { settings, database, log, keeper, refusals: refusals.travel };
  const embedded = await openEmbeddedTravel(known, (type) => notices.onChange(type));
  return {
    settings,
    log,
    runtime,
    database,
    writes,
    store,
    tokens: kept,
    embedded,
    refusals,
    notices,
    close: async () => {
      await Promise.all([keeper.close(), writes.stop()]);
      await database.close();
    },
  };
}

function connectionNamed(connected: OpenConnection[], id: string): OpenConnection {
  const one = connected.find(({ connection }) => connection.id === id);
  if (!one) throw new Error(`there is no connection ${id}`);
  return one;
}

function createHttpDeps({ settings, log, runtime, store, writes }: ServerDeps): HttpDeps {
  const metrics = httpMetrics();
  measureProcess(metrics);
  registerIdentities(metrics, store);
  registerWriteHealth(metrics, writes);
  registerHolds(metrics, store);
  const isTrusted = addressesOf(settings.trustedProxies);
  return { log, metrics, newId: runtime.newId, now: () => performance.now(), isTrusted };
}

/** What answers requests: the application, and for those that it never sees, refusals that are logged and counted as well. */
function requestHandlers(handle: Express, deps: HttpDeps): Handlers {
  return {
    handle,
    refuse: httpApp(deps, (app) => app.use(refusePipelinedRequest)),
    refuseExpectation: httpApp(deps, (app) => app.use(refuseExpectation)),
    answerFault: answerUnreadableRequest(() => new Date()),
  };
}

/** The paths of docs/architecture.md, Folders. */
function createApp(
  ground: ServerDeps,
  { deps, built, url }: { deps: HttpDeps; built: ProvisioningService; url: string },
): Express {
  const { settings, database, writes, embedded, refusals } = ground;
  const isReady = () => database.ping().then(() => true);
  const authenticate = scimAuthenticator(ground);
  const arrivalOf = arrivals(addressesOf(settings.trustedProxies), isLoopback);
  const chosenUrl = settings.publicUrl?.replace(/\/+$/, '');
  const publicUrl = (request: Request) => chosenUrl ?? requestedUrl(request, arrivalOf(request)) ?? url;
  const isRequired = settings.requireHttps;
  return httpApp(deps, (app) => {
    // Each layer that a request passes costs: none where all that comes is in plain and from this machine.
    if (isRequired || settings.tls || settings.trustedProxies.length > 0)
      app.use(httpsDoor({ arrivalOf, refuse: refusePlainHttp, isRequired }));
    // First what is asked most.
    const { users, groups } = built;
    const { now } = deps;
    app.use('/scim/v2', scimApp({ users, groups, authenticate, refusals: refusals.scim, publicUrl, now }));
    if (embedded) app.use('/api', embedded.app);
    app.use('/oauth/token', oauthRoutes({ ...ground, limit: refusals.limit }, chosenUrl ?? url));
    app.use(healthRoutes({ isReady, writes }), metricsRoutes(deps.metrics, { now, wait }));
  });
}

/** Scheme and host as the client asked for them, when the header holds nothing but a host and a port. */
function requestedUrl({ headers }: Request, arrival: Arrival): string | undefined {
  const { host } = headers;
  const isHost = host !== undefined && /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host);
  return isHost ? `${arrival === 'https' ? 'https' : 'http'}://${host}` : undefined;
}

/** The default connection's first token, unless there is one, or the operator chose it. */
async function createFirstToken(kept: ScimTokens, { connections }: Settings): Promise<string | undefined> {
  const needsToken = connections.some(({ id, scimToken }) => id === 'default' && scimToken === undefined);
  if (!needsToken || (await kept.list()).some(({ connection }) => connection === 'default')) return undefined;
  const token = newSecret('scim');
  const made = { id: randomUUID(), name: 'first token', connection: 'default', createdAt: Date.now() };
  await kept.create({ ...made, expiresAt: undefined, hash: hashSecret(token) });
  return token;
}

/** The embedded travel service, when a connection uses it. */
export async function openEmbeddedTravel(
  {
    settings,
    database,
    log,
    keeper,
    refusals,
  }: Pick<ServerDeps, 'settings' | 'database' | 'log'> & {
    keeper?: RequestLogWriter;
    refusals?: RefusalDeps;
  },
  onChange: (type: string) => void,
): Promise<EmbeddedTravel | undefined> {
  const users = settings.connections.filter(({ travelApi }) => travelApi.url === 'embedded');
  const [first] = users;
  if (!first) return undefined;
  const { openid, webhooks } = settings.travelService;
  const chosenKey = first.travelApi.key;
  const secured = { sealingKey: currentEncryptionKey(settings), privateReceivers: webhooks.allowPrivate };
  const { publicUrl } = settings;
  return createEmbeddedTravel({
    ...{ database, chosenKey, openid, onChange, log, keeper, publicUrl, refusals },
    ...secured,
  });
}
