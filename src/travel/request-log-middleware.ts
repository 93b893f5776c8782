import type { IncomingMessage } from 'node:http';
import type { Express, Request, RequestHandler, Response } from 'express';
import { clientAddressOf } from '../http/authentication.ts';
import { requestScopeOf } from '../http/log.ts';
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

/** Maximum size of a recorded body, in bytes. */
const MAX_BODY_BYTES = 16_384;

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

/**
 * Redacts and truncates a body for the log, in this order, because a secret cannot be recognized in a truncated text.
 */
export function toLoggedBody(text: string): LoggedBody {
  const safe = redactSecrets(text);
  const struck = safe.includes('\0') ? safe.replaceAll('\0', '\uFFFD') : safe;
  // Texts up to this length need not be measured, because a UTF-16 unit takes at most three bytes in UTF-8.
  if (struck.length * 3 <= MAX_BODY_BYTES) return { text: struck, cut: false };
  const kept = Buffer.alloc(MAX_BODY_BYTES);
  const { read, written } = new TextEncoder().encodeInto(struck, kept);
  if (read === struck.length) return { text: struck, cut: false };
  return { text: kept.toString('utf8', 0, written), cut: true };
}

/** The names of secret members. The word can be a part of the name, as in `apiKey`. */
const SECRET_NAME = /secret|password|token|key|authorization/i;
/** A quick test whether a text may contain such a name. `\u` may be the escape sequence of any letter in it. */
const MAY_HOLD_SECRET = /secret|password|token|key|authorization|\\u/i;
/**
 * The start of a URL in a text, and the start of its query or fragment, which often contains the secret of a webhook
 * receiver.
 */
const URL_START = /https?:/i;
const QUERY_START = /[?#]/;
/** A named secret inside a text, e.g. JSON within a string. Quantifiers are bounded to keep the search linear. */
const NAMED_SECRET = /(?:secret|password|token|key|authorization)\w{0,30}["'\\\s]{0,9}[:=]/i;

const REDACTED = '*';
const LEFT_OUT = '(left out: it cannot be read as JSON, and may hold a secret)';

/** Redacts the secret members of a JSON text at any depth. Most texts have none and are returned unchanged. */
export function redactSecrets(text: string): string {
  if (!MAY_HOLD_SECRET.test(text) && !mayHoldQuery(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), redactMember);
  } catch {
    // The JSON is malformed, or too deep to be serialized again.
    return LEFT_OUT;
  }
}

/** Redacts secret parameters in a path with a query. */
export function redactQuery(url: string): string {
  const at = url.indexOf('?');
  if (at < 0) return url;
  const parameters = url.slice(at + 1).split('&');
  return `${url.slice(0, at)}?${parameters.map(redactParameter).join('&')}`;
}

function redactMember(name: string, value: unknown): unknown {
  if (value === null) return value;
  if (SECRET_NAME.test(name)) return REDACTED;
  if (typeof value === 'string') return NAMED_SECRET.test(value) ? REDACTED : redactUrlQuery(name, value);
  if (!isFault(value)) return value;
  if (SECRET_NAME.test(value.field)) return { ...value, value: REDACTED };
  return typeof value.value === 'string'
    ? { ...value, value: redactUrlQuery(value.field, value.value) }
    : value;
}

/** A field named `url` counts even if its value is no URL: a refused value is recorded too. */
function mayHoldQuery(text: string): boolean {
  return QUERY_START.test(text) && (URL_START.test(text) || text.includes('"url"'));
}

/** Redacts everything after the path of the first URL in a text, because the end of the URL cannot be determined. */
function redactUrlQuery(name: string, text: string): string {
  const begin = name === 'url' ? 0 : text.search(URL_START);
  const query = begin < 0 ? -1 : text.slice(begin).search(QUERY_START);
  return query < 0 ? text : `${text.slice(0, begin + query + 1)}${REDACTED}`;
}

/** A fault in an error body contains the field's name and the received value (specification, "Error body"). */
function isFault(value: unknown): value is { field: string; value: unknown } {
  if (typeof value !== 'object' || value === null || !('field' in value) || !('value' in value)) return false;
  return typeof value.field === 'string';
}

function redactParameter(parameter: string): string {
  const at = parameter.indexOf('=');
  if (at < 0) return parameter;
  const [name, whole] = [decodeOrKeep(parameter.slice(0, at)), decodeOrKeep(parameter)];
  if (!SECRET_NAME.test(name) && !NAMED_SECRET.test(whole) && !mayHoldQuery(whole)) return parameter;
  return `${parameter.slice(0, at)}=${REDACTED}`;
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
