import type { Express, Request, RequestHandler, Response } from 'express';
import { scopeOf } from '../http/scope.ts';
import { credentialOf } from './authentication.ts';
import { loggedBody, type Received, requestBody } from './request-log-body.ts';
import type { Keeper } from './request-log-keeper.ts';
import { withoutSecretParameters } from './request-log-secrets.ts';

/**
 * "Every API request is recorded in a request log that administrators can inspect" (specification, rule 2). Comes before
 * everything else, so that what is refused is recorded, too.
 */
export function recordRequests(app: Express, keeper: Keeper, now: () => number): void {
  keepAnswers(app);
  const record = (request: Request, response: Response) => {
    const { answer, began } = response.locals;
    const caller = credentialOf(response);
    keeper.tell({
      time: began,
      ms: Math.max(0, now() - began),
      method: request.method,
      path: withoutSecretParameters(request.originalUrl),
      status: response.writableFinished ? response.statusCode : 499,
      userId: caller?.userId,
      credential: caller?.credential,
      requestId: scopeOf(response).id,
      requestBody: requestBody(request as Received),
      responseBody: answer === undefined ? undefined : loggedBody(answer),
    });
  };
  const begin: RequestHandler = (request, response, next) => {
    response.locals['began'] = now();
    // "close" comes once, after the answer or when the client went away before it.
    response.on('close', () => record(request, response));
    next();
  };
  app.use(begin);
}

/** Notes the text of every answer. For all of them at once: a method of its own for each would slow each down. */
function keepAnswers({ response }: Express): void {
  const send = response.send;
  response.send = function (this: Response, body) {
    if (typeof body === 'string') this.locals['answer'] = body;
    return send.call(this, body);
  };
}
