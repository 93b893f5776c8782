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
import { answerClientFault, answerExpectation, answerOverflow } from '../scim/errors.ts';
import { repairTimes } from '../store/clock-repair.ts';
import { ensureConnection } from '../store/connections.ts';
import { type Tokens, tokens } from '../store/credentials.ts';
import { type Database, openEmbedded } from '../store/database.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import { requestLog } from '../store/request-log.ts';
import { deliveryQueue } from '../store/webhook-deliveries.ts';
import { WriteHealth } from '../store/write-health.ts';
import { type Keeper, keeper as keeperOf } from '../travel/request-log-writer.ts';
import { LONGEST_WAIT_MS } from '../travel/webhooks/attempt.ts';
import { oauthRoutes, refusalsOf, scimAccess } from './access.ts';
import { alertSender } from './alerts.ts';
import { type Connected, connect } from './connections.ts';
import { type Embedded, embeddedTravel } from './embedded.ts';
import { renewSecrets, sealingKeyOf } from './encryption-keys.ts';
import {
  countHolds,
  countIdentities,
  countMappingFaults,
  countPauses,
  countStaleLookups,
  measureImports,
  measureWrites,
} from './gauges.ts';
import { listen, openDoor, openInnerDoor, refusePlain, stop } from './http-server.ts';
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
  people(connection: string): Promise<Identity[]>;
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
interface Ground {
  settings: Settings;
  log: Logger;
  runtime: Runtime;
  database: Database;
  writes: WriteHealth;
  store: ProvisioningStore;
  tokens: Tokens;
  embedded: Embedded | undefined;
  refusals: ReturnType<typeof refusalsOf>;
  /** Wired once there is somebody to be told that the embedded service's rules or lookups changed. */
  notices: { onChange(type: string): void };
  /** Writes the rest of the request log, and closes the database. */
  close(): Promise<void>;
}

/** Puts everything together, and serves it on one port. */
export async function start(settings: Settings, options: StartOptions = {}): Promise<Service> {
  const ground = await layGround(settings, options);
  const deps = httpDeps(ground);
  const { door, inner, url } = await openDoors(ground, deps, options.limits);
  // From here on without waiting, so that no request comes before there is somebody to answer it.
  const { runtime, store, embedded, notices, writes } = ground;
  const embedding = { url: inner?.url ?? url, key: embedded?.bridgeKey ?? '' };
  const connected = settings.connections.map((one) => connect(one, { embedding, common: settings }, runtime));
  const connections = connected.map(({ connection }) => connection);
  countStaleLookups(deps.metrics, connected);
  const built = provisioningService({
    store,
    connections,
    runtime,
    writeBudgetMs: settings.writeBudgetMs,
  });
  countPauses(deps.metrics, built);
  countMappingFaults(deps.metrics, built);
  measureImports(deps.metrics, built.importer);
  door.serve(handlersOf(application(ground, { deps, built, url }), deps));
  const background = options.background === false ? undefined : runAll(ground, built);
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
      scimToken: await firstToken(ground.tokens, settings),
      travelApiKey: await embedded?.firstKey(),
    }),
    importTravelers: (id, onPage, options) =>
      built.importer.run(named(connected, id).connection, onPage, options),
    people: async (id) => {
      await built.settleDue();
      return (await store.identities.page(id, 0, Number.MAX_SAFE_INTEGER)).identities;
    },
    close: async () => {
      await endWithin(STOP_MS, runtime, endWork(door.server, built, background));
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
async function endWithin(ms: number, runtime: Pick<Runtime, 'wait'>, work: Promise<void>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([work, runtime.wait(ms, ended.signal)]);
  // A timer that is left would keep the process alive.
  ended.abort();
}

/** Ends requests and loops, and lets attempts under way keep what they came to. */
async function endWork(
  server: Parameters<typeof stop>[0],
  built: ProvisioningService,
  background: ReturnType<ProvisioningService['run']> | undefined,
): Promise<void> {
  await Promise.all([stop(server), background?.stop()]);
  await built.idle();
}

/** The door for everybody, with nobody behind it yet, and where that one speaks or demands HTTPS, the bridge's own. */
async function openDoors(
  { settings, log, embedded, close }: Ground,
  deps: HttpDeps,
  limits: Partial<SocketLimits> | undefined,
) {
  const door = openDoor(settings.tls, log, { ...limitsOf(settings.maxConnections), ...limits });
  const isPlain = !settings.tls && !settings.requireHttps;
  const inner = isPlain || !embedded ? undefined : await openInnerDoor(embedded.app, deps);
  const url = await listen(door, settings).catch(async (error: unknown) => {
    await inner?.close();
    await close();
    throw error;
  });
  return { door, inner, url };
}

/** What happens without anybody asking, here and in the embedded travel service. */
function runAll(
  { settings, runtime, log, store, embedded }: Ground,
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
async function layGround(settings: Settings, options: StartOptions): Promise<Ground> {
  const log = options.log ?? newLog(settings.logLevel);
  const database = await openEmbedded(settings.data, true);
  await renewSecrets(settings, { database, log, now: Date.now() }).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const writes = new WriteHealth({ database, clock: { now: () => performance.now(), wait }, log });
  const store = provisioningStore(database);
  for (const { id, account } of settings.connections) await ensureConnection(database, { id, account });
  const runtime = systemRuntime(log, options.checkpoint);
  // Nobody else has this database: leases that are left are those of a process that died.
  await store.leases.releaseAll();
  await deliveryQueue(database).release('all', runtime.now());
  await repairTimes(database, runtime.now(), {
    attemptMs: LONGEST_MS,
    checkMs: Object.fromEntries(settings.connections.map(({ id, travelApi }) => [id, travelApi.lateMs])),
    deliveryMs: LONGEST_WAIT_MS,
  });
  const kept = tokens(database);
  const keeper = keeperOf({
    requests: requestLog(database),
    clock: { now: runtime.wallClock, wait: runtime.wait },
    log,
  });
  const notices: Ground['notices'] = { onChange: () => {} };
  const refusals = refusalsOf(database);
  const known = { settings, database, log, keeper, refusals: refusals.travel };
  const embedded = await openTravel(known, (type) => notices.onChange(type));
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

function named(connected: Connected[], id: string): Connected {
  const one = connected.find(({ connection }) => connection.id === id);
  if (!one) throw new Error(`there is no connection ${id}`);
  return one;
}

function httpDeps({ settings, log, runtime, store, writes }: Ground): HttpDeps {
  const metrics = httpMetrics();
  measureProcess(metrics);
  countIdentities(metrics, store);
  measureWrites(metrics, writes);
  countHolds(metrics, store);
  const isTrusted = addressesOf(settings.trustedProxies);
  return { log, metrics, newId: runtime.newId, now: () => performance.now(), isTrusted };
}

/** What answers requests: the application, and for those that it never sees, refusals that are logged and counted as well. */
function handlersOf(handle: Express, deps: HttpDeps): Handlers {
  return {
    handle,
    refuse: httpApp(deps, (app) => app.use(answerOverflow)),
    refuseExpectation: httpApp(deps, (app) => app.use(answerExpectation)),
    answerFault: answerClientFault(() => new Date()),
  };
}

/** The paths of docs/architecture.md, Folders. */
function application(
  ground: Ground,
  { deps, built, url }: { deps: HttpDeps; built: ProvisioningService; url: string },
): Express {
  const { settings, database, writes, embedded, refusals } = ground;
  const isReady = () => database.ping().then(() => true);
  const authenticate = scimAccess(ground);
  const arrivalOf = arrivals(addressesOf(settings.trustedProxies), isLoopback);
  const chosenUrl = settings.publicUrl?.replace(/\/+$/, '');
  const publicUrl = (request: Request) => chosenUrl ?? askedUrl(request, arrivalOf(request)) ?? url;
  const isRequired = settings.requireHttps;
  return httpApp(deps, (app) => {
    // Each layer that a request passes costs: none where all that comes is in plain and from this machine.
    if (isRequired || settings.tls || settings.trustedProxies.length > 0)
      app.use(httpsDoor({ arrivalOf, refuse: refusePlain, isRequired }));
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
function askedUrl({ headers }: Request, arrival: Arrival): string | undefined {
  const { host } = headers;
  const isHost = host !== undefined && /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host);
  return isHost ? `${arrival === 'https' ? 'https' : 'http'}://${host}` : undefined;
}

/** The default connection's first token, unless there is one, or the operator chose it. */
async function firstToken(kept: Tokens, { connections }: Settings): Promise<string | undefined> {
  const needsToken = connections.some(({ id, scimToken }) => id === 'default' && scimToken === undefined);
  if (!needsToken || (await kept.list()).some(({ connection }) => connection === 'default')) return undefined;
  const token = newSecret('scim');
  const made = { id: randomUUID(), name: 'first token', connection: 'default', createdAt: Date.now() };
  await kept.create({ ...made, expiresAt: undefined, hash: hashSecret(token) });
  return token;
}

/** The embedded travel service, when a connection uses it. */
export async function openTravel(
  {
    settings,
    database,
    log,
    keeper,
    refusals,
  }: Pick<Ground, 'settings' | 'database' | 'log'> & {
    keeper?: Keeper;
    refusals?: RefusalDeps;
  },
  onChange: (type: string) => void,
): Promise<Embedded | undefined> {
  const users = settings.connections.filter(({ travelApi }) => travelApi.url === 'embedded');
  const [first] = users;
  if (!first) return undefined;
  const { openid, webhooks } = settings.travelService;
  const chosenKey = first.travelApi.key;
  const secured = { sealingKey: sealingKeyOf(settings), privateReceivers: webhooks.allowPrivate };
  const { publicUrl } = settings;
  return embeddedTravel({
    ...{ database, chosenKey, openid, onChange, log, keeper, publicUrl, refusals },
    ...secured,
  });
}
