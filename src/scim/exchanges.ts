import type { Request, Response } from 'express';
import { type RequestScope, requestScopeOf } from '../http/log.ts';
import type { ExchangeRecorder } from '../provisioning/exchange-ports.ts';

/**
 * Returns the function that records a request and its response in the log of exchanges when the response has ended. The
 * bodies are those that `keepRequestBody` and `keepResponseBody` have seen.
 */
export function exchangeObserver(recorder: ExchangeRecorder): NonNullable<RequestScope['onEnd']> {
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
      requestHeaders: pickRequestHeaders(request),
      responseHeaders: pickResponseHeaders(response),
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

function pickRequestHeaders({ headers }: Request): Record<string, string> {
  const picked: Record<string, string> = {};
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

const loggedResponseHeaders = ['content-type', 'etag', 'location', 'retry-after', 'www-authenticate'];

function pickResponseHeaders(response: Response): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of loggedResponseHeaders) {
    const value = response.getHeader(name);
    if (typeof value === 'string') picked[name] = value;
  }
  return picked;
}
