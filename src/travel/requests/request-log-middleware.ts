import type { IncomingMessage } from 'node:http';
import type { Express, Request, Response } from 'express';
import { clientAddressOf } from '../../http/authentication.ts';
import { type RequestScope, requestScopeOf } from '../../http/log.ts';
import { ADMIN_CREDENTIAL, BRIDGE_CREDENTIAL, type ExchangeRecorder } from '../../model/exchange.ts';
import { callerCredential } from '../authentication/authentication.ts';

/**
 * "Every API request is recorded in a request log that administrators can inspect" (specification, rule 2). Must be the
 * first middleware, so that refused requests are recorded too.
 */
export function recordRequests(app: Express, recorder: ExchangeRecorder): void {
  captureResponseBodies(app);
  const record: RequestScope['onEnd'] = (request, response, { ms, status }) => {
    const caller = callerCredential(response);
    const { method, originalUrl: path } = request;
    if (caller && status === 200 && isOwnRead(caller.credential, request)) return;
    const isKept = caller !== undefined && (status >= 400 || (method !== 'GET' && method !== 'HEAD'));
    recorder.record({
      ...{ direction: 'api', ms, connection: undefined, person: undefined },
      ...{ userId: caller?.userId, credential: caller?.credential },
      ...{ requestId: requestScopeOf(response).id, method, path, status, error: undefined },
      ...{ requestHeaders: {}, responseHeaders: {}, address: clientAddressOf(response) },
      requestBody: isKept ? loggedRequestBody(request) : undefined,
      responseBody: isKept ? response.locals['answer'] : undefined,
    });
  };
  app.use((_request, response, next) => {
    requestScopeOf(response).onEnd = record;
    next();
  });
}

/**
 * True for what the admin page reads, and for the pages of events, travelers and lookups that the bridge reads again and again: they would
 * be most of the log. A search for a person is no polling.
 */
function isOwnRead(credential: string, { method, query }: Request): boolean {
  if (method !== 'GET') return false;
  if (credential.startsWith(ADMIN_CREDENTIAL)) return true;
  return credential === BRIDGE_CREDENTIAL && query['limit'] !== undefined && query['emails'] === undefined;
}

/**
 * Keeps the text of each response for the log. The prototype is patched once, because a method on each response slows
 * every request down.
 */
function captureResponseBodies({ response }: Express): void {
  const send = response.send;
  response.send = function (this: Response, body) {
    if (typeof body === 'string') this.locals['answer'] = body;
    return send.call(this, body);
  };
}

/** A request with the raw bytes of its body once the body is read, even if it is not JSON. */
export interface RequestWithBody extends IncomingMessage {
  received?: { bytes: Buffer; encoding: string };
}

/** Returns the request body for the log; undefined if there was none or it was not read. */
function loggedRequestBody({ received }: RequestWithBody): Uint8Array | string | undefined {
  if (!received || received.encoding === 'utf-8') return received?.bytes;
  const { bytes, encoding } = received;
  // Leave the body out, because secrets cannot be found in other encodings.
  return bytes.length === 0 ? undefined : `(left out: ${bytes.length} bytes of ${encoding})`;
}
