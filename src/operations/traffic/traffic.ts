import { z } from 'zod';
import { toRecorded } from '../../log/search.ts';
import {
  bridgeDirections,
  type ExchangeQuery,
  isOwnCall,
  type LoggedExchange,
} from '../../model/exchange.ts';
import { travelRoles } from '../../model/translation.ts';
import { searchedNames } from '../../provisioning/people/identity-names.ts';
import type { RecordedExchange } from '../../replay/exchanges.ts';
import { recordScenarios } from '../../replay/recorder.ts';
import { travelStore } from '../../store/travel/travel-writes.ts';
import { findUserByEmail, readEmails } from '../../travel/authentication/authentication.ts';
import { findConnection, type OperationDeps } from '../deps.ts';
import { invalidField, OperationError } from '../errors.ts';
import { type Operations, operation } from '../operation.ts';
import { nameReader, userNames } from '../people/user-names.ts';
import { id, limit, optionalInteger, optionalText, optionalTime, time, toTime } from '../schemas.ts';

/** A place in the log of exchanges. */
const position = z
  .string()
  .regex(/^\d{1,15}$/, 'is not a position')
  .describe('A whole number; an exchange that is logged later has a higher one');

const exchangeFields = {
  position,
  direction: z
    .enum([...bridgeDirections, 'api'])
    .describe(
      'scim: a request of an IdP to the bridge; oauth: a request for an access token; travel: a call of the bridge to the travel API; api: a request to the embedded travel service',
    ),
  at: time.describe('The start of the request'),
  ms: z.number().describe('The duration in milliseconds'),
  connection: optionalText.describe('Absent if the request had no valid token'),
  person: z
    .object({ id: z.string(), name: optionalText })
    .optional()
    .describe('The user whom the exchange is about, without a name if there is no such user any more'),
  user: optionalText.describe(
    'Of a request to the embedded travel service: the email address of the caller, or the id of one who is gone',
  ),
  credential: optionalText.describe(
    'Of a request to the embedded travel service: how the caller was identified',
  ),
  requestId: optionalText.describe('A SCIM request and the travel calls that it caused have the same one'),
  method: z.string(),
  path: z.string().describe('Path and query; values that may be secrets are replaced by *'),
  userAgent: optionalText.describe('Of a SCIM request: the program of the IdP'),
  status: optionalInteger.describe('Absent if there was no response; 499: the client left'),
  error: optionalText.describe('The code of the error, or why there is no response, e.g. ECONNREFUSED'),
};

const message = z.object({
  headers: z.record(z.string(), z.string()).describe('The headers that the log keeps; no credentials'),
  body: z
    .object({ text: z.string(), isCut: z.boolean() })
    .optional()
    .describe('Absent if there was none, or if it was not kept. Secrets are replaced by *'),
});

const exchange = z
  .object({ ...exchangeFields, request: message.optional(), response: message.optional() })
  .meta({ id: 'Exchange', description: 'A request and its response; with headers and bodies if asked for' });

export type Exchange = z.input<typeof exchange>;

const exchangeDetail = z
  .object({
    ...exchangeFields,
    request: message,
    response: message,
    related: z.array(exchange).describe('The other exchanges of the same SCIM request, the oldest first'),
  })
  .meta({ id: 'ExchangeDetail', description: 'A request and its response with what the log keeps of them' });

export type ExchangeDetail = z.input<typeof exchangeDetail>;

const loggedConnection = z
  .object({
    id: z.string(),
    travelUrl: optionalText.describe('The origin of the travel API; absent for the embedded travel service'),
    readBodiesUntil: optionalTime.describe('Until then the bodies of reads are kept too'),
  })
  .meta({ id: 'LoggedConnection', description: 'A connection whose exchanges are logged' });

const listQuery = z.strictObject({
  connection: z.string().max(200).optional(),
  person: z
    .string()
    .max(200)
    .optional()
    .describe('A SCIM id. Searches for the userName and the addresses of that person are found, too'),
  user: z
    .string()
    .max(320)
    .optional()
    .describe('A user of the embedded travel service, whose requests are listed: an email address or an id'),
  direction: exchangeFields.direction
    .optional()
    .describe(
      'scim: requests of IdPs; oauth: for access tokens; travel: calls to travel APIs; api: requests to the embedded travel service, which are listed only if asked for',
    ),
  method: z.string().max(20).optional().describe('E.g. PATCH'),
  status: z
    .string()
    .regex(/^(?:[1-5](?:xx|\d\d)|failed)$/, 'must be a status or a class of them, e.g. 404 or 4xx')
    .optional()
    .describe('E.g. 404, or 4xx for the whole class. failed: 400 or higher, and calls without a response'),
  path: z.string().max(500).optional().describe('The beginning of the path, without case, e.g. /api/users'),
  details: z.enum(['true']).optional().describe('With the headers and bodies'),
  hidesPolls: z
    .enum(['true'])
    .optional()
    .describe(
      'Without the calls that the bridge makes at an interval (event feed, lookups, imports, probes), unless they have failed',
    ),
  since: optionalTime,
  until: optionalTime,
  before: position.optional(),
  after: position.optional().describe('The head of an earlier page: only what came after it'),
  limit,
});

const scenarioBody = z.strictObject({
  connection: id,
  person: id.optional().describe('Only the requests about this SCIM id'),
  since: time,
  until: optionalTime,
});

/** The log of exchanges: SCIM requests of IdPs, and calls to travel APIs. */
export const trafficOperations = {
  describeExchangeLog: operation(
    {
      ...{ method: 'get', path: '/traffic', tag: 'Traffic', access: 'viewer' },
      summary: 'Tell how long exchanges are kept, and of which connections',
      result: z.object({
        keepDays: z.int().describe('0: the settings disable the log'),
        connections: z.array(loggedConnection),
      }),
    },
    (_input, deps) => describeExchangeLog(deps),
  ),
  listExchanges: operation(
    {
      ...{ method: 'get', path: '/exchanges', tag: 'Traffic', access: 'viewer' },
      summary: 'List exchanges of both directions, newest first',
      query: listQuery,
      result: z.object({
        exchanges: z.array(exchange),
        next: position
          .optional()
          .describe(
            'The parameter before of the next page. A page can be empty although there is a next one',
          ),
        head: position.describe('The end of the log as it was read'),
      }),
    },
    ({ query }, deps) => listExchanges(query, deps),
  ),
  getExchange: operation(
    {
      ...{ method: 'get', path: '/exchanges/{id}', tag: 'Traffic', access: 'viewer' },
      summary:
        'Read an exchange with its headers and bodies, and the other exchanges of the same request. The id is the position, or that of the request',
      result: exchangeDetail,
    },
    ({ params }, deps) => getExchange(params.id, deps),
  ),
  saveScenario: operation(
    {
      ...{ method: 'post', path: '/scenarios', tag: 'Traffic', access: 'viewer', changesNothing: true },
      summary: 'Convert SCIM requests of the log to scenario files for replay, with invented people',
      body: scenarioBody,
      result: z.object({
        scenarios: z
          .array(z.record(z.string(), z.unknown()))
          .describe('Each is the content of a file, named by its member name'),
        leftOut: z.array(z.object({ reason: z.string(), count: z.int() })),
      }),
    },
    ({ body }, deps) => saveScenario(body, deps),
  ),
  keepReadBodies: operation(
    {
      ...{ method: 'put', path: '/connections/{connection}/read-bodies', tag: 'Traffic', access: 'admin' },
      summary: 'Keep the bodies of reads of a connection too, until a time within the next day',
      body: z.strictObject({ until: time }),
    },
    ({ params, body }, deps, { note }) => {
      note({ until: toTime(body.until) });
      return keepReadBodies(params.connection, body.until, deps);
    },
  ),
} satisfies Operations;

async function describeExchangeLog({ exchanges, settings, connections, now }: OperationDeps) {
  const windows = await exchanges.readBodyWindows(now());
  return {
    keepDays: settings.requestLog.keepDays,
    connections: connections.map(({ settings: { id, travelApi } }) => ({
      id,
      travelUrl: travelApi.url === 'embedded' ? undefined : travelApi.url,
      readBodiesUntil: windows.get(id),
    })),
  };
}

type ListQuery = z.output<typeof listQuery>;

async function listExchanges(query: ListQuery, deps: OperationDeps) {
  const { exchanges: found, next, head } = await deps.exchanges.list(await toExchangeQuery(query, deps));
  const exchanges = await toListed(found, deps);
  if (query.details !== 'true') return { exchanges, next, head };
  return {
    exchanges: exchanges.map((exchange) => ({ ...exchange, ...messagesOf(exchange) })),
    ...{ next, head },
  };
}

async function toExchangeQuery(
  { status, person, user, hidesPolls, details: _details, ...query }: ListQuery,
  deps: OperationDeps,
): Promise<ExchangeQuery> {
  const names = person === undefined ? [] : await readSearchedNames(person, query.connection, deps);
  return {
    ...query,
    direction: query.direction ?? (user === undefined ? bridgeDirections : 'api'),
    person: person === undefined ? undefined : { id: person, names },
    userId: user === undefined ? undefined : await findTravelUserId(user, deps),
    isFailed: status === 'failed',
    hidesPolls: hidesPolls === 'true',
    status: statusRange(status),
  };
}

function statusRange(status: string | undefined): ExchangeQuery['status'] {
  if (status === undefined || status === 'failed') return undefined;
  const from = Number(status.replace('xx', '00'));
  return { from, to: status.endsWith('xx') ? from + 99 : from };
}

async function findTravelUserId(user: string, { database }: OperationDeps): Promise<string> {
  if (!user.includes('@')) return user;
  const found = await findUserByEmail(travelStore(database), user);
  if (found) return found.id;
  throw invalidField('user', 'There is no such user. Of one who was deleted, give the id.');
}

/** Returns the names by which identity providers search for a user; none if there is no such user any more. */
async function readSearchedNames(id: string, connection: string | undefined, deps: OperationDeps) {
  const chosen = deps.connectionIds().filter((one) => (connection ?? one) === one);
  const users = await Promise.all(chosen.map((one) => deps.store.identities.findById(one, id)));
  return users.flatMap((user) => (user ? searchedNames(user) : []));
}

async function toListed(exchanges: readonly LoggedExchange[], deps: OperationDeps) {
  const readName = nameReader(userNames(deps));
  const emails = await readEmails(
    travelStore(deps.database),
    exchanges.flatMap(({ userId }) => userId ?? []),
  );
  return Promise.all(
    exchanges.map(async (exchange) => {
      const { connection, person: id, userId, requestHeaders } = exchange;
      const name = connection !== undefined && id !== undefined ? await readName(connection, id) : undefined;
      const person = id === undefined ? undefined : { id, name };
      const user = userId === undefined ? undefined : (emails.get(userId) ?? userId);
      return { ...exchange, person, user, userAgent: requestHeaders['user-agent'] };
    }),
  );
}

type Messages = 'requestHeaders' | 'responseHeaders' | 'requestBody' | 'responseBody';

function messagesOf(exchange: Pick<LoggedExchange, Messages>) {
  const { requestHeaders, responseHeaders, requestBody, responseBody } = exchange;
  return {
    request: { headers: requestHeaders, body: requestBody },
    response: { headers: responseHeaders, body: responseBody },
  };
}

async function getExchange(id: string, deps: OperationDeps) {
  const found = await findExchange(id, deps);
  if (!found)
    throw new OperationError(
      'notFound',
      'The log has no such exchange, or it is older than exchanges are kept.',
    );
  const [exchange, ...related] = await toListed([found, ...(await findRelated(found, deps))], deps);
  if (!exchange) throw new OperationError('notFound');
  return { ...exchange, ...messagesOf(found), related: related.reverse() };
}

/** Finds the exchange at a position, or the first one of a request. */
async function findExchange(id: string, { exchanges }: OperationDeps): Promise<LoggedExchange | undefined> {
  const found = /^\d{1,15}$/.test(id) ? await exchanges.get(id) : undefined;
  if (found) return found;
  const ofRequest = await exchanges.list({ requestId: id, limit: MAX_RELATED });
  return ofRequest.exchanges.sort((one, other) => one.at - other.at).find((one) => !isOwnCall(one));
}

/** A request and the calls that it causes begin within this time, in milliseconds. */
const RELATED_MS = 60_000;

const MAX_RELATED = 100;

async function findRelated(
  { position, connection, requestId, at }: LoggedExchange,
  { exchanges }: OperationDeps,
): Promise<LoggedExchange[]> {
  if (requestId === undefined) return [];
  const time = { since: at - RELATED_MS, until: at + RELATED_MS };
  const found = await exchanges.list({ connection, requestId, ...time, limit: MAX_RELATED });
  return found.exchanges.filter((one) => one.position !== position && !isOwnCall(one));
}

type ScenarioBody = z.output<typeof scenarioBody>;

async function saveScenario({ connection, person, since, until }: ScenarioBody, deps: OperationDeps) {
  findConnection(deps, connection);
  const recorded = await recordScenarios(
    await readRecorded(deps, { connection, person, since, until: until ?? deps.now() }),
    { vocabulary: travelRoles },
  );
  const counts = new Map<string, number>();
  for (const { reason } of recorded.leftOut) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return {
    scenarios: recorded.scenarios.map((scenario) => ({ ...scenario })),
    leftOut: [...counts].map(([reason, count]) => ({ reason, count })),
  };
}

/** The most requests that become scenarios at once: more would take long to read, and nobody would read their steps. */
const MAX_RECORDED = 2_000;

const PAGE = 500;

/** Reads SCIM requests of the log, the oldest first. */
async function readRecorded(
  { exchanges }: OperationDeps,
  { connection, person, since, until }: ScenarioBody & { until: number },
): Promise<RecordedExchange[]> {
  const collected: RecordedExchange[] = [];
  let before: string | undefined;
  do {
    const sought = person === undefined ? undefined : { id: person, names: [] };
    const query = { connection, person: sought, since, until, before, direction: 'scim' } as const;
    const page = await exchanges.list({ ...query, limit: PAGE });
    collected.push(...page.exchanges.map(toRecorded));
    if (collected.length > MAX_RECORDED)
      throw invalidField('since', 'There are too many requests in that time. Choose a shorter one.');
    before = page.next;
  } while (before !== undefined);
  return collected.reverse();
}

const DAY_MS = 24 * 60 * 60_000;

async function keepReadBodies(connection: string, until: number, deps: OperationDeps): Promise<void> {
  findConnection(deps, connection);
  const now = deps.now();
  if (until <= now || until > now + DAY_MS) throw invalidField('until', 'must be within the next 24 hours');
  await deps.exchanges.keepReadBodies(connection, until);
}
