/** Named points in the code at which a crash could lose or repeat work; tests kill the process there. */
export type Checkpoint = 'beforeCommit' | 'afterCommit' | 'beforeSend' | 'afterAnswer' | 'beforeOutcome';

/** Time, randomness, the log and the crash points. Tests replace them. */
export interface Runtime {
  /**
   * Epoch milliseconds by a clock that starts at the wall clock's time. It jumps only with the clock of a shared database, which it
   * follows. Use it for waits, expiry and comparisons.
   */
  now(): number;
  /**
   * Epoch milliseconds by the wall clock, which may jump either way; with a shared database by its clock. Used only for times that people
   * or IdPs read.
   */
  wallClock(): number;
  /** Returns a UUID. Ids begin with the time, so that new rows are neighbors in the indexes of the database. */
  newId(): string;
  /** Returns a random number in [0, 1). */
  random(): number;
  /** Resolves after `ms` milliseconds, or as soon as the signal is aborted. Never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  log: Log;
  checkpoint(at: Checkpoint): void;
}

/** The part of a pino logger that is used. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
