import { randomBytes, randomUUID } from 'node:crypto';
import type { Express } from 'express';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import { hashSecret, newSecret, type RefusalDeps } from '../http/authentication.ts';
import { apiKeys, oauthAccessTokens } from '../store/credentials.ts';
import type { Database } from '../store/database.ts';
import { deliveryQueue } from '../store/delivery-queue.ts';
import { type Encryption, encryption } from '../store/encryption.ts';
import { travelStore } from '../store/travel-writes.ts';
import { webhookRecords } from '../store/webhook-deliveries.ts';
import { apiKeyAuthenticator, ensureFirstAdmin } from '../travel/api-keys.ts';
import { createTravelApp } from '../travel/app.ts';
import { BRIDGE_CREDENTIAL, isActiveAdmin, openidAuthenticator } from '../travel/authentication.ts';
import { cleanupJobs, runJobs } from '../travel/cleanup.ts';
import type { TravelDeps as TravelRuntime } from '../travel/collection.ts';
import type { Authenticator, TravelStore } from '../travel/ports.ts';
import type { RequestLogWriter } from '../travel/request-log-writer.ts';
import { resolveName } from '../travel/webhooks/address-guard.ts';
import { createWebhooks, type Webhooks } from '../travel/webhooks/webhooks.ts';
import { steadyClock, wait } from './runtime.ts';

/** The travel service that comes along, and the credentials made for it. */
export interface EmbeddedTravel {
  app: Express;
  /** The bridge's own key, which lives as long as the process. */
  bridgeKey: string;
  /** Whether credentials of this user open anything. */
  isActiveAdmin(userId: string): Promise<boolean>;
  /** Makes the first admin's key, when they have none and the operator chose none. */
  firstKey(): Promise<string | undefined>;
  /** Delivers events to webhooks and keeps house, until it is stopped. */
  run(): { stop(): Promise<void> };
}

interface EmbeddedTravelDeps {
  database: Database;
  /** TRAVEL_API_KEY: the first admin's key, if the operator chose it. */
  chosenKey: string | undefined;
  onChange(type: string): void;
  log: Logger;
  /** 32 bytes that encrypt what must be read back. */
  sealingKey: Uint8Array;
  /** True: webhooks may lead to private addresses. */
  privateReceivers?: boolean;
  /** The OpenID provider whose tokens are taken. */
  openid?: Settings['travelService']['openid'];
  /** Of the request log; undefined: nothing is recorded. */
  keeper?: RequestLogWriter | undefined;
  /** Undefined: failed authentication is not counted. */
  refusals?: RefusalDeps | undefined;
  /** Where clients find the service, if the operator says so. */
  publicUrl?: string | undefined;
}

/** Opens the embedded travel service; at the very first start it gets its first admin. */
export async function createEmbeddedTravel(ground: EmbeddedTravelDeps): Promise<EmbeddedTravel> {
  const { database, chosenKey, log, keeper, publicUrl, refusals } = ground;
  const sealed = encryption(ground.sealingKey);
  const store = travelStore(database, sealed);
  const keys = apiKeys(database);
  const admin = await ensureFirstAdmin({ store, now: Date.now, newId });
  const bridgeKey = newSecret('bridge');
  const credentials = firstAccepting([
    bridgeCredentials(bridgeKey, store, admin),
    inMemoryCredentials('apiKey:environment', chosenKey, () => admin),
    apiKeyAuthenticator({ keys, now: Date.now, log }),
    accessTokenCredentials(database),
    ...(ground.openid ? [openidAuthenticator({ ...ground.openid, reading: store, now: Date.now, log })] : []),
  ]);
  const { runtime, delivering, run } = webhookParts(ground, store, sealed);
  return {
    app: createTravelApp({
      ...runtime,
      ...{
        authenticator: credentials,
        log,
        requestLogWriter: keeper,
        publicUrl,
        refusals,
        webhooks: delivering.routes,
      },
    }),
    bridgeKey,
    run,
    isActiveAdmin: (userId) => isActiveAdmin(store, userId),
    firstKey: async () => {
      if (chosenKey !== undefined || (await keys.hasAny(admin))) return undefined;
      const key = newSecret('travel');
      const made = { id: newId('B'), name: 'first key', userId: admin, createdAt: Date.now() };
      await keys.add({ ...made, hash: hashSecret(key) });
      return key;
    },
  };
}

/** Webhooks are told of what is changed, and may change themselves. */
function webhookParts(
  { database, onChange, log, privateReceivers = false }: EmbeddedTravelDeps,
  store: TravelStore,
  sealed: Encryption,
): { runtime: TravelRuntime; delivering: Webhooks; run: EmbeddedTravel['run'] } {
  const runtime: TravelRuntime = {
    store,
    now: Date.now,
    newId,
    privateReceivers,
    onChange: (type, id) => {
      onChange(type);
      delivering.notify(type, id);
    },
  };
  const queue = deliveryQueue(database);
  const records = webhookRecords(database, sealed);
  const clock = { now: steadyClock(), wallClock: () => Date.now(), wait };
  const delivering = createWebhooks({
    ...{ travel: runtime, queue, records, clock, log },
    ...{ resolve: resolveName, allowPrivate: privateReceivers, random: Math.random },
  });
  const run = () => {
    const dispatch = delivering.run();
    const jobs = runJobs(cleanupJobs({ store, records, now: Date.now }), { wait, log });
    return {
      stop: async () => {
        await Promise.all([dispatch.stop(), jobs.stop()]);
      },
    };
  };
  return { runtime, delivering, run };
}

/** Access tokens that /oauth/token made for the travel API. */
function accessTokenCredentials(database: Database): Authenticator {
  const access = oauthAccessTokens(database);
  return async (token) => {
    const opened = await access.findActive(hashSecret(token), Date.now());
    if (opened?.grant.kind !== 'travel') return undefined;
    return { userId: opened.grant.userId, credential: `oauth:${opened.clientId}` };
  };
}

/** The first kind of credential that knows a token decides. */
function firstAccepting(kinds: Authenticator[]): Authenticator {
  return async (token, onRefused) => {
    for (const admit of kinds) {
      const admission = await admit(token, onRefused);
      if (admission) return admission;
    }
    return undefined;
  };
}

/**
 * The bridge acts for the first admin as long as that is an active one, and then for another: nobody means to end the
 * provisioning by tidying up among the admins.
 */
function bridgeCredentials(key: string, store: TravelStore, first: string): Authenticator {
  let admin = first;
  return inMemoryCredentials(BRIDGE_CREDENTIAL, key, async () => {
    if (!(await isActiveAdmin(store, admin))) admin = await ensureFirstAdmin({ store, now: Date.now, newId });
    return admin;
  });
}

/** A key that is kept nowhere, by what the request log calls it. */
function inMemoryCredentials(
  credential: string,
  key: string | undefined,
  owner: () => string | Promise<string>,
): Authenticator {
  const hash = key === undefined ? undefined : hashSecret(key);
  return async (token) => (hashSecret(token) === hash ? { userId: await owner(), credential } : undefined);
}

/** Form A: 24 hexadecimal characters; form B: a UUID (specification, "Conventions common to all resources"). */
function newId(form: 'A' | 'B'): string {
  return form === 'A' ? randomBytes(12).toString('hex') : randomUUID();
}
