/** Why a story cannot end as asked; `abandoned`: the client went away while the request waited. */
export type ProvisioningErrorKind =
  | 'notFound'
  | 'conflict'
  | 'refused'
  | 'unavailable'
  | 'tooMany'
  | 'noTarget'
  | 'abandoned';

/** A story's refusal. The message may be read by the client; the cause is for the log. */
export class ProvisioningError extends Error {
  readonly kind: ProvisioningErrorKind;

  constructor(kind: ProvisioningErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BridgeError';
    this.kind = kind;
  }
}
