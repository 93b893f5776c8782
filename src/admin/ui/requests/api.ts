import type { z } from 'zod';
import type { FlatInput } from '../../../operations/operation.ts';
import type { adminOperations } from '../../catalog.ts';

/** The method, path and kind of input of an operation. The build takes it from the contract (vite.config.ts), whose schemas stay on the server. */
export interface Route {
  method: string;
  /** Below `/admin/api`, with parameters in braces. */
  path: string;
  hasBody: boolean;
}

declare const OPERATIONS: Record<OperationName, Route>;

export type OperationName = keyof typeof adminOperations;
type Declared<Name extends OperationName> = (typeof adminOperations)[Name];

/** The parameters of the path and the query, and the members of the body, in one object. */
export type Input<Name extends OperationName> = FlatInput<Declared<Name>>;

/** The response of an operation; undefined if it has none. */
export type Result<Name extends OperationName> =
  Declared<Name> extends { result: infer Schema extends z.ZodType } ? z.input<Schema> : undefined;

/** Calls an operation of the admin API. Throws a `RequestFailure`. */
export function call<Name extends OperationName>(
  name: Name,
  ...[input]: object extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>]
): Promise<Result<Name>> {
  return request(name, input);
}

/** The operations that return a file of CSV. */
export type DownloadOperation = {
  [Name in OperationName]: Declared<Name> extends { csv: object } ? Name : never;
}[OperationName];

/** Returns the URL of a file. */
export function downloadUrl<Name extends DownloadOperation>(name: Name, input: Input<Name>): string {
  return toRequest(OPERATIONS[name], input).url;
}

/** Calls an operation with a whole input; the signal aborts the call. */
export async function request<Name extends OperationName>(
  name: Name,
  input: Input<Name> | undefined,
  signal?: AbortSignal,
): Promise<Result<Name>> {
  const { url, ...init } = toRequest(OPERATIONS[name], Object(input));
  return (await send(url, init, signal)) as Result<Name>;
}

/** Sends a request on the session of the page, and returns the body of its answer. Throws a `RequestFailure`. */
export async function send(
  url: string,
  init: { method: string; headers: Record<string, string>; body: string | null },
  signal?: AbortSignal,
): Promise<unknown> {
  if (csrfToken !== undefined) init.headers['X-CSRF-Token'] = csrfToken;
  const response = await fetch(url, { ...init, signal: signal ?? null }).catch(toFailure);
  // A response without a body is one of an operation without a result, or a failure of something between the page and the service.
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw new RequestFailure(response.status, Object(body));
  return body;
}

/** Distributes the input of an operation: to its path, and the rest to its body or to its query. */
export function toRequest({ method, path, hasBody }: Route, input: Record<string, unknown>) {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest.get(name));
    rest.delete(name);
    return encodeURIComponent(value);
  });
  const url = `/admin/api${filled}`;
  if (hasBody) {
    const headers: Record<string, string> = { 'Content-Type': 'application/json' };
    return { url, method, headers, body: JSON.stringify(Object.fromEntries(rest)) };
  }
  const query = new URLSearchParams();
  for (const [name, value] of rest) query.set(name, String(value));
  const headers: Record<string, string> = {};
  return { url: String(query) === '' ? url : `${url}?${query}`, method, headers, body: null };
}

let csrfToken: string | undefined;

/** Sets the CSRF token of the session, which all requests send from now on. */
export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

/** The failure of a request, with a message for an admin. */
export class RequestFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly faults: { field: string; message: string }[];

  constructor(status: number, { code, message, faults = [], invalid = [] }: Partial<ErrorBody>) {
    super(message ?? 'The service did not answer as expected. Try again.');
    this.status = status;
    this.code = code ?? 'internalError';
    this.faults = [...faults, ...invalid.map(withoutField)];
  }
}

/** The faults of an input that the service has found. */
export function faultsOf(error: Error | null): { field: string; message: string }[] {
  return error instanceof RequestFailure ? error.faults : [];
}

/** The fault of a field of a form, or of something inside it. */
export function faultOf(error: Error | null, field: string): string | undefined {
  return faultsOf(error).find((fault) => `${fault.field}.`.startsWith(`${field}.`))?.message;
}

interface Fault {
  field: string;
  message: string;
}

/** The body of an error. The travel API calls its faults `invalid`. */
interface ErrorBody {
  code: string;
  message: string;
  faults: Fault[];
  invalid: Fault[];
}

/** A message of the travel API begins with the field in quotes, which the page shows above it. */
function withoutField({ field, message }: Fault): Fault {
  return { field, message: message.replace(`"${field}" `, '') };
}

/** Converts a failure of `fetch`: a TypeError is one of the network. */
function toFailure(error: unknown): never {
  if (!(error instanceof TypeError)) throw error;
  throw new RequestFailure(0, { code: 'offline', message: 'The service cannot be reached. Is it running?' });
}
