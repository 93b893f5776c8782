import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Express } from 'express';
import request from 'supertest';
import { httpApp } from '../../src/http/app.ts';
import { newLog } from '../../src/http/log.ts';
import { httpMetrics } from '../../src/http/metrics.ts';
import { openEmbedded } from '../../src/store/database.ts';
import { requestLog } from '../../src/store/request-log.ts';
import { travelResources } from '../../src/store/travel-resources.ts';
import { travelApp } from '../../src/travel/app.ts';
import { ensureFirstAdmin } from '../../src/travel/first-admin.ts';
import type { LoggedRequest } from '../../src/travel/ports.ts';
import { keeper } from '../../src/travel/request-log-keeper.ts';
import { clock } from '../support/clock.ts';

/** The credential that opens the house. */
export const KEY = 'travel_the-key-that-nobody-may-read';
/** The bridge's own. */
const BRIDGE_KEY = 'bridge_the-key-that-nobody-may-read';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The travel service with its request log, as in production, in time that stands still. */
export interface RecordingHouse {
  app: Express;
  admin: string;
  /** Lets time pass. */
  pass(ms: number): void;
  /** Resolves a request's authentication only when told to, from now on. */
  holdBack(): { goOn(): void };
  /** A request with the credential. */
  send(method: Method, path: string): request.Test;
  /** A request of the bridge. */
  bridge(method: Method, path: string): request.Test;
  /** What is in the log by now, newest first. */
  recorded(): Promise<LoggedRequest[]>;
  close(): Promise<void>;
}

export async function recordingHouse(): Promise<RecordingHouse> {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-recording-'));
  const database = await openEmbedded(directory, true);
  const time = clock();
  const requests = requestLog(database);
  const log = {
    error: (fields: object) => {
      throw new Error(`nothing may fail here: ${JSON.stringify(fields)}`);
    },
  };
  const keeping = keeper({ requests, clock: time, log });
  const newId = (form: 'A' | 'B') => (form === 'A' ? randomBytes(12).toString('hex') : randomUUID());
  const surroundings = { store: travelResources(database), now: time.now, newId };
  const admin = await ensureFirstAdmin(surroundings);
  let gate = Promise.resolve();
  const credentials = async (token: string) => {
    await gate;
    const credential = new Map([
      [KEY, 'apiKey:k1'],
      [BRIDGE_KEY, 'bridge'],
    ]).get(token);
    return credential === undefined ? undefined : { userId: admin, credential };
  };
  const travel = travelApp({ ...surroundings, credentials, onChange: () => {}, log, keeper: keeping });
  const http = { log: newLog('silent'), metrics: httpMetrics(), newId: randomUUID, now: time.now };
  const app = httpApp(http, (outer) => outer.use('/api', travel));
  const sender = (key: string) => (method: Method, path: string) =>
    request(app)[method](path).set('Authorization', `Bearer ${key}`);
  return {
    app,
    admin,
    pass: time.advance,
    holdBack: () => {
      let goOn = () => {};
      gate = new Promise((resolve) => {
        goOn = resolve;
      });
      return { goOn };
    },
    send: sender(KEY),
    bridge: sender(BRIDGE_KEY),
    recorded: async () => {
      // What waits is written, and the house goes on recording nothing.
      await keeping.close();
      return (await requests.list({ limit: 500 })).requests;
    },
    close: async () => {
      await keeping.close();
      await database.close();
      rmSync(directory, { recursive: true });
    },
  };
}
