import { setImmediate } from 'node:timers/promises';
import type { Response } from 'express';
import { requestScopeOf } from '../http/log.ts';
import { keepResponseBody } from './exchanges.ts';

/** JSON text: a string, or pieces of text that are produced while the client reads. */
export type JsonText = string | AsyncIterable<string>;

/** JSON text that is too long to be held in memory. */
export interface StreamedText {
  pieces: AsyncGenerator<string>;
  /** Frees the memory that is held for the remaining pieces. */
  release(): void;
}

/** The media type of every response, without parameters (RFC 7644 §8.1). */
export const MEDIA_TYPE = 'application/scim+json';

/** Sends JSON text as a SCIM response; undefined sends a response without a body. */
export function sendScim(response: Response, json: string | undefined): void {
  if (json === undefined) {
    response.end();
    return;
  }
  response.setHeader('Content-Type', MEDIA_TYPE);
  if (response.req.method === 'HEAD') {
    response.setHeader('Content-Length', Buffer.byteLength(json));
    response.end();
    return;
  }
  keepResponseBody(response, json);
  response.end(json);
}

/** Sends JSON text as a SCIM response. Streamed text is sent in pieces, as fast as the client reads them. */
export function sendJsonText(response: Response, json: string | StreamedText | undefined): void {
  if (typeof json !== 'object') sendScim(response, json);
  else void sendLong(response, json);
}

/**
 * Replaces `response.send`, which SCIMMYRouters calls, to send SCIM. The `send` of express would add a charset, and
 * compute a media type, an ETag and a length that are already known.
 */
export function sendAsScim(response: Response): void {
  response.send = sendThis;
}

/** One function for all responses: V8 keeps a response with a function of its own beyond its time. */
function sendThis(this: Response, json?: string | StreamedText): Response {
  sendJsonText(this, json);
  return this;
}

/** The length of a chunk, in characters. */
const CHUNK_LENGTH = 65_536;

/**
 * Sends a long text in chunks. Its length is not known in advance, so there is no Content-Length, not even in the
 * response to a HEAD.
 */
async function sendLong(response: Response, { pieces, release }: StreamedText): Promise<void> {
  response.setHeader('Content-Type', MEDIA_TYPE);
  try {
    if (response.req.method === 'HEAD') await pieces.return(undefined);
    else await writeAll(response, pieces, release);
    response.end();
  } catch (error) {
    // The status has been sent already. Closing the connection tells the client that the response is incomplete (RFC
    // 9112 §8).
    requestScopeOf(response).notes.cut = 'fault';
    requestScopeOf(response).log.error({ err: error }, 'a response was aborted by an error');
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
    // The client has closed the connection.
    if (response.destroyed) return;
    text += piece;
    if (text.length < CHUNK_LENGTH) continue;
    const chunk = text;
    text = '';
    keepResponseBody(response, chunk);
    response.write(chunk);
    // The operating system accepts most chunks at once. If it does not, free the memory of the remaining resources
    // while waiting.
    await setImmediate();
    if (!response.writableNeedDrain) continue;
    release();
    await waitForDrain(response);
    if (response.destroyed) return;
  }
  response.write(text);
}

/** Resolves when the client has read everything written so far, or has closed the connection. */
function waitForDrain(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
