import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { defaultHeaders } from '../http/response-headers.ts';
import { badRequest, errorBody, ScimError } from './scim-error.ts';
import { MEDIA_TYPE } from './send.ts';

/** What is needed of a socket. */
interface Line {
  readonly writable: boolean;
  end(text: string): unknown;
  destroy(): unknown;
  setTimeout(ms: number, then: () => void): unknown;
}

/** How long a client may take to close its side, once it has its answer. */
const LINGER_MS = 1000;

/** What the parser of HTTP finds before there is a request, by its code. */
const faults = new Map([
  ['HPE_HEADER_OVERFLOW', new ScimError(431, undefined, 'The headers of the request are too large.')],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', new ScimError(413, undefined, 'The chunks of the body are too large.')],
  ['ERR_HTTP_REQUEST_TIMEOUT', new ScimError(408, undefined, 'The request took too long to come.')],
]);

const unreadable = badRequest('invalidSyntax', 'The request cannot be read.');

/**
 * Answers what cannot be read as HTTP, as SCIM clients show only JSON to their admins (RFC 7644 §3.12), and ends the
 * connection: where the next request begins nobody knows.
 */
export function answerClientFault(now: () => Date): (error: NodeJS.ErrnoException, socket: Line) => void {
  return ({ code = '' }, socket) => {
    // Gone already, or answered and still sending.
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.end(answerTo(faults.get(code) ?? unreadable, now()));
    socket.setTimeout(LINGER_MS, () => socket.destroy());
  };
}

/** Answers a pipelined request that is one too many on its socket, and closes the socket after that; to be mounted in an `httpApp`. */
export function answerOverflow(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const body = errorBody(
    new ScimError(503, undefined, 'Too many requests wait on this connection; send the rest on another one.'),
  );
  const headers = { 'Content-Type': MEDIA_TYPE, 'Retry-After': '1', Connection: 'close' };
  response.writeHead(503, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** Answers an Expect that is none of HTTP's (RFC 9110 §10.1.1); to be mounted in an `httpApp`. */
export function answerExpectation(request: IncomingMessage, response: ServerResponse): void {
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

function answerTo(error: ScimError, date: Date): string {
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
