import type { Response } from 'express';

/** The media type of every answer; it has no parameters (RFC 7644 §8.1). */
const MEDIA_TYPE = 'application/scim+json';

/** Sends JSON text as a SCIM answer. As bytes: to a text express would add a charset. */
export function sendScim(response: Response, json: string): void {
  response.setHeader('Content-Type', MEDIA_TYPE);
  response.send(Buffer.from(json));
}
