/** Why a story cannot end as asked; `abandoned`: the client went away while the request waited. */
export type BridgeErrorKind =
  | 'notFound'
  | 'conflict'
  | 'refused'
  | 'unavailable'
  | 'tooMany'
  | 'noTarget'
  | 'abandoned';

/** A story's refusal. The message may be read by the client; the cause is for the log. */
export class BridgeError extends Error {
  readonly kind: BridgeErrorKind;

  constructor(kind: BridgeErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BridgeError';
    this.kind = kind;
  }
}
