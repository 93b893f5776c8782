import type { z } from 'zod';
import type { CsvColumns } from '../../http/csv.ts';
import type { ErrorCode } from '../errors.ts';

/** The roles of callers: a viewer reads, an admin changes too. */
export type Role = 'viewer' | 'admin';

/**
 * The declaration of one operation of the admin API. Its route, the checks of its input, its description in OpenAPI and
 * its conformance tests follow from it.
 */
export interface Operation {
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
  /** The columns of a response that is a file of CSV, named like the end of the path. Its handler returns pages of rows. */
  csv?: CsvColumns<never>;
  /** The codes of errors besides those that follow from the declaration. */
  errors?: ErrorCode[];
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
export function isRecorded({ method, changesNothing }: Operation): boolean {
  return method !== 'get' && !changesNothing;
}

/** The operations of one family by their names, which are the `operationId`s of the OpenAPI document. */
export type Contract = Record<string, Operation>;

/** The request as the handler of an operation receives it, after all checks. */
export interface HandlerRequest<O extends Operation> {
  params: Record<PathParameter<O['path']>, string>;
  query: Parsed<O['query']>;
  body: Parsed<O['body']>;
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
type HandlerReturn<O extends Operation> = O['isNavigation'] extends true
  ? Promise<{ location: string }>
  : O['result'] extends z.ZodType
    ? Promise<z.output<O['result']>>
    : O['csv'] extends CsvColumns<infer Row>
      ? Promise<AsyncIterable<readonly Row[]>>
      : Promise<void>;

/** One handler for each operation of a contract. */
export type Handlers<C extends Contract, Context> = {
  [Name in keyof C]: (request: HandlerRequest<C[Name]>, context: Context) => HandlerReturn<C[Name]>;
};
