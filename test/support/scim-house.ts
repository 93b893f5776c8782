import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { httpApp } from '../../src/http/app.ts';
import { newLog } from '../../src/http/log.ts';
import { type HttpMetrics, httpMetrics } from '../../src/http/metrics.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { scimApp } from '../../src/scim/app.ts';
import { type MemoryBridge, memoryBridge } from './memory-bridge.ts';

/** An answer of the front door. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

/** The front door on a free port, with the bridge in memory; tokens `good` and `other` have a connection each. */
export interface ScimHouse {
  bridge: MemoryBridge;
  metrics: HttpMetrics;
  port: number;
  /** The lines logged so far. */
  lines: JsonObject[];
  /** Sends a request with a good token, and JSON unless `body` is text. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  close(): Promise<void>;
}

export const token = 'good';

/** Opens a house of its own for one test; `close` takes it down. */
export async function scimHouse(): Promise<ScimHouse> {
  const bridge = memoryBridge();
  const metrics = httpMetrics();
  const lines: JsonObject[] = [];
  const log = newLog(
    'info',
    new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(JSON.parse(chunk));
        done();
      },
    }),
  );
  let requests = 0;
  const newId = () => {
    requests += 1;
    return `r${requests}`;
  };
  const app = httpApp({ log, metrics, newId, now: () => performance.now() }, (express) => {
    const authenticate = async (given: string) => ({ good: 'default', other: 'second' })[given];
    const publicUrl = () => 'https://bridge.example';
    express.use('/scim/v2', scimApp({ ...bridge, authenticate, publicUrl }));
  });
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    bridge,
    metrics,
    port,
    lines,
    send: (method, path, body, headers) => send(port, { method, path, body, headers }),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

interface Sent {
  method: string;
  path: string;
  body: unknown;
  headers: Record<string, string> | undefined;
}

async function send(port: number, { method, path, body, headers }: Sent): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}/scim/v2${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/scim+json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** A PATCH message of these operations. */
export function patchOp(...Operations: unknown[]): JsonObject {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations } as JsonObject;
}
