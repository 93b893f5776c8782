import type { Request, Response } from 'express';
import { type RequestScope, requestScopeOf } from '../http/log.ts';
import type { ExchangeRecorder } from '../provisioning/exchange-ports.ts';

/**
 * Returns the function that records a request and its response in the log of exchanges when the response has ended. The
 * bodies are those that `keepRequestBody` and `keepResponseBody` have seen.
 */
export function exchangeObserver(recorder: ExchangeRecorder): NonNullable<RequestScope['onEnd']> {
  const shareRequestHeaders = headerSharer();
  const shareResponseHeaders = headerSharer();
  return (request, response, { ms, status }) => {
    const { id, notes } = requestScopeOf(response);
    const { connection } = notes;
    const { method, originalUrl } = request;
    const isKept =
      status >= 400 ||
      isWrite(method, originalUrl) ||
      (connection !== undefined && recorder.keepsReadBodies(connection));
    const bodies: ExchangeBodies | undefined = isKept ? response.locals : undefined;
    // Spreading objects into this one would take several times as long.
    recorder.record({
      direction: 'scim',
      ms,
      connection,
      person: undefined,
      requestId: id,
      method,
      path: originalUrl,
      status,
      error: notes.reason,
      requestHeaders: shareRequestHeaders(pickRequestHeaders(request)),
      responseHeaders: shareResponseHeaders(pickResponseHeaders(response, originalUrl)),
      requestBody: bodies?.requestBody,
      responseBody: bodies?.responseBody,
    });
  };
}

/** The bodies of a request, in the `locals` of its response. */
interface ExchangeBodies {
  requestBody?: Uint8Array;
  responseBody?: string;
}

/** Keeps the bytes of a request body for the log of exchanges. */
export function keepRequestBody(response: Response, body: Uint8Array): void {
  response.locals['requestBody'] = body;
}

/** Keeps the text of a response for the log of exchanges: of a streamed one, the first piece. */
export function keepResponseBody({ locals }: Response, text: string): void {
  locals['responseBody'] ??= text;
}

/** A search is a read, although its method is POST (RFC 7644 §3.4.3). */
function isWrite(method: string, url: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && !/\/\.search\/?(?:$|\?)/i.test(url);
}

function pickRequestHeaders({ headers }: Request): Headers {
  const picked: Headers = {};
  const contentType = headers['content-type'];
  if (contentType !== undefined) picked['content-type'] = contentType;
  const userAgent = headers['user-agent'];
  if (userAgent !== undefined) picked['user-agent'] = userAgent;
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined) picked['if-match'] = ifMatch;
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined) picked['if-none-match'] = ifNoneMatch;
  return picked;
}

/**
 * Names are literals, because storing a member by a computed name takes several times as long. A `Location` that is the URL of the
 * request is left out: it says nothing, and differs in each response.
 */
function pickResponseHeaders(response: Response, url: string): Headers {
  const picked: Headers = {};
  const contentType = response.getHeader('content-type');
  if (typeof contentType === 'string') picked['content-type'] = contentType;
  const etag = response.getHeader('etag');
  if (typeof etag === 'string') picked['etag'] = etag;
  const location = response.getHeader('location');
  if (typeof location === 'string' && !location.endsWith(withoutQuery(url))) picked['location'] = location;
  const retryAfter = response.getHeader('retry-after');
  if (typeof retryAfter === 'string') picked['retry-after'] = retryAfter;
  const wwwAuthenticate = response.getHeader('www-authenticate');
  if (typeof wwwAuthenticate === 'string') picked['www-authenticate'] = wwwAuthenticate;
  return picked;
}

function withoutQuery(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

type Headers = Record<string, string>;

/** The number of different headers that are remembered: a few clients send a few kinds of requests. */
const REMEMBERED = 8;

/**
 * Returns a function that replaces headers by equal ones of an earlier exchange. V8 copies everything that waits to be written, and
 * most exchanges have the headers of another one.
 */
function headerSharer(): (headers: Headers) => Headers {
  const remembered: Headers[] = [];
  let next = 0;
  return (headers) => {
    for (const known of remembered) if (areEqual(known, headers)) return known;
    remembered[next] = headers;
    next = (next + 1) % REMEMBERED;
    return headers;
  };
}

function areEqual(some: Headers, others: Headers): boolean {
  let count = 0;
  for (const name in others) {
    if (some[name] !== others[name]) return false;
    count += 1;
  }
  for (const _name in some) count -= 1;
  return count === 0;
}
