import type { JsonObject } from '../../src/schema/resource.ts';
import { scimApp } from '../../src/scim/app.ts';
import { type HttpHouse, httpHouse } from './http-house.ts';
import { type QuietBridge, type QuietOptions, quietBridge } from './quiet-bridge.ts';
import { type ScimClient, scimClient } from './scim-client.ts';

/**
 * The front door on a free port, with a bridge that speaks to nobody; tokens `good` and `other` have a connection each,
 * and requests are sent with the first.
 */
export interface ScimHouse extends HttpHouse, ScimClient {
  bridge: QuietBridge;
}

/** Opens a house of its own for one test; `close` takes it down. */
export async function scimHouse(options: QuietOptions = {}): Promise<ScimHouse> {
  const bridge = await quietBridge(options);
  const house = await httpHouse((app) => {
    const authenticate = async (given: string) => {
      const connection = new Map([
        ['good', 'default'],
        ['other', 'second'],
      ]).get(given);
      return connection === undefined ? undefined : { connection, credential: `token:${given}` };
    };
    const publicUrl = () => 'https://bridge.example';
    const { now = () => performance.now() } = options;
    app.use('/scim/v2', scimApp({ ...bridge, authenticate, publicUrl, now }));
  });
  return {
    ...house,
    ...scimClient(`http://127.0.0.1:${house.port}`, 'good'),
    bridge,
    close: async () => {
      await house.close();
      await bridge.close();
    },
  };
}

/** A PATCH message of these operations. */
export function patchOp(...Operations: unknown[]): JsonObject {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations } as JsonObject;
}
