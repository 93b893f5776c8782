import type { Request, RequestHandler } from 'express';
import { scopeOf } from '../http/scope.ts';
import { credentialOf } from './authentication.ts';
import { loggedBody, type Received, requestBody } from './request-log-body.ts';
import type { Keeper } from './request-log-keeper.ts';
import { withoutSecretParameters } from './request-log-secrets.ts';

/**
 * "Every API request is recorded in a request log that administrators can inspect" (specification, rule 2). Stands before everything else, so that what is refused is recorded, too.
 */
export function recordRequests(keeper: Keeper, now: () => number): RequestHandler {
  return (request: Request & Received, response, next) => {
    const time = now();
    let answer: string | undefined;
    const send = response.send;
    response.send = (body) => {
      if (typeof body === 'string') answer = body;
      return send.call(response, body);
    };
    // "close" comes once, after the answer or when the client went away before it.
    response.once('close', () => {
      const admitted = credentialOf(response);
      keeper.tell({
        time,
        ms: Math.max(0, now() - time),
        method: request.method,
        path: withoutSecretParameters(request.originalUrl),
        status: response.writableFinished ? response.statusCode : 499,
        userId: admitted?.userId,
        credential: admitted?.credential,
        requestId: scopeOf(response).id,
        requestBody: requestBody(request),
        responseBody: answer === undefined ? undefined : loggedBody(answer),
      });
    });
    next();
  };
}
