import type { Express, Request, RequestHandler, Response } from 'express';
import { addressOf } from '../http/failed-authentication.ts';
import { scopeOf } from '../http/scope.ts';
import { BRIDGE, credentialOf } from './authentication.ts';
import type { LoggedRequest } from './ports.ts';
import { loggedBody, type Received, requestBody } from './request-log-body.ts';
import type { Keeper } from './request-log-keeper.ts';
import { withoutSecretParameters } from './request-log-secrets.ts';

/** The longest paths that are kept, in characters; without a credential nobody may write much. */
const LONGEST_PATH = 2_048;
const LONGEST_OF_STRANGERS = 200;

/**
 * "Every API request is recorded in a request log that administrators can inspect" (specification, rule 2). Comes before
 * everything else, so that what is refused is recorded, too.
 */
export function recordRequests(app: Express, keeper: Keeper, now: () => number): void {
  keepAnswers(app);
  const record = (request: Request, response: Response) => {
    const { began } = response.locals;
    const caller = credentialOf(response);
    const facts = {
      time: began,
      ms: Math.max(0, now() - began),
      method: request.method,
      path: pathOf(request, caller ? LONGEST_PATH : LONGEST_OF_STRANGERS),
      status: response.writableFinished ? response.statusCode : 499,
      userId: caller?.userId,
      credential: caller?.credential,
      requestId: scopeOf(response).id,
    };
    if (caller) keeper.tell({ ...facts, ...bodies(request, response, facts) });
    else keeper.tell({ ...facts, requestBody: undefined, responseBody: undefined }, addressOf(response));
  };
  const begin: RequestHandler = (request, response, next) => {
    response.locals['began'] = now();
    // "close" comes once, after the answer or when the client went away before it.
    response.on('close', () => record(request, response));
    next();
  };
  app.use(begin);
}

/** Secrets are struck out first, so that a cut cannot hide their names. */
function pathOf({ originalUrl }: Request, longest: number): string {
  const path = withoutSecretParameters(originalUrl);
  return path.length > longest ? `${path.slice(0, longest - 1)}…` : path;
}

/** The bridge reads all day long: what it was answered, others can read, and it would be most of the log. */
function bodies(
  request: Request,
  { locals: { answer } }: Response,
  { method, status, credential }: Pick<LoggedRequest, 'method' | 'status' | 'credential'>,
): Pick<LoggedRequest, 'requestBody' | 'responseBody'> {
  const isKept = answer !== undefined && !(credential === BRIDGE && method === 'GET' && status === 200);
  return {
    requestBody: requestBody(request as Received),
    responseBody: isKept ? loggedBody(answer) : undefined,
  };
}

/** Notes the text of every answer. For all of them at once: a method of its own for each would slow each down. */
function keepAnswers({ response }: Express): void {
  const send = response.send;
  response.send = function (this: Response, body) {
    if (typeof body === 'string') this.locals['answer'] = body;
    return send.call(this, body);
  };
}
