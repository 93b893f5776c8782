import { randomBytes, randomUUID } from 'node:crypto';
import type { Express } from 'express';
import type { Logger } from 'pino';
import type { Settings } from './config.ts';
import { hashSecret, newSecret } from './http/bearer.ts';
import { apiKeys } from './store/api-keys.ts';
import type { Database } from './store/database.ts';
import { oauthTokens } from './store/oauth-tokens.ts';
import { travelResources } from './store/travel-resources.ts';
import { isActiveAdmin } from './travel/admins.ts';
import { keyCredentials } from './travel/api-keys.ts';
import { travelApp } from './travel/app.ts';
import { ensureFirstAdmin } from './travel/first-admin.ts';
import { openidCredentials } from './travel/openid.ts';
import type { Admission, Credentials } from './travel/ports.ts';
import type { Keeper } from './travel/request-log-keeper.ts';

/** The travel service that comes along, and the credentials made for it. */
export interface Embedded {
  app: Express;
  /** The bridge's own key, which lives as long as the process. */
  bridgeKey: string;
  /** Whether credentials of this user open anything. */
  isActiveAdmin(userId: string): Promise<boolean>;
  /** Makes the first admin's key, when they have none and the operator chose none. */
  firstKey(): Promise<string | undefined>;
}

interface Ground {
  database: Database;
  /** TRAVEL_API_KEY: the first admin's key, if the operator chose it. */
  chosenKey: string | undefined;
  onChange(type: string): void;
  log: Logger;
  /** The OpenID provider whose tokens are taken. */
  openid?: Settings['travelService']['openid'];
  /** Of the request log; undefined: nothing is recorded. */
  keeper?: Keeper | undefined;
}

/** Opens the embedded travel service; at the very first start it gets its first admin. */
export async function embeddedTravel({
  database,
  chosenKey,
  onChange,
  log,
  openid,
  keeper,
}: Ground): Promise<Embedded> {
  const store = travelResources(database);
  const keys = apiKeys(database);
  const admin = await ensureFirstAdmin({ store, now: Date.now, newId });
  const bridgeKey = newSecret('bridge');
  const access = oauthTokens(database);
  const credentials = anyOf([
    inMemory(admin, { bridge: bridgeKey, 'apiKey:environment': chosenKey }),
    keyCredentials({ keys, now: Date.now, log }),
    async (token) => {
      const opened = await access.find(hashSecret(token), Date.now());
      if (opened?.grant.kind !== 'travel') return undefined;
      return { userId: opened.grant.userId, credential: `oauth:${opened.clientId}` };
    },
    ...(openid ? [openidCredentials({ ...openid, reading: store, now: Date.now, log })] : []),
  ]);
  return {
    app: travelApp({ store, now: Date.now, newId, onChange, credentials, log, keeper }),
    bridgeKey,
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

/** The first kind of credential that knows a token decides. */
function anyOf(kinds: Credentials[]): Credentials {
  return async (token) => {
    for (const admit of kinds) {
      const admission = await admit(token);
      if (admission) return admission;
    }
    return undefined;
  };
}

/** Keys of the first admin that are kept nowhere, by what the request log calls them. */
function inMemory(admin: string, keys: Record<string, string | undefined>): Credentials {
  const known = new Map<string, Admission>(
    Object.entries(keys).flatMap(([credential, key]) =>
      key === undefined ? [] : [[hashSecret(key), { userId: admin, credential }] as const],
    ),
  );
  return async (token) => known.get(hashSecret(token));
}

/** Form A: 24 hexadecimal characters; form B: a UUID (specification, "Conventions common to all resources"). */
function newId(form: 'A' | 'B'): string {
  return form === 'A' ? randomBytes(12).toString('hex') : randomUUID();
}
