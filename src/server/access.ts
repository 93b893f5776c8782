import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { ConnectionSettings, Settings } from '../config/settings.ts';
import { resolveName } from '../http/address-guard.ts';
import {
  createFailureLimit,
  type FailedAuthenticationDeps,
  type FailureLimit,
  hashSecret,
  newSecret,
} from '../http/authentication.ts';
import type { ConnectionLimits } from '../http/connection-limits.ts';
import type { ExchangeRecorder } from '../model/exchange.ts';
import { recordTokenRequests } from '../oauth/exchanges.ts';
import { federationKey } from '../oauth/federation.ts';
import { tokenEndpoint } from '../oauth/token-endpoint.ts';
import type { Access } from '../scim/app.ts';
import {
  credentialStateLookup,
  oauthAccessTokens,
  oauthClients,
  type ScimTokens,
  usedAssertions,
} from '../store/credentials/credentials.ts';
import type { Database } from '../store/sql/database.ts';
import type { EmbeddedTravel } from './embedded.ts';

/** The connections that are served now, with what their settings say about access. */
export type ServedAccess = () => readonly Pick<ConnectionSettings, 'id' | 'source' | 'access'>[];

interface AccessDeps {
  settings: Settings;
  database: Database;
  tokens: ScimTokens;
  embedded: EmbeddedTravel | undefined;
  log: Logger;
  limit: FailureLimit;
  /** The connections that are served now. */
  served: ServedAccess;
  limits: ConnectionLimits;
  /** The log of exchanges; undefined disables it. */
  recorder: ExchangeRecorder | undefined;
}

/**
 * The treatment of requests without a valid credential in each of the two services. Both share one limit of failed attempts, so that
 * an attacker who guesses has no second limit at another path.
 */
export function refusalDeps(
  database: Database,
): Record<'scim' | 'travel', FailedAuthenticationDeps> & { limit: FailureLimit } {
  const limit = createFailureLimit(() => performance.now());
  const findState = credentialStateLookup(database);
  const refusals = (service: 'scim' | 'travel'): FailedAuthenticationDeps => ({
    limit,
    explain: async (token) => {
      const known = await findState(hashSecret(token), Date.now());
      if (!known) return { reason: 'unknown credential' };
      const { credential, state, opens, isFederated } = known;
      if (state !== 'active') return { reason: `${state} credential`, credential };
      if (opens !== service) return { reason: 'credential of another service', credential };
      if (isFederated) return { reason: 'its federation is not in the settings', credential };
      // Only a refused SCIM credential reaches this point, because the travel service checks its own users first.
      return { reason: 'its connection is not in the settings', credential };
    },
  });
  return { limit, scim: refusals('scim'), travel: refusals('travel') };
}

/**
 * Returns a function that finds the connection of a SCIM bearer token. The token comes from the environment (SCIM_TOKEN or
 * scimTokenEnv), from the store ("tokens create"), or from /oauth/token.
 */
export function scimAuthenticator(
  { settings, database, tokens, log }: Pick<AccessDeps, 'settings' | 'database' | 'tokens' | 'log'>,
  served: ServedAccess,
): (token: string) => Promise<Access | undefined> {
  const fromEnvironment = new Map(
    settings.connections.flatMap(({ id, scimToken }) =>
      scimToken ? [[hashSecret(scimToken), { connection: id, credential: `token:environment:${id}` }]] : [],
    ),
  );
  const accessTokens = oauthAccessTokens(database);
  const noteUse = useRecorder(tokens, log);
  const findAccessToken = async (hash: string) => {
    const found = await accessTokens.findActive(hash, Date.now());
    if (found?.grant.kind !== 'scim') return undefined;
    const { connection } = found.grant;
    const { holder } = found;
    if ('clientId' in holder) return { connection, credential: `oauth:${holder.clientId}` };
    const trusted = served().find(({ id }) => id === connection)?.access.federation ?? [];
    const isTrusted = trusted.some((one) => federationKey(one) === holder.federation);
    return isTrusted ? { connection, credential: `oauth:${connection}` } : undefined;
  };
  const findStoredToken = async (hash: string) => {
    const now = Date.now();
    const token = await tokens.findActive(hash, now);
    if (!token) return undefined;
    noteUse(token.id, now);
    return { connection: token.connection, credential: `token:${token.id}` };
  };
  return async (token) => {
    const hash = hashSecret(token);
    const access =
      fromEnvironment.get(hash) ?? (await findStoredToken(hash)) ?? (await findAccessToken(hash));
    return access && isServed(served, access.connection) ? access : undefined;
  };
}

function isServed(served: ServedAccess, connection: string): boolean {
  return served().some(({ id }) => id === connection);
}

/** The last use of a token is written at most once per interval, in milliseconds. */
const RECORD_USE_EVERY_MS = 30_000;

/** Returns a function that records the use of a token. No request waits for it. */
function useRecorder(tokens: ScimTokens, log: Logger): (id: string, now: number) => void {
  const recorded = new Map<string, number>();
  return (id, now) => {
    if (Math.abs(now - (recorded.get(id) ?? 0)) < RECORD_USE_EVERY_MS) return;
    recorded.set(id, now);
    tokens.recordUse(id, now).catch((error: unknown) => {
      log.warn({ err: error }, 'the last use of a token could not be saved');
    });
  };
}

/**
 * Returns the routes of /oauth/token, for clients of both services. The audience of an assertion is compared with `address` from the
 * settings, not with the Host header, which the client controls.
 */
export function oauthRoutes(
  { settings, database, log, embedded, limit, limits, served, recorder }: AccessDeps,
  address: string,
): RequestHandler[] {
  const endpoint = tokenEndpoint({
    clients: oauthClients(database),
    tokens: oauthAccessTokens(database),
    assertions: usedAssertions(database),
    doesGrantTargetExist: async (grant) =>
      grant.kind === 'scim'
        ? isServed(served, grant.connection)
        : ((await embedded?.isActiveAdmin(grant.userId)) ?? false),
    federated: () =>
      served().map(({ id, source, access: { federation = [] } }) => ({
        ...{ connection: id, federation },
        // An admin of the page has chosen the issuers, as the URLs of public keys.
        isGuarded: source === 'database',
      })),
    audience: `${address}/oauth/token`,
    guard: { resolve: resolveName, allowPrivate: settings.oauthClients.allowPrivate },
    now: Date.now,
    log,
    limit,
    isAllowedFrom: limits.isAllowedFrom,
  });
  if (!recorder) return [endpoint];
  return [recordTokenRequests(recorder, (id) => isServed(served, id)), endpoint];
}

/** Creates the first token of the default connection, unless it has one or the environment gives one. */
export async function createFirstToken({
  settings,
  tokens,
}: Pick<AccessDeps, 'settings' | 'tokens'>): Promise<string | undefined> {
  const needsToken = settings.connections.some(
    ({ id, scimToken }) => id === 'default' && scimToken === undefined,
  );
  if (!needsToken) return undefined;
  if ((await tokens.list()).some(({ connection }) => connection === 'default')) return undefined;
  const token = newSecret('scim');
  const row = { id: randomUUID(), name: 'first token', connection: 'default', createdAt: Date.now() };
  await tokens.create({ ...row, expiresAt: undefined, hash: hashSecret(token) });
  return token;
}
