import type { Request, Response } from 'express';
import { bearerToken } from '../http/bearer.ts';
import { type RefusalDeps, refuseRequest } from '../http/failed-authentication.ts';
import { noteOf } from '../http/scope.ts';
import { ScimError } from './scim-error.ts';

/** What a token opens, and which credential it is (`token:<id>`, `oauth:<client>`). */
export interface Access {
  connection: string;
  credential: string;
}

/** What requests are authenticated with. */
export interface AuthenticationDeps {
  /** Finds what a token opens; undefined if it opens nothing. */
  authenticate(token: string): Promise<Access | undefined>;
  /** Undefined: failures are not counted. */
  refusals?: RefusalDeps;
}

/**
 * The connection of a request, or 401 (RFC 7644 §2, RFC 6750 §3), or 429 after too many of those. A valid token is served
 * whatever else came from its address, as IdPs share addresses. A token in the query string is never taken.
 */
export async function connectionOf(
  request: Request,
  response: Response,
  { authenticate, refusals }: AuthenticationDeps,
): Promise<string> {
  const { authorization } = request.headers;
  const token = bearerToken(authorization) ?? bareToken(authorization);
  const access = token === undefined ? undefined : await authenticate(token);
  if (access) {
    noteOf(response, access);
    return access.connection;
  }
  const retryAfter = refusals && (await refuseRequest(response, { authorization, token }, refusals));
  if (retryAfter !== undefined) {
    const headers = { 'Retry-After': String(retryAfter) };
    const detail = 'Too many requests without a valid bearer token came from this address; try again later.';
    throw new ScimError(429, undefined, detail, { headers });
  }
  const reason = token === undefined ? '' : ', error="invalid_token"';
  throw new ScimError(401, undefined, 'A valid bearer token is required.', {
    headers: { 'WWW-Authenticate': `Bearer realm="scim"${reason}` },
  });
}

/** Okta's "Header" mode sends the token without a scheme. */
function bareToken(authorization: string | undefined): string | undefined {
  return /^[\w.~+/-]+=*$/.exec(authorization ?? '')?.[0];
}
