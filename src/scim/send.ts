import { setImmediate } from 'node:timers/promises';
import type { Response } from 'express';
import { scopeOf } from '../http/scope.ts';
import type { LongText } from './json-text.ts';

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
export function sendText(response: Response, json: string | LongText | undefined): void {
  if (typeof json !== 'object') sendScim(response, json);
  else void sendLong(response, json);
}

/**
 * Makes whoever sends by `response.send` send SCIM: SCIMMYRouters do. Express itself would give the text a charset, and
 * look for a type, an ETag and a length that are known.
 */
export function sendsScim(response: Response): void {
  response.send = (json?: string | LongText) => {
    sendText(response, json);
    return response;
  };
}

/** How much is written at once, in characters. */
const CHUNK = 65_536;

/** The length is not known before the end, so the answer is chunked, and HEAD is answered without a length. */
async function sendLong(response: Response, { pieces, release }: LongText): Promise<void> {
  response.setHeader('Content-Type', MEDIA_TYPE);
  try {
    if (response.req.method === 'HEAD') await pieces.return(undefined);
    else await writeAll(response, pieces, release);
    response.end();
  } catch (error) {
    // The status is sent, so a closed connection is the only way to tell the client (RFC 9112 §8).
    scopeOf(response).notes.cut = 'fault';
    scopeOf(response).log.error({ err: error }, 'an answer broke off');
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
    if (text.length < CHUNK) continue;
    const chunk = text;
    text = '';
    response.write(chunk);
    // The system takes most chunks at once; only behind one that it does not is there anything to wait for.
    await setImmediate();
    if (!response.writableNeedDrain) continue;
    release();
    await drained(response);
    if (response.destroyed) return;
  }
  response.write(text);
}

/** Resolves when the client has taken what was written, or is gone. */
function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
