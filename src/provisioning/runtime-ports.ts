/** The moments at which a process may die; tests kill it there. */
export type Checkpoint = 'beforeCommit' | 'afterCommit' | 'beforeSend' | 'afterSend' | 'beforeOutcome';

/** Time, randomness, the log, and the crash points. */
export interface Runtime {
  /**
   * Epoch milliseconds by a clock that starts with the process at the wall clock's time and never jumps: for everything
   * that waits, expires or is compared.
   */
  now(): number;
  /** Epoch milliseconds by the wall clock, which may jump either way: only for times that people or IdPs read. */
  wallClock(): number;
  newId(): string;
  /** A number in [0, 1). */
  random(): number;
  /** Waits; rejects never; ends early when aborted. */
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
