import type {
  ExchangeDirection,
  ExchangeLog,
  ExchangeWithBodies,
  KeptBody,
  LoggedExchange,
} from '../provisioning/exchange-ports.ts';
import type { LoggedBody, LoggedRequest, RequestLog } from '../travel/ports.ts';

/** `scim`: of an IdP to the bridge. `oauth`: for an access token. `travel`: of the bridge to a travel API. `api`: to the embedded travel service. */
export type RequestDirection = ExchangeDirection | 'api';

/** A request of the log of exchanges or of the request log of the embedded travel service. */
export interface ListedRequest {
  direction: RequestDirection;
  /** The position in the log of exchanges, or the request id if the embedded travel service has logged it. */
  id: string;
  /** The start of the request, in epoch milliseconds. */
  time: number;
  ms: number;
  method: string;
  path: string;
  /** Undefined for a call without a response. */
  status: number | undefined;
  error?: string | undefined;
  connection?: string | undefined;
  /** The SCIM id of the person whom the request is about. */
  person?: string | undefined;
  /** The user of the embedded travel service on whose behalf the request was made. */
  userId?: string | undefined;
  credential?: string | undefined;
  requestId: string | undefined;
  requestHeaders?: Record<string, string>;
  responseHeaders?: Record<string, string>;
  requestBody?: LoggedBody | undefined;
  responseBody?: LoggedBody | undefined;
}

/** The logs that are read together. */
export interface RequestLogs {
  exchanges: ExchangeLog;
  requests: Pick<RequestLog, 'list'>;
}

/** Conditions that must all hold. */
export interface RequestsQuery {
  direction?: RequestDirection | undefined;
  connection?: string | undefined;
  /** A SCIM id. */
  person?: string | undefined;
  /** A user of the embedded travel service. */
  userId?: string | undefined;
  method?: string | undefined;
  statuses?: { from: number; to: number } | undefined;
  path?: string | undefined;
  /** Epoch milliseconds. */
  since?: number | undefined;
}

/**
 * Yields the requests of both logs, the newest first. The bridge's own calls of the embedded travel service are in both: unless the
 * direction is `api`, only as travel calls.
 */
export async function* listRequests(logs: RequestLogs, query: RequestsQuery): AsyncGenerator<ListedRequest> {
  const sources = [listExchanges(logs.exchanges, query), listApiRequests(logs.requests, query)];
  const heads = await Promise.all(sources.map((source) => source.next()));
  for (;;) {
    let newest: { index: number; request: ListedRequest } | undefined;
    for (const [index, { done, value }] of heads.entries())
      if (!done && (!newest || value.time > newest.request.time)) newest = { index, request: value };
    const source = newest && sources[newest.index];
    if (!newest || !source) return;
    yield newest.request;
    heads[newest.index] = await source.next();
  }
}

const PAGE_SIZE = 200;

async function* listExchanges(
  log: ExchangeLog,
  { direction, userId, statuses: status, path: pathPrefix, ...query }: RequestsQuery,
): AsyncGenerator<ListedRequest, undefined> {
  if (direction === 'api' || userId !== undefined) return;
  let before: string | undefined;
  do {
    const page = await log.list({ ...query, direction, status, pathPrefix, before, limit: PAGE_SIZE });
    yield* page.exchanges.map(fromExchange);
    before = page.next;
  } while (before !== undefined);
}

async function* listApiRequests(
  log: RequestLogs['requests'],
  { direction, connection, person, method, ...query }: RequestsQuery,
): AsyncGenerator<ListedRequest, undefined> {
  if ((direction ?? 'api') !== 'api' || connection !== undefined || person !== undefined) return;
  const isWanted = (request: LoggedRequest) =>
    (method === undefined || request.method === method.toUpperCase()) &&
    (direction === 'api' || request.credential !== 'bridge');
  let after: string | undefined;
  do {
    const page = await log.list({ ...query, limit: PAGE_SIZE, after });
    yield* page.requests.filter(isWanted).map(fromApiRequest);
    after = page.next;
  } while (after !== undefined);
}

/** Adds the bodies to a listed exchange. An API request has them already. */
export async function withBodies(log: ExchangeLog, request: ListedRequest): Promise<ListedRequest> {
  if (request.direction === 'api') return request;
  const exchange = await log.get(request.id);
  return exchange ? fromExchangeWithBodies(exchange) : request;
}

/** The number of entries of the request log that are searched for a request id, the newest first; older ones are not found. */
export const MAX_SEARCHED = 10_000;

/** The requests with an id, the oldest first. */
export interface FoundRequests {
  found: ListedRequest[];
  /** The time of the oldest searched entry of the request log, if there are older ones; undefined if all were searched. */
  searchedSince: number | undefined;
}

/**
 * Finds requests with their bodies, the oldest first: one by its position in the log of exchanges, or all with a request id, which
 * a SCIM request and its travel calls share.
 */
export async function findRequests({ exchanges, requests }: RequestLogs, id: string): Promise<FoundRequests> {
  const one = /^\d+$/.test(id) ? await exchanges.get(id) : undefined;
  if (one) return { found: [fromExchangeWithBodies(one)], searchedSince: undefined };
  const found: ListedRequest[] = [];
  let before: string | undefined;
  do {
    const page = await exchanges.list({ requestId: id, before, limit: PAGE_SIZE });
    for (const exchange of page.exchanges) found.push(await withBodies(exchanges, fromExchange(exchange)));
    before = page.next;
  } while (before !== undefined);
  let looked = 0;
  let oldest: number | undefined;
  let searchedSince: number | undefined;
  for await (const request of listApiRequests(requests, {})) {
    if (looked === MAX_SEARCHED) {
      searchedSince = oldest;
      break;
    }
    if (request.requestId === id) found.push(request);
    looked += 1;
    oldest = request.time;
  }
  return { found: found.sort((a, b) => a.time - b.time), searchedSince };
}

function fromExchange({ position, at, ...exchange }: LoggedExchange): ListedRequest {
  return { ...exchange, id: position, time: at };
}

function fromExchangeWithBodies({
  requestBody,
  responseBody,
  ...exchange
}: ExchangeWithBodies): ListedRequest {
  return {
    ...fromExchange(exchange),
    requestBody: toLoggedBody(requestBody),
    responseBody: toLoggedBody(responseBody),
  };
}

function toLoggedBody(body: KeptBody | undefined): LoggedBody | undefined {
  return body && { text: body.text, cut: body.isCut };
}

function fromApiRequest(request: LoggedRequest): ListedRequest {
  return { direction: 'api', id: request.requestId, ...request };
}
