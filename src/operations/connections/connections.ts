import { z } from 'zod';
import { accessSchema, connectionId, travelApiSchema } from '../../config/connection-schema.ts';
import { faultLine } from '../../config/faults.ts';
import type { ConnectionSettings } from '../../config/settings.ts';
import { readStoredConnection } from '../../config/stored-connections.ts';
import { hideUrlCredentials } from '../../http/redaction.ts';
import type { LoggedExchange } from '../../model/exchange.ts';
import { connectionModeNames, scimProfileNames } from '../../model/policies.ts';
import { readStoredConnections } from '../../store/connections.ts';
import {
  addStoredConnection,
  readStoredSettings,
  replaceStoredSettings,
} from '../../store/stored-connections.ts';
import { toMappingFaults } from '../../translator/mapping/mapping-faults.ts';
import { findConnection, type OperationDeps, type ServiceDeps } from '../deps.ts';
import { invalidField, OperationError } from '../errors.ts';
import { type OperationContext, type Operations, operation, serviceOperation } from '../operation.ts';
import { id, name, optionalInteger, optionalText, optionalTime, time } from '../schemas.ts';
import { workload } from './access.ts';
import { describePolicies, describeScimProfile } from './policy-texts.ts';
import { changeStored, findStored, requireNoFaults } from './stored-settings.ts';

const connection = z
  .object({
    id,
    scimUrl: z.string().describe('The SCIM base URL as clients use it'),
    travelApi: z.string().describe('`embedded`, or the URL of a travel API'),
    source: z
      .enum(['file', 'database'])
      .describe(
        'file: the settings file fixes it; database: it was added on the page, and can be changed there',
      ),
    hasEnvironmentToken: z
      .boolean()
      .describe('True if an environment variable gives it a token, which is in no list'),
  })
  .meta({ id: 'Connection', description: 'An identity provider that provisions a travel account' });

export type Connection = z.input<typeof connection>;

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

const described = z.array(
  z.object({
    name: z.string(),
    description: z.string().describe('What the settings say'),
    value: z.unknown(),
  }),
);

const details = z.object({
  source: z.enum(['file', 'database']),
  isShadowed: z
    .boolean()
    .describe(
      'True if the database has a connection of this name too, which the one of the settings file replaces',
    ),
  policies: z.array(policy),
  scim: policy.describe('Which SCIM requests are accepted, in the form of a policy'),
  federation: z.array(workload).describe('The workloads of other issuers that get access tokens'),
  limits: described,
  travelApi: described,
});

export type ConnectionDetails = z.input<typeof details>;

const attemptsQuery = z.strictObject({
  connection: id.optional().describe('Without it: requests of all connections'),
  since: optionalTime.describe('At most 15 minutes ago, which is the default'),
});

const connectionBody = z.strictObject({
  name,
  travelApi: written.default({}),
  policies: written.default({}),
  mode: z.enum(connectionModeNames).default('live'),
  scim: z.enum(scimProfileNames).optional(),
});

/**
 * The connections of identity providers with what the settings say about each, and changes of those that are stored in the database.
 */
export const connectOperations = {
  listConnections: serviceOperation(
    {
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
    async (_input, deps, { publicUrl: url }) => {
      return {
        connections: deps.connections.map(({ settings: { id, source, scimToken, travelApi } }) => ({
          ...{ id, source, scimUrl: `${url}/scim/v2`, travelApi: travelApi.url },
          hasEnvironmentToken: scimToken !== undefined,
        })),
        unserved: await findUnserved(deps),
        tokenEndpoint: `${url}/oauth/token`,
      };
    },
  ),
  listRecentAttempts: operation(
    {
      ...{ method: 'get', path: '/recent-attempts', tag: 'Connect', access: 'viewer' },
      summary:
        'List the newest requests of the last minutes, also those for access tokens and those without a valid token',
      query: attemptsQuery,
      result: z.object({ attempts: z.array(attempt), isLogged: z.boolean() }),
    },
    ({ query }, deps) => listRecentAttempts(query, deps),
  ),
  describeConnection: operation(
    {
      ...{ method: 'get', path: '/connections/{id}', tag: 'Connect', access: 'viewer' },
      summary: 'Describe a connection: its travel API, and its policies with what they do',
      result: details,
    },
    async ({ params: { id } }, deps) => {
      const { settings } = findConnection(deps, id);
      const stored = await readStoredSettings(deps.database);
      return {
        source: settings.source,
        isShadowed: settings.source !== 'database' && stored.some((one) => one.id === id),
        policies: describePolicies(settings.policies),
        scim: describeScimProfile(settings.scim),
        federation: settings.access.federation ?? [],
        limits: describe({ requestsPerSecond, allowFrom }, { ...settings.access }),
        travelApi: describeTravelApi(settings),
      };
    },
  ),
  addConnection: serviceOperation(
    {
      ...{ method: 'post', path: '/connections', tag: 'Connect', access: 'admin' },
      summary:
        'Add a connection, which is stored in the database. All replicas serve it within seconds. Members are those of the settings file',
      body: connectionBody,
      errors: ['conflict'],
    },
    ({ body }, deps, { note }) => addConnection(body, note, deps),
  ),
  changePolicies: serviceOperation(
    {
      ...{ method: 'patch', path: '/connections/{id}/policies', tag: 'Connect', access: 'admin' },
      summary:
        'Change policies of a stored connection, and which SCIM requests it accepts. What is left out stays',
      body: z.strictObject({ policies: written.default({}), scim: z.enum(scimProfileNames).optional() }),
      errors: ['conflict'],
    },
    async ({ params: { id }, body: { policies, ...changed } }, deps, { note }) => {
      note({ connection: id, policies, ...changed });
      await changeStored(id, deps, (before) => ({
        ...before,
        ...changed,
        policies: { ...before.policies, ...policies },
      }));
    },
  ),
  countRecords: operation(
    {
      ...{ method: 'get', path: '/connections/{id}/records', tag: 'Connect', access: 'viewer' },
      summary: 'Count what belongs to a connection',
      result: z.object({
        people: z.int(),
        tombstones: z.int(),
        groups: z.int(),
        linked: z.int().describe('Travelers that no other connection of the account can link'),
      }),
    },
    ({ params: { id } }, deps) => countRecords(id, deps),
  ),
  removeConnection: serviceOperation(
    {
      ...{ method: 'delete', path: '/connections/{id}', tag: 'Connect', access: 'admin' },
      summary:
        'Remove a stored connection with its people, groups, tokens and OAuth clients. Its travelers stay as they are, free for other connections',
      errors: ['conflict'],
    },
    async ({ params: { id } }, deps, { note }) => {
      const stored = await findStored(id, deps);
      note({ connection: id, ...(await countRecords(id, deps)) });
      if (!(await replaceStoredSettings(deps.database, stored, null))) throw new OperationError('conflict');
      await deps.storedConnections.sync();
      deps.storedConnections.forget(id);
    },
  ),
} satisfies Operations;

/** The age up to which a request is recent. */
const RECENT_MS = 15 * 60_000;

/** The number of requests that the live check shows. */
const MAX_ATTEMPTS = 20;

/** The log has requests without a valid token under the connection ''. */
const NO_CONNECTION = '';

async function listRecentAttempts(
  query: z.output<typeof attemptsQuery>,
  { exchanges, settings, now }: OperationDeps,
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

const { requestsPerSecond, allowFrom } = accessSchema.shape;

/** Describes settings by what the settings file can say about each. */
function describe(
  shape: Record<string, { description?: string | undefined }>,
  values: Record<string, unknown>,
) {
  return Object.entries(shape).map(([name, { description = '' }]) => ({
    ...{ name, description, value: values[name] },
  }));
}

/** Describes the travel API by what the settings can say about it. */
function describeTravelApi({ travelApi, account }: ConnectionSettings) {
  const url = hideUrlCredentials(travelApi.url);
  return describe(travelApiSchema.shape, { ...travelApi, account, url });
}

/** Returns the stored connections that this process does not serve, with their faults. */
async function findUnserved({ settings, database, connections, embedded }: ServiceDeps) {
  const served = connections.map((one) => one.settings.id);
  const stored = await readStoredSettings(database);
  return stored
    .filter(({ id }) => !served.includes(id))
    .map((one) => {
      const read = readStoredConnection(settings, one);
      const problems = read.faults.map(faultLine);
      const needsEmbedded = read.settings?.travelApi.url === 'embedded' && !embedded;
      return {
        id: one.id,
        problems: needsEmbedded ? [...problems, `travelApi.url ${NO_EMBEDDED}`] : problems,
      };
    });
}

const NO_EMBEDDED =
  'is the embedded travel service, which does not run: no connection used it when this process started';

async function addConnection(
  { name: id, ...settings }: z.output<typeof connectionBody>,
  note: OperationContext['note'],
  deps: ServiceDeps,
): Promise<void> {
  const named = connectionId.safeParse(id);
  if (!named.success) {
    const [fault] = toMappingFaults(named.error, connectionId);
    throw invalidField('name', `${fault?.problem}. ${fault?.remedy}`);
  }
  const read = readStoredConnection(deps.settings, { id, settings });
  requireNoFaults(id, read.faults);
  if (!read.settings) throw new OperationError('invalid');
  if (read.settings.travelApi.url === 'embedded' && !deps.embedded)
    throw invalidField('travelApi.url', NO_EMBEDDED);
  const { account } = read.settings;
  note({ connection: id, account, ...settings });
  if (deps.storedConnections.isBeingForgotten(id))
    throw new OperationError(
      'conflict',
      `The connection ${id} is still being removed. Try again in a minute.`,
    );
  const added = { connection: read.settings, settings, now: deps.now() };
  if (!(await addStoredConnection(deps.database, added)))
    throw new OperationError('conflict', `There is a connection ${id} already.`);
  await deps.storedConnections.sync();
}

async function countRecords(id: string, { database, now }: OperationDeps) {
  const all = await readStoredConnections(database, now());
  const found = all.find((one) => one.id === id);
  if (!found) throw new OperationError('notFound', `There is no connection ${id}.`);
  return { people: found.people, tombstones: found.tombstones, groups: found.groups, linked: found.linked };
}
