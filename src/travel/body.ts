import express, { type RequestHandler } from 'express';
import { ApiError } from './errors.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import type { RequestWithBody } from './request-log.ts';

/** The deepest nesting a body may have; no resource comes near it. */
const MAX_DEPTH = 32;

/** Reads JSON of up to 1 MB; a body of another media type is 415. */
export function readBody(): RequestHandler[] {
  const types = ['application/json', 'application/*+json'];
  // Kept as it came, for the request log, before anybody tries to understand it.
  const verify = (request: RequestWithBody, _response: unknown, bytes: Buffer, encoding: string) => {
    request.received = { bytes, encoding };
  };
  const json = express.json({ type: types, limit: '1mb', verify });
  const onlyJson: RequestHandler = (request, _response, next) => {
    // No body, or an empty one, is the fault of a missing `data`, not of its media type.
    const isEmpty = request.get('content-length') === '0';
    if (!isEmpty && request.is(types) === false) {
      throw new ApiError('badRequest', 'The body must be application/json.', { status: 415 });
    }
    next();
  };
  return [onlyJson, json];
}

/** The resource object of a request, `{"data": {…}}`. */
export function parseData(body: unknown): JsonObject {
  const data = isJsonObject(body) ? body['data'] : undefined;
  if (!isJsonObject(data))
    throw new ApiError('badRequest', 'The body must be an object with a "data" object.');
  refuseUnstorable(data);
  return data;
}

/**
 * What no database keeps or no object should have: NUL and lone surrogates (PostgreSQL refuses them), `__proto__`, and
 * nesting so deep that a recursion over it would fail. It is looked for without recursion.
 */
function refuseUnstorable(data: JsonObject): void {
  const open: { value: Json; depth: number }[] = [{ value: data, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (depth > MAX_DEPTH)
      throw new ApiError('badRequest', `The body is nested deeper than ${MAX_DEPTH} levels.`);
    if (typeof value === 'string') refuseUnstorableText(value);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (name === '__proto__') throw new ApiError('badRequest', 'No member may be called "__proto__".');
      refuseUnstorableText(name);
      open.push({ value: inner, depth: depth + 1 });
    }
  }
}

function refuseUnstorableText(text: string): void {
  if (/[\0\p{Surrogate}]/u.test(text)) {
    throw new ApiError('badRequest', 'Strings must be well-formed Unicode without NUL characters.');
  }
}
