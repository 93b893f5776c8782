import type { Express, Request } from 'express';
import { adminRoutes } from '../admin/app.ts';
import { type MappingThread, mappingThread } from '../admin/mapping-thread/thread.ts';
import { documentPages } from '../admin/page.ts';
import { applyAdminPassword, makeFirstAdmin, warnOfAdminPassword } from '../admin/sign-in/first-admin.ts';
import { alertChannels, alertSender } from '../alerts/alert-sender.ts';
import { conditionAlarms } from '../alerts/condition-alarms.ts';
import { deliverMail } from '../alerts/email-channel.ts';
import { sendTestAlert } from '../alerts/test-alert.ts';
import { weeklyMail } from '../alerts/weekly-mail.ts';
import { reloadMappingFiles } from '../config/mapping-files.ts';
import type { Settings } from '../config/settings.ts';
import { type HttpDeps, httpApp } from '../http/app.ts';
import { connectionLimits } from '../http/connection-limits.ts';
import { healthRoutes, metricsRoutes } from '../http/monitoring.ts';
import {
  addressPredicate,
  enforceHttps,
  isLoopback,
  originReader,
  transportReader,
} from '../http/proxies.ts';
import { type LimitHandlers, socketLimits } from '../http/sockets.ts';
import { exchangeReader } from '../log/search.ts';
import type { Identity } from '../model/identity.ts';
import type { Runtime } from '../model/runtime-ports.ts';
import type { TravelFailure } from '../model/travel-ports.ts';
import { METADATA_PATH, serverMetadata } from '../oauth/metadata.ts';
import type { StoredConnections } from '../operations/deps.ts';
import type { Background } from '../provisioning/background.ts';
import { acknowledgementOf } from '../provisioning/conditions/facts.ts';
import { isLookedUp } from '../provisioning/import/event-feed.ts';
import type { ImportOptions, ImportResult } from '../provisioning/import/import.ts';
import type { ProvisioningService } from '../provisioning/service.ts';
import { type ScimDeps, scimApp } from '../scim/app.ts';
import {
  answerUnreadableRequest,
  refuseExpectation,
  refusePipelinedRequest,
} from '../scim/protocol/errors.ts';
import { currentEncryptionKey } from '../store/credentials/encryption.ts';
import { unconfirmedPeople } from '../store/identities/unconfirmed-people.ts';
import { reportedConditions } from '../store/queues/reported-conditions.ts';
import { weeklyMails } from '../store/queues/weekly-mails.ts';
import { createFirstToken, oauthRoutes, scimAuthenticator } from './access.ts';
import { readPublicConditions, type ServedConditions, servedConditions, tellEvents } from './conditions.ts';
import { demoDay, type ServedDemoDay } from './demo-day.ts';
import { registerUnconfirmed } from './gauges.ts';
import {
  createHttpServer,
  type HttpServer,
  type LoopbackServer,
  listen,
  openLoopbackServer,
  refusePlainHttp,
  stopServer,
} from './http-server.ts';
import { type EmbeddedAddress, findRefusedCredentials, type OpenConnection } from './open-connection.ts';
import { type OpenProvisioning, openProvisioning } from './open-provisioning.ts';
import { openStore, type ServerDeps, type StartOptions } from './open-store.ts';
import { wait } from './runtime.ts';
import { type ServedStoredConnections, storedConnections } from './stored-connections.ts';

/** A running service. */
export interface Service {
  url: string;
  /**
   * Creates the secrets that a first start needs and the settings do not give. They are stored as hashes only, so the caller must
   * show them.
   */
  makeSecrets(): Promise<{ scimToken: string | undefined; travelApiKey: string | undefined }>;
  /** Makes a password for the built-in admin, if there is none yet. Returns it; the caller must show it. */
  makeFirstAdmin(): Promise<string | undefined>;
  /** Returns the connections whose credential the travel API refuses. Those whose travel API cannot be asked are left out. */
  findRefusedCredentials(): Promise<{ connection: string; keyEnv: string }[]>;
  /** Returns the names of the connections that are served. */
  connections(): string[];
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
  /**
   * Stops accepting requests, waits for running work, ends the background work, closes the database. Resolves after 12 s at most, and
   * then leaves open what does not answer.
   */
  close(): Promise<void>;
}

/** Starts the service on one port: opens the store, wires all parts together, starts the background work. */
export async function start(settings: Settings, options: StartOptions = {}): Promise<Service> {
  const deps = await openStore(settings, options);
  warnOfAdminPassword(settings, deps.log);
  const servers = await openServers(deps, options);
  const { server, url } = servers;
  // The server already accepts connections. Do not await anything before `serve`, so that the first request finds its
  // handler.
  const opened = openProvisioning(deps, servers.embeddedAddress);
  const { connections, provisioning } = opened;
  const scim = scimParts(deps, { ...servers, ...opened });
  const demo = demoDay({
    ...{ ...deps, ...opened, folder: options.demo, scim },
  });
  const stored = storedConnections({ ...deps, ...opened });
  const tasks = mappingThread({ program: options.mappingProgram, limits: options.mappingLimits, wait });
  const conditions = servedConditions(deps, opened, server, options);
  const parts = { ...servers, ...opened, tasks, conditions, demoDay: demo, storedConnections: stored };
  const app = createApp(deps, { ...parts, scim, page: options.page, documents: options.documents });
  server.serve(requestHandlers(app, deps.http));
  const background = options.background === false ? undefined : startBackground(deps, parts);
  deps.restoreWatch.onLook((inDatabase) => {
    provisioning.followRules(inDatabase);
    stored.follow(inDatabase);
  });
  // A failed write may have prevented later steps, such as marking dependent identities as dirty. An import repeats
  // them.
  deps.writes.onRecovery(() => background?.importAgain());
  deps.embeddedChanges.listener = (type) => {
    if (isLookedUp(type)) rereadLookups(connections, background);
  };
  // What the caller prints next stands below the lines of the start.
  deps.log.flush();
  return {
    url,
    makeSecrets: async () => ({
      scimToken: await createFirstToken(deps),
      travelApiKey: await deps.embedded?.createFirstKey(),
    }),
    makeFirstAdmin: () => makeFirstAdmin(settings, deps),
    findRefusedCredentials: () => findRefusedCredentials(connections),
    connections: () => connections.map(({ connection }) => connection.id),
    importTravelers: (id, onPage, options) =>
      provisioning.importer.run(connectionNamed(connections, id), onPage, options),
    identities: async (id) => {
      await provisioning.reconcileDue();
      return (await deps.store.identities.findPage(id, 0, Number.MAX_SAFE_INTEGER)).identities;
    },
    close: () => closeInTime(deps, { ...parts, background }),
    renewCertificate: server.renewCertificate,
    reloadMappingFiles: () =>
      reloadMappingFiles(settings, { applyMapping: provisioning.applyMappingFile, log: deps.log }),
  };
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

/**
 * Starts to listen, with ADMIN_PASSWORD in force unless only a command runs. The public server has no handler yet: its requests wait until
 * `serve` is called.
 */
async function openServers(
  deps: ServerDeps,
  { limits, background = true }: Pick<StartOptions, 'limits' | 'background'>,
): Promise<Servers> {
  const { settings, log, live, embedded, http, close } = deps;
  let loopbackServer: LoopbackServer | undefined;
  try {
    if (background) await applyAdminPassword(settings, deps);
    const server = createHttpServer(settings.tls, log, {
      ...socketLimits(settings.maxConnections),
      ...limits,
    });
    const isPlain = !settings.tls && !settings.requireHttps;
    if (embedded && !isPlain)
      loopbackServer = await openLoopbackServer(http, (app) => app.use('/api', embedded.app));
    const url = await listen(server, settings);
    const embeddedAddress = { url: loopbackServer?.url ?? url, key: embedded?.bridgeKey ?? '' };
    return { server, loopbackServer, url, embeddedAddress };
  } catch (error) {
    await loopbackServer?.close();
    await live.stop();
    await close();
    throw error;
  }
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

/** Returns the dependencies of the SCIM interface. `meta.location` begins with the address of the settings, or of this server. */
function scimParts(
  deps: ServerDeps,
  { connections, provisioning: { users, groups, roles }, url }: OpenProvisioning & Pick<Servers, 'url'>,
): ScimDeps {
  const { settings, refusals, recorder, http } = deps;
  const authenticate = scimAuthenticator(deps, () => connections.map(({ settings }) => settings));
  const publicUrl = () => chosenUrl(settings) ?? url;
  const profileOf = (id: string) =>
    connections.find(({ connection }) => connection.id === id)?.settings.scim ?? 'interoperable';
  return {
    ...{ users, groups, roles, authenticate, profileOf, publicUrl, recorder },
    refusals: refusals.scim,
    now: http.now,
  };
}

/** PUBLIC_URL without a slash at the end. */
function chosenUrl({ publicUrl }: Settings): string | undefined {
  return publicUrl?.replace(/\/+$/, '');
}

interface AppParts extends Servers, OpenProvisioning {
  scim: ScimDeps;
  demoDay: ServedDemoDay;
  storedConnections: StoredConnections;
  tasks: MappingThread;
  conditions: ServedConditions;
  page: string | undefined;
  documents: string | undefined;
}

/** Mounts every path that docs/architecture.md lists. */
function createApp(deps: ServerDeps, { scim, documents, ...parts }: AppParts): Express {
  const { settings, database, writes, embedded, refusals, http } = deps;
  const { url, connections, conditions, server } = parts;
  const isReady = () => database.ping().then(() => true);
  const health = { isReady, writes, wait, conditions: () => readPublicConditions(conditions) };
  const isTrusted = addressPredicate(settings.trustedProxies);
  const [transportOf, originOf] = [transportReader(isTrusted, isLoopback), originReader(isTrusted)];
  const publicUrl = (request: Request) => chosenUrl(settings) ?? originOf(request) ?? url;
  const served = () => connections.map((connection) => connection.settings);
  const limits = connectionLimits((id) => served().find((one) => one.id === id)?.access, http.now);
  const description = embedded
    ? 'SCIM 2.0 is at /scim/v2, the admin page at /admin, the travel service at /api, its description at /api/docs.'
    : 'SCIM 2.0 is at /scim/v2, the admin page at /admin.';
  return httpApp({ ...http, messageClasses: server.messageClasses, served: description }, (app) => {
    app.use(enforceHttps({ transportOf, refuse: refusePlainHttp, isRequired: settings.requireHttps }));
    // The most frequent paths come first.
    // Entra ID sends paths in other cases; every other path is matched in one case.
    app.use(/^\/scim\/v2/i, scimApp({ ...scim, publicUrl, limits }));
    if (embedded) app.use('/api', embedded.app);
    const isSecure = (request: Request) => transportOf(request) === 'https';
    const encryptionKey = currentEncryptionKey(settings);
    const exchanges = exchangeReader(database);
    const tested = channelsOf(deps).map((channel) => ({
      name: channel.name,
      test: () => sendTestAlert(channel, deps.runtime.wallClock()),
    }));
    const shared = {
      ...{ ...deps, ...deps.signIns, ...parts, isSecure, publicUrl, encryptionKey, exchanges },
      alertChannels: tested,
    };
    app.use('/admin', adminRoutes(shared));
    app.get('/', (_request, response) => response.redirect('/admin'));
    if (documents !== undefined) app.use('/docs', documentPages(documents));
    const issuer = chosenUrl(settings) ?? url;
    app.use('/oauth/token', oauthRoutes({ ...deps, served, limit: refusals.limit, limits }, issuer));
    app.use(METADATA_PATH, serverMetadata(issuer, embedded ? ['scim', 'travel'] : ['scim']));
    app.use(healthRoutes(health), metricsRoutes(http.metrics, { now: http.now, wait }));
  });
}

/** Starts the loops of the bridge and of the embedded travel service. */
function startBackground(
  { settings, runtime, log, database, live, restoreWatch, embedded, http, signIns }: ServerDeps,
  { provisioning, suspicion, conditions }: OpenProvisioning & { conditions: ServedConditions },
): Background {
  const loops = provisioning.startBackground();
  const retryUnresolved = () =>
    void loops.retryUnresolved().catch((error: unknown) => {
      log.error({ err: error }, 'identities that wait could not be marked; the next import repeats it');
    });
  live.onDeath(retryUnresolved);
  // This process may be one that died before.
  retryUnresolved();
  const alerts = alertSender(channelsOf({ settings, runtime }), { clock: runtime, log });
  const countUnconfirmed = unconfirmedPeople(database, runtime.now);
  registerUnconfirmed(http.metrics, countUnconfirmed);
  const { afterMs } = settings.alerts;
  const reported = reportedConditions(database);
  const alarms = conditionAlarms({ conditions, reported, alerts, afterMs, runtime });
  tellEvents({ restoreWatch, signIns, suspicion }, async ({ condition, ...event }) => {
    const at = runtime.now();
    // A database that does not answer has no acknowledgement.
    const known = await reported.list().catch(() => []);
    if (!acknowledgementOf(known, condition, at)) alerts.send({ ...event, at, severity: 'warning' });
  });
  const { email } = settings.alerts;
  const weekly =
    email && email.weeklyTo.length > 0
      ? weeklyMail({
          ...{ conditions, weeklyMails: weeklyMails(database), runtime },
          page: chosenUrl(settings) && `${chosenUrl(settings)}/admin`,
          send: (mail, signal) => deliverMail({ ...email, to: email.weeklyTo }, mail, signal),
        })
      : undefined;
  const embeddedLoops = embedded?.run();
  return {
    refreshRules: loops.refreshRules,
    importAgain: loops.importAgain,
    retryUnresolved: loops.retryUnresolved,
    stop: async () => {
      await Promise.all([loops.stop(), embeddedLoops?.stop(), alarms.stop(), alerts.close(), weekly?.stop()]);
    },
  };
}

/** The channels for alerts that the settings configure. */
function channelsOf({ settings, runtime }: Pick<ServerDeps, 'settings' | 'runtime'>) {
  return alertChannels(settings.alerts, { publicUrl: chosenUrl(settings), now: runtime.wallClock });
}

/** Forgets what was read of the travel service, whose names have changed. */
function rereadLookups(connections: OpenConnection[], background: Background | undefined): void {
  for (const { connection } of connections) connection.lookups.expire();
  background?.refreshRules();
}

function connectionNamed(connections: OpenConnection[], id: string): OpenConnection['connection'] {
  const found = connections.find(({ connection }) => connection.id === id);
  if (!found) throw new Error(`there is no connection ${id}`);
  return found.connection;
}

/** The time that running requests and travel calls get to finish when the service stops, in milliseconds. */
const STOP_MS = 10_000;
/** The time that everything gets, the last writes to the database included. A database that does not answer would take 30 s for each. */
const CLOSE_MS = 12_000;

interface RunningParts extends Servers, OpenProvisioning {
  demoDay: ServedDemoDay;
  storedConnections: ServedStoredConnections;
  tasks: MappingThread;
  background: Background | undefined;
}

/** Waits for running work, then releases what the service holds open, with a time limit for each. */
async function closeInTime(
  { runtime, live, signIns, close }: ServerDeps,
  { server, loopbackServer, connections, provisioning, tasks, background, ...parts }: RunningParts,
): Promise<void> {
  const end = runtime.now() + CLOSE_MS;
  signIns.endWaits();
  const work = Promise.all([
    parts.demoDay.stop(),
    parts.storedConnections.stop(),
    stopWork(server, provisioning, background),
  ]);
  await waitAtMost(STOP_MS, runtime, work);
  const release = async () => {
    for (const connection of connections) connection.close();
    await tasks.close();
    await loopbackServer?.close();
    await live.stop();
    await close();
  };
  const isReleased = await waitAtMost(end - runtime.now(), runtime, release());
  if (!isReleased) runtime.log.warn({}, 'the database did not answer; the service ends without it');
}

/** Waits for the work, but no longer than `ms` milliseconds. Returns false if it has not ended. */
async function waitAtMost(
  ms: number,
  runtime: Pick<Runtime, 'wait'>,
  work: Promise<unknown>,
): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([work.then(() => true), runtime.wait(ms, timer.signal).then(() => false)]);
  } finally {
    // A pending timer would keep the process alive.
    timer.abort();
  }
}

/** Ends requests and loops, then waits until running reconciliations have stored their outcomes. */
async function stopWork(
  { server }: HttpServer,
  provisioning: ProvisioningService,
  background: Background | undefined,
): Promise<void> {
  await Promise.all([stopServer(server), background?.stop()]);
  await provisioning.idle();
}
