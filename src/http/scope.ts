import type { Response } from 'express';
import type { Logger } from 'pino';

/** What belongs to one request. */
export interface RequestScope {
  id: string;
  /** Every line carries the request's id. */
  log: Logger;
  /** Adds to the one line that tells of the request when it is over. */
  note(facts: Record<string, unknown>): void;
}

/** The scope that `httpApp` gave the request. */
export function scopeOf(response: Response): RequestScope {
  return response.locals['scope'];
}
