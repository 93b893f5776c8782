import type { z } from 'zod';
import type { CsvColumns } from '../http/csv.ts';
import type { Role } from '../store/credentials/admins.ts';
import type { MappingDeps, OperationDeps, ServiceDeps } from './deps.ts';
import type { ErrorCode } from './errors.ts';

/**
 * The declaration of one operation: its place in the admin API, who may call it, its input and its result. The route, the checks of the
 * input, the description in OpenAPI, the options of its command and the conformance tests follow from it.
 */
export interface Declaration {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below `/admin/api`, with parameters in braces, e.g. `/people/{id}`. */
  path: `/${string}`;
  /** The family under which documents list the operation. */
  tag: string;
  summary: string;
  /** `anyone`: without a session and without a token. */
  access: Role | 'anyone';
  query?: z.ZodObject;
  /** The body, always JSON. */
  body?: z.ZodObject;
  /** The largest body, in bytes; 1 MB by default. */
  maxBodyBytes?: number;
  /** The response. Without it, and without `csv`, the operation answers 204. */
  result?: z.ZodObject;
  /** The columns of a response that is a file of CSV, named like the end of the path. The handler returns pages of rows. */
  csv?: CsvColumns<never>;
  /** The codes of errors besides those that follow from the declaration. */
  errors?: readonly ErrorCode[];
  /** True for a POST that changes nothing, such as a preview. All other methods than GET are recorded in the audit log. */
  changesNothing?: true;
  /**
   * True for an attempt to sign in, which anyone can make: its handler records a success, and refusals are summed up in the audit log. Its
   * body is small and nested less than ten levels deep.
   */
  isSignIn?: true;
  /**
   * True if a browser goes here as to a page: the response is a redirect, also of a failure, and parameters that are not declared are
   * ignored, because providers add their own. The caller is not looked up.
   */
  isNavigation?: true;
}

/** True if each attempt is recorded in the audit log. */
export function isRecorded({ method, changesNothing }: Declaration): boolean {
  return method !== 'get' && !changesNothing;
}

/** The input of an operation, as its handler receives it after all checks. */
export interface OperationInput<D extends Declaration> {
  params: Record<PathParameter<D['path']>, string>;
  query: Parsed<D['query']>;
  body: Parsed<D['body']>;
}

/** The names of the parameters in a path. Each is an id. */
export type PathParameter<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never;

type Parsed<S> = S extends z.ZodType ? z.output<S> : Record<never, never>;

/**
 * The result of the handler of an operation. The declaration converts times to texts, and leaves out members that it does not name. A
 * navigation returns the URL to which the browser is redirected.
 */
type OperationResult<D extends Declaration> = D['isNavigation'] extends true
  ? Promise<{ location: string }>
  : D['result'] extends z.ZodType
    ? Promise<z.output<D['result']>>
    : D['csv'] extends CsvColumns<infer Row>
      ? Promise<AsyncIterable<readonly Row[]>>
      : Promise<void>;

/** The whole input in one object, as clients give it: the parameters of the path, and the members of the query or the body. */
export type FlatInput<D extends Declaration> = Record<PathParameter<D['path']>, string> &
  Unparsed<D['query']> &
  Unparsed<D['body']>;

type Unparsed<S> = S extends z.ZodType ? z.input<S> : object;

/** The result of an operation, before times become texts; undefined if it has none. */
export type OperationOutput<D extends Declaration> = D extends { result: infer R extends z.ZodType }
  ? z.output<R>
  : undefined;

/** The caller of an operation, as the audit log and its own decisions name it. */
export interface OperationCaller {
  kind: 'account' | 'token' | 'command';
  /** The id of the account or token; the name of a user of the operating system. */
  id: string;
  shownName: string;
  role: Role;
}

/** The circumstances of one call, beside its input. */
export interface OperationContext {
  /** Undefined only in operations that anyone may call. */
  caller: OperationCaller | undefined;
  /** Scheme and host of the URLs that clients use, without a slash at the end. */
  publicUrl: string;
  /** Aborted when the caller does not wait for the result any more. */
  signal: AbortSignal;
  /** Adds facts to the entry of the audit log, e.g. what was changed from what to what. Without secrets. */
  note(details: Record<string, unknown>): void;
}

/** The handler of an operation. Throws an `OperationError`. */
export type Handler<D extends Declaration, Deps, Context> = (
  input: OperationInput<D>,
  deps: Deps,
  context: Context,
) => OperationResult<D>;

/** An operation: its declaration and its handler. */
export type Operation<D extends Declaration, Deps, Context> = D & { handle: Handler<D, Deps, Context> };

/** Declarations by the names of their operations. */
export type Declarations = Record<string, Declaration>;

/** Operations by their names, which are the `operationId`s of the OpenAPI document. */
export type Operations = Record<string, Declaration & { handle(...input: never[]): Promise<unknown> }>;

/** Returns a function that joins a declaration with its handler, which works with these dependencies. */
export function operationWith<Deps, Context = OperationContext>() {
  return <const D extends Declaration>(
    declaration: D,
    handle: Handler<D, Deps, Context>,
  ): Operation<D, Deps, Context> => ({ ...declaration, handle });
}

/** An operation on what the database has, which the service and commands can run. */
export const operation = operationWith<OperationDeps>();

/** An operation that reads the travel API or puts rules in force, which the service and commands can run. */
export const mappingOperation = operationWith<MappingDeps>();

/** An operation that a running service alone can carry out. */
export const serviceOperation = operationWith<ServiceDeps>();
