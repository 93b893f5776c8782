import { isUtf8 } from 'node:buffer';
import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import {
  bearerToken,
  clientAddressOf,
  type FailedAuthenticationDeps,
  recordFailedAuthentication,
} from '../http/authentication.ts';
import { ADDRESS_NOT_ALLOWED, type ConnectionLimits, TOO_MANY_REQUESTS } from '../http/connection-limits.ts';
import { addRequestNotes, requestScopeOf } from '../http/log.ts';
import type { ExchangeRecorder } from '../model/exchange.ts';
import type { ScimProfileName } from '../model/policies.ts';
import type { GroupService } from '../provisioning/groups/groups.ts';
import type { UserService } from '../provisioning/users/users.ts';
import { isNestedTooDeep, nestedTooDeepText } from '../schema/json-depth.ts';
import { isObject, ownValue } from '../schema/resource.ts';
import { isBrowser, sendBasePage } from './discovery/base-page.ts';
import { discoveryRoutes } from './discovery/discovery.ts';
import { searchRoutes } from './lists/search.ts';
import { type ScimProfile, scimProfiles } from './profiles/profiles.ts';
import { parseQuery, type ScimContext } from './protocol/endpoint.ts';
import { badRequest, ScimError, scimErrorHandler } from './protocol/errors.ts';
import { parsePreconditions } from './protocol/etags.ts';
import { exchangeObserver, keepRequestBody } from './protocol/exchanges.ts';
import { resourceRoutes } from './resources.ts';
import { roleRoutes } from './roles.ts';

/** Dependencies of the SCIM service. */
export interface ScimDeps extends AuthenticationDeps {
  users: UserService;
  groups: GroupService;
  /** Returns the roles that the identity provider of a connection may give. */
  roles: ScimContext['roles'];
  /** Returns what a connection declares and accepts. */
  profileOf(connection: string): ScimProfileName;
  /** A monotonic clock, in milliseconds. */
  now(): number;
  /** Scheme and host of the URLs that clients use, without a slash at the end. Every `meta.location` begins with it. */
  publicUrl(request: Request): string;
  /** The log of exchanges; undefined disables it. */
  recorder?: ExchangeRecorder | undefined;
}

/** Makes the handlers of the SCIM service (RFC 7644), to be mounted at /scim/v2 of an `httpApp`. */
export function scimApp(deps: ScimDeps): (RequestHandler | ErrorRequestHandler)[] {
  // SCIMMYRouters would answer discovery and searches, too, so these routes come first.
  const ownRoutes = Router().use(discoveryRoutes(contextOf), searchRoutes(contextOf), roleRoutes(contextOf));
  return [prepareRequest(deps, ownRoutes), ...resourceRoutes(contextOf), scimErrorHandler];
}

/** Returns the context that `prepareRequest` made for a request. */
function contextOf({ res }: Request): ScimContext {
  const context: ScimContext | undefined = res?.locals['scimContext'];
  if (!context) throw new Error('A request reached a route without authentication.');
  return context;
}

/**
 * Authenticates a request, checks that it has a route, reads its body, and passes it to its routes. The bearer token alone selects the connection
 * (docs/architecture.md, Connections). The body is read even if the response is 501, so that the TCP connection can be reused.
 */
function prepareRequest(deps: ScimDeps, ownRoutes: RequestHandler): RequestHandler {
  const { recorder, users, groups, roles, now } = deps;
  const observeEnd = recorder && exchangeObserver(recorder);
  return async (request, response, next) => {
    const scope = requestScopeOf(response);
    scope.onEnd = observeEnd;
    const endpoint = findEndpoint(request);
    if (endpoint) scope.route = `/scim/v2${endpoint.route}`;
    if (endpoint?.route === '/' && isBrowser(request)) return sendBasePage(response, deps.publicUrl(request));
    const connection = await authenticateConnection(request, response, deps);
    limitRequests(response, connection, deps.limits);
    const base = `${deps.publicUrl(request)}${request.baseUrl}`;
    const preconditions = parsePreconditions(request.headers);
    const profile = scimProfiles[deps.profileOf(connection)];
    const context: ScimContext = {
      ...{ connection, profile, base, users, groups, roles, scope },
      ...{ response, preconditions, now },
    };
    response.locals['scimContext'] = context;
    const isOffered = checkEndpoint(request, endpoint);
    const isBodyUnderWay = !request.complete;
    await readBody(request, response);
    // A client can send its body half a minute after the head, when its token has been revoked.
    if (isBodyUnderWay) await authenticateConnection(request, response, deps);
    if (!isOffered) throw new ScimError(501, undefined, 'This service does not offer that.');
    if (endpoint) applyProfile(request, endpoint.route, profile);
    if (resourcePath.test(request.path)) next();
    else ownRoutes(request, response, next);
  };
}

/** Lets the profile check a request to the endpoint of a resource type, which then reads the body that the profile returns. */
function applyProfile(request: Request, route: string, profile: ScimProfile): void {
  const type = profile.resourceTypes.find(({ endpoint }) => `${route}/`.startsWith(`${endpoint}/`));
  if (!type) return;
  const isSearch = route.endsWith('/.search');
  if (!isSearch && writeMethods.includes(request.method)) {
    request.body = profile.readBody(type, request.method, request.body);
    return;
  }
  const filter = ownValue(isSearch ? request.body : parseQuery(request.query), 'filter');
  if (typeof filter === 'string') profile.checkFilter(type, filter);
}

const readMethods = ['GET', 'HEAD'];

/** The endpoints of RFC 7644 §3.2 that this service offers, with their methods. The first match is used. */
const endpoints = Object.entries({
  '/.search': ['POST'],
  '/Users/.search': ['POST'],
  '/Groups/.search': ['POST'],
  '/Roles/.search': ['POST'],
  '/Users/:id': [...readMethods, 'PUT', 'PATCH', 'DELETE'],
  '/Groups/:id': [...readMethods, 'PUT', 'PATCH', 'DELETE'],
  '/Users': [...readMethods, 'POST'],
  '/Groups': [...readMethods, 'POST'],
  '/Roles': readMethods,
  '/Roles/:id': readMethods,
  '/ServiceProviderConfig': readMethods,
  '/ResourceTypes': readMethods,
  '/ResourceTypes/:id': readMethods,
  '/Schemas': readMethods,
  '/Schemas/:id': readMethods,
  '/': readMethods,
}).map(([route, methods]) => ({ route, methods, pattern: patternOf(route) }));

/** An identity provider may add a slash at the end, and Entra ID writes paths in other cases. */
function patternOf(route: string): RegExp {
  const path = route.replace('.', '\\.').replace(':id', '[^/]+');
  return new RegExp(route === '/' ? '^/$' : `^${path}/?$`, 'i');
}

type Endpoint = (typeof endpoints)[number];

function findEndpoint({ path }: Pick<Request, 'path'>): Endpoint | undefined {
  return endpoints.find(({ pattern }) => pattern.test(path));
}

/** The path of a resource, or of all resources of a type. */
const resourcePath = /^\/(Users|Groups)(\/(?!\.search)|$)/i;

/** Optional endpoints that this service does not offer (RFC 7644 §3.7, §3.11); all methods are 501. */
const notOffered = /^\/(Bulk\/?$|Me(\/|$))/i;

const UNKNOWN_ENDPOINT =
  'There is no such endpoint. Behind the base URL there are /Users, /Groups, /Roles, /ServiceProviderConfig, /ResourceTypes and /Schemas.';

/**
 * Returns false for an endpoint that this service does not offer. Throws 400 for a path that cannot be decoded, 404 for an unknown
 * path, and 405 for a method.
 */
function checkEndpoint(
  { path, method }: Pick<Request, 'path' | 'method'>,
  endpoint: Endpoint | undefined,
): boolean {
  if (!isDecodable(path)) throw badRequest('invalidSyntax', 'The path is not percent-encoded right.');
  if (notOffered.test(path)) return false;
  if (!endpoint) throw new ScimError(404, undefined, UNKNOWN_ENDPOINT);
  if (endpoint.methods.includes(method)) return true;
  const headers = { Allow: endpoint.methods.join(', ') };
  throw new ScimError(405, undefined, `The endpoint does not take ${method}.`, { headers });
}

function isDecodable(path: string): boolean {
  try {
    // The bundler removes a call whose result is not used, although it can throw.
    return decodeURIComponent(path) !== undefined;
  } catch {
    return false;
  }
}

/**
 * The connection that a token gives access to, and the name of the credential in the log: `token:<id>` or
 * `oauth:<client>`.
 */
export interface Access {
  connection: string;
  credential: string;
}

/** Dependencies for authenticating requests. */
interface AuthenticationDeps {
  /** Finds the connection of a token; undefined for an invalid one. */
  authenticate(token: string): Promise<Access | undefined>;
  /** Counts failed attempts by address; undefined disables the limit. */
  refusals?: FailedAuthenticationDeps;
  /** The limits of the settings for each connection; undefined: there are none. */
  limits?: ConnectionLimits;
}

/**
 * Finds the connection of a request by its bearer token. Throws 401 for a missing or invalid token (RFC 7644 §2, RFC
 * 6750 §3), 429 after too many of them from one address, and 403 for a valid one from an address that its connection does not
 * allow. Failures of others do not count against a valid token, because many customers of an identity provider share its addresses.
 * A token in the query string is ignored.
 */
async function authenticateConnection(
  request: Request,
  response: Response,
  { authenticate, refusals, limits }: AuthenticationDeps,
): Promise<string> {
  const { authorization } = request.headers;
  const token = bearerToken(authorization) ?? bareToken(authorization);
  const access = token === undefined ? undefined : await authenticate(token);
  if (access) {
    const address = clientAddressOf(response);
    if (limits?.isAllowedFrom(access.connection, address) === false) {
      addRequestNotes(response, { ...access, reason: ADDRESS_NOT_ALLOWED });
      throw new ScimError(403, undefined, `This connection does not accept requests from ${address}.`);
    }
    addRequestNotes(response, access);
    return access.connection;
  }
  const retryAfter =
    refusals && (await recordFailedAuthentication(response, { authorization, token }, refusals));
  if (retryAfter !== undefined) {
    const headers = { 'Retry-After': String(retryAfter) };
    const detail = 'Too many requests without a valid bearer token came from this address; try again later.';
    throw new ScimError(429, undefined, detail, { headers });
  }
  const reason = token === undefined ? '' : ', error="invalid_token"';
  throw new ScimError(401, undefined, 'A valid bearer token is required.', {
    headers: { 'WWW-Authenticate': `Bearer realm="scim"${reason}` },
  });
}

/** Throws 429 if the connection has sent more requests in a second than the settings allow (RFC 6585 §4). */
function limitRequests(response: Response, connection: string, limits: ConnectionLimits | undefined): void {
  const retryAfter = limits?.countRequest(connection);
  if (retryAfter === undefined) return;
  addRequestNotes(response, { reason: TOO_MANY_REQUESTS });
  const headers = { 'Retry-After': String(retryAfter) };
  throw new ScimError(429, undefined, 'This connection has sent too many requests in a second; try again.', {
    headers,
  });
}

/** Okta's "Header" mode sends the token without a scheme. */
function bareToken(authorization: string | undefined): string | undefined {
  return /^[\w.~+/-]+=*$/.exec(authorization ?? '')?.[0];
}

/** The largest body of a request, in bytes. */
const MAX_BODY_BYTES = 1_048_576;

const writeMethods = ['POST', 'PUT', 'PATCH'];

/** `strict: false` also parses `null` and `"x"`, so that they get another error message than malformed JSON. */
const parseJson = express.json({ limit: MAX_BODY_BYTES, type: () => true, strict: false, verify: checkUtf8 });

/** Some clients send a body with GET or DELETE. It is ignored, but must be read before the next request. */
const readIgnoredBody = express.raw({ limit: MAX_BODY_BYTES, type: () => true });

/** Reads the body. Throws 413 if it is too large, 415 if it is not JSON, and 400 if it is no object or nested too deep (RFC 7644 §3.1, §3.12). */
async function readBody(request: Request, response: Response): Promise<void> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
    throw new ScimError(413, undefined, 'The body is larger than 1 MB.');
  }
  if (!writeMethods.includes(request.method)) {
    if (hasBody(request)) await runMiddleware(readIgnoredBody, request, response);
    return;
  }
  if (!hasBody(request)) throw badRequest('invalidSyntax', 'The request needs a body.');
  if (!isJson(request)) {
    throw new ScimError(415, undefined, 'The body must be application/scim+json or application/json.');
  }
  await runMiddleware(parseJson, request, response);
  if (!isObject(request.body)) throw badRequest('invalidSyntax', 'The body must be a JSON object.');
  if (isNestedTooDeep(request.body)) throw badRequest('invalidSyntax', `The body ${nestedTooDeepText()}.`);
}

/** JSON is UTF-8 (RFC 8259 §8.1). Other bytes would silently become replacement characters. */
function checkUtf8(_request: unknown, response: Response, body: Buffer, charset: string): void {
  if (charset !== 'utf-8') throw new ScimError(415, undefined, 'The body must be in UTF-8.');
  if (!isUtf8(body)) throw badRequest('invalidSyntax', 'The body is not in UTF-8.');
  keepRequestBody(response, body);
}

function runMiddleware(read: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void read(request, response, (error: unknown) => (error ? reject(error) : resolve()));
  });
}

function hasBody(request: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  return encoding !== undefined || Number(length) > 0;
}

function isJson(request: Request): boolean {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return type === 'application/scim+json' || type === 'application/json';
}
