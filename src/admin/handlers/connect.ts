import { z } from 'zod';
import { connectionId, travelApiSchema } from '../../config/connection-schema.ts';
import { type Fault, faultLine } from '../../config/faults.ts';
import type { ConnectionSettings } from '../../config/settings.ts';
import { readStoredConnection } from '../../config/stored-connections.ts';
import { hideUrlCredentials } from '../../http/redaction.ts';
import type { LoggedExchange } from '../../log/exchange.ts';
import { keysUrlProblem, parseJwks } from '../../oauth/clients.ts';
import { readStoredConnections } from '../../store/connections.ts';
import {
  addStoredConnection,
  readStoredSettings,
  replaceStoredSettings,
  type StoredSettings,
} from '../../store/stored-connections.ts';
import { toMappingFaults } from '../../translator/mapping/mapping-faults.ts';
import type { connectContract } from '../contract/connect.ts';
import type { HandlerRequest, Handlers } from '../contract/operation.ts';
import { toTime } from '../contract/schemas.ts';
import { DEMO_CONNECTION } from '../demo-day.ts';
import { type AdminDeps, findConnection } from '../deps.ts';
import { AdminError, invalidField, noSuch } from '../errors.ts';
import { describePolicies } from '../policy-texts.ts';
import type { AdminContext } from '../router.ts';
import type { ListedClient } from '../scim-credentials.ts';

type ConnectHandlers = Handlers<typeof connectContract, AdminContext>;

/** Handles the connections, their credentials, and the newest requests of identity providers. */
export function connectHandlers(deps: AdminDeps): ConnectHandlers {
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
    ...connectionHandlers(deps),
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

/** Handles what the settings say about a connection, and changes of those that are stored in the database. */
function connectionHandlers(deps: AdminDeps) {
  return {
    describeConnection: async ({ params: { id } }) => {
      const { settings } = findConnection(deps, id);
      const stored = await readStoredSettings(deps.database);
      return {
        source: settings.source,
        isShadowed: settings.source !== 'database' && stored.some((one) => one.id === id),
        policies: describePolicies(settings.policies),
        travelApi: describeTravelApi(settings),
      };
    },
    addConnection: ({ body }, { note }) => add(body, note, deps),
    changePolicies: async ({ params: { id }, body: { policies } }, { note }) => {
      note({ connection: id, policies });
      const stored = await findStored(id, deps);
      const before = writtenSettings.parse(stored.settings);
      const after = { ...before, policies: { ...before.policies, ...policies } };
      requireNoFaults(id, readStoredConnection(deps.settings, { id, settings: after }).faults);
      if (!(await replaceStoredSettings(deps.database, stored, after))) throw new AdminError('conflict');
      await deps.storedConnections.sync();
    },
    countRecords: ({ params: { id } }) => countRecords(id, deps),
    removeConnection: async ({ params: { id } }, { note }) => {
      const stored = await findStored(id, deps);
      note({ connection: id, ...(await countRecords(id, deps)) });
      if (!(await replaceStoredSettings(deps.database, stored, null))) throw new AdminError('conflict');
      await deps.storedConnections.sync();
      deps.storedConnections.forget(id);
    },
  } satisfies Partial<ConnectHandlers>;
}

const writtenSettings = z.looseObject({ policies: z.record(z.string(), z.unknown()).default({}) });

/** Describes the travel API by what the settings can say about it. */
function describeTravelApi({ travelApi, account }: ConnectionSettings) {
  const values: Record<string, unknown> = { ...travelApi, account, url: hideUrlCredentials(travelApi.url) };
  return Object.entries(travelApiSchema.shape).map(([name, { description = '' }]) => ({
    ...{ name, description, value: values[name] },
  }));
}

/** Returns the stored connections that this process does not serve, with their faults. */
async function findUnserved({ settings, database, connections, embedded }: AdminDeps) {
  const served = connections.map(({ connection }) => connection.id);
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

async function add(
  { name: id, travelApi, policies, mode }: Input<'addConnection'>['body'],
  note: AdminContext['note'],
  deps: AdminDeps,
): Promise<void> {
  const named = connectionId.safeParse(id);
  if (!named.success) {
    const [fault] = toMappingFaults(named.error, connectionId);
    throw invalidField('name', `${fault?.problem}. ${fault?.remedy}`);
  }
  if (id === DEMO_CONNECTION) throw invalidField('name', 'is that of the demo day. Choose another');
  const settings = { travelApi, policies, mode };
  const read = readStoredConnection(deps.settings, { id, settings });
  requireNoFaults(id, read.faults);
  if (!read.settings) throw new AdminError('invalid');
  if (read.settings.travelApi.url === 'embedded' && !deps.embedded)
    throw invalidField('travelApi.url', NO_EMBEDDED);
  const { account } = read.settings;
  note({ connection: id, account, ...settings });
  if (deps.storedConnections.isBeingForgotten(id))
    throw new AdminError('conflict', `The connection ${id} is still being removed. Try again in a minute.`);
  const added = { connection: read.settings, settings, now: deps.runtime.now() };
  if (!(await addStoredConnection(deps.database, added)))
    throw new AdminError('conflict', `There is a connection ${id} already.`);
  await deps.storedConnections.sync();
}

/** The paths of the faults begin with the name of the connection, as in the settings file. */
function requireNoFaults(id: string, faults: Fault[]): void {
  if (faults.length === 0) return;
  throw new AdminError('invalid', 'The connection has faults. Nothing was changed.', {
    faults: faults.map(({ path, problem, remedy }) => ({
      field: path.replace(`connections.${id}.`, ''),
      message: `${problem}. ${remedy}`,
    })),
  });
}

async function findStored(id: string, deps: AdminDeps): Promise<StoredSettings> {
  const served = deps.connections.find(({ connection }) => connection.id === id)?.settings;
  if (served?.source === 'file')
    throw new AdminError(
      'conflict',
      `The settings file has the connection ${id}. Change it there, and restart.`,
    );
  if (served?.source === 'demoDay') throw new AdminError('conflict', 'It is the connection of the demo day.');
  const stored = (await readStoredSettings(deps.database)).find((one) => one.id === id);
  if (!stored) throw new AdminError('notFound', `There is no connection ${id}.`);
  return stored;
}

async function countRecords(id: string, { database, runtime }: AdminDeps) {
  const all = await readStoredConnections(database, runtime.now());
  const found = all.find((one) => one.id === id);
  if (!found) throw new AdminError('notFound', `There is no connection ${id}.`);
  return { people: found.people, tombstones: found.tombstones, groups: found.groups, linked: found.linked };
}
