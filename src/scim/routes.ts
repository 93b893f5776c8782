import type { RequestHandler } from 'express';
import { badRequest, ScimError } from './scim-error.ts';

const reading = ['GET', 'HEAD'];

/** Every endpoint of RFC 7644 §3.2 and the methods it takes; undefined: it is not offered, whatever the method. */
const endpoints: [RegExp, string[] | undefined][] = [
  [/^\/(Users|Groups)\/\.search\/?$/i, undefined],
  [/^\/(Users|Groups)\/?$/i, [...reading, 'POST']],
  [/^\/(Users|Groups)\/[^/]+\/?$/i, [...reading, 'PUT', 'PATCH', 'DELETE']],
  [/^\/ServiceProviderConfig\/?$/i, reading],
  [/^\/(ResourceTypes|Schemas)(\/[^/]+)?\/?$/i, reading],
  [/^\/(\.search|Bulk)\/?$/i, undefined],
  [/^\/Me(\/|$)/i, undefined],
];

/** Refuses what cannot be decoded (400) or is not there (404), and methods that an endpoint does not take (405). */
export const checkRoute: RequestHandler = (request, _response, next) => {
  if (!isDecodable(request.path)) throw badRequest('invalidSyntax', 'The path is not percent-encoded right.');
  const endpoint = endpoints.find(([path]) => path.test(request.path));
  if (!endpoint) throw new ScimError(404, undefined, 'There is no such endpoint.');
  const [, methods] = endpoint;
  if (methods && !methods.includes(request.method)) {
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

/** "501 Not Implemented" for what a service provider need not have: /Bulk, /Me and searches by POST (RFC 7644 §3.7, §3.11). */
export const refuseUnsupported: RequestHandler = (request, _response, next) => {
  const isOffered = endpoints.some(([path, methods]) => methods && path.test(request.path));
  const isRefused = endpoints.some(([path, methods]) => !methods && path.test(request.path));
  if (isRefused || !isOffered) throw new ScimError(501, undefined, 'This service does not offer that.');
  next();
};
