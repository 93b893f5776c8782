import type { Attempt } from '../../api-client.ts';

/** Says how a request was answered, e.g. `401, the token belongs to no connection`. */
export function answerText({ status, error }: Pick<Attempt, 'status' | 'error'>): string {
  if (status === undefined) return 'no answer';
  if (error === undefined) return String(status);
  return `${status}, ${refusals[error] ?? error}`;
}

/** The reasons that the log has for requests without a valid token. */
const refusals: Record<string, string> = {
  'unknown credential': 'the token belongs to no connection',
  'expired credential': 'the token has expired',
  'revoked credential': 'the token was revoked',
  'no credential': 'no token was sent',
  'malformed credential': 'the Authorization header has no bearer token',
  'credential of another service': 'this is a credential of the travel service, not of a connection',
  'its connection is not in the settings': 'the settings no longer have the connection of the token',
  'too many failures': 'too many requests without a valid token came from this address',
};

/** Returns the text of the time since a request, e.g. `3 s`. The clocks of the service and the browser may differ. */
export function ageText(at: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(at)) / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}

/** Returns true if a request was answered with success. */
export function isSuccess({ status }: Pick<Attempt, 'status'>): boolean {
  return status !== undefined && status < 400;
}
