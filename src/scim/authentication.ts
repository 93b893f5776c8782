import type { Request } from 'express';
import { bearerToken } from '../http/bearer.ts';
import { ScimError } from './scim-error.ts';

/** Finds the connection that a token belongs to; undefined when it is nobody's. */
export type Authenticate = (token: string) => Promise<string | undefined>;

/** The connection of a request, or 401 (RFC 7644 §2, RFC 6750 §3). A token in the query string is never taken. */
export async function connectionOf(request: Request, authenticate: Authenticate): Promise<string> {
  const { authorization } = request.headers;
  const token = bearerToken(authorization) ?? bareToken(authorization);
  const connection = token === undefined ? undefined : await authenticate(token);
  if (connection !== undefined) return connection;
  const reason = token === undefined ? '' : ', error="invalid_token"';
  throw new ScimError(401, undefined, 'A valid bearer token is required.', {
    headers: { 'WWW-Authenticate': `Bearer realm="scim"${reason}` },
  });
}

/** Okta's "Header" mode sends the token without a scheme. */
function bareToken(authorization: string | undefined): string | undefined {
  return /^[\w.~+/-]+=*$/.exec(authorization ?? '')?.[0];
}
