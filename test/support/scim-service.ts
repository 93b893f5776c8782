import { type ScimClient, scimClient } from './scim-client.ts';
import { type RunningService, startService } from './service.ts';

/** A service of one's own, and its client. */
export interface ScimService extends ScimClient {
  service: RunningService;
  /** Asks for what a filter finds, and answers that attribute of each. */
  found(endpoint: '/Users' | '/Groups', filter: string, attribute: string): Promise<unknown[]>;
  close(): Promise<void>;
}

/** Starts a service where nothing happens by itself; `environment` adds to its settings. */
export async function scimService(environment: Record<string, string> = {}): Promise<ScimService> {
  const service = await startService(environment, { background: false });
  const { send } = scimClient(service.url, service.scimToken);
  return {
    service,
    send,
    found: async (endpoint, filter, attribute) => {
      const { status, body } = await send('GET', `${endpoint}?filter=${encodeURIComponent(filter)}`);
      if (status !== 200) throw new Error(`${filter}: ${status} ${JSON.stringify(body)}`);
      return body.Resources.map((resource: Record<string, unknown>) => resource[attribute]);
    },
    close: service.close,
  };
}
