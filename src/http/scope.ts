import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import type { Logger } from 'pino';

/** What the one line that tells of a request says beside what every line says; no personal data. */
export interface RequestNotes {
  connection?: string;
  /** Kind and id of the credential: `token:<id>`, `apiKey:<id>`, `oauth:<client>`; never its text. */
  credential?: string | undefined;
  /** Why the request has no valid credential. */
  reason?: string;
  /** Why the service closed the connection before the answer was sent: a fault of ours, or a client that did not read. */
  cut?: 'fault' | 'notRead';
}

/** What belongs to one request. */
export class RequestScope {
  readonly id: string;
  /** The client's address, behind trusted proxies too. */
  readonly address: string;
  /** Goes into the one line that tells of the request when it is over. */
  readonly notes: RequestNotes = {};
  /** True: it comes all day by itself, so that unless it fails its line is only for those who look for everything. */
  isRoutine = false;
  readonly #parent: Logger;
  #log: Logger | undefined;

  constructor({ id, address }: { id: string; address: string }, parent: Logger) {
    this.id = id;
    this.address = address;
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

/** Adds to the line that tells of a request; outside of an `httpApp` there is none. */
export function noteOf(response: Response, notes: RequestNotes): void {
  const scope: RequestScope | undefined = response.locals['scope'];
  if (scope) Object.assign(scope.notes, notes);
}

/** The scope that `httpApp` gave the request. */
export function scopeOf(response: Response): RequestScope {
  return response.locals['scope'];
}

/** Notes that an answer is cut off, as its client does not read. */
export function noteUnread(response: ServerResponse & { locals?: { scope?: RequestScope } }): void {
  const scope = response.locals?.scope;
  if (scope) scope.notes.cut = 'notRead';
}
