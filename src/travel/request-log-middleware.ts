import type { IncomingMessage } from 'node:http';
import type { Express, Request, RequestHandler, Response } from 'express';
import { clientAddressOf } from '../http/authentication.ts';
import { requestScopeOf } from '../http/log.ts';
import { BRIDGE_CREDENTIAL, callerCredential } from './authentication.ts';
import type { LoggedBody, LoggedRequest } from './ports.ts';
import type { RequestLogWriter } from './request-log-writer.ts';

/** The longest paths that are kept, in characters; without a credential nobody may write much. */
const MAX_PATH = 2_048;
const MAX_PATH_UNAUTHENTICATED = 200;

/**
 * "Every API request is recorded in a request log that administrators can inspect" (specification, rule 2). Comes before
 * everything else, so that what is refused is recorded, too.
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
    // "close" comes once, after the answer or when the client went away before it.
    response.on('close', () => record(request, response));
    next();
  };
  app.use(begin);
}

/** Secrets are struck out first, so that a cut cannot hide their names. */
function pathOf({ originalUrl }: Request, longest: number): string {
  const path = redactQuery(originalUrl);
  return path.length > longest ? `${path.slice(0, longest - 1)}…` : path;
}

/** The bridge reads all day long: what it was answered, others can read, and it would be most of the log. */
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

/** Notes the text of every answer. For all of them at once: a method of its own for each would slow each down. */
function captureResponseBodies({ response }: Express): void {
  const send = response.send;
  response.send = function (this: Response, body) {
    if (typeof body === 'string') this.locals['answer'] = body;
    return send.call(this, body);
  };
}

/** The longest body that is kept, in bytes. */
const MAX_BODY_BYTES = 16_384;

/** A request and, once its body was read, the bytes as they came: also those that turned out to be no JSON. */
export interface RequestWithBody extends IncomingMessage {
  received?: { bytes: Buffer; encoding: string };
}

/** What the log keeps of a request's body; undefined when there was none, or when nobody read it. */
export function loggedRequestBody({ received }: RequestWithBody): LoggedBody | undefined {
  if (!received || received.bytes.length === 0) return undefined;
  const { bytes, encoding } = received;
  if (encoding === 'utf-8') return toLoggedBody(bytes.toString('utf8'));
  // Names could not be recognised in it.
  return { text: `(left out: ${bytes.length} bytes of ${encoding})`, cut: false };
}

/** A text as the log keeps it: secrets struck out first, so that a cut cannot hide their names. */
export function toLoggedBody(text: string): LoggedBody {
  const safe = redactSecrets(text);
  const struck = safe.includes('\0') ? safe.replaceAll('\0', '\uFFFD') : safe;
  // No character takes more than three bytes for each unit of its length.
  if (struck.length * 3 <= MAX_BODY_BYTES) return { text: struck, cut: false };
  const kept = Buffer.alloc(MAX_BODY_BYTES);
  const { read, written } = new TextEncoder().encodeInto(struck, kept);
  if (read === struck.length) return { text: struck, cut: false };
  return { text: kept.toString('utf8', 0, written), cut: true };
}

/** What no log may show, by its name; a part of the name is enough, e.g. `apiKey`. */
const SECRET_NAME = /secret|password|token|key|authorization/i;
/** A text in which such a name may stand; an escape may spell any letter of it. */
const MAY_HOLD_SECRET = /secret|password|token|key|authorization|\\u/i;
/** A URL in a text, and what begins its query or fragment: there many receivers of webhooks want their secret. */
const URL_START = /https?:/i;
const QUERY_START = /[?#]/;
/** A text that tells a secret by its name, such as JSON inside of a string. Bounded, so that the search stays linear. */
const NAMED_SECRET = /(?:secret|password|token|key|authorization)\w{0,30}["'\\\s]{0,9}[:=]/i;

const REDACTED = '*';
const LEFT_OUT = '(left out: it cannot be read as JSON, and may hold a secret)';

/** JSON text without the values of what is secret by its name, at whatever depth. Most texts hold none and stay as they are. */
export function redactSecrets(text: string): string {
  if (!MAY_HOLD_SECRET.test(text) && !mayHoldQuery(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), redactMember);
  } catch {
    // Broken, or nested too deeply to be printed.
    return LEFT_OUT;
  }
}

/** A path and query without the values of secret parameters. */
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

/** Also what stands in a field `url` and is no URL: it is refused, and recorded all the same. */
function mayHoldQuery(text: string): boolean {
  return QUERY_START.test(text) && (URL_START.test(text) || text.includes('"url"'));
}

/** A text without what follows the path of a URL in it, whatever it is: where the URL ends cannot be told for sure. */
function redactUrlQuery(name: string, text: string): string {
  const begin = name === 'url' ? 0 : text.search(URL_START);
  const query = begin < 0 ? -1 : text.slice(begin).search(QUERY_START);
  return query < 0 ? text : `${text.slice(0, begin + query + 1)}${REDACTED}`;
}

/** A fault names the field and repeats what was received (specification, "Error body"). */
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
