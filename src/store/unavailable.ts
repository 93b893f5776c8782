/**
 * The database refuses work for an external reason: a full disk, a file size limit, or a failing disk. The client
 * may send the request again. The message is SQLite's own.
 */
export class StoreUnavailable extends Error {
  /** The reason in plain words and without a path, for the operator. */
  readonly reason: string;

  constructor(reason: string, options: { cause: Error }) {
    super(options.cause.message, options);
    this.name = 'StoreUnavailable';
    this.reason = reason;
  }
}

/** The delay after which a client may retry, in seconds: the value of Retry-After (RFC 9110 §10.2.3). */
export const RETRY_AFTER_S = 5;
