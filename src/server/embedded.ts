import type { Express } from 'express';
import type { Logger } from 'pino';
import type { ServedTravel } from '../admin/deps.ts';
import type { Settings } from '../config/settings.ts';
import { resolveName } from '../http/address-guard.ts';
import { type FailedAuthenticationDeps, hashSecret, newSecret } from '../http/authentication.ts';
import type { ExchangeRecorder } from '../model/exchange.ts';
import { apiKeys, oauthAccessTokens } from '../store/credentials/credentials.ts';
import { type Encryption, encryption } from '../store/credentials/encryption.ts';
import type { Database } from '../store/sql/database.ts';
import { deliveryQueue } from '../store/travel/delivery-queue.ts';
import { travelStore } from '../store/travel/travel-writes.ts';
import { webhookRecords } from '../store/travel/webhook-deliveries.ts';
import { createTravelApp } from '../travel/app.ts';
import {
  apiKeyAuthenticator,
  createFirstApiKey,
  ensureFirstAdmin,
} from '../travel/authentication/api-keys.ts';
import {
  admitCallers,
  authenticate,
  isActiveAdmin,
  openidAuthenticator,
} from '../travel/authentication/authentication.ts';
import {
  bridgeAuthenticator,
  firstAccepting,
  memoryKeyAuthenticator,
} from '../travel/authentication/memory-keys.ts';
import type { TravelDeps } from '../travel/collection.ts';
import { cleanupJobs, runCleanupJobs } from '../travel/deletion/cleanup.ts';
import type { Authenticator, TravelStore } from '../travel/ports.ts';
import { createWebhooks, type Webhooks } from '../travel/webhooks/webhooks.ts';
import { travelResourceId } from './ids.ts';
import { steadyClock, wait } from './runtime.ts';

/** The embedded travel service, and the credentials that it creates. */
export interface EmbeddedTravel extends ServedTravel {
  app: Express;
  /** The API key of the bridge itself. It exists only in memory, while the process runs. */
  bridgeKey: string;
  /** Returns true for an active user with the role admin. */
  isActiveAdmin(userId: string): Promise<boolean>;
  /** Creates the first admin's API key, unless the admin already has one or TRAVEL_API_KEY contains one. */
  createFirstKey(): Promise<string | undefined>;
  /** Delivers events to webhooks and runs the cleanup jobs, until it is stopped. */
  run(): { stop(): Promise<void> };
}

interface EmbeddedTravelDeps {
  database: Database;
  log: Logger;
  /** Receives the type of each resource that changes. */
  onChange(type: string): void;
  /** Records the requests; undefined disables the log. */
  recorder?: ExchangeRecorder | undefined;
  /** Counts failed authentications; undefined disables the limit. */
  refusals?: FailedAuthenticationDeps | undefined;
  /** TRAVEL_API_KEY: the first admin's key; undefined if it is not set. */
  chosenKey: string | undefined;
  /** 32 bytes that encrypt the secrets of webhooks. */
  encryptionKey: Uint8Array;
  /** True: webhooks may lead to private addresses. */
  privateReceivers?: boolean;
  /** The OpenID provider whose access tokens the service accepts. */
  openid?: Settings['travelService']['openid'];
  /** The public base URL of the service, if the settings have one. */
  publicUrl?: string | undefined;
}

type OpenDeps = Pick<
  EmbeddedTravelDeps,
  'database' | 'encryptionKey' | 'log' | 'onChange' | 'recorder' | 'refusals'
>;

/** Opens the embedded travel service as the settings want it; undefined if no connection uses it. */
export async function openEmbeddedTravel(
  settings: Settings,
  deps: OpenDeps,
): Promise<EmbeddedTravel | undefined> {
  const connection = settings.connections.find(({ travelApi }) => travelApi.url === 'embedded');
  if (!connection) return undefined;
  const { openid, webhooks } = settings.travelService;
  return createEmbeddedTravel({
    ...deps,
    chosenKey: connection.travelApi.key,
    privateReceivers: webhooks.allowPrivate,
    openid,
    publicUrl: settings.publicUrl,
  });
}

/** Creates the embedded travel service, and its first admin if the database has none. */
export async function createEmbeddedTravel(deps: EmbeddedTravelDeps): Promise<EmbeddedTravel> {
  const { database, chosenKey, log, openid, publicUrl, refusals, recorder } = deps;
  const secrets = encryption(deps.encryptionKey);
  const store = travelStore(database, secrets);
  const keys = apiKeys(database);
  const resources = { store, now: Date.now, newId: travelResourceId };
  const admin = await ensureFirstAdmin(resources);
  const bridgeKey = newSecret('bridge');
  const authenticator = firstAccepting([
    bridgeAuthenticator(bridgeKey, resources, admin),
    memoryKeyAuthenticator('apiKey:environment', chosenKey, () => admin),
    apiKeyAuthenticator({ keys, now: Date.now, log }),
    accessTokenAuthenticator(database),
    ...(openid ? [openidAuthenticator({ ...openid, reader: store, now: Date.now, log })] : []),
  ]);
  const { travel, webhooks, run } = connectWebhooks(deps, store, secrets);
  const common = { ...travel, log, recorder, publicUrl, webhooks: webhooks.routes };
  return {
    app: createTravelApp({ ...common, admit: authenticate(store, authenticator, refusals) }),
    serveAdmins: (findCaller) => createTravelApp({ ...common, admit: admitCallers(findCaller) }),
    ...{ travel, bridgeKey, run },
    isActiveAdmin: (userId) => isActiveAdmin(store, userId),
    createFirstKey: async () =>
      chosenKey === undefined
        ? createFirstApiKey({ keys, now: Date.now, newId: () => travelResourceId('B') }, admin)
        : undefined,
  };
}

/**
 * Connects the travel resources and the webhooks: each change of a resource notifies the webhooks, and webhooks change
 * resources.
 */
function connectWebhooks(
  { database, onChange, log, privateReceivers = false }: EmbeddedTravelDeps,
  store: TravelStore,
  secrets: Encryption,
): { travel: TravelDeps; webhooks: Webhooks; run: EmbeddedTravel['run'] } {
  const travel: TravelDeps = {
    store,
    now: Date.now,
    newId: travelResourceId,
    privateReceivers,
    onChange: (type, id) => {
      onChange(type);
      webhooks.notify(type, id);
    },
  };
  const queue = deliveryQueue(database);
  const records = webhookRecords(database, secrets);
  const clock = { now: steadyClock(), wallClock: () => Date.now(), wait };
  const webhooks = createWebhooks({
    ...{ travel, queue, records, clock, log },
    ...{ resolve: resolveName, allowPrivate: privateReceivers, random: Math.random },
  });
  const run = () => {
    const deliveries = webhooks.run();
    const jobs = runCleanupJobs(cleanupJobs({ store, records, now: Date.now }), { wait, log });
    return {
      stop: async () => {
        await Promise.all([deliveries.stop(), jobs.stop()]);
      },
    };
  };
  return { travel, webhooks, run };
}

/** Accepts the access tokens that /oauth/token issued for the travel API. */
function accessTokenAuthenticator(database: Database): Authenticator {
  const access = oauthAccessTokens(database);
  return async (token) => {
    const found = await access.findActive(hashSecret(token), Date.now());
    if (found?.grant.kind !== 'travel' || !('clientId' in found.holder)) return undefined;
    return { userId: found.grant.userId, credential: `oauth:${found.holder.clientId}` };
  };
}
