import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express, { type Express } from 'express';
import request from 'supertest';
import { hashSecret, newSecret } from '../../src/http/bearer.ts';
import { apiKeys } from '../../src/store/api-keys.ts';
import { type Database, openEmbedded } from '../../src/store/database.ts';
import { deliveryQueue } from '../../src/store/delivery-queue.ts';
import { sealing } from '../../src/store/sealed.ts';
import { travelResources } from '../../src/store/travel-resources.ts';
import { webhookRecords } from '../../src/store/webhook-records.ts';
import { keyCredentials } from '../../src/travel/api-keys.ts';
import { travelApp } from '../../src/travel/app.ts';
import { ensureFirstAdmin } from '../../src/travel/first-admin.ts';
import type { JsonObject } from '../../src/travel/json.ts';
import type { ApiKeys, TravelStore } from '../../src/travel/ports.ts';
import type { Resolve } from '../../src/travel/webhooks/lookup.ts';
import type { DeliveryQueue, WebhookRecords } from '../../src/travel/webhooks/ports.ts';
import { type Webhooks, webhooks } from '../../src/travel/webhooks/webhooks.ts';
import { clock } from '../support/clock.ts';
import { checkAnswer } from './contract.ts';
import { dumpOf } from './dump.ts';

/** The travel service, mounted as in production, on a database of its own. */
export interface House {
  app: Express;
  /** The first admin and the key that acts on their behalf. */
  admin: string;
  key: string;
  surroundings: Parameters<typeof ensureFirstAdmin>[0];
  /** The changes told after their commit, as `type id`. */
  changes: string[];
  logged: string[];
  /** Lets the clock go on. */
  pass(ms: number): void;
  /** Sets the wall clock forward, or back. */
  setWallClock(byMs: number): void;
  /** Delivers what is due when told to. */
  webhooks: Webhooks;
  queue: DeliveryQueue;
  records: WebhookRecords;
  database: Database;
  /** The API keys as they are kept. */
  keys: ApiKeys;
  /** Makes a key for a user. */
  keyFor(userId: string): Promise<string>;
  send(method: Method, path: string, body?: unknown): request.Test;
  /** Creates a resource and answers it. */
  make(path: string, data: JsonObject): Promise<JsonObject & { id: string }>;
  /** Makes every list and write fail from now on. */
  breakStore(): void;
  /** What the store holds of the service's resources. */
  dump(): Promise<string>;
  close(): Promise<void>;
}

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';

/** Noon on the day of the specification's date, in the middle of a second. */
export const NOON = Date.UTC(2026, 10, 20, 12, 0, 0, 789);

/** What a test wants otherwise. */
export interface HouseOptions {
  /** False: webhooks must not lead to private addresses. */
  privateReceivers?: boolean;
  /** In place of the name servers; by default nobody knows any name. */
  resolve?: Resolve;
  /** How many webhooks are served at once. */
  places?: { well: number; failing: number };
}

export async function openHouse({
  privateReceivers = true,
  resolve = async () => [],
  places,
}: HouseOptions = {}): Promise<House> {
  const directory = mkdtempSync(join(tmpdir(), 'travel-'));
  const database = await openEmbedded(directory, false);
  const keys = apiKeys(database);
  const sealed = sealing(randomBytes(32));
  const kept = travelResources(database, sealed);
  let broken = false;
  const store: TravelStore = {
    ...kept,
    page: async (query) => {
      if (broken) throw new Error('disk on fire');
      return kept.page(query);
    },
    write: async (types, work) => {
      if (broken) throw new Error('disk on fire');
      return kept.write(types, work);
    },
  };
  const time = clock(NOON);
  const surroundings = {
    store,
    now: time.wallClock,
    newId: (form: 'A' | 'B') => (form === 'A' ? randomBytes(12).toString('hex') : randomUUID()),
  };
  const changes: string[] = [];
  const logged: string[] = [];
  const log = { error: (fields: object) => logged.push(String('err' in fields ? fields.err : '')) };
  const told = {
    ...surroundings,
    privateReceivers,
    onChange: (type: string, id: string) => {
      changes.push(`${type} ${id}`);
      delivering.ring(type, id);
    },
  };
  const queue = deliveryQueue(database);
  const records = webhookRecords(database, sealed);
  const delivering = webhooks({
    ...{ surroundings: told, queue, records, clock: time, log },
    ...{ resolve, allowPrivate: privateReceivers, random: () => 0.5 },
    ...(places ? { places } : {}),
  });
  const travel = travelApp({
    ...told,
    credentials: keyCredentials({ keys, now: surroundings.now, log }),
    log,
    webhooks: delivering.routes,
  });
  const app = express().use('/api', travel);
  const admin = await ensureFirstAdmin(surroundings);
  const keyFor = async (userId: string): Promise<string> => {
    const key = newSecret('travel');
    await keys.add({ id: randomUUID(), hash: hashSecret(key), name: 'test', userId, createdAt: time.now() });
    return key;
  };
  const key = await keyFor(admin);
  const send = (method: Method, path: string, body?: unknown): request.Test => {
    const sent = request(app)[method](`/api${path}`).set('Authorization', `Bearer ${key}`);
    // Whatever a test asks, the answer must be one that the contract has.
    sent.expect((answer) => checkAnswer(method, path, answer));
    return body === undefined ? sent : sent.send(body as object);
  };
  return {
    app,
    admin,
    key,
    surroundings,
    changes,
    logged,
    keys,
    keyFor,
    send,
    pass: time.advance,
    setWallClock: time.setWallClock,
    webhooks: delivering,
    queue,
    records,
    database,
    make: async (path, data) => {
      const answer = await send('post', path, { data });
      if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
      return answer.body.data;
    },
    dump: () => dumpOf(database),
    breakStore: () => {
      broken = true;
    },
    close: async () => {
      await database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
