import type { Response } from 'express';
import type { Logger } from 'pino';

/** What the one line that tells of a request says beside what every line says; no personal data. */
export interface RequestNotes {
  connection?: string;
}

/** What belongs to one request. */
export class RequestScope {
  readonly id: string;
  /** Goes into the one line that tells of the request when it is over. */
  readonly notes: RequestNotes = {};
  /** True: it comes all day by itself, so that unless it fails its line is only for those who look for everything. */
  isRoutine = false;
  readonly #parent: Logger;
  #log: Logger | undefined;

  constructor(id: string, parent: Logger) {
    this.id = id;
    this.#parent = parent;
  }

  /** Every line carries the request's id. Made when first asked for: most requests have nothing to say. */
  get log(): Logger {
    this.#log ??= this.#parent.child({ requestId: this.id });
    return this.#log;
  }
}

/** Marks a request that comes all day by itself. */
export function markRoutine(response: Response): void {
  const scope: RequestScope | undefined = response.locals['scope'];
  if (scope) scope.isRoutine = true;
}

/** The scope that `httpApp` gave the request. */
export function scopeOf(response: Response): RequestScope {
  return response.locals['scope'];
}
