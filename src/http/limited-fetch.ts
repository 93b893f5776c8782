import http, { type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { isTextNestedTooDeep, nestedTooDeepText } from '../schema/json-depth.ts';
import { guardedLookup, type Resolve } from './address-guard.ts';

/** Size limit of a response, in bytes. */
const MAX_BYTES = 1024 * 1024;

/**
 * Sends a request to another service and reads its whole response. Throws if both together take more than `timeoutMs`, or if the
 * response has more than 1 MB, or is JSON that is nested too deep.
 */
export async function fetchLimited(url: string, request: RequestInit, timeoutMs: number): Promise<Response> {
  const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) });
  const { status, headers } = answer;
  return new Response(await readLimited(url, answer.body ?? []), { status, headers });
}

/** Which addresses a request may be sent to. */
export interface AddressGuard {
  resolve: Resolve;
  /** If true, requests may be sent to private addresses. */
  allowPrivate: boolean;
}

/**
 * Sends a GET like `fetchLimited`, but throws `PrivateAddressError` before it connects to a private address. Redirects are not
 * followed. The request is Node's own, because `fetch` connects to whatever address it finds.
 */
export function getGuarded(
  url: string,
  headers: OutgoingHttpHeaders,
  { timeoutMs, resolve, allowPrivate }: AddressGuard & { timeoutMs: number },
): Promise<Response> {
  return new Promise((done, fail) => {
    const to = new URL(url);
    const lookup = guardedLookup(to, resolve, allowPrivate);
    const { get } = to.protocol === 'https:' ? https : http;
    const signal = AbortSignal.timeout(timeoutMs);
    const request = get(to, { headers, lookup, signal, agent: false }, (answer) => {
      const { statusCode: status = 0 } = answer;
      readLimited(url, answer).then((body) => done(new Response(body, { status })), fail);
    });
    request.on('error', fail);
  });
}

/** Reads a body; null if it is empty. Throws if it is too large, or is JSON that is nested too deep. */
async function readLimited(
  url: string,
  body: AsyncIterable<Uint8Array> | [],
): Promise<Buffer<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the rest of the response.
    if (bytes > MAX_BYTES) throw new Error(`${url} answers more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const whole = Buffer.concat(chunks);
  if (isTextNestedTooDeep(whole.toString())) throw new Error(`the answer of ${url} ${nestedTooDeepText()}`);
  return bytes > 0 ? whole : null;
}
