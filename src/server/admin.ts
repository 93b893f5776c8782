import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Request, Router } from 'express';
import type { Logger } from 'pino';
import { adminApi } from '../admin/app.ts';
import { FairQueue } from '../admin/fair-queue.ts';
import { FIRST_ADMIN } from '../admin/handlers/accounts.ts';
import type { ConnectDeps } from '../admin/handlers/connect.ts';
import type { MappingDeps } from '../admin/handlers/mappings.ts';
import type { OverviewDeps } from '../admin/handlers/overview.ts';
import type { MappingTasks } from '../admin/mapping-tasks.ts';
import { openidProvider } from '../admin/openid/provider.ts';
import type { OpenidSignIn } from '../admin/openid/sign-in.ts';
import { adminPage } from '../admin/page.ts';
import { hashPassword, newPassword, verifyPassword } from '../admin/passwords.ts';
import type { DemoDay } from '../admin/ports.ts';
import type { SessionDeps } from '../admin/sessions.ts';
import type { Settings } from '../config/settings.ts';
import { exchangeReader } from '../log/search.ts';
import type { Runtime } from '../provisioning/runtime-ports.ts';
import type { ProvisioningService, ProvisioningStore } from '../provisioning/service.ts';
import { adminAccounts, adminSessions, adminTokens } from '../store/admins.ts';
import { auditLog } from '../store/audit-log.ts';
import type { Database } from '../store/database.ts';
import { encryption } from '../store/encryption.ts';
import { openidAccounts, openidAttempts } from '../store/openid-accounts.ts';
import { peopleSummaries } from '../store/people-summaries.ts';
import type { WriteHealth } from '../store/write-health.ts';
import { trafficParts } from './admin-traffic.ts';
import { travelParts } from './admin-travel.ts';
import { travelDataParts } from './admin-travel-data.ts';
import type { EmbeddedTravel } from './embedded.ts';
import { currentEncryptionKey } from './encryption-keys.ts';
import { exchangeKeys } from './exchange-log.ts';
import type { OpenConnection } from './open-connection.ts';
import { scimCredentials } from './scim-credentials.ts';
import type { SignIns } from './sign-ins.ts';

interface AdminParts {
  settings: Settings;
  database: Database;
  store: ProvisioningStore;
  writes: WriteHealth;
  provisioning: ProvisioningService;
  /** The list changes while the service runs. */
  connections: readonly OpenConnection[];
  demoDay: DemoDay;
  /** Computes with mappings. */
  tasks: MappingTasks;
  /** Undefined if no connection uses the embedded travel service. */
  embedded: EmbeddedTravel | undefined;
  log: Logger;
  runtime: Pick<Runtime, 'newId' | 'wallClock' | 'now'>;
  signIns: Pick<SignIns, 'limit' | 'refusedSignIns'>;
  isSecure: SessionDeps['isSecure'];
  /** Scheme and host of the URLs that clients use, without a slash at the end. */
  publicUrl(request: Request): string;
  /** The folder with the built page; undefined: only the API is served. */
  page: string | undefined;
}

/** Creates the routes of /admin: the page and its API. */
export function adminRoutes(parts: AdminParts): Router {
  const { database, settings, store, provisioning, connections, log, runtime, isSecure, page } = parts;
  const router = Router({ caseSensitive: true });
  const exchanges = exchangeReader(database, exchangeKeys(settings));
  router.use(
    '/api',
    adminApi({
      ...store,
      exchanges,
      peopleSummaries: peopleSummaries(database),
      traffic: trafficParts(settings, { database, exchanges, connections, now: runtime.wallClock }),
      overview: overviewParts(parts, exchanges),
      connectionIds: () => database.scopes.ids(),
      wake: provisioning.wake,
      mappings: mappingDeps(parts),
      held: {
        ...{ holds: store.holds, identities: store.identities, rules: store.rules },
        policiesOf: (id) => connections.find(({ connection }) => connection.id === id)?.connection.policies,
        wake: provisioning.wake,
        now: () => runtime.wallClock(),
      },
      connect: connectDeps(parts, exchanges),
      travelService: travelParts(settings, { ...parts, exchanges }),
      travelData: travelDataParts(settings, { ...parts, identities: store.identities }),
      ...accessParts(parts),
      audit: auditLog(database),
      ...parts.signIns,
      now: () => runtime.wallClock(),
      newId: runtime.newId,
      ...{ isSecure, log },
      openid: openidSignIn(parts),
    }),
  );
  if (page !== undefined && existsSync(join(page, 'index.html'))) router.use(adminPage({ folder: page }));
  return router;
}

/** The stores of accounts, sessions and tokens, by which the admin API finds its caller. */
function accessParts({ database, settings }: AdminParts) {
  return {
    accounts: adminAccounts(database),
    openidAccounts: openidAccounts(database),
    openidAttempts: openidAttempts(database),
    sessions: adminSessions(database),
    tokens: adminTokens(database),
    acceptsPasswords: settings.passwordSignIn,
  };
}

function mappingDeps({ store, provisioning, runtime, tasks, connections }: AdminParts): MappingDeps {
  const { findById, find, findHolder, isErased, isWaitedFor, findWaiters, findPage } = store.identities;
  const { findRows: findReferenceRows } = store.references;
  return {
    ...{ identities: store.identities, rules: store.rules, people: store.people },
    ...{ provisioning, runtime, tasks },
    reads: { findById, find, findHolder, isErased, isWaitedFor, findWaiters, findPage, findReferenceRows },
    connections: () =>
      connections.map(({ connection, settings: { mappingFile } }) => ({ connection, mappingFile })),
  };
}

/** The exchanges with the OpenID provider, each of which may take as long as its time limit. */
const EXCHANGES = { running: 20, runningOfAddress: 5, waiting: 200, waitingOfAddress: 50 };

function openidSignIn({ settings, runtime }: AdminParts): OpenidSignIn | undefined {
  const { adminOpenid } = settings;
  if (!adminOpenid) return undefined;
  return {
    ...{ label: adminOpenid.label, rules: adminOpenid, publicUrl: adminOpenid.publicUrl },
    provider: openidProvider(adminOpenid, runtime.now),
    exchanges: new FairQueue(EXCHANGES),
    encryption: encryption(currentEncryptionKey(settings)),
  };
}

function connectDeps(
  { database, settings, connections, runtime, publicUrl }: AdminParts,
  exchanges: ConnectDeps['exchanges'],
): ConnectDeps {
  return {
    connections: () =>
      connections.map(({ settings: { id, travelApi, policies, scimToken } }) => ({
        ...{ id, policies },
        travelApi: travelApi.url,
        hasEnvironmentToken: scimToken !== undefined,
      })),
    credentials: scimCredentials(database, () => runtime.wallClock()),
    exchanges: settings.requestLog.keepDays > 0 ? exchanges : undefined,
    oauthClients: settings.oauthClients,
    publicUrl,
    now: () => runtime.wallClock(),
  };
}

function overviewParts(
  { settings, database, store, writes, provisioning, connections, demoDay, runtime }: AdminParts,
  exchanges: OverviewDeps['exchanges'],
): OverviewDeps {
  return {
    ...{ exchanges, demoDay, holds: store.holds, tasks: store.tasks, modes: store.modes, rules: store.rules },
    peopleSummaries: peopleSummaries(database),
    connections: () =>
      connections.map(({ connection: { id, feed }, staleLookups }) => ({
        ...{ id, staleLookups },
        hasFeed: feed !== undefined,
      })),
    isLogged: settings.requestLog.keepDays > 0,
    pauses: provisioning.pauses,
    mappingFaults: provisioning.mappingFaults,
    storeFault: () => writes.failure(),
    wake: provisioning.wake,
    now: runtime.wallClock,
    steadyNow: runtime.now,
  };
}

/**
 * Gives the account `admin` the password of ADMIN_PASSWORD, if it has another one, and creates the account if it is missing. Must be done
 * before the port opens: until then the old password, which may be known to others, opens the page.
 */
export async function applyAdminPassword(
  { adminPassword }: Pick<Settings, 'adminPassword'>,
  parts: FirstAdminParts,
): Promise<void> {
  if (adminPassword === undefined) return;
  const accounts = adminAccounts(parts.database);
  const first = await accounts.findByName(FIRST_ADMIN);
  if (!first) await createFirstAdmin(adminPassword, parts);
  else if (!(await verifyPassword(adminPassword, first.passwordHash)))
    await accounts.setPassword(first.id, await hashPassword(adminPassword));
}

/**
 * Creates the account `admin` if there is no account yet, and returns its password, which is stored as a hash only. Undefined if there is
 * one, or ADMIN_PASSWORD is set.
 */
export async function makeFirstAdmin(
  { adminPassword }: Pick<Settings, 'adminPassword'>,
  parts: FirstAdminParts,
): Promise<string | undefined> {
  if (adminPassword !== undefined) return undefined;
  if ((await adminAccounts(parts.database).list()).length > 0) return undefined;
  const password = newPassword();
  // False if another replica, which starts at the same time, has created the account and shows its password.
  return (await createFirstAdmin(password, parts)) ? password : undefined;
}

type FirstAdminParts = Pick<AdminParts, 'database' | 'runtime'>;

async function createFirstAdmin(
  password: string,
  { database, runtime: { newId, wallClock } }: FirstAdminParts,
): Promise<boolean> {
  const passwordHash = await hashPassword(password);
  const account = { id: newId(), name: FIRST_ADMIN, role: 'admin', createdAt: wallClock() } as const;
  return adminAccounts(database).create({ ...account, passwordHash });
}
