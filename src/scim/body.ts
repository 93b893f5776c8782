import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { isObject } from '../schema/own.ts';
import { badRequest, ScimError } from './scim-error.ts';

/** The largest body, in bytes. */
const LIMIT = 1_048_576;

const writing = ['POST', 'PUT', 'PATCH'];

/** Not strict, so that `null` and `"x"` are told apart from broken JSON by us. */
const json = express.json({ limit: LIMIT, type: () => true, strict: false, verify: checkText });

/** Some clients send a body with GET or DELETE; it has no meaning, but must be read off. */
const ignored = express.raw({ limit: LIMIT, type: () => true });

/** Reads the body: 413 when too large, 415 when not JSON, 400 invalidSyntax when no JSON object (RFC 7644 §3.1, §3.12). */
export async function readBody(request: Request, response: Response): Promise<void> {
  if (Number(request.headers['content-length'] ?? 0) > LIMIT) {
    throw new ScimError(413, undefined, 'The body is larger than 1 MB.');
  }
  if (!writing.includes(request.method)) {
    if (hasBody(request)) await run(ignored, request, response);
    return;
  }
  if (!hasBody(request)) throw badRequest('invalidSyntax', 'The request needs a body.');
  if (!isJson(request)) {
    throw new ScimError(415, undefined, 'The body must be application/scim+json or application/json.');
  }
  await run(json, request, response);
  if (!isObject(request.body)) throw badRequest('invalidSyntax', 'The body must be a JSON object.');
}

/** JSON is UTF-8 (RFC 8259 §8.1); what is not would be read as something that nobody sent. */
function checkText(_request: unknown, _response: unknown, body: Buffer, charset: string): void {
  if (charset !== 'utf-8') throw new ScimError(415, undefined, 'The body must be in UTF-8.');
  if (!isUtf8(body)) throw badRequest('invalidSyntax', 'The body is not in UTF-8.');
}

function run(read: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void read(request, response, (error: unknown) => (error ? reject(error) : resolve()));
  });
}

function hasBody(request: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  return encoding !== undefined || Number(length) > 0;
}

function isJson(request: Request): boolean {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return type === 'application/scim+json' || type === 'application/json';
}
