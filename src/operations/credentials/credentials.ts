import { z } from 'zod';
import { isSafeUrl } from '../../http/proxies.ts';
import { type ClientRegistration, type Grant, keysUrlProblem, parseJwks } from '../../oauth/clients.ts';
import { ensureConnection } from '../../store/connections.ts';
import { apiKeys } from '../../store/credentials/credentials.ts';
import { travelStore } from '../../store/travel/travel-writes.ts';
import { type ApiKeyDeps, createApiKey, listApiKeys } from '../../travel/authentication/api-keys.ts';
import { requireAdminByEmail } from '../../travel/authentication/authentication.ts';
import type { OperationDeps } from '../deps.ts';
import { invalidField, noSuch, OperationError } from '../errors.ts';
import { type OperationContext, type Operations, operation } from '../operation.ts';
import { id, name, optionalText, optionalTime, time, toTime } from '../schemas.ts';
import type { ListedClient } from './scim-credentials.ts';

const token = z
  .object({
    id,
    name: z.string(),
    connection: z.string(),
    state: z.enum(['active', 'expired', 'revoked']),
    createdAt: time,
    expiresAt: optionalTime,
    lastUsedAt: optionalTime,
    revokedAt: optionalTime,
  })
  .meta({ id: 'ScimToken', description: 'A bearer token of an identity provider' });

export type ScimToken = z.input<typeof token>;

const client = z
  .object({
    id,
    name: z.string(),
    connection: optionalText,
    travelAdmin: optionalText.describe(
      'Instead of a connection: the admin on whose behalf it calls the travel service',
    ),
    authentication: z.enum(['secret', 'keys']),
    createdAt: time,
    lastUsedAt: optionalTime.describe('The time of its last token'),
    revokedAt: optionalTime,
  })
  .meta({ id: 'OAuthClient', description: 'A client that gets tokens at /oauth/token' });

export type OAuthClient = z.input<typeof client>;

const apiKey = z
  .object({
    id,
    name: z.string(),
    email: z.string().describe('The admin of the travel service on whose behalf it calls'),
    isReadOnly: z.boolean().describe('True if it can only read'),
    createdAt: time,
    lastUsedAt: optionalTime,
    revokedAt: optionalTime,
  })
  .meta({ id: 'TravelApiKey', description: 'A key of an integration that calls the travel API' });

export type TravelApiKey = z.input<typeof apiKey>;

const clientBody = z.strictObject({
  name,
  connection: id.optional().describe('Gives access to SCIM of this connection'),
  travelAdmin: z
    .email('must be an email address')
    .max(320)
    .optional()
    .describe('Instead of a connection: gives access to the embedded travel service on behalf of this admin'),
  jwks: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Instead of a secret: its public keys, a JSON Web Key Set'),
  jwksUri: z
    .string()
    .max(2000)
    .refine(isSafeUrl, 'must be an https URL, e.g. https://idp.example.com/keys')
    .optional()
    .describe('Instead of a secret: the URL of its public keys'),
});

/** The tokens and OAuth clients of identity providers, and the API keys of the embedded travel service. */
export const credentialOperations = {
  listTokens: operation(
    {
      ...{ method: 'get', path: '/tokens', tag: 'Connect', access: 'viewer' },
      summary: 'List the bearer tokens of identity providers',
      result: z.object({ tokens: z.array(token) }),
    },
    async (_input, deps) => ({ tokens: await deps.credentials.listTokens() }),
  ),
  createToken: operation(
    {
      ...{ method: 'post', path: '/tokens', tag: 'Connect', access: 'admin' },
      summary: 'Create a bearer token that is shown once',
      body: z.strictObject({
        ...{ connection: id, name },
        days: z
          .int()
          .min(1)
          .max(3650)
          .optional()
          .describe('Days until it expires; without it, it never does'),
      }),
      result: z.object({ id, token: z.string() }),
    },
    async ({ body: { connection, name, days } }, deps, { note }) => {
      await requireConnection(connection, deps);
      const { id, token, expiresAt } = await deps.credentials.createToken({ connection, name, days });
      note({ id, name, connection, expiresAt: expiresAt && toTime(expiresAt) });
      return { id, token };
    },
  ),
  revokeToken: operation(
    {
      ...{ method: 'delete', path: '/tokens/{id}', tag: 'Connect', access: 'admin' },
      summary: 'Revoke a bearer token at once',
    },
    async ({ params: { id } }, deps, { note }) => {
      const token = (await deps.credentials.listTokens()).find((listed) => listed.id === id);
      if (token) note({ name: token.name, connection: token.connection });
      if (!(await deps.credentials.revokeToken(id))) throw noSuch('token');
    },
  ),
  listOAuthClients: operation(
    {
      ...{ method: 'get', path: '/oauth-clients', tag: 'Connect', access: 'viewer' },
      summary: 'List the OAuth clients',
      result: z.object({ clients: z.array(client) }),
    },
    async (_input, deps) => ({ clients: (await deps.credentials.listClients()).map(toClient) }),
  ),
  createOAuthClient: operation(
    {
      ...{ method: 'post', path: '/oauth-clients', tag: 'Connect', access: 'admin' },
      summary:
        'Register an OAuth client of a connection or of the embedded travel service; its secret is shown once',
      body: clientBody,
      result: z.object({ clientId: id, clientSecret: optionalText }),
    },
    ({ body }, deps, { note }) => createClient(body, note, deps),
  ),
  revokeOAuthClient: operation(
    {
      ...{ method: 'delete', path: '/oauth-clients/{id}', tag: 'Connect', access: 'admin' },
      summary: 'Revoke an OAuth client and all its tokens at once',
    },
    async ({ params: { id } }, deps, { note }) => {
      const client = (await deps.credentials.listClients()).find((listed) => listed.id === id);
      if (client) note({ name: client.name, ...client.opens });
      if (!(await deps.credentials.revokeClient(id))) throw noSuch('client');
    },
  ),
  listTravelApiKeys: operation(
    {
      ...{ method: 'get', path: '/travel/api-keys', tag: 'Travel service', access: 'viewer' },
      summary: 'List the API keys, oldest first',
      result: z.object({ keys: z.array(apiKey) }),
      errors: ['notFound'],
    },
    async (_input, deps) => {
      requireEmbeddedApi(deps);
      const keys = await listApiKeys(keyDeps(deps));
      return { keys: keys.map((key) => ({ ...key, isReadOnly: key.isReadOnly === true })) };
    },
  ),
  createTravelApiKey: operation(
    {
      ...{ method: 'post', path: '/travel/api-keys', tag: 'Travel service', access: 'admin' },
      summary: 'Create an API key that is shown once',
      body: z.strictObject({
        ...{ name, email: z.email('must be an email address').max(320) },
        isReadOnly: z.boolean().default(false).describe('True for a key that can only read'),
      }),
      result: z.object({ id, key: z.string() }),
      errors: ['notFound', 'conflict'],
    },
    async ({ body }, deps, { note }) => {
      note(body);
      requireEmbeddedApi(deps);
      const created = await createApiKey(keyDeps(deps), body);
      note({ id: created.id });
      return created;
    },
  ),
  revokeTravelApiKey: operation(
    {
      ...{ method: 'delete', path: '/travel/api-keys/{id}', tag: 'Travel service', access: 'admin' },
      summary: 'Revoke an API key',
    },
    async ({ params: { id } }, deps) => {
      if (!(await apiKeys(deps.database).revoke(id, deps.now()))) throw noSuch('API key');
    },
  ),
} satisfies Operations;

function toClient({ opens, proof, ...client }: ListedClient) {
  return {
    ...client,
    ...('connection' in opens ? { connection: opens.connection } : { travelAdmin: opens.travelAdmin }),
    authentication: proof === 'secret' ? ('secret' as const) : ('keys' as const),
  };
}

async function createClient(
  { name, connection, travelAdmin, ...keysOf }: z.output<typeof clientBody>,
  note: OperationContext['note'],
  deps: OperationDeps,
) {
  const keys = readKeys(keysOf, deps);
  const grant = await readGrant({ connection, travelAdmin }, deps);
  const { id, secret } = await deps.credentials.createClient({ grant, name, keys });
  note({ id, name, connection, travelAdmin, authentication: keys ? 'keys' : 'secret' });
  return { clientId: id, clientSecret: secret };
}

function readKeys(
  { jwks, jwksUri }: Pick<z.output<typeof clientBody>, 'jwks' | 'jwksUri'>,
  { settings }: OperationDeps,
): ClientRegistration['keys'] {
  if (jwksUri === undefined) return jwks && { kind: 'jwks', jwks: requireJwks(jwks) };
  if (jwks) throw invalidField('jwksUri', 'cannot be given together with jwks');
  const problem = keysUrlProblem(jwksUri, settings.oauthClients);
  if (problem !== undefined) throw invalidField('jwksUri', problem);
  return { kind: 'jwksUri', uri: jwksUri };
}

async function readGrant(
  { connection, travelAdmin }: Pick<z.output<typeof clientBody>, 'connection' | 'travelAdmin'>,
  deps: OperationDeps,
): Promise<Grant> {
  if ((connection === undefined) === (travelAdmin === undefined))
    throw invalidField('connection', 'is needed, or a travelAdmin instead of it');
  if (connection !== undefined) {
    await requireConnection(connection, deps);
    return { kind: 'scim', connection };
  }
  requireEmbeddedApi(deps);
  const admin = await requireAdminByEmail(travelStore(deps.database), travelAdmin ?? '');
  return { kind: 'travel', userId: admin.id };
}

function requireJwks(json: unknown): { keys: object[] } {
  const parsed = parseJwks(json);
  if ('problem' in parsed) throw invalidField('jwks', parsed.problem);
  return parsed.jwks;
}

/**
 * Makes a connection of the settings known to the database before a server has, so that a credential can refer to it. One that is known
 * stays in its travel account, where running servers look: the settings of a command may name another one.
 */
async function requireConnection(id: string, { connections, database, now }: OperationDeps): Promise<void> {
  const known = connections.map(({ settings }) => settings.id);
  const found = connections.find(({ settings }) => settings.id === id);
  if (!found) throw invalidField('connection', `is not in the settings, which have ${known.join(', ')}`);
  if (!database.scopes.has(id)) await ensureConnection(database, found.settings, now());
}

function requireEmbeddedApi({ connections }: OperationDeps): void {
  if (connections.some(({ settings }) => settings.travelApi.url === 'embedded')) return;
  throw new OperationError('notFound', 'No connection uses the embedded travel service.');
}

function keyDeps({ database, now, newId }: OperationDeps): ApiKeyDeps {
  return { keys: apiKeys(database), reader: travelStore(database), now, newId };
}
