import type { LoggedExchange } from '../../log/exchange.ts';
import { keysUrlProblem, parseJwks } from '../../oauth/clients.ts';
import type { connectContract } from '../contract/connect.ts';
import type { HandlerRequest, Handlers } from '../contract/operation.ts';
import { toTime } from '../contract/schemas.ts';
import type { AdminDeps } from '../deps.ts';
import { invalidField, noSuch } from '../errors.ts';
import type { AdminContext } from '../router.ts';
import type { ListedClient } from '../scim-credentials.ts';
import { findUnserved } from './connections.ts';

/** Handles the connections, their credentials, and the newest requests of identity providers. */
export function connectHandlers(deps: AdminDeps): Handlers<typeof connectContract, AdminContext> {
  const { credentials } = deps;
  return {
    listConnections: async (_request, { response }) => {
      const url = deps.publicUrl(response.req);
      return {
        connections: deps.connections.map(({ settings: { id, source, scimToken, travelApi } }) => ({
          ...{ id, source, scimUrl: `${url}/scim/v2`, travelApi: travelApi.url },
          hasEnvironmentToken: scimToken !== undefined,
        })),
        unserved: await findUnserved(deps),
        tokenEndpoint: `${url}/oauth/token`,
      };
    },
    listTokens: async () => ({ tokens: await credentials.listTokens() }),
    createToken: async ({ body: { connection, name, days } }, { note }) => {
      requireConnection(connection, deps);
      const { id, token, expiresAt } = await credentials.createToken({ connection, name, days });
      note({ id, name, connection, expiresAt: expiresAt && toTime(expiresAt) });
      return { id, token };
    },
    revokeToken: async ({ params: { id } }, { note }) => {
      const token = (await credentials.listTokens()).find((listed) => listed.id === id);
      if (token) note({ name: token.name, connection: token.connection });
      if (!(await credentials.revokeToken(id))) throw noSuch('token');
    },
    listOAuthClients: async () => ({ clients: (await credentials.listClients()).map(toClient) }),
    createOAuthClient: ({ body }, { note }) => createClient(body, note, deps),
    revokeOAuthClient: async ({ params: { id } }, { note }) => {
      const client = (await credentials.listClients()).find((listed) => listed.id === id);
      if (client) note({ name: client.name, ...client.opens });
      if (!(await credentials.revokeClient(id))) throw noSuch('client');
    },
    listRecentAttempts: ({ query }) => listRecentAttempts(query, deps),
  };
}

type Input<Name extends keyof typeof connectContract> = HandlerRequest<(typeof connectContract)[Name]>;

async function createClient(
  { connection, name, jwks, jwksUri }: Input<'createOAuthClient'>['body'],
  note: AdminContext['note'],
  deps: AdminDeps,
) {
  requireConnection(connection, deps);
  if (jwks && jwksUri !== undefined) throw invalidField('jwksUri', 'cannot be given together with jwks');
  const problem = jwksUri === undefined ? undefined : keysUrlProblem(jwksUri, deps.settings.oauthClients);
  if (problem !== undefined) throw invalidField('jwksUri', problem);
  const keys = jwks
    ? ({ kind: 'jwks', jwks: requireJwks(jwks) } as const)
    : jwksUri === undefined
      ? undefined
      : ({ kind: 'jwksUri', uri: jwksUri } as const);
  const { id, secret } = await deps.credentials.createClient({ connection, name, keys });
  note({ id, name, connection, authentication: keys ? 'keys' : 'secret' });
  return { clientId: id, clientSecret: secret };
}

function requireJwks(json: unknown): { keys: object[] } {
  const parsed = parseJwks(json);
  if ('problem' in parsed) throw invalidField('jwks', parsed.problem);
  return parsed.jwks;
}

function requireConnection(id: string, { connections }: AdminDeps): void {
  const known = connections.map(({ connection }) => connection.id);
  if (known.includes(id)) return;
  throw invalidField('connection', `is not in the settings, which have ${known.join(', ')}`);
}

/** The age up to which a request is recent. */
const RECENT_MS = 15 * 60_000;
/** The number of requests that the live check shows. */
const MAX_ATTEMPTS = 20;

/** The log has requests without a valid token under the connection ''. */
const NO_CONNECTION = '';

async function listRecentAttempts(
  query: Input<'listRecentAttempts'>['query'],
  { exchanges, settings, now }: AdminDeps,
) {
  if (settings.requestLog.keepDays === 0) return { attempts: [], isLogged: false };
  const since = Math.max(now() - RECENT_MS, query.since ?? 0);
  const wanted = query.connection === undefined ? [undefined] : [query.connection, NO_CONNECTION];
  const pages = await Promise.all(
    wanted.map((connection) =>
      exchanges.list({ connection, direction: ['scim', 'oauth'], since, limit: MAX_ATTEMPTS }),
    ),
  );
  const newest = pages.flatMap((page) => page.exchanges).sort((a, b) => b.at - a.at);
  return { attempts: newest.slice(0, MAX_ATTEMPTS).map(toAttempt), isLogged: true };
}

function toAttempt({ position, requestHeaders, ...exchange }: LoggedExchange) {
  return { ...exchange, id: position, userAgent: requestHeaders['user-agent'] };
}

function toClient({ opens, proof, ...client }: ListedClient) {
  return {
    ...client,
    ...('connection' in opens ? { connection: opens.connection } : { travelAdmin: opens.travelAdmin }),
    authentication: proof === 'secret' ? ('secret' as const) : ('keys' as const),
  };
}
