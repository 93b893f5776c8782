import type { Router } from 'express';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import { type FailureLimit, failureLimit, hashSecret, type RefusalDeps } from '../http/authentication.ts';
import { tokenEndpoint } from '../oauth/token-endpoint.ts';
import type { Access } from '../scim/app.ts';
import {
  credentialStateLookup,
  oauthAccessTokens,
  oauthClients,
  type ScimTokens,
  usedAssertions,
} from '../store/credentials.ts';
import type { Database } from '../store/database.ts';
import type { EmbeddedTravel } from './embedded.ts';

interface AccessDeps {
  settings: Settings;
  database: Database;
  tokens: ScimTokens;
  embedded: EmbeddedTravel | undefined;
  log: Logger;
  limit: FailureLimit;
}

/**
 * What happens to requests without a valid credential, in each service. All share one limit: whoever guesses does not
 * begin anew at another path.
 */
export function refusalDeps(
  database: Database,
): Record<'scim' | 'travel', RefusalDeps> & { limit: FailureLimit } {
  const limit = failureLimit(() => performance.now());
  const stateOf = credentialStateLookup(database);
  const refusals = (service: 'scim' | 'travel'): RefusalDeps => ({
    limit,
    explain: async (token) => {
      const known = await stateOf(hashSecret(token), Date.now());
      if (!known) return { reason: 'unknown credential' };
      const { credential, state, opens } = known;
      if (state !== 'active') return { reason: `${state} credential`, credential };
      if (opens !== service) return { reason: 'credential of another service', credential };
      // Of the travel service it was found out before: its user is no active admin.
      return { reason: 'its connection is not in the settings', credential };
    },
  });
  return { limit, scim: refusals('scim'), travel: refusals('travel') };
}

/**
 * Finds what a token opens for SCIM. Tokens that were made are in the store, those that the operator chose
 * live in the environment alone, and access tokens open what their client may open.
 */
export function scimAuthenticator({
  settings,
  database,
  tokens,
}: Pick<AccessDeps, 'settings' | 'database' | 'tokens'>): (token: string) => Promise<Access | undefined> {
  const chosen = new Map(
    settings.connections.flatMap(({ id, scimToken }) =>
      scimToken ? [[hashSecret(scimToken), { connection: id, credential: `token:environment:${id}` }]] : [],
    ),
  );
  const isOpen = new Set(settings.connections.map(({ id }) => id));
  const access = oauthAccessTokens(database);
  const granted = async (hash: string) => {
    const opened = await access.findActive(hash, Date.now());
    if (opened?.grant.kind !== 'scim') return undefined;
    return { connection: opened.grant.connection, credential: `oauth:${opened.clientId}` };
  };
  const made = async (hash: string) => {
    const token = await tokens.findActive(hash, Date.now());
    return token && { connection: token.connection, credential: `token:${token.id}` };
  };
  return async (token) => {
    const hash = hashSecret(token);
    const access = chosen.get(hash) ?? (await made(hash)) ?? (await granted(hash));
    return access && isOpen.has(access.connection) ? access : undefined;
  };
}

/**
 * The token endpoint, for clients of both services. Assertions must be made for its address as the settings have it: the
 * Host of a request is the client's word.
 */
export function oauthRoutes(
  { settings, database, log, embedded, limit }: AccessDeps,
  address: string,
): Router {
  return tokenEndpoint({
    clients: oauthClients(database),
    tokens: oauthAccessTokens(database),
    assertions: usedAssertions(database),
    isOpen: async (grant) =>
      grant.kind === 'scim'
        ? settings.connections.some(({ id }) => id === grant.connection)
        : ((await embedded?.isActiveAdmin(grant.userId)) ?? false),
    audience: `${address}/oauth/token`,
    now: Date.now,
    log,
    limit,
  });
}
