/**
 * The database refuses work for an external reason: a full disk, a file size limit, or a failing disk. The client
 * may send the request again. The message is SQLite's own.
 */
export class StoreUnavailable extends Error {
  /** The reason in plain words and without a path, for the operator. */
  readonly reason: string;

  /** One line for the operator of a command, with the place of the database and the remedy; undefined if they are not known. */
  readonly operatorText: string | undefined;

  constructor(reason: string, { cause, operatorText }: { cause: Error; operatorText?: string }) {
    super(cause.message, { cause });
    this.name = 'StoreUnavailable';
    this.reason = reason;
    this.operatorText = operatorText;
  }
}

/** The delay after which a client may retry, in seconds: the value of Retry-After (RFC 9110 §10.2.3). */
export const RETRY_AFTER_S = 5;
