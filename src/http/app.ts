import { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { RETRY_AFTER_S, StoreUnavailable } from '../model/unavailable.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { RequestScope, requestScopeOf } from './log.ts';
import type { MinuteQuota } from './minute-quota.ts';
import type { HttpMetrics } from './monitoring.ts';
import { type AddressPredicate, clientAddress } from './proxies.ts';
import { beginRequestSpan, endRequestSpan } from './request-span.ts';

/** The dependencies of the Express app. */
export interface HttpDeps {
  log: Logger;
  metrics: HttpMetrics;
  newId(): string;
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Returns true for the proxies whose `X-Forwarded-For` header is trusted; undefined if none is. */
  isTrusted?: AddressPredicate;
  /** Limits the lines of requests without a valid credential, by status; undefined: there is no limit. */
  strangerLines?: MinuteQuota<number>;
  /** A sentence about what is served and where, for requests of unknown paths. */
  served?: string;
  /** The classes of the messages of the server that calls the app. Each server and app need their own. */
  messageClasses?: MessageClasses;
  /** Undefined: requests have no spans. */
  tracing?: Tracing | undefined;
}

/** Options of a Node server: the classes of its requests and responses. */
export interface MessageClasses {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
}

/** Makes classes for a server and its app. */
export function createMessageClasses(): MessageClasses {
  return {
    IncomingMessage: class extends IncomingMessage {},
    ServerResponse: class<Message extends IncomingMessage> extends ServerResponse<Message> {},
  };
}

/**
 * Makes the app's prototypes of requests and responses those of the classes. Express sets the prototype of each request
 * and response. If that changes it, V8 keeps the object, and all that it refers to, until the next collection of the
 * old generation, which makes requests about a third slower.
 */
function usePrototypes(app: Express, { IncomingMessage, ServerResponse }: MessageClasses): void {
  app.request = Object.setPrototypeOf(IncomingMessage.prototype, app.request);
  app.response = Object.setPrototypeOf(ServerResponse.prototype, app.response);
}

/**
 * Creates the Express app that all interfaces are mounted in. Each request gets a scope, a log line and a
 * measurement.
 */
export function httpApp(deps: HttpDeps, mount: (app: Express) => void): Express {
  const app = express();
  if (deps.messageClasses) usePrototypes(app, deps.messageClasses);
  app.disable('x-powered-by');
  // Express would compute an ETag for every body. Resources with versions have ETags of their own.
  app.disable('etag');
  // A proxy that guards a path, such as /metrics, mostly compares it as it stands. SCIM has a rule of its own (`routeGroupOf`).
  app.enable('case sensitive routing');
  // By default Express reads only the first 1,000 parameters, and would ignore a filter after them.
  app.set('query parser', (query: string | null) => parse(query ?? '', '&', '=', { maxKeys: 0 }));
  app.use(addRequestScope(deps));
  mount(app);
  app.use((request, response) => {
    const nothing = `There is nothing at ${request.path.slice(0, 200)}.`;
    response.status(404).json({ error: deps.served ? `${nothing} ${deps.served}` : nothing });
  });
  app.use(sendUnexpectedError);
  return app;
}

function addRequestScope({
  log,
  metrics,
  newId,
  now,
  isTrusted = () => false,
  strangerLines,
  tracing,
}: HttpDeps): RequestHandler {
  return (request, response, next) => {
    const began = now();
    request.url = mergeDoubledSlashes(request.url);
    spellUtf8(request);
    const id = acceptableRequestId(request.headers['x-request-id']) ?? newId();
    const scope = new RequestScope({ id, address: clientAddress(request, isTrusted) }, log);
    response.locals['scope'] = scope;
    response.setHeader('X-Request-Id', scope.id);
    for (const [name, value] of defaultHeaderEntries) response.setHeader(name, value);
    const { method, path } = request;
    const area = routeGroupOf(path);
    const isQuery = request.url.includes('?');
    const { address } = scope;
    const span = beginRequestSpan(tracing, request, { scope, area });
    // "close" is emitted once: after the response, or when the client disconnects before it.
    response.on('close', () => {
      const ms = now() - began;
      // A response that was cut off while it waited in one write counts as finished for Node.
      const isSent = response.writableFinished && scope.notes.cut !== 'notRead';
      const status = isSent ? response.statusCode : 499;
      const route = scope.route ?? routeOf(request, area);
      metrics.observe({ area, route, method, status, seconds: ms / 1000 });
      if (span) endRequestSpan(span, { method, route, status, connection: scope.notes.connection });
      scope.onEnd?.(request, response, { ms, status });
      const query = isQuery ? redactParameterNames(Object.keys(request.query)) : [];
      const isFound = (status >= 200 && status < 300) || status === 304;
      const facts = {
        method,
        path: redactLoggedPath(path, isFound),
        query,
        status,
        ms: Math.round(ms),
        address,
      };
      const isRoutine = scope.isRoutine && status < 400;
      const isSummedUp = isOfStranger(scope) && strangerLines?.admits(address, status) === false;
      const level = isRoutine || isSummedUp ? 'debug' : 'info';
      log[level]({ requestId: scope.id, ...facts, ...scope.notes }, 'request');
    });
    const error = hasOneHost(request) ? undefined : invalidHostError();
    if (span) span.run(() => next(error));
    else next(error);
  };
}

/** A revoked or expired credential is known, but not valid. */
function isOfStranger({ notes }: RequestScope): boolean {
  return notes.credential === undefined || notes.reason !== undefined;
}

/**
 * Merges doubled slashes in paths of SCIM and of the token endpoint, because IdPs append paths to a base URL that
 * administrators often end with a slash. Other paths stay as they are, so that a proxy that guards `/admin` by its
 * prefix sees the path that is served.
 */
function mergeDoubledSlashes(url: string): string {
  const [path = ''] = url.split('?', 1);
  if (!path.startsWith('/') || !path.includes('//')) return url;
  const merged = path.replace(/\/{2,}/g, '/');
  return /^\/([Ss][Cc][Ii][Mm]\/|oauth\/token\b)/.test(merged) ? `${merged}${url.slice(path.length)}` : url;
}

/**
 * Spells a charset of UTF-8 such as `utf8` as "utf-8", the only label of it that express accepts for JSON. JSON is always UTF-8,
 * and "no "charset" parameter is defined" for it (RFC 8259 §8.1, §11).
 */
function spellUtf8({ headers }: Request): void {
  const type = headers['content-type'];
  if (type === undefined || !/charset/i.test(type)) return;
  headers['content-type'] = type.replace(
    /(;\s*charset\s*=\s*)("?)([\w.:-]+)\2/i,
    (written, name, quote, label) => (isUtf8Label(label) ? `${name}${quote}utf-8${quote}` : written),
  );
}

/** True for the labels of UTF-8 in the Encoding Standard of the WHATWG (§4.2). */
function isUtf8Label(label: string): boolean {
  try {
    return new TextDecoder(label).encoding === 'utf-8';
  } catch {
    return false;
  }
}

/**
 * "A server MUST respond with a 400 (Bad Request) status code to any HTTP/1.1 request message that lacks a Host
 * header field and to any request message that contains more than one Host header field line" (RFC 9112 §3.2).
 */
function hasOneHost({ headers, rawHeaders, httpVersion }: Request): boolean {
  if (headers.host === undefined) return httpVersion !== '1.1';
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1;
}

function invalidHostError(): Error {
  return Object.assign(new Error('The request has no Host, or several.'), { status: 400 });
}

/** Returns the client's request id if it is harmless in a log. */
function acceptableRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[\w.-]{1,100}$/.test(header) ? header : undefined;
}

/** Handles errors that no interface has handled. The client gets no details. */
const sendUnexpectedError: ErrorRequestHandler = (error, _request, response, next) => {
  const status = clientStatus(error);
  if (status === undefined) requestScopeOf(response).log.error({ err: error }, 'a request failed');
  if (response.headersSent) next(error);
  else if (status) response.status(status).json({ error: 'The request cannot be read.' });
  else if (error instanceof StoreUnavailable)
    response
      .status(503)
      .set('Retry-After', String(RETRY_AFTER_S))
      .json({ error: 'The database cannot be used at the moment; try again.' });
  else response.status(500).json({ error: 'Something went wrong here.' });
};

/** Express sets a status on errors that the client caused. */
function clientStatus(error: unknown): number | undefined {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  return status >= 400 && status < 500 ? status : undefined;
}

/**
 * Returns the pattern of the route that has answered a request, with the prefix of its service. Requests without one have the area in
 * place of it, because unknown paths must not grow the metrics, and may hold personal data.
 */
function routeOf({ baseUrl, route }: Pick<Request, 'baseUrl' | 'route'>, area: string): string {
  const pattern: unknown = route?.path;
  if (typeof pattern !== 'string') return area === 'other' ? '/*' : `/${area}/*`;
  return `${baseUrl}${pattern}`.replace(/(?<=.)\/$/, '');
}

const routeGroups = ['scim', 'oauth', 'api', 'admin', 'healthz', 'readyz', 'metrics'] as const;

/**
 * Returns the interface that a path belongs to, or `other`. The list is closed, so that unknown paths cannot grow
 * the metrics. Only the paths of SCIM are matched in every case.
 */
export function routeGroupOf(path: string): string {
  const first = path.split('/')[1] ?? '';
  if (first.toLowerCase() === 'scim') return 'scim';
  return routeGroups.find((group) => group === first) ?? 'other';
}

/** All path segments of all routes; other segments are redacted in the log. A new resource adds its path here. */
const knownSegments = new Set<string>([
  ...routeGroups,
  ...['v2', 'users', 'groups', '.search', 'schemas', 'resourcetypes', 'serviceproviderconfig', 'bulk', 'me'],
  ...['token', 'whoami', 'openapi.json', 'docs', 'billing-profiles', 'cost-centers', 'project-codes'],
  ...['custom-fields', 'options', 'travel-policies', 'scim-user-mappings', 'trip-projects'],
  ...['billing-operations', 'invoices', 'refunds', 'disputes', 'events'],
  ...['webhooks', 'deliveries', 'secret', 'test', 'redeliver'],
]);

/** All query parameters of all routes. */
const knownParameters = new Set<string>([
  ...['attributes', 'excludedAttributes', 'filter', 'sortBy', 'sortOrder', 'startIndex', 'count', 'cursor'],
  ...['pageKind', 'limit', 'offset', 'after', 'before', 'order', 'archived', 'emails', 'status', 'require'],
  ...['kind', 'reason', 'operationType', 'billingProfileId', 'costCenterId'],
  ...['createdFrom', 'createdTo', 'dateFrom', 'dateTo'],
]);

const REDACTED_TEXT = '*';

/**
 * Redacts a path for the log. Segments that no route has are replaced by `*`, because clients may put personal data
 * there. If the request succeeded, ids stay, since they belong to resources.
 */
export function redactLoggedPath(path: string, isFound: boolean): string {
  const isShown = (segment: string) =>
    segment === '' ||
    knownSegments.has(segment.toLowerCase()) ||
    (isFound && /^[\w.:-]{1,64}$/.test(segment));
  const shown = path.slice(0, MAX_LOGGED_PATH).split('/');
  return shown.map((segment) => (isShown(segment) ? segment : REDACTED_TEXT)).join('/');
}

const MAX_LOGGED_PATH = 200;

/** Redacts the names of query parameters for the log, without duplicates. Unknown names become one `*`. */
export function redactParameterNames(names: string[]): string[] {
  return [...new Set(names.map((name) => (knownParameters.has(name) ? name : REDACTED_TEXT)))];
}

/**
 * Headers of every response. Responses contain personal data and depend on the credential, so caches must not store
 * them (RFC 9111 §5.2.2.5); browsers must not guess the content type.
 */
export const defaultHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

const defaultHeaderEntries = Object.entries(defaultHeaders);

/**
 * `Cache-Control` of a response with an ETag: the client may store it, and must revalidate it before each use (RFC
 * 9111 §5.2.2.4).
 */
export const REVALIDATE = 'private, no-cache';
