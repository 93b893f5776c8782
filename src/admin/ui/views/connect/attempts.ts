import type { Attempt } from '../../../../operations/connections/connections.ts';

/** Says how a request was answered, e.g. `401, the token belongs to no connection`. */
export function answerText({ status, error }: Pick<Attempt, 'status' | 'error'>): string {
  if (status === undefined) return 'no answer';
  if (error === undefined) return String(status);
  const reason = error.startsWith('wrong secret of ') ? 'the client sent a wrong secret' : refusals[error];
  return `${status}, ${reason ?? error}`;
}

/** The reasons that the log has for requests without a valid token, and for refused requests for a token. */
const refusals: Record<string, string> = {
  'unknown credential': 'the token belongs to no connection',
  'expired credential': 'the token has expired',
  'revoked credential': 'the token was revoked',
  'no credential': 'no token was sent',
  'malformed credential': 'the Authorization header has no bearer token',
  'credential of another service': 'this is a credential of the travel service, not of a connection',
  'its connection is not in the settings': 'the settings no longer have the connection of the token',
  'unknown or revoked client': 'there is no such OAuth client, or it was revoked',
  'its federation is not in the settings': 'the settings no longer have the federation of the token',
  'assertion refused: the client has a secret, not keys': 'the client has a secret, and sent an assertion',
  invalid_request: 'the request for a token is not as it must be',
  unsupported_grant_type: 'the grant type must be client_credentials',
  unauthorized_client: 'the settings no longer have the connection of the client',
  'address not allowed': 'the connection does not accept requests from this address',
  'too many requests of the connection': 'the connection has sent too many requests in a second',
  'too many failures': 'too many requests without a valid token came from this address',
};

/** Returns the person of the earliest request that has created or changed one; undefined if none has. */
export function firstPersonOf(attempts: readonly Attempt[]): string | undefined {
  const isWrite = ({ method }: Attempt) => ['POST', 'PUT', 'PATCH'].includes(method);
  return attempts.findLast((one) => one.person !== undefined && isWrite(one) && isSuccess(one))?.person;
}

/** Returns the text of the time since a request, e.g. `3 s`. The clocks of the service and the browser may differ. */
export function ageText(at: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(at)) / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}

/** Returns true for a request of an OAuth client for an access token. */
export function isTokenRequest({ path }: Pick<Attempt, 'path'>): boolean {
  return path.startsWith('/oauth/token');
}

/** Returns true if a request was answered with success. */
export function isSuccess({ status }: Pick<Attempt, 'status'>): boolean {
  return status !== undefined && status < 400;
}
