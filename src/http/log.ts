import type { ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { type DestinationStream, type LogFn, type Logger, levels, pino, stdSerializers } from 'pino';
import { StoreUnavailable } from '../model/unavailable.ts';

/** Keys whose values are redacted in every line and in the objects of a line: secrets and personal data. */
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
/** Written in place of a redacted value. */
const CENSOR = '*';

/**
 * Creates the log of the process: JSON lines, with secrets and personal data redacted (docs/architecture.md,
 * Promises).
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    redact: { paths: redactedKeys, censor: CENSOR },
    formatters: { log: redactMembers },
    serializers: { err: serializeError },
    hooks: { logMethod: demoteStoreErrors },
  };
  return pino(options, destination ?? bufferLines(standardOutput()));
}

/**
 * Redacts the members of the plain objects in a line. Wildcards in the paths of pino would do the same, and take longer than writing the
 * line.
 */
function redactMembers(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => {
      const isObject = typeof value === 'object' && value !== null;
      const isPlain = isObject && Object.getPrototypeOf(value) === Object.prototype;
      return [field, isPlain ? withRedacted(value) : value];
    }),
  );
}

function withRedacted(members: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).map(([key, value]) => [key, redactedKeys.includes(key) ? CENSOR : value]),
  );
}

/**
 * A full disk makes every request and every background loop fail. The store logs it once a minute; all other lines
 * about it get the level debug.
 */
function demoteStoreErrors(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
  const isAboutStore = Object(args[0]).err instanceof StoreUnavailable;
  if (isAboutStore && level > DEBUG) this.debug(...args);
  else method.apply(this, args);
}

const DEBUG = levels.values['debug'] ?? 20;

/** Lines kept in memory while standard output cannot be written, in bytes. */
const MAX_UNWRITTEN_BYTES = 4_194_304;

/** Writes to standard output. If that is a file on a full disk, lines are lost, and the process continues. */
function standardOutput(): DestinationStream {
  const out = pino.destination({ dest: 1, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  // The listener is needed because an error without a listener ends the process.
  out.on('error', () => {});
  return out;
}

/** Lines are written together after this time, in milliseconds. */
const FLUSH_AFTER_MS = 20;
/** Lines are written at once when the buffer exceeds this size, in characters. */
const MAX_BUFFERED_CHARACTERS = 65_536;

/** The write functions of all buffers, to be called when the process exits. */
const pendingFlushes = new Set<() => void>();
process.once('exit', () => {
  for (const flush of pendingFlushes) flush();
});

/**
 * Writes lines in batches, since a write costs more than creating a line. The last batch is written when the process
 * exits.
 */
function bufferLines(out: DestinationStream): DestinationStream & { flush(done: () => void): void } {
  let waiting = '';
  const flush = () => {
    const lines = waiting;
    waiting = '';
    pendingFlushes.delete(flush);
    if (lines !== '') out.write(lines);
  };
  return {
    flush: (done) => {
      flush();
      done();
    },
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

/** Error messages of libraries quote their input. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return redactEmails(String(error));
  const { type, message, stack } = stdSerializers.err(error);
  return { type, message: redactEmails(message), stack: redactEmails(stack) };
}

/** Redacts email addresses. Truncates the text first, because the search is not linear. */
function redactEmails(text: string): string {
  return text.slice(0, 4000).replace(/[^\s@"'<>(),;]{1,100}@[^\s@"'<>(),;]+/g, '*@*');
}

/** Fields that a request adds to its log line. They contain no personal data. */
export interface RequestNotes {
  connection?: string;
  /** Kind and id of the credential: `token:<id>`, `apiKey:<id>`, `oauth:<client>`. Never the secret. */
  credential?: string | undefined;
  /** The reason for which the request has no valid credential. */
  reason?: string;
  /**
   * The reason for which the service closed the connection before the end of the response: an error of the service, or
   * a client that did not read.
   */
  cut?: 'fault' | 'notRead';
}

/** The state of one request, for its log lines. */
export class RequestScope {
  readonly id: string;
  /** The client's address, also behind trusted proxies. */
  readonly address: string;
  /** Fields for the log line that is written at the end of the request. */
  readonly notes: RequestNotes = {};
  /** True for the requests that monitoring repeats all day. If one succeeds, its log line has the level debug. */
  isRoutine = false;
  /** The route with the prefix of its service, such as `/scim/v2/Users/:id`. Undefined: the route of Express is meant. */
  route: string | undefined;
  /**
   * Called when the response has ended: `ms` is the duration, `status` 499 if the client closed the connection. It is one function
   * for all requests of a service, so that a request needs no closure and no second listener.
   */
  onEnd: ((request: Request, response: Response, ended: { ms: number; status: number }) => void) | undefined;
  /** Called once, when the request is known to have a valid credential. */
  onCredential: (() => void) | undefined;
  readonly #parent: Logger;
  #log: Logger | undefined;

  constructor({ id, address }: { id: string; address: string }, parent: Logger) {
    this.id = id;
    this.address = address;
    this.#parent = parent;
  }

  /** A logger that adds the request id to each line. Created at the first use, since most requests log nothing. */
  get log(): Logger {
    this.#log ??= this.#parent.child({ requestId: this.id });
    return this.#log;
  }
}

/** Marks a request as routine: if it succeeds, its log line has the level debug. */
export function markRoutine(response: Response): void {
  const scope: RequestScope | undefined = response.locals['scope'];
  if (scope) scope.isRoutine = true;
}

/** Adds fields to the log line of a request. Does nothing outside of an `httpApp`. */
export function addRequestNotes(response: Response, notes: RequestNotes): void {
  const scope: RequestScope | undefined = response.locals['scope'];
  if (!scope) return;
  Object.assign(scope.notes, notes);
  if (scope.notes.credential === undefined || scope.notes.reason !== undefined) return;
  scope.onCredential?.();
  scope.onCredential = undefined;
}

/** Returns the scope that `httpApp` created for the request. */
export function requestScopeOf(response: Response): RequestScope {
  return response.locals['scope'];
}

/** Records in the log line that the response was cut off because the client did not read it. */
export function noteUnreadResponse(response: ServerResponse & { locals?: { scope?: RequestScope } }): void {
  const scope = response.locals?.scope;
  if (scope) scope.notes.cut = 'notRead';
}
