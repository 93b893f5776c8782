import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { type DestinationStream, type LogFn, type Logger, levels, pino, stdSerializers } from 'pino';
import { StoreUnavailable } from '../store/unavailable.ts';

/** What no line may show: secrets, and what tells who somebody is. */
const redactedKeys = [
  'authorization',
  'token',
  'password',
  'secret',
  'key',
  'userName',
  'email',
  'emails',
  'name',
  'displayName',
  'externalId',
  'phoneNumber',
  'phoneNumbers',
];

/** The log of the process: JSON lines, secrets and personal data struck out (docs/architecture.md, Promises). */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    redact: { paths: redactedKeys.flatMap((name) => [name, `*.${name}`]), censor: '*' },
    serializers: { err: serializeError },
    hooks: { logMethod: demoteStoreErrors },
  };
  return pino(options, destination ?? bufferLines(standardOutput()));
}

/**
 * Every request and every loop meets a full disk; the store's own line about it, once a minute, says enough. The lines of
 * the others have the level debug.
 */
function demoteStoreErrors(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
  const isAboutStore = Object(args[0]).err instanceof StoreUnavailable;
  if (isAboutStore && level > DEBUG) this.debug(...args);
  else method.apply(this, args);
}

const DEBUG = levels.values['debug'] ?? 20;

/** How much of the log is kept in memory while it cannot be written, in bytes. */
const MAX_UNWRITTEN_BYTES = 4_194_304;

/** Standard output. If it is a file on a full disk, lines are lost, and the process goes on. */
function standardOutput(): DestinationStream {
  const out = pino.destination({ dest: 1, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  // Without a listener the fault would end the process; there is nowhere to report it.
  out.on('error', () => {});
  return out;
}

/** How long a line may wait for others, in milliseconds. */
const FLUSH_AFTER_MS = 20;
/** How much may wait, in characters. */
const MAX_BUFFERED_CHARACTERS = 65_536;

/** What is still to be written when the process exits. */
const pendingFlushes = new Set<() => void>();
process.once('exit', () => {
  for (const flush of pendingFlushes) flush();
});

/** Writes lines in pieces, as each write costs more than the making of a line; at the latest when the process exits. */
function bufferLines(out: DestinationStream): DestinationStream {
  let waiting = '';
  const flush = () => {
    const lines = waiting;
    waiting = '';
    pendingFlushes.delete(flush);
    if (lines !== '') out.write(lines);
  };
  return {
    write: (line) => {
      if (waiting === '') {
        pendingFlushes.add(flush);
        setTimeout(flush, FLUSH_AFTER_MS).unref();
      }
      waiting += line;
      if (waiting.length > MAX_BUFFERED_CHARACTERS) flush();
    },
  };
}

/** Errors of libraries quote what they were given. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return redactEmails(String(error));
  const { type, message, stack } = stdSerializers.err(error);
  return { type, message: redactEmails(message), stack: redactEmails(stack) };
}

/** Strikes out email addresses; the length is bounded first, since the search is not linear. */
function redactEmails(text: string): string {
  return text.slice(0, 4000).replace(/[^\s@"'<>(),;]{1,100}@[^\s@"'<>(),;]+/g, '*@*');
}

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
export function addRequestNotes(response: Response, notes: RequestNotes): void {
  const scope: RequestScope | undefined = response.locals['scope'];
  if (scope) Object.assign(scope.notes, notes);
}

/** The scope that `httpApp` gave the request. */
export function requestScopeOf(response: Response): RequestScope {
  return response.locals['scope'];
}

/** Notes that an answer is cut off, as its client does not read. */
export function noteUnreadResponse(response: ServerResponse & { locals?: { scope?: RequestScope } }): void {
  const scope = response.locals?.scope;
  if (scope) scope.notes.cut = 'notRead';
}
