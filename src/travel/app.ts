import express, { type ErrorRequestHandler, type Express, type Router } from 'express';
import type { RefusalDeps } from '../http/failed-authentication.ts';
import { RETRY_AFTER_S, StoreUnavailable } from '../store/unavailable.ts';
import { authenticate, callerOf } from './authentication.ts';
import { catalog } from './catalog.ts';
import { retrieve, type Surroundings } from './collection.ts';
import { contractRoutes } from './contract.ts';
import { ApiError, errorBody, storeUnavailable } from './errors.ts';
import type { Credentials, Log } from './ports.ts';
import { recordRequests } from './request-log.ts';
import type { Keeper } from './request-log-keeper.ts';
import { user } from './resources/user.ts';
import { forbidden, resourceRouter, withoutQuery } from './router.ts';

/** What the travel service is made of. */
export interface TravelOptions extends Surroundings {
  credentials: Credentials;
  log: Log;
  /** What one can do with a webhook besides what one can do with any resource; undefined: nothing. */
  webhooks?: Router;
  /** Of the request log; undefined: nothing is recorded. */
  keeper?: Keeper | undefined;
  /** Undefined: failed authentication is not counted. */
  refusals?: RefusalDeps | undefined;
  /** Where clients find the service, for its contract; undefined: where that comes from. */
  publicUrl?: string | undefined;
}

/** The travel service's JSON API, to be mounted under /api. Nothing but its contract is told without a credential, not even what exists. */
export function travelApp({
  credentials,
  log,
  keeper,
  webhooks,
  publicUrl,
  refusals,
  ...surroundings
}: TravelOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  if (keeper) recordRequests(app, keeper, surroundings.now);
  app.use(contractRoutes(publicUrl));
  app.use(authenticate(surroundings.store, credentials, refusals));
  app.get('/whoami', withoutQuery, async (_request, response) => {
    const caller = callerOf(response);
    response.json({
      data: await retrieve({ resource: user, surroundings }, { parentId: '', id: caller, caller }),
    });
  });
  app.all('/whoami', forbidden);
  if (webhooks) app.use(webhooks);
  for (const resource of catalog) app.use(resourceRouter(resource, surroundings));
  app.use((request) => {
    throw new ApiError('notFound', `There is nothing at ${request.path.slice(0, 200)}.`);
  });
  app.use(answerErrors(log));
  return app;
}

/** The one place where failures become answers; what is not made for the client stays in the log. */
function answerErrors(log: Log): ErrorRequestHandler {
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
  return error instanceof StoreUnavailable ? storeUnavailable(error) : fromExpress(error);
}

/** What express and its body parser refuse: a broken path, encoding or body. */
function fromExpress(error: unknown): ApiError {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 413) return new ApiError('badRequest', 'The body is larger than 1 MB.', { status: 413 });
  if (status === 415)
    return new ApiError('badRequest', 'The encoding of the body is not supported.', { status: 415 });
  if (status === 400) return new ApiError('badRequest', 'The request cannot be read; its body must be JSON.');
  return new ApiError('internalError', 'The travel service failed.', { cause: error });
}
