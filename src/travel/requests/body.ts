import express, { type RequestHandler } from 'express';
import { isNestedTooDeep, nestedTooDeepText } from '../../schema/json-depth.ts';
import { ApiError } from '../errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { RequestWithBody } from './request-log-middleware.ts';

/**
 * Middleware that parses JSON bodies of up to 1 MB. A larger body is 413, another media type 415, one that is nested too deep 400. A client
 * can send its body half a minute after the head, when its credential has been revoked: `admit` is called again then.
 */
export function readBody(admit: RequestHandler): RequestHandler[] {
  const types = ['application/json', 'application/*+json'];
  // The request log records the raw bytes, also of bodies that turn out not to be JSON.
  const verify = (request: RequestWithBody, _response: unknown, bytes: Buffer, encoding: string) => {
    request.received = { bytes, encoding };
  };
  const json = express.json({ type: types, limit: '1mb', verify });
  const onlyJson: RequestHandler = (request, _response, next) => {
    // An empty body has no media type; it is answered with 400 for the missing `data`, not with 415.
    const isEmpty = request.get('content-length') === '0';
    if (!isEmpty && request.is(types) === false) {
      throw new ApiError('badRequest', 'The body must be application/json.', { status: 415 });
    }
    next();
  };
  const refuseDeep: RequestHandler = ({ body }, _response, next) => {
    if (isNestedTooDeep(body)) throw new ApiError('badRequest', `The body ${nestedTooDeepText()}.`);
    next();
  };
  const noteLateBody: RequestHandler = (request, { locals }, next) => {
    locals['isBodyLate'] = !request.complete;
    next();
  };
  const admitLateBody: RequestHandler = (request, response, next) =>
    response.locals['isBodyLate'] ? admit(request, response, next) : next();
  return [onlyJson, noteLateBody, json, refuseDeep, admitLateBody];
}

/** Returns the resource object of a `{"data": {…}}` body. Throws 400 if it is missing or cannot be stored. */
export function parseData(body: unknown): JsonObject {
  const data = isJsonObject(body) ? body['data'] : undefined;
  if (!isJsonObject(data))
    throw new ApiError('badRequest', 'The body must be an object with a "data" object.');
  refuseUnstorable(data);
  return data;
}

/**
 * Maximum nesting depth of a resource. Resources are far shallower, and a list of them must not be too deep for those who read it:
 * the bridge is one of them.
 */
const MAX_DEPTH = 32;

/**
 * Throws 400 for nesting that is too deep, for NUL characters and lone surrogates (PostgreSQL refuses them), and for members named
 * `__proto__`.
 */
function refuseUnstorable(data: JsonObject): void {
  if (isNestedTooDeep(data, MAX_DEPTH))
    throw new ApiError('badRequest', `The data is nested deeper than ${MAX_DEPTH} levels.`);
  // The replacer sees all names and values, also those in lists.
  JSON.stringify(data, (name, value: Json) => {
    if (name === '__proto__') throw new ApiError('badRequest', 'No member may be called "__proto__".');
    refuseUnstorableText(name);
    if (typeof value === 'string') refuseUnstorableText(value);
    return value;
  });
}

function refuseUnstorableText(text: string): void {
  if (/[\0\p{Surrogate}]/u.test(text)) {
    throw new ApiError('badRequest', 'Strings must be well-formed Unicode without NUL characters.');
  }
}
