import { setImmediate } from 'node:timers/promises';
import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import { clientAddressOf } from '../http/authentication.ts';
import { csvText } from '../http/csv.ts';
import { addRequestNotes, markRoutine } from '../http/log.ts';
import { streamResponse } from '../http/streamed-response.ts';
import { ADMIN_CREDENTIAL } from '../model/exchange.ts';
import { RETRY_AFTER_S } from '../model/unavailable.ts';
import { withAuditEntry } from '../operations/audited.ts';
import { errorBody, OperationError, toOperationError } from '../operations/errors.ts';
import { parseInput } from '../operations/input.ts';
import {
  type Declaration,
  type Declarations,
  isRecorded,
  type OperationContext,
  type OperationInput,
  type Operations,
} from '../operations/operation.ts';
import { isNestedTooDeep, MAX_JSON_DEPTH, nestedTooDeepText } from '../schema/json-depth.ts';
import type { AuditLog } from '../store/credentials/audit-log.ts';
import type { RefusedSignIns } from './sign-in/refused-sign-ins.ts';
import { type Caller, findCaller, type SessionDeps } from './sign-in/sessions.ts';

/** The context of a request, beside its parameters and body. Sign-ins use more of it than other operations. */
export interface AdminContext extends OperationContext {
  caller: Caller | undefined;
  address: string;
  response: Response;
}

type Handle = (
  input: OperationInput<Declaration>,
  deps: RouterDeps,
  context: AdminContext,
) => Promise<object | undefined>;

/** Dependencies of all operations. */
export interface RouterDeps extends SessionDeps {
  audit: AuditLog;
  refusedSignIns: RefusedSignIns;
  /** Returns scheme and host of the URLs that clients use, without a slash at the end. */
  publicUrl(request: Request): string;
  log: { warn(fields: object, text: string): void; error(fields: object, text: string): void };
}

/** More than any mapping or command that an admin sends, in bytes. */
const MAX_BODY_BYTES = 1_048_576;

/** Creates the routes of operations. `deps` has what their handlers use. */
export function operationRouter(operations: Operations, deps: RouterDeps): Router {
  const router = Router({ caseSensitive: true });
  for (const [name, operation] of Object.entries(operations)) {
    // The input that a handler gets is parsed by the declaration of its own operation.
    const handle = operation.handle as Handle;
    const limit = operation.maxBodyBytes ?? MAX_BODY_BYTES;
    const access = operation.isNavigation ? [] : [authenticate(operation, deps)];
    const body = operation.body ? [requireJson, express.json({ limit }), refuseDeepBody(operation)] : [];
    // A client can send its body minutes after the head, when its session has ended or its role has changed.
    const accessAfterBody = operation.body && operation.access !== 'anyone' ? access : [];
    router[operation.method](
      routePath(operation),
      ...access,
      ...body,
      ...accessAfterBody,
      (request: Request, response: Response) => answer(request, response, { name, operation, handle, deps }),
      ...(operation.isSignIn ? [countRefusal(name, deps)] : []),
    );
  }
  return router;
}

/** Converts the path of a declaration to that of a route of Express. */
function routePath({ path }: Declaration): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Finds the caller, before the body is read and again afterwards. Throws 401 or 403. */
function authenticate(operation: Declaration, deps: RouterDeps): RequestHandler {
  return async (request, response, next) => {
    const caller = await admitCaller(request, response, operation.access, deps);
    // The page reads what it shows again and again, but a download is made by a person.
    if (caller?.session && request.method === 'GET' && !operation.csv) markRoutine(response);
    const locals: CallerLocals = response.locals;
    locals.caller = caller;
    next();
  };
}

/** Finds the caller. Throws 401 or 403 unless the caller has the access. */
export async function admitCaller(
  request: Request,
  response: Response,
  access: Declaration['access'],
  deps: SessionDeps,
): Promise<Caller | undefined> {
  const caller = await findCaller(request, deps);
  addRequestNotes(response, { credential: caller && `${ADMIN_CREDENTIAL}${caller.id}` });
  checkAccess(request, caller, access);
  return caller;
}

interface CallerLocals {
  caller?: Caller | undefined;
  isRefusalRecorded?: boolean;
}

/** Counts a sign-in whose body is refused, or for which there is no time. Its handler records the others. */
function countRefusal(action: string, { refusedSignIns }: RouterDeps): ErrorRequestHandler {
  return (error, _request, response, next) => {
    const { isRefusalRecorded }: CallerLocals = response.locals;
    if (!isRefusalRecorded && toOperationError(error).status < 500) refusedSignIns.count(action);
    next(error);
  };
}

/** Records that a sign-in is refused. A name that no account has is not kept: it may be a password that was typed there. */
export async function recordRefusal(
  { response, address }: Pick<AdminContext, 'response' | 'address'>,
  { action, account }: { action: string; account: string | undefined },
  { refusedSignIns }: Pick<RouterDeps, 'refusedSignIns'>,
): Promise<void> {
  const locals: CallerLocals = response.locals;
  locals.isRefusalRecorded = true;
  const { status } = new OperationError('notSignedIn');
  await refusedSignIns.record({ action, address, account, status });
}

/** A browser can send a form or plain text to another site without asking, but not JSON. */
const requireJson: RequestHandler = (request, _response, next) => {
  next(request.is('application/json') ? undefined : new OperationError('unsupportedMediaType'));
};

/** A sign-in has no nested members. */
const MAX_SIGN_IN_DEPTH = 10;

function refuseDeepBody({ isSignIn }: Declaration): RequestHandler {
  const levels = isSignIn ? MAX_SIGN_IN_DEPTH : MAX_JSON_DEPTH;
  return ({ body }, _response, next) => {
    const isTooDeep = isNestedTooDeep(body, levels);
    next(
      isTooDeep ? new OperationError('invalidRequest', `The body ${nestedTooDeepText(levels)}.`) : undefined,
    );
  };
}

async function answer(
  request: Request,
  response: Response,
  {
    name,
    operation,
    handle,
    deps,
  }: { name: string; operation: Declaration; handle: Handle; deps: RouterDeps },
): Promise<void> {
  const { caller }: CallerLocals = response.locals;
  const input = parseInput(operation, request);
  const details: Record<string, unknown> = { ...input.params };
  const address = clientAddressOf(response);
  const note = (facts: Record<string, unknown>) => Object.assign(details, facts);
  const publicUrl = deps.publicUrl(request);
  const context: AdminContext = { caller, address, response, note, publicUrl, signal: closeSignal(response) };
  const run = () => handle(input, deps, context);
  const actor = caller && { actor: caller.shownName, actorKind: caller.kind };
  const result =
    isRecorded(operation) && actor
      ? await withAuditEntry(run, { action: name, details, address, ...actor }, deps)
      : await run();
  if (result && operation.isNavigation) response.redirect(303, String(Object(result).location));
  else if (operation.csv) await sendCsv(response, operation, result as AsyncIterable<never[]>);
  else if (result === undefined) response.status(204).end();
  else response.json(operation.result ? operation.result.encode(Object(result)) : result);
}

/** Returns a signal that is aborted when the client closes the connection. */
function closeSignal(response: Response): AbortSignal {
  const closed = new AbortController();
  if (response.closed) closed.abort();
  else response.once('close', () => closed.abort());
  return closed.signal;
}

/**
 * The beginning of a file: without it Excel reads UTF-8 in the encoding of the machine, and names such as Zoë are spoiled.
 */
const BYTE_ORDER_MARK = '\ufeff';

/** Sends rows as a file, page by page. Other requests run between two pages. */
async function sendCsv(
  response: Response,
  { path, csv = {} }: Declaration,
  pages: AsyncIterable<never[]>,
): Promise<void> {
  async function* pieces() {
    yield BYTE_ORDER_MARK;
    for await (const lines of csvText(csv, pages)) {
      yield lines;
      await setImmediate();
    }
  }
  response.attachment(path.slice(path.lastIndexOf('/') + 1));
  response.type('text/csv');
  if (response.req.method === 'HEAD') response.end();
  else await streamResponse(response, pieces());
}

/** Throws 401 or 403 unless the caller may use the operation. */
function checkAccess(
  { method, headers }: Request,
  caller: Caller | undefined,
  access: Declaration['access'],
): void {
  if (access === 'anyone') return;
  if (!caller) throw new OperationError('notSignedIn');
  const isUnsafe = method !== 'GET' && method !== 'HEAD';
  if (isUnsafe && caller.session && headers['x-csrf-token'] !== caller.session.csrfToken)
    throw new OperationError('invalidCsrfToken');
  if (access === 'admin' && caller.role !== 'admin') throw new OperationError('forbidden');
}

/** Converts every error to a response. */
export function adminErrorHandler(log: RouterDeps['log']): ErrorRequestHandler {
  return (error, _request, response, next) => {
    if (response.headersSent) return next(error);
    const known = toOperationError(error);
    if (known.status >= 500) log.error({ err: error }, 'the admin API failed');
    if (known.status === 503) response.set('Retry-After', String(RETRY_AFTER_S));
    if (known.retryAfterS !== undefined) response.set('Retry-After', String(known.retryAfterS));
    if (known.status === 401) response.set('WWW-Authenticate', 'Bearer realm="jetbridge admin"');
    response.status(known.status).json(errorBody(known));
  };
}

/** Refuses a method that no operation of the path has. */
export function refuseOtherMethods(declarations: Declarations): Router {
  const router = Router({ caseSensitive: true });
  const methods = new Map<string, string[]>();
  for (const operation of Object.values(declarations)) {
    const known = methods.get(routePath(operation)) ?? [];
    methods.set(routePath(operation), [...known, operation.method.toUpperCase()]);
  }
  for (const [path, allowed] of methods) {
    router.all(path, (_request, response) => {
      response.set('Allow', allowed.join(', '));
      throw new OperationError('methodNotAllowed', `This path supports ${allowed.join(', ')}.`);
    });
  }
  return router;
}
