import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { ErrorRequestHandler, Response } from 'express';
import SCIMMY from 'scimmy';
import { defaultHeaders } from '../http/app.ts';
import { requestScopeOf } from '../http/log.ts';
import { ProvisioningError } from '../provisioning/provisioning-error.ts';
import type { Log } from '../provisioning/runtime-ports.ts';
import { SchemaFault } from '../schema/resource.ts';
import { RETRY_AFTER_S, StoreUnavailable } from '../store/unavailable.ts';
import type { StreamedText } from './list-response.ts';

/** The error as the client is told; what is our own fault goes to the log, with its cause, and stays there. */
export function toLoggedScimError(error: unknown, log: Log): ScimError {
  const scimError = toScimError(error);
  // An error of SCIMMY's is one that came by here before.
  const isLogged = scimError === error || error instanceof SCIMMY.Types.Error;
  if (!isLogged && scimError.status >= 500) log.error({ err: error }, scimError.message);
  return scimError;
}

/** The last handler of the front door: every error becomes a SCIM error message (RFC 7644 §3.12). */
export const scimErrorHandler: ErrorRequestHandler = (error, _request, response, next) => {
  const scimError = toLoggedScimError(error, requestScopeOf(response).log);
  // What has begun cannot be answered otherwise any more; express then ends the connection.
  if (response.headersSent) next(error);
  else sendError(response, scimError);
};

function sendError(response: Response, error: ScimError): void {
  const { status, headers } = error;
  response.status(status).set(headers);
  // In seconds; without it Okta waits for five minutes.
  if (status === 503 && !response.hasHeader('Retry-After')) response.set('Retry-After', '1');
  sendScim(response, errorBody(error));
}

function toScimError(error: unknown): ScimError {
  if (error instanceof ScimError) return error;
  if (error instanceof SchemaFault) return fromSchema(error);
  if (error instanceof ProvisioningError) return fromProvisioning(error);
  if (error instanceof StoreUnavailable) return fromStore(error);
  // What a resource threw comes back from SCIMMYRouters as an error of SCIMMY's own, told to the log already.
  if (error instanceof SCIMMY.Types.Error) return fromScimmy(error);
  return fromExpress(error) ?? new ScimError(500, undefined, 'Something went wrong here.', { cause: error });
}

function fromSchema(fault: SchemaFault): ScimError {
  switch (fault.kind) {
    case 'value':
      return new ScimError(400, 'invalidValue', fault.message, { cause: fault });
    case 'schemas':
      return new ScimError(400, 'invalidSyntax', fault.message, { cause: fault });
  }
}

function fromProvisioning(error: ProvisioningError): ScimError {
  switch (error.kind) {
    case 'notFound':
      return new ScimError(404, undefined, error.message, { cause: error });
    case 'conflict':
      return new ScimError(409, 'uniqueness', error.message, { cause: error });
    case 'refused':
      return new ScimError(403, undefined, error.message, { cause: error });
    case 'tooMany':
      return new ScimError(400, 'tooMany', error.message, { cause: error });
    case 'noTarget':
      return new ScimError(400, 'noTarget', error.message, { cause: error });
    case 'abandoned':
      // Nobody reads it.
      return new ScimError(408, undefined, error.message, { cause: error });
    case 'unavailable':
      return new ScimError(503, undefined, error.message, { cause: error });
  }
}

function fromStore(cause: StoreUnavailable): ScimError {
  const headers = { 'Retry-After': String(RETRY_AFTER_S) };
  return new ScimError(503, undefined, 'Nothing can be stored at the moment; try again.', { headers, cause });
}

/** SCIMMY types the fields of its error too widely; they are those of the ScimError that it was made from. */
function fromScimmy({ status, scimType, message }: InstanceType<typeof SCIMMY.Types.Error>): ScimError {
  return new ScimError(Number(status), scimType as ScimType | undefined, message);
}

/** Faults that express and its body parser find before anything of ours runs; they carry a status. */
function fromExpress(error: unknown): ScimError | undefined {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  if (status === 413) return new ScimError(413, undefined, 'The body is larger than 1 MB.', { cause: error });
  if (status === 415) {
    return new ScimError(415, undefined, 'The encoding of the body is not supported.', { cause: error });
  }
  const isClients = status >= 400 && status < 500;
  return isClients
    ? new ScimError(400, 'invalidSyntax', 'The request cannot be read.', { cause: error })
    : undefined;
}

/** The detail error keywords of RFC 7644 §3.12, and those of cursors (RFC 9865 §2.1); ours never expire. */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'invalidCursor'
  | 'invalidCount';

const errorUrn = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** An answer that is an error (RFC 7644 §3.12). The message may be read by the client; the cause is for the log. */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;
  readonly headers: Record<string, string>;
  /** By this SCIMMYRouters knows it for a SCIM error, whatever its status, and passes it on instead of answering itself. */
  readonly schemas = [errorUrn];

  constructor(
    status: number,
    scimType: ScimType | undefined,
    detail: string,
    { headers = {}, ...options }: ErrorOptions & { headers?: Record<string, string> } = {},
  ) {
    super(detail, options);
    this.name = 'ScimError';
    this.status = status;
    this.scimType = scimType;
    this.headers = headers;
  }
}

/** The body that tells of an error (RFC 7644 §3.12). */
export function errorBody({
  status,
  scimType,
  message,
}: Pick<ScimError, 'status' | 'scimType' | 'message'>): string {
  return JSON.stringify({ schemas: [errorUrn], status: String(status), scimType, detail: message });
}

/** A 400 of that kind. */
export function badRequest(scimType: ScimType, detail: string): ScimError {
  return new ScimError(400, scimType, detail);
}

/** What is needed of a socket. */
interface ClientSocket {
  readonly writable: boolean;
  end(text: string): unknown;
  destroy(): unknown;
  setTimeout(ms: number, then: () => void): unknown;
}

/** How long a client may take to close its side, once it has its answer. */
const LINGER_MS = 1000;

/** What the parser of HTTP finds before there is a request, by its code. */
const parserFaults = new Map([
  ['HPE_HEADER_OVERFLOW', new ScimError(431, undefined, 'The headers of the request are too large.')],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', new ScimError(413, undefined, 'The chunks of the body are too large.')],
  ['ERR_HTTP_REQUEST_TIMEOUT', new ScimError(408, undefined, 'The request took too long to come.')],
]);

const unreadableRequest = badRequest('invalidSyntax', 'The request cannot be read.');

/**
 * Answers what cannot be read as HTTP, as SCIM clients show only JSON to their admins (RFC 7644 §3.12), and ends the
 * connection: where the next request begins nobody knows.
 */
export function answerUnreadableRequest(
  now: () => Date,
): (error: NodeJS.ErrnoException, socket: ClientSocket) => void {
  return ({ code = '' }, socket) => {
    // Gone already, or answered and still sending.
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.end(responseText(parserFaults.get(code) ?? unreadableRequest, now()));
    socket.setTimeout(LINGER_MS, () => socket.destroy());
  };
}

/** Answers a pipelined request that is one too many on its socket, and closes the socket after that; to be mounted in an `httpApp`. */
export function refusePipelinedRequest(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const body = errorBody(
    new ScimError(503, undefined, 'Too many requests wait on this connection; send the rest on another one.'),
  );
  const headers = { 'Content-Type': MEDIA_TYPE, 'Retry-After': '1', Connection: 'close' };
  response.writeHead(503, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** Answers an Expect that is none of HTTP's (RFC 9110 §10.1.1); to be mounted in an `httpApp`. */
export function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  // What the client still sends has no meaning, but must be read off.
  request.resume();
  const body = errorBody(
    new ScimError(417, undefined, 'The only expectation that can be met is 100-continue.'),
  );
  const headers = {
    'Content-Type': MEDIA_TYPE,
    'Content-Length': Buffer.byteLength(body),
  };
  response.writeHead(417, headers).end(body);
}

function responseText(error: ScimError, date: Date): string {
  const body = errorBody(error);
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    ...Object.entries(defaultHeaders).map(([name, value]) => `${name}: ${value}`),
    `Content-Type: ${MEDIA_TYPE}`,
    `Date: ${date.toUTCString()}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** The media type of every answer; it has no parameters (RFC 7644 §8.1). */
export const MEDIA_TYPE = 'application/scim+json';

/** Sends JSON text as a SCIM answer; undefined for an answer without a body. */
export function sendScim(response: Response, json: string | undefined): void {
  if (json === undefined) {
    response.end();
    return;
  }
  response.setHeader('Content-Type', MEDIA_TYPE);
  if (response.req.method === 'HEAD') {
    response.setHeader('Content-Length', Buffer.byteLength(json));
    response.end();
  } else response.end(json);
}

/** Sends JSON text as a SCIM answer, a long one in pieces, as fast as the client takes them. */
export function sendJsonText(response: Response, json: string | StreamedText | undefined): void {
  if (typeof json !== 'object') sendScim(response, json);
  else void sendLong(response, json);
}

/**
 * Makes whoever sends by `response.send` send SCIM: SCIMMYRouters do. Express itself would give the text a charset, and
 * look for a type, an ETag and a length that are known.
 */
export function sendAsScim(response: Response): void {
  response.send = (json?: string | StreamedText) => {
    sendJsonText(response, json);
    return response;
  };
}

/** How much is written at once, in characters. */
const CHUNK_LENGTH = 65_536;

/** The length is not known before the end, so the answer is chunked, and HEAD is answered without a length. */
async function sendLong(response: Response, { pieces, release }: StreamedText): Promise<void> {
  response.setHeader('Content-Type', MEDIA_TYPE);
  try {
    if (response.req.method === 'HEAD') await pieces.return(undefined);
    else await writeAll(response, pieces, release);
    response.end();
  } catch (error) {
    // The status is sent, so a closed connection is the only way to tell the client (RFC 9112 §8).
    requestScopeOf(response).notes.cut = 'fault';
    requestScopeOf(response).log.error({ err: error }, 'an answer broke off');
    response.destroy();
  }
}

async function writeAll(
  response: Response,
  pieces: AsyncIterable<string>,
  release: () => void,
): Promise<void> {
  let text = '';
  for await (const piece of pieces) {
    // The client went away.
    if (response.destroyed) return;
    text += piece;
    if (text.length < CHUNK_LENGTH) continue;
    const chunk = text;
    text = '';
    response.write(chunk);
    // The system takes most chunks at once; only behind one that it does not is there anything to wait for.
    await setImmediate();
    if (!response.writableNeedDrain) continue;
    release();
    await waitForDrain(response);
    if (response.destroyed) return;
  }
  response.write(text);
}

/** Resolves when the client has taken what was written, or is gone. */
function waitForDrain(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
