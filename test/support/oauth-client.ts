import { type ClientWish, createClient } from '../../src/commands/oauth-clients.ts';
import type { RunningService } from './service.ts';
import { shellOf } from './shell.ts';

/** A client of a running service, registered as its operator does it. */
export interface RegisteredClient {
  id: string;
  secret: string;
  /** Asks for an access token, perhaps at another address than at first. */
  token(url?: string): Promise<string>;
}

/** Registers a client with a secret; `environment` adds to the settings by which it is registered. */
export async function oauthClient(
  service: RunningService,
  opens: ClientWish['opens'],
  environment: Record<string, string> = {},
): Promise<RegisteredClient> {
  const shell = shellOf({ JETBRIDGE_DATA: service.data, ...environment });
  const code = await createClient(shell, { name: 'test', opens, keys: undefined });
  const [, id = ''] = /^client_id=(.+)$/m.exec(shell.out.join('\n')) ?? [];
  const [, secret = ''] = /^client_secret=(.+)$/m.exec(shell.out.join('\n')) ?? [];
  if (code !== 0 || id === '' || secret === '') throw new Error(`no client: ${shell.err.join('\n')}`);
  return {
    id,
    secret,
    token: async (url = service.url) => {
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: id,
        client_secret: secret,
      });
      const response = await fetch(`${url}/oauth/token`, { method: 'POST', body });
      const { access_token: token } = Object(await response.json());
      if (response.status !== 200) throw new Error(`no token: ${response.status}`);
      return String(token);
    },
  };
}
