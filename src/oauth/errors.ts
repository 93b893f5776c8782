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

  constructor(
    code: keyof typeof statuses,
    message: string,
    { status, ...options }: ErrorOptions & { status?: number } = {},
  ) {
    super(message, options);
    this.name = 'OAuthError';
    this.code = code;
    this.status = status ?? statuses[code];
  }
}

/** One answer for whoever is not known, whatever the reason: it tells nobody which clients there are. */
export function invalidClient(cause?: unknown): OAuthError {
  return new OAuthError('invalid_client', 'The client is not known, or did not prove who it is.', { cause });
}
