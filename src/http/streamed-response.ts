import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { requestScopeOf } from './log.ts';

/**
 * Sends pieces of text as the body of a response, as fast as the client reads them. An error of the pieces closes the connection, which tells
 * the client that the response is incomplete (RFC 9112 §8): its status has been sent already.
 */
export async function streamResponse(response: Response, pieces: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(pieces, response);
  } catch (error) {
    // The client has closed the connection.
    if (Object(error).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    requestScopeOf(response).notes.cut = 'fault';
    requestScopeOf(response).log.error({ err: error }, 'a response was aborted by an error');
  }
}
