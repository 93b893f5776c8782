import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, Response } from 'express';
import { defaultHeaders } from '../../http/app.ts';
import { requestScopeOf } from '../../http/log.ts';
import { ProvisioningError } from '../../model/provisioning-error.ts';
import { RETRY_AFTER_S, StoreUnavailable } from '../../model/unavailable.ts';
import { SchemaFault } from '../../schema/resource.ts';
import { MEDIA_TYPE, sendScim } from './responses.ts';

/**
 * The error handler behind all SCIM routes: every error becomes a SCIM error message (RFC 7644 §3.12). The cause of a server
 * error is logged and never sent.
 */
export const scimErrorHandler: ErrorRequestHandler = (error, _request, response, next) => {
  const scimError = toScimError(error);
  if (scimError !== error && scimError.status >= 500)
    requestScopeOf(response).log.error({ err: error }, scimError.message);
  // The status has been sent already. Express closes the connection, which tells the client that the response is
  // incomplete.
  if (response.headersSent) next(error);
  else sendError(response, scimError);
};

function sendError(response: Response, error: ScimError): void {
  const { status, headers } = error;
  response.status(status).set(headers);
  // In seconds. Okta waits for five minutes without the header.
  if (status === 503 && !response.hasHeader('Retry-After')) response.set('Retry-After', '1');
  sendScim(response, errorBody(error));
}

function toScimError(error: unknown): ScimError {
  if (error instanceof ScimError) return error;
  if (error instanceof SchemaFault) {
    const scimType = error.kind === 'value' ? 'invalidValue' : 'invalidSyntax';
    return new ScimError(400, scimType, error.message, { cause: error });
  }
  if (error instanceof ProvisioningError) return fromProvisioning(error);
  if (error instanceof StoreUnavailable) return fromStore(error);
  return fromExpress(error) ?? new ScimError(500, undefined, 'Something went wrong here.', { cause: error });
}

/** The status and keyword of each kind of error of provisioning. */
const provisioningErrors: Record<ProvisioningError['kind'], [status: number, scimType?: ScimType]> = {
  notFound: [404],
  conflict: [409, 'uniqueness'],
  refused: [403],
  tooMany: [400, 'tooMany'],
  noTarget: [400, 'noTarget'],
  // The client has closed the connection, so this status is not received.
  abandoned: [408],
  unavailable: [503],
};

function fromProvisioning(error: ProvisioningError): ScimError {
  const [status, scimType] = provisioningErrors[error.kind];
  return new ScimError(status, scimType, error.message, { cause: error });
}

function fromStore(cause: StoreUnavailable): ScimError {
  const headers = { 'Retry-After': String(RETRY_AFTER_S) };
  return new ScimError(503, undefined, 'Nothing can be stored at the moment; try again.', { headers, cause });
}

/** Converts an error of express or of its body parser, which has a status. Returns undefined for other errors. */
function fromExpress(error: unknown): ScimError | undefined {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  if (status === 413) return new ScimError(413, undefined, 'The body is larger than 1 MB.', { cause: error });
  if (status === 415) {
    return new ScimError(415, undefined, 'The encoding of the body is not supported.', { cause: error });
  }
  const isClientError = status >= 400 && status < 500;
  return isClientError
    ? new ScimError(400, 'invalidSyntax', 'The request cannot be read.', { cause: error })
    : undefined;
}

/**
 * The detail error keywords of RFC 7644 §3.12 and RFC 9865 §2.1. `expiredCursor` is missing, because cursors never
 * expire.
 */
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

/** An error response (RFC 7644 §3.12). The client receives the message, and the log the cause. */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;
  readonly headers: Record<string, string>;

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

/** The JSON text of an error message (RFC 7644 §3.12). */
export function errorBody({
  status,
  scimType,
  message,
}: Pick<ScimError, 'status' | 'scimType' | 'message'>): string {
  return JSON.stringify({ schemas: [errorUrn], status: String(status), scimType, detail: message });
}

/** Makes a 400 error with a detail error keyword. */
export function badRequest(scimType: ScimType, detail: string): ScimError {
  return new ScimError(400, scimType, detail);
}

/** The members of a socket that are needed to respond. */
interface ClientSocket {
  readonly writable: boolean;
  end(text: string): unknown;
  destroy(): unknown;
  setTimeout(ms: number, callback: () => void): unknown;
}

/** The time that a client has to close its side of the connection after the response, in milliseconds. */
const LINGER_MS = 1000;

/** The errors of Node's HTTP parser with a status of their own, by error code. */
const parserFaults = new Map([
  ['HPE_HEADER_OVERFLOW', new ScimError(431, undefined, 'The headers of the request are too large.')],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', new ScimError(413, undefined, 'The chunks of the body are too large.')],
  ['ERR_HTTP_REQUEST_TIMEOUT', new ScimError(408, undefined, 'The request took too long to come.')],
]);

const unreadableRequest = badRequest('invalidSyntax', 'The request cannot be read.');

/**
 * Answers a request that cannot be parsed as HTTP with a SCIM error, because identity providers show only JSON errors
 * to their admins (RFC 7644 §3.12). Then it closes the connection, because the start of the next request is unknown.
 */
export function answerUnreadableRequest(
  now: () => Date,
): (error: NodeJS.ErrnoException, socket: ClientSocket) => void {
  return ({ code = '' }, socket) => {
    // The client has disconnected, or the socket already has a response.
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.end(responseText(parserFaults.get(code) ?? unreadableRequest, now()));
    socket.setTimeout(LINGER_MS, () => socket.destroy());
  };
}

/** Answers 503 to a pipelined request beyond the limit of its socket, and closes the socket. */
export function refusePipelinedRequest(request: IncomingMessage, response: ServerResponse): void {
  const detail = 'Too many requests wait on this connection; send the rest on another one.';
  sendPlainError(request, response, new ScimError(503, undefined, detail), {
    'Retry-After': '1',
    Connection: 'close',
  });
}

/** Answers 417 to an unknown `Expect` header (RFC 9110 §10.1.1). */
export function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  const detail = 'The only expectation that can be met is 100-continue.';
  sendPlainError(request, response, new ScimError(417, undefined, detail));
}

function sendPlainError(
  request: IncomingMessage,
  response: ServerResponse,
  error: ScimError,
  headers: Record<string, string> = {},
): void {
  // The body is ignored, but must be read so that the next request on the connection can be parsed.
  request.resume();
  const body = errorBody(error);
  const common = { 'Content-Type': MEDIA_TYPE, 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(error.status, { ...common, ...headers }).end(body);
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
