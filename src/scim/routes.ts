import type { RequestHandler } from 'express';
import { badRequest, ScimError } from './scim-error.ts';

const reading = ['GET', 'HEAD'];

/** Every endpoint of RFC 7644 §3.2 that is offered, and the methods it takes; the first one that fits counts. */
const endpoints: [RegExp, string[]][] = [
  [/^\/((Users|Groups)\/)?\.search\/?$/i, ['POST']],
  [/^\/(Users|Groups)\/?$/i, [...reading, 'POST']],
  [/^\/(Users|Groups)\/[^/]+\/?$/i, [...reading, 'PUT', 'PATCH', 'DELETE']],
  [/^\/ServiceProviderConfig\/?$/i, reading],
  [/^\/(ResourceTypes|Schemas)(\/[^/]+)?\/?$/i, reading],
  [/^\/$/, reading],
];

/** What a service provider need not have (RFC 7644 §3.7, §3.11), whatever the method. */
const notOffered = /^\/(Bulk\/?$|Me(\/|$))/i;

/** Refuses what cannot be decoded (400) or is not there (404), and methods that an endpoint does not take (405). */
export const checkRoute: RequestHandler = (request, _response, next) => {
  if (!isDecodable(request.path)) throw badRequest('invalidSyntax', 'The path is not percent-encoded right.');
  if (notOffered.test(request.path)) return next();
  const [, methods] = endpoints.find(([path]) => path.test(request.path)) ?? [];
  if (!methods) throw new ScimError(404, undefined, 'There is no such endpoint.');
  if (!methods.includes(request.method)) {
    const headers = { Allow: methods.join(', ') };
    throw new ScimError(405, undefined, `The endpoint does not take ${request.method}.`, { headers });
  }
  next();
};

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** "501 Not Implemented" for /Bulk and /Me, once their body is read off, so that the connection stays usable. */
export const refuseUnsupported: RequestHandler = (request, _response, next) => {
  if (notOffered.test(request.path)) throw new ScimError(501, undefined, 'This service does not offer that.');
  next();
};
