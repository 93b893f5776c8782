import { z } from 'zod';
import { isSafeUrl } from '../../http/proxies.ts';
import { connectionModeNames } from '../../provisioning/policies.ts';
import type { Contract } from './operation.ts';
import { id, name, optionalInteger, optionalText, optionalTime, time } from './schemas.ts';

const connection = z
  .object({
    id,
    scimUrl: z.string().describe('The SCIM base URL as clients use it'),
    travelApi: z.string().describe('`embedded`, or the URL of a travel API'),
    source: z
      .enum(['file', 'database', 'demoDay'])
      .describe(
        'file: the settings file fixes it; database: it was added on the page, and can be changed there',
      ),
    hasEnvironmentToken: z
      .boolean()
      .describe('True if an environment variable gives it a token, which is in no list'),
  })
  .meta({ id: 'Connection', description: 'An identity provider that provisions a travel account' });
export type Connection = z.input<typeof connection>;

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

const attempt = z
  .object({
    id: z.string().describe('Its position in the log of exchanges'),
    at: time,
    ms: z.number(),
    method: z.string(),
    path: z.string(),
    status: optionalInteger,
    connection: optionalText.describe('Absent if the request had no valid token'),
    error: optionalText.describe(
      'A `scimType`, or why the token or client was refused, e.g. `expired credential`',
    ),
    userAgent: optionalText,
    person: id.optional().describe('The SCIM id of the person whom the request is about'),
  })
  .meta({ id: 'Attempt', description: 'A request of an identity provider, answered or refused' });
export type Attempt = z.input<typeof attempt>;

const written = z.record(z.string(), z.unknown());

const policy = z
  .object({
    name: z.string(),
    description: z.string().describe('What the settings say about it'),
    value: z.unknown(),
    text: z.string().describe('What its value does'),
    choices: z
      .array(z.object({ value: z.string(), text: z.string() }))
      .describe('The values that it can have; none for the safety valve, which has numbers'),
  })
  .meta({ id: 'Policy', description: 'A decision about existing, leaving and returning people' });
export type Policy = z.input<typeof policy>;

const details = z.object({
  source: z.enum(['file', 'database', 'demoDay']),
  isShadowed: z
    .boolean()
    .describe(
      'True if the database has a connection of this name too, which the one of the settings file replaces',
    ),
  policies: z.array(policy),
  travelApi: z.array(z.object({ name: z.string(), description: z.string(), value: z.unknown() })),
});
export type ConnectionDetails = z.input<typeof details>;

/**
 * The connections of identity providers with what the settings say about each, changes of those that are stored in the database, and
 * credentials.
 */
export const connectContract = {
  listConnections: {
    ...{ method: 'get', path: '/connections', tag: 'Connect', access: 'viewer' },
    summary: 'List the connections with the URLs that an identity provider needs',
    result: z.object({
      connections: z.array(connection),
      unserved: z
        .array(z.object({ id, problems: z.array(z.string()) }))
        .describe('Connections of the database that this replica does not serve, and why'),
      tokenEndpoint: z.string().describe('The URL at which OAuth clients get tokens'),
    }),
  },
  listTokens: {
    ...{ method: 'get', path: '/tokens', tag: 'Connect', access: 'viewer' },
    summary: 'List the bearer tokens of identity providers',
    result: z.object({ tokens: z.array(token) }),
  },
  createToken: {
    ...{ method: 'post', path: '/tokens', tag: 'Connect', access: 'admin' },
    summary: 'Create a bearer token that is shown once',
    body: z.strictObject({ connection: id, name, days: z.int().min(1).max(3650).optional() }),
    result: z.object({ id, token: z.string() }),
  },
  revokeToken: {
    ...{ method: 'delete', path: '/tokens/{id}', tag: 'Connect', access: 'admin' },
    summary: 'Revoke a bearer token at once',
  },
  listOAuthClients: {
    ...{ method: 'get', path: '/oauth-clients', tag: 'Connect', access: 'viewer' },
    summary: 'List the OAuth clients',
    result: z.object({ clients: z.array(client) }),
  },
  createOAuthClient: {
    ...{ method: 'post', path: '/oauth-clients', tag: 'Connect', access: 'admin' },
    summary: 'Register an OAuth client of a connection; its secret is shown once',
    body: z.strictObject({
      connection: id,
      name,
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
    }),
    result: z.object({ clientId: id, clientSecret: optionalText }),
  },
  revokeOAuthClient: {
    ...{ method: 'delete', path: '/oauth-clients/{id}', tag: 'Connect', access: 'admin' },
    summary: 'Revoke an OAuth client and all its tokens at once',
  },
  listRecentAttempts: {
    ...{ method: 'get', path: '/recent-attempts', tag: 'Connect', access: 'viewer' },
    summary:
      'List the newest requests of the last minutes, also those for access tokens and those without a valid token',
    query: z.strictObject({
      connection: id.optional().describe('Without it: requests of all connections'),
      since: optionalTime.describe('At most 15 minutes ago, which is the default'),
    }),
    result: z.object({ attempts: z.array(attempt), isLogged: z.boolean() }),
  },
  describeConnection: {
    ...{ method: 'get', path: '/connections/{id}', tag: 'Connect', access: 'viewer' },
    summary: 'Describe a connection: its travel API, and its policies with what they do',
    result: details,
  },
  addConnection: {
    ...{ method: 'post', path: '/connections', tag: 'Connect', access: 'admin' },
    summary:
      'Add a connection, which is stored in the database. All replicas serve it within seconds. Members are those of the settings file',
    body: z.strictObject({
      name,
      travelApi: written.default({}),
      policies: written.default({}),
      mode: z.enum(connectionModeNames).default('live'),
    }),
    errors: ['conflict'],
  },
  changePolicies: {
    ...{ method: 'patch', path: '/connections/{id}/policies', tag: 'Connect', access: 'admin' },
    summary: 'Change policies of a stored connection. Those that are left out stay',
    body: z.strictObject({ policies: written }),
    errors: ['conflict'],
  },
  countRecords: {
    ...{ method: 'get', path: '/connections/{id}/records', tag: 'Connect', access: 'viewer' },
    summary: 'Count what belongs to a connection',
    result: z.object({
      people: z.int(),
      tombstones: z.int(),
      groups: z.int(),
      linked: z.int().describe('Travelers that no other connection of the account can link'),
    }),
  },
  removeConnection: {
    ...{ method: 'delete', path: '/connections/{id}', tag: 'Connect', access: 'admin' },
    summary:
      'Remove a stored connection with its people, groups, tokens and OAuth clients. Its travelers stay as they are, free for other connections',
    errors: ['conflict'],
  },
} as const satisfies Contract;
