import type { Response } from 'express';

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

/**
 * Makes whoever sends by `response.send` send SCIM: SCIMMYRouters do. Express itself would give the text a charset, and
 * look for a type, an ETag and a length that are known.
 */
export function sendsScim(response: Response): void {
  response.send = (json?: string) => {
    sendScim(response, json);
    return response;
  };
}
