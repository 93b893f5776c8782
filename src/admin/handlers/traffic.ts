import type { z } from 'zod';
import { bridgeDirections, type ExchangeQuery, isOfBridge, type LoggedExchange } from '../../log/exchange.ts';
import { toRecorded } from '../../log/search.ts';
import { searchedNames } from '../../provisioning/people/identity-names.ts';
import type { RecordedExchange } from '../../replay/exchanges.ts';
import { recordScenarios } from '../../replay/recorder.ts';
import { travelRoles } from '../../translator/translation.ts';
import type { Handlers } from '../contract/operation.ts';
import { toTime } from '../contract/schemas.ts';
import type { trafficContract } from '../contract/traffic.ts';
import { type AdminDeps, findConnection } from '../deps.ts';
import { AdminError, invalidField } from '../errors.ts';
import type { AdminContext } from '../router.ts';
import { nameReader, userNames } from '../user-names.ts';

/** Handles the operations on the log of exchanges. */
export function trafficHandlers(deps: AdminDeps): Handlers<typeof trafficContract, AdminContext> {
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

async function describeExchangeLog({ exchanges, settings, connections, now }: AdminDeps) {
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

type ListQuery = z.output<(typeof trafficContract)['listExchanges']['query']>;

async function listExchanges(query: ListQuery, deps: AdminDeps) {
  const { exchanges, next, head } = await deps.exchanges.list(await toExchangeQuery(query, deps));
  return { exchanges: await toListed(exchanges, deps), next, head };
}

async function toExchangeQuery(
  { path, status, person, hidesPolls, ...query }: ListQuery,
  deps: AdminDeps,
): Promise<ExchangeQuery> {
  const hundreds = status === undefined || status === 'failed' ? undefined : Number(status[0]) * 100;
  const names = person === undefined ? [] : await readSearchedNames(person, query.connection, deps);
  return {
    ...query,
    direction: query.direction ?? bridgeDirections,
    person: person === undefined ? undefined : { id: person, names },
    pathPrefix: path,
    isFailed: status === 'failed',
    hidesPolls: hidesPolls === 'true',
    status: hundreds === undefined ? undefined : { from: hundreds, to: hundreds + 99 },
  };
}

/** Returns the names by which identity providers search for a user; none if there is no such user any more. */
async function readSearchedNames(id: string, connection: string | undefined, deps: AdminDeps) {
  const chosen = deps.connectionIds().filter((one) => (connection ?? one) === one);
  const users = await Promise.all(chosen.map((one) => deps.store.identities.findById(one, id)));
  return users.flatMap((user) => (user ? searchedNames(user) : []));
}

async function toListed(exchanges: readonly LoggedExchange[], deps: AdminDeps) {
  const readName = nameReader(userNames(deps));
  return Promise.all(
    exchanges.filter(isOfBridge).map(async (exchange) => {
      const { connection, person: id, requestHeaders } = exchange;
      const name = connection !== undefined && id !== undefined ? await readName(connection, id) : undefined;
      const person = id === undefined ? undefined : { id, name };
      return { ...exchange, person, userAgent: requestHeaders['user-agent'] };
    }),
  );
}

async function getExchange(position: string, deps: AdminDeps) {
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
  { exchanges }: AdminDeps,
): Promise<LoggedExchange[]> {
  if (requestId === undefined) return [];
  const time = { since: at - RELATED_MS, until: at + RELATED_MS };
  const query = { connection, requestId, direction: bridgeDirections, ...time, limit: MAX_RELATED };
  const found = await exchanges.list(query);
  return found.exchanges.filter((one) => one.position !== position);
}

type ScenarioBody = z.output<(typeof trafficContract)['saveScenario']['body']>;

async function saveScenario({ connection, person, since, until }: ScenarioBody, deps: AdminDeps) {
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
  { exchanges }: AdminDeps,
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

async function keepReadBodies(connection: string, until: number, deps: AdminDeps): Promise<void> {
  findConnection(deps, connection);
  const now = deps.now();
  if (until <= now || until > now + DAY_MS) throw invalidField('until', 'must be within the next 24 hours');
  await deps.exchanges.keepReadBodies(connection, until);
}
