import type { IncomingMessage } from 'node:http';
import type { Express, Request, RequestHandler, Response } from 'express';
import { clientAddressOf } from '../http/authentication.ts';
import { requestScopeOf } from '../http/log.ts';
import { redactBody, redactQuery } from '../http/redaction.ts';
import { BRIDGE_CREDENTIAL, callerCredential } from './authentication.ts';
import type { LoggedBody, LoggedRequest } from './ports.ts';
import type { RequestLogWriter } from './request-log-writer.ts';

/**
 * Maximum length of recorded paths, in characters. It is short for unauthenticated requests, so that they cannot fill
 * the log.
 */
const MAX_PATH = 2_048;
const MAX_PATH_UNAUTHENTICATED = 200;

/**
 * "Every API request is recorded in a request log that administrators can inspect" (specification, rule 2). Must be the
 * first middleware, so that refused requests are recorded too.
 */
export function recordRequests(app: Express, requestLogWriter: RequestLogWriter, now: () => number): void {
  captureResponseBodies(app);
  const record = (request: Request, response: Response) => {
    const { began } = response.locals;
    const caller = callerCredential(response);
    const facts = {
      time: began,
      ms: Math.max(0, now() - began),
      method: request.method,
      path: pathOf(request, caller ? MAX_PATH : MAX_PATH_UNAUTHENTICATED),
      status: response.writableFinished ? response.statusCode : 499,
      userId: caller?.userId,
      credential: caller?.credential,
      requestId: requestScopeOf(response).id,
    };
    if (caller && isPolling(request, facts)) return;
    if (caller) requestLogWriter.write({ ...facts, ...bodies(request, response, facts) });
    else
      requestLogWriter.write(
        { ...facts, requestBody: undefined, responseBody: undefined },
        clientAddressOf(response),
      );
  };
  const begin: RequestHandler = (request, response, next) => {
    response.locals['began'] = now();
    // "close" fires once: after the response, or when the client disconnects before.
    response.on('close', () => record(request, response));
    next();
  };
  app.use(begin);
}

/**
 * True for the pages of events, travelers and lookups that the bridge reads again and again, if it got them: they would be
 * most of the log. A search for a person is no polling.
 */
function isPolling(
  { method, query }: Request,
  { status, credential }: Pick<LoggedRequest, 'status' | 'credential'>,
): boolean {
  const isPage = query['limit'] !== undefined && query['emails'] === undefined;
  return credential === BRIDGE_CREDENTIAL && method === 'GET' && status === 200 && isPage;
}

/** Redacts before truncating, because a secret cannot be recognized in a truncated text. */
function pathOf({ originalUrl }: Request, longest: number): string {
  const path = redactQuery(originalUrl);
  return path.length > longest ? `${path.slice(0, longest - 1)}…` : path;
}

/** Responses to the bridge's own reads are left out: they would be most of the log, and the data can be read from the API. */
function bodies(
  request: Request,
  { locals: { answer } }: Response,
  { method, status, credential }: Pick<LoggedRequest, 'method' | 'status' | 'credential'>,
): Pick<LoggedRequest, 'requestBody' | 'responseBody'> {
  const isKept =
    answer !== undefined && !(credential === BRIDGE_CREDENTIAL && method === 'GET' && status === 200);
  return {
    requestBody: loggedRequestBody(request as RequestWithBody),
    responseBody: isKept ? toLoggedBody(answer) : undefined,
  };
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
export function loggedRequestBody({ received }: RequestWithBody): LoggedBody | undefined {
  if (!received || received.bytes.length === 0) return undefined;
  const { bytes, encoding } = received;
  if (encoding === 'utf-8') return toLoggedBody(bytes.toString('utf8'));
  // Leave the body out, because secrets cannot be found in other encodings.
  return { text: `(left out: ${bytes.length} bytes of ${encoding})`, cut: false };
}

/** Maximum size of a recorded body, in bytes. */
const MAX_BODY_BYTES = 16_384;

/** Returns a body without secrets, truncated if it is long. */
function toLoggedBody(text: string): LoggedBody {
  return redactBody(text, MAX_BODY_BYTES);
}
