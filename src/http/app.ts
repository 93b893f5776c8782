import { parse } from 'node:querystring';
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { RETRY_AFTER_S, StoreUnavailable } from '../store/unavailable.ts';
import { RequestScope, requestScopeOf } from './log.ts';
import type { HttpMetrics } from './monitoring.ts';
import { type AddressPredicate, clientAddress } from './proxies.ts';
import { oneRequestPerTurn } from './sockets.ts';

/** What the express app of the process needs. */
export interface HttpDeps {
  log: Logger;
  metrics: HttpMetrics;
  newId(): string;
  /** Milliseconds, of any clock that only goes forward. */
  now(): number;
  /** The proxies whose `X-Forwarded-For` is believed. */
  isTrusted?: AddressPredicate;
}

/** The express app that all wings hang in: a scope, a log line and a measurement for every request. */
export function httpApp(deps: HttpDeps, mount: (app: Express) => void): Express {
  const app = express();
  app.disable('x-powered-by');
  // Express would make an ETag of every body; where there are versions, the wing sends its own.
  app.disable('etag');
  // By itself it reads the first 1,000 parameters only, and a filter behind them would be no filter at all.
  app.set('query parser', (query: string | null) => parse(query ?? '', '&', '=', { maxKeys: 0 }));
  app.use(oneRequestPerTurn());
  app.use(addRequestScope(deps));
  mount(app);
  app.use((_request, response) => {
    response.status(404).json({ error: 'There is no such page.' });
  });
  app.use(sendUnexpectedError);
  return app;
}

function addRequestScope({ log, metrics, newId, now, isTrusted = () => false }: HttpDeps): RequestHandler {
  // Looking for secrets in every line costs more than the line; what stands in these is chosen here.
  const lines = log.child({}, { redact: [] });
  return (request, response, next) => {
    const began = now();
    request.url = mergeDoubledSlashes(request.url);
    const id = acceptableRequestId(request.headers['x-request-id']) ?? newId();
    const scope = new RequestScope({ id, address: clientAddress(request, isTrusted) }, log);
    response.locals['scope'] = scope;
    response.setHeader('X-Request-Id', scope.id);
    for (const [name, value] of Object.entries(defaultHeaders)) response.setHeader(name, value);
    const { method, path } = request;
    const isQuery = request.url.includes('?');
    const { address } = scope;
    // "close" comes once, after the answer or when the client went away before it.
    response.once('close', () => {
      const ms = now() - began;
      const status = response.writableFinished ? response.statusCode : 499;
      metrics.observe({ routeGroup: routeGroupOf(path), method, status, seconds: ms / 1000 });
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
      const level = scope.isRoutine && status < 400 ? 'debug' : 'info';
      lines[level]({ requestId: scope.id, ...facts, ...scope.notes }, 'request');
    });
    next(hasOneHost(request) ? undefined : invalidHostError());
  };
}

/**
 * Merges doubled slashes in the paths that identity providers build from a base URL, which administrators often end with a
 * slash. Other paths stay as they are, so that a proxy that guards `/admin` by its prefix sees the path that is served.
 */
function mergeDoubledSlashes(url: string): string {
  const [path = ''] = url.split('?', 1);
  if (!path.startsWith('/') || !path.includes('//')) return url;
  const merged = path.replace(/\/{2,}/g, '/');
  return /^\/(scim\/|oauth\/token\b)/i.test(merged) ? `${merged}${url.slice(path.length)}` : url;
}

/**
 * "A server MUST respond with a 400 (Bad Request) status code to any HTTP/1.1 request message that lacks a Host header field
 * and to any request message that contains more than one Host header field line" (RFC 9112 §3.2).
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

/** A client's own id is taken when it can do no harm in a log. */
function acceptableRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[\w.-]{1,100}$/.test(header) ? header : undefined;
}

/** For what no wing answered: it is ours, so the client learns nothing of it. */
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

/** Express marks what the client did wrong by a status. */
function clientStatus(error: unknown): number | undefined {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  return status >= 400 && status < 500 ? status : undefined;
}

const routeGroups = ['scim', 'oauth', 'api', 'admin', 'healthz', 'readyz', 'metrics'] as const;

/** The part of the service that a path belongs to; a closed list, so that strangers cannot grow the metrics. */
export function routeGroupOf(path: string): string {
  const first = path.split('/')[1] ?? '';
  return routeGroups.find((area) => area === first) ?? 'other';
}

/** The segments of all paths that are served. */
const knownSegments = new Set<string>([
  ...routeGroups,
  ...['v2', 'users', 'groups', '.search', 'schemas', 'resourcetypes', 'serviceproviderconfig', 'bulk', 'me'],
  ...['token', 'whoami', 'openapi.json', 'docs', 'billing-profiles', 'cost-centers', 'project-codes'],
  ...['custom-fields', 'options', 'travel-policies', 'scim-user-mappings', 'trip-projects'],
  ...['billing-operations', 'invoices', 'refunds', 'disputes', 'events'],
  ...['webhooks', 'deliveries', 'secret', 'test', 'redeliver'],
]);

/** The query parameters that are read anywhere. */
const knownParameters = new Set<string>([
  ...['attributes', 'excludedAttributes', 'filter', 'sortBy', 'sortOrder', 'startIndex', 'count', 'cursor'],
  ...['pageKind', 'limit', 'offset', 'after', 'before', 'order', 'archived', 'emails', 'status', 'require'],
]);

const REDACTED_TEXT = '*';

/**
 * A path for the log. Segments that no endpoint has are struck out, as a client may write anything there; if the request
 * found what it asked for, ids are shown, as they are those of resources.
 */
export function redactLoggedPath(path: string, isFound: boolean): string {
  const isShown = (segment: string) =>
    segment === '' ||
    knownSegments.has(segment.toLowerCase()) ||
    (isFound && /^[\w.:-]{1,64}$/.test(segment));
  const shown = path.slice(0, MAX_LOGGED_PATH).split('/');
  return shown.map((segment) => (isShown(segment) ? segment : REDACTED_TEXT)).join('/');
}

const MAX_LOGGED_PATH = 500;

/** Names of query parameters for the log, each once; all that are not known are one asterisk. */
export function redactParameterNames(names: string[]): string[] {
  return [...new Set(names.map((name) => (knownParameters.has(name) ? name : REDACTED_TEXT)))];
}

/**
 * Headers of every response: caches keep nothing (RFC 9111 §5.2.2.5), as responses hold personal data and depend on the
 * credential, and browsers do not guess a type from the content.
 */
export const defaultHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** `Cache-Control` of a response with an ETag: its client may keep it, and asks each time whether it still holds (RFC 9111 §5.2.2.4). */
export const REVALIDATE = 'private, no-cache';
