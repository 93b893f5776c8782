import { randomBytes, randomUUID } from 'node:crypto';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { hashSecret, newSecret } from './http/bearer.ts';
import { apiKeys } from './store/api-keys.ts';
import type { Database } from './store/database.ts';
import { travelResources } from './store/travel-resources.ts';
import { travelApp } from './travel/app.ts';
import { ensureFirstAdmin } from './travel/first-admin.ts';

/** The travel service that comes along, and the credentials made for it. */
export interface Embedded {
  app: Express;
  /** The bridge's own key, which lives as long as the process. */
  bridgeKey: string;
  /** Makes the first admin's key, when they have none and the operator chose none. */
  firstKey(): Promise<string | undefined>;
}

interface Ground {
  database: Database;
  /** TRAVEL_API_KEY: the first admin's key, if the operator chose it. */
  chosenKey: string | undefined;
  onChange(type: string): void;
  log: Logger;
}

/** Opens the embedded travel service; at the very first start it gets its first admin. */
export async function embeddedTravel({ database, chosenKey, onChange, log }: Ground): Promise<Embedded> {
  const store = travelResources(database);
  const keys = apiKeys(database);
  const admin = await ensureFirstAdmin({ store, now: Date.now, newId });
  const bridgeKey = newSecret('bridge');
  const inMemory = new Set([bridgeKey, chosenKey].filter((key) => key !== undefined).map(hashSecret));
  const credentials = async (hash: string) => (inMemory.has(hash) ? admin : keys.userOf(hash));
  return {
    app: travelApp({ store, now: Date.now, newId, onChange, credentials, log }),
    bridgeKey,
    firstKey: async () => {
      if (chosenKey !== undefined || (await keys.hasAny(admin))) return undefined;
      const key = newSecret('travel');
      await keys.add({ hash: hashSecret(key), name: 'first key', userId: admin, createdAt: Date.now() });
      return key;
    },
  };
}

/** Form A: 24 hexadecimal characters; form B: a UUID (specification, "Conventions common to all resources"). */
function newId(form: 'A' | 'B'): string {
  return form === 'A' ? randomBytes(12).toString('hex') : randomUUID();
}
