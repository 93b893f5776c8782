import express, { type Request, type RequestHandler } from 'express';
import { isObject } from '../schema/own.ts';
import { badRequest, ScimError } from './scim-error.ts';

/** The largest body, in bytes. */
const LIMIT = 1_048_576;

const writing = ['POST', 'PUT', 'PATCH'];

/** Reads bodies: 413 when too large, 415 when not JSON, 400 invalidSyntax when no JSON object (RFC 7644 §3.1, §3.12). */
export const readBody: RequestHandler[] = [
  (request, _response, next) => {
    if (Number(request.headers['content-length'] ?? 0) > LIMIT) {
      throw new ScimError(413, undefined, 'The body is larger than 1 MB.');
    }
    if (!writing.includes(request.method)) return next();
    if (!hasBody(request)) throw badRequest('invalidSyntax', 'The request needs a body.');
    if (!isJson(request)) {
      throw new ScimError(415, undefined, 'The body must be application/scim+json or application/json.');
    }
    next();
  },
  (request, response, next) => {
    const read = writing.includes(request.method) ? json : ignored;
    read(request, response, next);
  },
  (request, _response, next) => {
    if (writing.includes(request.method) && !isObject(request.body)) {
      throw badRequest('invalidSyntax', 'The body must be a JSON object.');
    }
    next();
  },
];

/** Not strict, so that `null` and `"x"` are told apart from broken JSON by us. */
const json = express.json({ limit: LIMIT, type: () => true, strict: false });

/** Some clients send a body with GET or DELETE; it has no meaning, but must be read off. */
const ignored = express.raw({ limit: LIMIT, type: () => true });

function hasBody(request: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  return encoding !== undefined || Number(length) > 0;
}

function isJson(request: Request): boolean {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return type === 'application/scim+json' || type === 'application/json';
}
