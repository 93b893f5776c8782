import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import type { ExchangeRecorder } from '../model/exchange.ts';
import { RETRY_AFTER_S, StoreUnavailable } from '../model/unavailable.ts';
import { isNestedTooDeep, nestedTooDeepText } from '../schema/json-depth.ts';
import { callerId } from './authentication/authentication.ts';
import { catalog } from './catalog.ts';
import { create, patch, remove, replace } from './changes.ts';
import {
  type Collection,
  type ListPage,
  list,
  listSubCollection,
  type RequestTarget,
  retrieve,
  type TravelDeps,
} from './collection.ts';
import type { Operation, Resource } from './declaration/resource.ts';
import { ApiError, errorBody, storeUnavailable } from './errors.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { contractRoutes } from './openapi/routes.ts';
import type { Log } from './ports.ts';
import { idempotency } from './requests/idempotency.ts';
import { refuseAllParameters } from './requests/pagination.ts';
import { type RequestWithBody, recordRequests } from './requests/request-log-middleware.ts';
import { user } from './resources/user.ts';

/** Dependencies of the travel service. */
export interface TravelAppDeps extends TravelDeps {
  /** Admits a request and names its caller, or answers it. */
  admit: RequestHandler;
  log: Log;
  /** The routes of the additional webhook operations (new secret, test, redeliver); undefined disables them. */
  webhooks?: Router;
  /** Records every request; undefined disables the log. */
  recorder?: ExchangeRecorder | undefined;
  /** The base URL in the OpenAPI document; without it, clients use the URL from which they fetched the document. */
  publicUrl?: string | undefined;
}

/**
 * Creates the JSON API of the travel service, to be mounted under /api. Without a credential it serves only its OpenAPI
 * document and documentation page; every other path, existing or not, answers 401.
 */
export function createTravelApp({
  admit,
  log,
  recorder,
  webhooks,
  publicUrl,
  ...deps
}: TravelAppDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  if (recorder) recordRequests(app, recorder);
  app.use(contractRoutes(publicUrl));
  app.use(admit);
  app.get('/whoami', refuseQueryParameters, async (_request, response) => {
    const caller = callerId(response);
    response.json({
      data: await retrieve({ resource: user, deps }, { parentId: '', id: caller, caller }),
    });
  });
  app.all('/whoami', refuseMethod);
  if (webhooks) app.use(webhooks);
  for (const resource of catalog) app.use(resourceRouter(resource, deps, admit));
  app.use((request) => {
    const path = (request.baseUrl + request.path).slice(0, 200);
    throw new ApiError(
      'notFound',
      `There is nothing at ${path}. ${request.baseUrl}/docs describes every path.`,
    );
  });
  app.use(errorHandler(log));
  return app;
}

/** Turns every error into a response. The details of unexpected errors go to the log only. */
function errorHandler(log: Log): ErrorRequestHandler {
  return (error, _request, response, next) => {
    if (response.headersSent) return next(error);
    const known = toApiError(error);
    if (known.status >= 500) log.error({ err: error }, 'the travel service failed');
    if (known.status === 503) response.set('Retry-After', String(RETRY_AFTER_S));
    response.status(known.status).json(errorBody(known));
  };
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return error instanceof StoreUnavailable ? storeUnavailable(error) : fromExpressError(error);
}

/** Errors of express and of its body parser: a malformed path, an unsupported encoding, or a body that cannot be read. */
function fromExpressError(error: unknown): ApiError {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 413) return new ApiError('badRequest', 'The body is larger than 1 MB.', { status: 413 });
  if (status === 415)
    return new ApiError('badRequest', 'The encoding of the body is not supported.', { status: 415 });
  if (status === 400) return new ApiError('badRequest', 'The request cannot be read; its body must be JSON.');
  return new ApiError('internalError', 'The travel service failed.', { cause: error });
}

/**
 * Creates the routes of one resource from its declaration. Every other method on its paths answers 403. `admit` looks at the credential
 * again where a body arrives late.
 */
function resourceRouter(resource: Resource, deps: TravelDeps, admit: RequestHandler): Router {
  const router = Router({ caseSensitive: true });
  const collection: Collection = { resource, deps };
  const runOnce = idempotency(deps);
  if (resource.operations.includes('create'))
    router.post(
      resource.collectionPath,
      refuseQueryParameters,
      ...readBody(admit),
      async (request, response) => {
        const body = parseData(request.body);
        const target = targetOf(request, response);
        const data = await runOnce(request, response, (keep) => create(collection, target, body, keep));
        // The codes of success are those of the specification ("Status codes of success").
        response.status(201).json({ data });
      },
    );
  for (const operation of resource.operations) {
    if (operation === 'create') continue;
    const { method, on, handle } = handlers[operation];
    const path = on === 'item' ? resource.itemPath : resource.collectionPath;
    const query = operation === 'list' ? [] : [refuseQueryParameters];
    const body = method === 'get' || method === 'delete' ? [] : readBody(admit);
    router[method](path, ...query, ...body, async (request, response) => {
      const result = await handle(collection, targetOf(request, response), request);
      response.json(operation === 'list' ? result : { data: result });
    });
  }
  for (const sub of resource.subCollections ?? []) {
    const path = `/${sub.path}/:parentId/${resource.path}`;
    router.get(path, async (request, response) => {
      response.json(await listSubCollection(collection, sub, targetOf(request, response), request.query));
    });
    router.all(path, refuseMethod);
  }
  for (const path of [resource.collectionPath, resource.itemPath]) router.all(path, refuseMethod);
  return router;
}

/** 403: "Unsupported request to retrieve, create, update or delete a resource" (specification). */
export const refuseMethod: RequestHandler = (request) => {
  throw new ApiError('forbidden', `${request.method} is not supported here.`);
};

/** Middleware for operations without query parameters. Throws 400 `invalidParam` for any parameter. */
export const refuseQueryParameters: RequestHandler = (request, _response, next) => {
  refuseAllParameters(request.query);
  next();
};

interface Handler {
  method: 'get' | 'patch' | 'put' | 'delete';
  on: 'collection' | 'item';
  handle(collection: Collection, target: RequestTarget, request: Request): Promise<JsonObject | ListPage>;
}

/** Method and work of each operation but `create`, which an `Idempotency-Key` makes safe to repeat. */
const handlers = {
  list: {
    method: 'get',
    on: 'collection',
    handle: (collection, to, { query }) => list(collection, to, query),
  },
  retrieve: { method: 'get', on: 'item', handle: retrieve },
  patch: {
    method: 'patch',
    on: 'item',
    handle: (collection, to, { body }) => patch(collection, to, parseData(body)),
  },
  replace: {
    method: 'put',
    on: 'item',
    handle: (collection, to, { body }) => replace(collection, to, parseData(body)),
  },
  delete: { method: 'delete', on: 'item', handle: remove },
} satisfies Record<Exclude<Operation, 'create'>, Handler>;

function targetOf({ params }: Request, response: Response): RequestTarget {
  const { parentId = '', itemId = '' } = params;
  return { parentId: String(parentId), id: String(itemId), caller: callerId(response) };
}

/**
 * Maximum nesting depth of a resource. Resources are far shallower, and a list of them must not be too deep for those who read it:
 * the bridge is one of them.
 */
const MAX_DEPTH = 32;

/**
 * Middleware that parses JSON bodies of up to 1 MB. A larger body is 413, another media type 415, one that is nested too deep 400. A client
 * can send its body half a minute after the head, when its credential has been revoked: `admit` is called again then.
 */
function readBody(admit: RequestHandler): RequestHandler[] {
  const types = ['application/json', 'application/*+json'];
  // The request log records the raw bytes, also of bodies that turn out not to be JSON.
  const verify = (request: RequestWithBody, _response: unknown, bytes: Buffer, encoding: string) => {
    request.received = { bytes, encoding };
  };
  const json = express.json({ type: types, limit: '1mb', verify });
  const onlyJson: RequestHandler = (request, _response, next) => {
    // An empty body has no media type; it is answered with 400 for the missing `data`, not with 415.
    const isEmpty = request.get('content-length') === '0';
    if (!isEmpty && request.is(types) === false) {
      throw new ApiError('badRequest', 'The body must be application/json.', { status: 415 });
    }
    next();
  };
  const refuseDeep: RequestHandler = ({ body }, _response, next) => {
    if (isNestedTooDeep(body)) throw new ApiError('badRequest', `The body ${nestedTooDeepText()}.`);
    next();
  };
  const noteLateBody: RequestHandler = (request, { locals }, next) => {
    locals['isBodyLate'] = !request.complete;
    next();
  };
  const admitLateBody: RequestHandler = (request, response, next) =>
    response.locals['isBodyLate'] ? admit(request, response, next) : next();
  return [onlyJson, noteLateBody, json, refuseDeep, admitLateBody];
}

/** Returns the resource object of a `{"data": {…}}` body. Throws 400 if it is missing or cannot be stored. */
export function parseData(body: unknown): JsonObject {
  const data = isJsonObject(body) ? body['data'] : undefined;
  if (!isJsonObject(data))
    throw new ApiError('badRequest', 'The body must be an object with a "data" object.');
  refuseUnstorable(data);
  return data;
}

/**
 * Throws 400 for nesting that is too deep, for NUL characters and lone surrogates (PostgreSQL refuses them), and for members named
 * `__proto__`.
 */
function refuseUnstorable(data: JsonObject): void {
  if (isNestedTooDeep(data, MAX_DEPTH))
    throw new ApiError('badRequest', `The data is nested deeper than ${MAX_DEPTH} levels.`);
  // The replacer sees all names and values, also those in lists.
  JSON.stringify(data, (name, value: Json) => {
    if (name === '__proto__') throw new ApiError('badRequest', 'No member may be called "__proto__".');
    refuseUnstorableText(name);
    if (typeof value === 'string') refuseUnstorableText(value);
    return value;
  });
}

function refuseUnstorableText(text: string): void {
  if (/[\0\p{Surrogate}]/u.test(text)) {
    throw new ApiError('badRequest', 'Strings must be well-formed Unicode without NUL characters.');
  }
}
