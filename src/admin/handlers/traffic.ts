import type { z } from 'zod';
import {
  type BridgeExchange,
  bridgeDirections,
  type ExchangeLog,
  type ExchangeQuery,
  isOfBridge,
  type LoggedExchange,
} from '../../log/exchange.ts';
import type { Handlers } from '../contract/operation.ts';
import { toTime } from '../contract/schemas.ts';
import type { trafficContract } from '../contract/traffic.ts';
import { AdminError } from '../errors.ts';
import type { AdminContext } from '../router.ts';

/** The part of the log that becomes scenarios. Times are epoch milliseconds. */
export interface RecordedPart {
  connection: string;
  person: string | undefined;
  since: number;
  until: number;
}

/** Scenario files of a part of the log. */
export interface RecordedScenarios {
  scenarios: object[];
  leftOut: { reason: string }[];
}

/** Dependencies of the operations on the log of exchanges. */
export interface TrafficDeps {
  exchanges: ExchangeLog;
  /** The time for which exchanges are kept, in days. */
  keepDays: number;
  /** The connections, each with the origin of its travel API; undefined for the embedded one. */
  connections(): { id: string; travelUrl: string | undefined }[];
  /** Returns the name of a user for lists; undefined if there is no such user any more. */
  nameOf(connection: string, id: string): Promise<string | undefined>;
  /** Returns the names by which an identity provider searches for a user; none if there is no such user any more. */
  searchedNamesOf(connection: string, id: string): Promise<string[]>;
  /** Converts SCIM requests to scenarios. Undefined if there are too many. */
  recordScenarios(part: RecordedPart): Promise<RecordedScenarios | undefined>;
  /** Epoch milliseconds. */
  now(): number;
}

/** Handles the operations on the log of exchanges. */
export function trafficHandlers(deps: TrafficDeps): Handlers<typeof trafficContract, AdminContext> {
  return {
    describeExchangeLog: () => describeExchangeLog(deps),
    listExchanges: ({ query }) => listExchanges(query, deps),
    getExchange: ({ params }) => getExchange(params.position, deps),
    saveScenario: ({ body }) => saveScenario(body, deps),
    keepReadBodies: ({ params, body }, { note }) => {
      note({ until: toTime(body.until) });
      return keepReadBodies(params.connection, body.until, deps);
    },
  };
}

async function describeExchangeLog({ exchanges, keepDays, connections, now }: TrafficDeps) {
  const windows = await exchanges.readBodyWindows(now());
  return {
    keepDays,
    connections: connections().map(({ id, travelUrl }) => ({
      ...{ id, travelUrl },
      readBodiesUntil: windows.get(id),
    })),
  };
}

type ListQuery = z.output<(typeof trafficContract)['listExchanges']['query']>;

async function listExchanges(query: ListQuery, deps: TrafficDeps) {
  const { exchanges, next, head } = await deps.exchanges.list(await toExchangeQuery(query, deps));
  return { exchanges: await toListed(exchanges, deps), next, head };
}

async function toExchangeQuery(
  { path, status, person, ...query }: ListQuery,
  deps: TrafficDeps,
): Promise<ExchangeQuery> {
  const hundreds = status === undefined || status === 'failed' ? undefined : Number(status[0]) * 100;
  const connections =
    query.connection === undefined ? deps.connections().map(({ id }) => id) : [query.connection];
  const names = connections.map((one) => (person === undefined ? [] : deps.searchedNamesOf(one, person)));
  return {
    ...query,
    direction: query.direction ?? bridgeDirections,
    person: person === undefined ? undefined : { id: person, names: (await Promise.all(names)).flat() },
    pathPrefix: path,
    isFailed: status === 'failed',
    status: hundreds === undefined ? undefined : { from: hundreds, to: hundreds + 99 },
  };
}

/** The names are read once for each person. */
async function toListed(exchanges: readonly LoggedExchange[], { nameOf }: TrafficDeps) {
  const names = new Map<string, Promise<string | undefined>>();
  const readName = ({ connection, person }: LoggedExchange) => {
    if (connection === undefined || person === undefined) return undefined;
    const key = JSON.stringify([connection, person]);
    const name = names.get(key) ?? nameOf(connection, person);
    names.set(key, name);
    return name;
  };
  return Promise.all(exchanges.filter(isOfBridge).map(async (one) => toExchange(one, await readName(one))));
}

function toExchange(exchange: BridgeExchange, name: string | undefined) {
  const { person, requestHeaders } = exchange;
  return {
    ...exchange,
    person: person === undefined ? undefined : { id: person, name },
    userAgent: requestHeaders['user-agent'],
  };
}

async function getExchange(position: string, deps: TrafficDeps) {
  const found = await deps.exchanges.get(position);
  if (!found || !isOfBridge(found))
    throw new AdminError('notFound', 'The log has no such exchange, or it is older than exchanges are kept.');
  const [exchange, ...related] = await toListed([found, ...(await findRelated(found, deps))], deps);
  if (!exchange) throw new AdminError('notFound');
  const { requestHeaders, responseHeaders, requestBody, responseBody } = found;
  return {
    ...exchange,
    request: { headers: requestHeaders, body: requestBody },
    response: { headers: responseHeaders, body: responseBody },
    related: related.reverse(),
  };
}

/** A request and the calls that it causes begin within this time, in milliseconds. */
const RELATED_MS = 60_000;
const MAX_RELATED = 100;

async function findRelated(
  { position, connection, requestId, at }: LoggedExchange,
  { exchanges }: TrafficDeps,
): Promise<LoggedExchange[]> {
  if (requestId === undefined) return [];
  const time = { since: at - RELATED_MS, until: at + RELATED_MS };
  const query = { connection, requestId, direction: bridgeDirections, ...time, limit: MAX_RELATED };
  const found = await exchanges.list(query);
  return found.exchanges.filter((one) => one.position !== position);
}

type ScenarioBody = z.output<(typeof trafficContract)['saveScenario']['body']>;

async function saveScenario({ connection, person, since, until }: ScenarioBody, deps: TrafficDeps) {
  requireConnection(connection, deps);
  const recorded = await deps.recordScenarios({
    ...{ connection, person, since, until: until ?? deps.now() },
  });
  if (!recorded)
    throw new AdminError('invalid', undefined, {
      faults: [
        { field: 'since', message: 'There are too many requests in that time. Choose a shorter one.' },
      ],
    });
  const counts = new Map<string, number>();
  for (const { reason } of recorded.leftOut) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return {
    scenarios: recorded.scenarios.map((scenario) => ({ ...scenario })),
    leftOut: [...counts].map(([reason, count]) => ({ reason, count })),
  };
}

const DAY_MS = 24 * 60 * 60_000;

async function keepReadBodies(connection: string, until: number, deps: TrafficDeps): Promise<void> {
  requireConnection(connection, deps);
  const now = deps.now();
  if (until <= now || until > now + DAY_MS)
    throw new AdminError('invalid', undefined, {
      faults: [{ field: 'until', message: 'must be within the next 24 hours' }],
    });
  await deps.exchanges.keepReadBodies(connection, until);
}

function requireConnection(connection: string, { connections }: TrafficDeps): void {
  if (connections().some(({ id }) => id === connection)) return;
  throw new AdminError('notFound', `The settings have no connection ${connection}.`);
}
