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
import type { JsonObject } from './json.ts';
import { contractRoutes } from './openapi/routes.ts';
import type { Log } from './ports.ts';
import { parseData, readBody } from './requests/body.ts';
import { idempotency } from './requests/idempotency.ts';
import { refuseAllParameters } from './requests/pagination.ts';
import { conditionsOf, markCurrent, sendRepresentations } from './requests/representation.ts';
import { recordRequests } from './requests/request-log-middleware.ts';
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
  sendRepresentations(app);
  if (recorder) recordRequests(app, recorder);
  app.use(contractRoutes(publicUrl));
  app.use(admit);
  app.get('/whoami', refuseQueryParameters, async (_request, response) => {
    const caller = callerId(response);
    markCurrent(response);
    response.json({
      data: await retrieve({ resource: user, deps }, { parentId: '', id: caller, caller }),
    });
  });
  app.all('/whoami', refuseOtherMethods('GET', 'HEAD'));
  if (webhooks) app.use(webhooks);
  for (const resource of catalog) app.use(resourceRouter(resource, { ...deps, admit, publicUrl }));
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

/** What the routes of a resource need. */
type RouteDeps = TravelDeps & Pick<TravelAppDeps, 'admit' | 'publicUrl'>;

/**
 * Creates the routes of one resource from its declaration. Every other method on its paths answers 403. `admit` looks at the credential
 * again where a body arrives late.
 */
function resourceRouter(resource: Resource, { admit, publicUrl, ...deps }: RouteDeps): Router {
  const router = Router({ caseSensitive: true });
  const collection: Collection = { resource, deps };
  const { operations, collectionPath, itemPath, subCollections = [] } = resource;
  if (operations.includes('create')) {
    const handle = createHandler(collection, publicUrl);
    router.post(collectionPath, refuseQueryParameters, ...readBody(admit), handle);
  }
  for (const operation of operations) {
    if (operation === 'create') continue;
    const { method, on, handle } = handlers[operation];
    const query = operation === 'list' ? [] : [refuseQueryParameters];
    const body = method === 'get' || method === 'delete' ? [] : readBody(admit);
    router[method](
      on === 'item' ? itemPath : collectionPath,
      ...query,
      ...body,
      async (request, response) => {
        const result = await handle(collection, targetOf(request, response), request);
        // RFC 9110 §9.3.4 forbids an ETag in the answer of a PUT that was not stored byte by byte.
        if (method === 'get' || method === 'patch') markCurrent(response);
        response.json(operation === 'list' ? result : { data: result });
      },
    );
  }
  for (const sub of subCollections) {
    const path = `/${sub.path}/:parentId/${resource.path}`;
    router.get(path, async (request, response) => {
      const page = await listSubCollection(collection, sub, targetOf(request, response), request.query);
      markCurrent(response);
      response.json(page);
    });
    router.all(path, refuseOtherMethods('GET', 'HEAD'));
  }
  for (const on of ['collection', 'item'] as const) {
    const own = operations.filter((name) => (name === 'create' ? 'collection' : handlers[name].on) === on);
    const methods = own.flatMap((name) => (name === 'create' ? 'POST' : allowed[handlers[name].method]));
    router.all(on === 'item' ? itemPath : collectionPath, refuseOtherMethods(...methods));
  }
  return router;
}

/** The methods that a path allows with one of its operations: Express answers HEAD as GET. */
const allowed = { get: ['GET', 'HEAD'], patch: ['PATCH'], put: ['PUT'], delete: ['DELETE'] };

/** Answers a POST that creates a resource. An `Idempotency-Key` makes it safe to repeat. */
function createHandler(collection: Collection, publicUrl = ''): RequestHandler {
  const runOnce = idempotency(collection.deps);
  return async (request, response) => {
    const body = parseData(request.body);
    const target = targetOf(request, response);
    const data = await runOnce(request, response, (keep) => create(collection, target, body, keep));
    // The answer with a secret is not what a GET answers.
    if (!collection.resource.secret) markCurrent(response);
    // The codes of success are those of the specification ("Status codes of success").
    response
      .status(201)
      .location(locationOf(request, data, publicUrl))
      .json({ data });
  };
}

/** The URL of a resource that a POST has created (RFC 9110 §15.3.2). */
function locationOf({ baseUrl, path }: Request, { id }: JsonObject, publicUrl: string): string {
  return `${publicUrl.replace(/\/+$/, '')}${baseUrl}${path.replace(/\/$/, '')}/${id}`;
}

/** 403 for all methods but these: "Unsupported request to retrieve, create, update or delete a resource" (specification). */
export function refuseOtherMethods(...methods: string[]): RequestHandler {
  return (request, response) => {
    // RFC 9110 §10.2.1 allows the header in any answer.
    response.set('Allow', methods.join(', '));
    throw new ApiError('forbidden', `${request.method} is not supported here.`);
  };
}

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

/** Method and work of each operation but `create`. */
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

function targetOf(request: Request, response: Response): RequestTarget {
  const { parentId = '', itemId = '' } = request.params;
  const ids = { parentId: String(parentId), id: String(itemId) };
  return { ...ids, caller: callerId(response), conditions: conditionsOf(request) };
}
