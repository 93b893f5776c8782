import type { Response } from 'express';
import { streamResponse } from '../../http/streamed-response.ts';
import { keepResponseBody } from './exchanges.ts';

/** JSON text: a string, or pieces of text that are produced while the client reads, because the whole is too long for memory. */
export type JsonText = string | AsyncIterable<string>;

/** The media type of every response, without parameters (RFC 7644 §8.1). */
export const MEDIA_TYPE = 'application/scim+json';

/** Sends JSON text as a SCIM response, in pieces as fast as the client reads them; undefined sends a response without a body. */
export function sendScim(response: Response, json: JsonText | undefined): void {
  if (json === undefined) {
    response.end();
    return;
  }
  response.setHeader('Content-Type', MEDIA_TYPE);
  const isHead = response.req.method === 'HEAD';
  if (typeof json === 'string') {
    if (isHead) response.setHeader('Content-Length', Buffer.byteLength(json));
    else keepResponseBody(response, json);
  }
  // The length of a long text is not known in advance, so there is no Content-Length, not even in the response to a HEAD.
  if (isHead) response.end();
  else if (typeof json === 'string') response.end(json);
  else void streamResponse(response, inChunks(response, json));
}

/** The length of a chunk, in characters. */
const CHUNK_LENGTH = 65_536;

async function* inChunks(response: Response, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK_LENGTH) continue;
    keepResponseBody(response, text);
    yield text;
    text = '';
  }
  yield text;
}
