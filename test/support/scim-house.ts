import type { JsonObject } from '../../src/schema/resource.ts';
import { scimApp } from '../../src/scim/app.ts';
import { type HttpHouse, httpHouse } from './http-house.ts';
import { type QuietBridge, type QuietOptions, quietBridge } from './quiet-bridge.ts';

/** An answer of the front door. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

/** The front door on a free port, with a bridge that speaks to nobody; tokens `good` and `other` have a connection each. */
export interface ScimHouse extends HttpHouse {
  bridge: QuietBridge;
  /** Sends a request with a good token, and JSON unless `body` is text. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** Opens a house of its own for one test; `close` takes it down. */
export async function scimHouse(options: QuietOptions = {}): Promise<ScimHouse> {
  const bridge = await quietBridge(options);
  const house = await httpHouse((app) => {
    const authenticate = async (given: string) => ({ good: 'default', other: 'second' })[given];
    const publicUrl = () => 'https://bridge.example';
    app.use('/scim/v2', scimApp({ ...bridge, authenticate, publicUrl }));
  });
  return {
    ...house,
    bridge,
    close: async () => {
      await house.close();
      await bridge.close();
    },
    send: (method, path, body, headers) => send(house.port, { method, path, body, headers }),
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
      Authorization: 'Bearer good',
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
