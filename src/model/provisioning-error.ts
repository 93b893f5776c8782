/** The reason for which a request fails; `abandoned`: the client disconnected while the request waited for its turn. */
export type ProvisioningErrorKind =
  | 'notFound'
  | 'conflict'
  | 'refused'
  | 'unavailable'
  | 'tooMany'
  | 'noTarget'
  | 'abandoned';

/** Thrown if a request to this service fails. The message may be sent to the client; the cause is for the log. */
export class ProvisioningError extends Error {
  readonly kind: ProvisioningErrorKind;

  constructor(kind: ProvisioningErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ProvisioningError';
    this.kind = kind;
  }
}
