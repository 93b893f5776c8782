import type { Router } from 'express';
import type { Logger } from 'pino';
import type { Settings } from './config.ts';
import type { Embedded } from './embedded.ts';
import { hashSecret } from './http/bearer.ts';
import { tokenEndpoint } from './oauth/token-endpoint.ts';
import type { Database } from './store/database.ts';
import { oauthClients } from './store/oauth-clients.ts';
import { oauthAssertions, oauthTokens } from './store/oauth-tokens.ts';
import type { Tokens } from './store/tokens.ts';

interface Ground {
  settings: Settings;
  database: Database;
  tokens: Tokens;
  embedded: Embedded | undefined;
  log: Logger;
}

/**
 * Finds the connection that a token opens for SCIM. Tokens that were made are in the store, those that the operator chose
 * live in the environment alone, and access tokens open what their client may open.
 */
export function scimAccess({
  settings,
  database,
  tokens,
}: Pick<Ground, 'settings' | 'database' | 'tokens'>): (token: string) => Promise<string | undefined> {
  const chosen = new Map(
    settings.connections.flatMap(({ id, scimToken }) => (scimToken ? [[hashSecret(scimToken), id]] : [])),
  );
  const isOpen = new Set(settings.connections.map(({ id }) => id));
  const access = oauthTokens(database);
  const granted = async (hash: string) => {
    const opened = await access.find(hash, Date.now());
    return opened?.grant.kind === 'scim' ? opened.grant.connection : undefined;
  };
  return async (token) => {
    const hash = hashSecret(token);
    const connection =
      chosen.get(hash) ?? (await tokens.connectionOf(hash, Date.now())) ?? (await granted(hash));
    return connection !== undefined && isOpen.has(connection) ? connection : undefined;
  };
}

/**
 * The token endpoint, for clients of both services. Assertions must be made for its address as the settings have it: the
 * Host of a request is the client's word.
 */
export function oauthRoutes({ settings, database, log, embedded }: Ground, address: string): Router {
  return tokenEndpoint({
    clients: oauthClients(database),
    tokens: oauthTokens(database),
    assertions: oauthAssertions(database),
    isOpen: async (grant) =>
      grant.kind === 'scim'
        ? settings.connections.some(({ id }) => id === grant.connection)
        : ((await embedded?.isActiveAdmin(grant.userId)) ?? false),
    audience: `${address}/oauth/token`,
    now: Date.now,
    log,
  });
}
