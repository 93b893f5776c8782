import type { Request } from 'express';
import { badRequest, ScimError } from './scim-error.ts';

/** Where a request goes: to the resources, to what else there is, or nowhere. */
export type Route = 'resource' | 'other' | 'notOffered';

const reading = ['GET', 'HEAD'];

/** Every endpoint of RFC 7644 §3.2 that is offered, and the methods it takes; the first one that fits counts. */
const endpoints: [RegExp, Exclude<Route, 'notOffered'>, string[]][] = [
  [/^\/((Users|Groups)\/)?\.search\/?$/i, 'other', ['POST']],
  [/^\/(Users|Groups)\/[^/]+\/?$/i, 'resource', [...reading, 'PUT', 'PATCH', 'DELETE']],
  [/^\/(Users|Groups)\/?$/i, 'resource', [...reading, 'POST']],
  [/^\/ServiceProviderConfig\/?$/i, 'other', reading],
  [/^\/(ResourceTypes|Schemas)(\/[^/]+)?\/?$/i, 'other', reading],
  [/^\/$/, 'other', reading],
];

/** What a service provider need not have (RFC 7644 §3.7, §3.11), whatever the method. */
const notOffered = /^\/(Bulk\/?$|Me(\/|$))/i;

/** Finds the route; what cannot be decoded is 400, what is not there 404, and a method that the endpoint does not take 405. */
export function routeOf({ path, method }: Pick<Request, 'path' | 'method'>): Route {
  if (!isDecodable(path)) throw badRequest('invalidSyntax', 'The path is not percent-encoded right.');
  if (notOffered.test(path)) return 'notOffered';
  const [, route, methods] = endpoints.find(([pattern]) => pattern.test(path)) ?? [];
  if (!route || !methods) throw new ScimError(404, undefined, 'There is no such endpoint.');
  if (!methods.includes(method)) {
    const headers = { Allow: methods.join(', ') };
    throw new ScimError(405, undefined, `The endpoint does not take ${method}.`, { headers });
  }
  return route;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
