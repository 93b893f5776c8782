import type { ErrorRequestHandler, Response } from 'express';
import SCIMMY from 'scimmy';
import { BridgeError } from '../bridge/errors.ts';
import type { Log } from '../bridge/ports.ts';
import { scopeOf } from '../http/scope.ts';
import { SchemaFault } from '../schema/fault.ts';
import { RETRY_AFTER_S, StoreUnavailable } from '../store/unavailable.ts';
import { errorBody, ScimError, type ScimType } from './scim-error.ts';
import { sendScim } from './send.ts';

/** The error as the client is told; what is our own fault goes to the log, with its cause, and stays there. */
export function told(error: unknown, log: Log): ScimError {
  const scimError = toScimError(error);
  // An error of SCIMMY's is one that came by here before.
  const isLogged = scimError === error || error instanceof SCIMMY.Types.Error;
  if (!isLogged && scimError.status >= 500) log.error({ err: error }, scimError.message);
  return scimError;
}

/** The last handler of the front door: every error becomes a SCIM error message (RFC 7644 §3.12). */
export const answerError: ErrorRequestHandler = (error, _request, response, next) => {
  const scimError = told(error, scopeOf(response).log);
  // What has begun cannot be answered otherwise any more; express then ends the connection.
  if (response.headersSent) next(error);
  else sendError(response, scimError);
};

function sendError(response: Response, error: ScimError): void {
  const { status, headers } = error;
  response.status(status).set(headers);
  // In seconds; without it Okta waits for five minutes.
  if (status === 503 && !response.hasHeader('Retry-After')) response.set('Retry-After', '1');
  sendScim(response, errorBody(error));
}

function toScimError(error: unknown): ScimError {
  if (error instanceof ScimError) return error;
  if (error instanceof SchemaFault) return fromSchema(error);
  if (error instanceof BridgeError) return fromBridge(error);
  if (error instanceof StoreUnavailable) return fromStore(error);
  // What a resource threw comes back from SCIMMYRouters as an error of SCIMMY's own, told to the log already.
  if (error instanceof SCIMMY.Types.Error) return fromScimmy(error);
  return fromExpress(error) ?? new ScimError(500, undefined, 'Something went wrong here.', { cause: error });
}

function fromSchema(fault: SchemaFault): ScimError {
  switch (fault.kind) {
    case 'value':
      return new ScimError(400, 'invalidValue', fault.message, { cause: fault });
    case 'schemas':
      return new ScimError(400, 'invalidSyntax', fault.message, { cause: fault });
  }
}

function fromBridge(error: BridgeError): ScimError {
  switch (error.kind) {
    case 'notFound':
      return new ScimError(404, undefined, error.message, { cause: error });
    case 'conflict':
      return new ScimError(409, 'uniqueness', error.message, { cause: error });
    case 'refused':
      return new ScimError(403, undefined, error.message, { cause: error });
    case 'tooMany':
      return new ScimError(400, 'tooMany', error.message, { cause: error });
    case 'noTarget':
      return new ScimError(400, 'noTarget', error.message, { cause: error });
    case 'abandoned':
      // Nobody reads it.
      return new ScimError(408, undefined, error.message, { cause: error });
    case 'unavailable':
      return new ScimError(503, undefined, error.message, { cause: error });
  }
}

function fromStore(cause: StoreUnavailable): ScimError {
  const headers = { 'Retry-After': String(RETRY_AFTER_S) };
  return new ScimError(503, undefined, 'Nothing can be stored at the moment; try again.', { headers, cause });
}

/** SCIMMY types the fields of its error too widely; they are those of the ScimError that it was made from. */
function fromScimmy({ status, scimType, message }: InstanceType<typeof SCIMMY.Types.Error>): ScimError {
  return new ScimError(Number(status), scimType as ScimType | undefined, message);
}

/** Faults that express and its body parser find before anything of ours runs; they carry a status. */
function fromExpress(error: unknown): ScimError | undefined {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  if (status === 413) return new ScimError(413, undefined, 'The body is larger than 1 MB.', { cause: error });
  if (status === 415) {
    return new ScimError(415, undefined, 'The encoding of the body is not supported.', { cause: error });
  }
  const isClients = status >= 400 && status < 500;
  return isClients
    ? new ScimError(400, 'invalidSyntax', 'The request cannot be read.', { cause: error })
    : undefined;
}
