/**
 * The database refuses work for a reason outside of the program: a full disk, a file size limit, a disk that fails. The
 * request may be sent again. The message is SQLite's own.
 */
export class StoreUnavailable extends Error {
  /** For the operator: plain words, without a path. */
  readonly reason: string;

  constructor(reason: string, options: { cause: Error }) {
    super(options.cause.message, options);
    this.name = 'StoreUnavailable';
    this.reason = reason;
  }
}

/** When a client may send its request again, in seconds: the value of Retry-After (RFC 9110 §10.2.3). */
export const RETRY_AFTER_S = 5;
