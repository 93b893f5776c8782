import type { Response } from 'express';
import { clientAddressOf } from '../../http/authentication.ts';
import { type RequestScope, requestScopeOf } from '../../http/log.ts';
import { type ExchangeRecorder, pickHeaders } from '../../model/exchange.ts';

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
    recorder.record({
      ...{ direction: 'scim', ms, connection, person: undefined, requestId: id, method, path: originalUrl },
      ...{ status, error: notes.reason, address: clientAddressOf(response) },
      requestHeaders: pickHeaders(request.headers, requestHeaders),
      responseHeaders: pickResponseHeaders(response, originalUrl),
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

const requestHeaders = ['content-type', 'user-agent', 'if-match', 'if-none-match'];
const responseHeaders = ['content-type', 'etag', 'location', 'retry-after', 'www-authenticate'];

/** A `Location` that is the URL of the request is left out: it says nothing. */
function pickResponseHeaders(response: Response, url: string): Record<string, string> {
  const { location, ...others } = pickHeaders(response.getHeaders(), responseHeaders);
  const [path = ''] = url.split('?', 1);
  return location === undefined || location.endsWith(path) ? others : { ...others, location };
}
