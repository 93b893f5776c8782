import type { Refusal } from '../http/failed-authentication.ts';

/** The error codes of a token endpoint (RFC 6749 §5.2, the last two §4.1.2.1), with the status that goes with each. */
const statuses = {
  invalid_request: 400,
  invalid_client: 401,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  server_error: 500,
  temporarily_unavailable: 503,
} as const;

/** A request for a token that is refused; the message is made for whoever set the client up. */
export class OAuthError extends Error {
  readonly code: keyof typeof statuses;
  readonly status: number;
  /** Why the client is not let in, for the log. */
  readonly refusal: Refusal | undefined;

  constructor(
    code: keyof typeof statuses,
    message: string,
    { status, refusal, ...options }: ErrorOptions & { status?: number; refusal?: Refusal } = {},
  ) {
    super(message, options);
    this.name = 'OAuthError';
    this.code = code;
    this.status = status ?? statuses[code];
    this.refusal = refusal;
  }
}

/** One answer for every client that is refused: it does not tell which clients there are. The reason is for the log. */
export function invalidClient(refusal: Refusal, cause?: unknown): OAuthError {
  const text = 'The client is not known, or did not prove who it is.';
  return new OAuthError('invalid_client', text, { refusal, cause });
}
