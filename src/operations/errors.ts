import { StoreUnavailable } from '../model/unavailable.ts';
import { ApiError } from '../travel/errors.ts';

/** One invalid parameter or member of a body. */
export interface FieldFault {
  /** Nested members are separated by dots. */
  field: string;
  message: string;
}

/** The error codes of the admin API with their HTTP statuses and default messages. */
export const operationErrors = {
  invalidRequest: { status: 400, message: 'The request cannot be read.' },
  notSignedIn: { status: 401, message: 'Sign in first, or send an admin token as a bearer token.' },
  forbidden: { status: 403, message: 'Your role is viewer. Ask an admin to make this change.' },
  invalidCsrfToken: {
    status: 403,
    message: 'The request does not come from the admin page. Reload the page and try again.',
  },
  notFound: { status: 404, message: 'There is no such object.' },
  methodNotAllowed: { status: 405, message: 'This path does not support the method.' },
  conflict: { status: 409, message: 'Somebody else has changed this meanwhile.' },
  tooLarge: { status: 413, message: 'The body is larger than 1 MB.' },
  unsupportedMediaType: { status: 415, message: 'The body must be JSON: Content-Type: application/json.' },
  invalid: { status: 422, message: 'The input is not valid.' },
  tooCostly: { status: 422, message: 'Computing with this mapping takes too long.' },
  tooManyAttempts: { status: 429, message: 'Too many failed attempts. Wait before the next one.' },
  busy: { status: 429, message: 'Other mappings are computed at the moment. Try again in a few seconds.' },
  internalError: { status: 500, message: 'Something went wrong here. The log of the service says more.' },
  unavailable: { status: 503, message: 'The database cannot be used at the moment. Try again.' },
} as const;

export type ErrorCode = keyof typeof operationErrors;

/** An error that is answered to the caller. Its message is written for an admin. */
export class OperationError extends Error {
  readonly code: ErrorCode;
  readonly faults: FieldFault[];
  readonly retryAfterS: number | undefined;

  constructor(
    code: ErrorCode,
    message: string = operationErrors[code].message,
    details: { faults?: FieldFault[]; retryAfterS?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'OperationError';
    this.code = code;
    this.faults = details.faults ?? [];
    this.retryAfterS = details.retryAfterS;
  }

  get status(): number {
    return operationErrors[this.code].status;
  }
}

/** Returns the error for an input with one faulty member. */
export function invalidField(field: string, message: string): OperationError {
  return new OperationError('invalid', undefined, { faults: [{ field, message }] });
}

/** Returns the error for a credential, account or token that does not exist. */
export function noSuch(noun: string): OperationError {
  return new OperationError('notFound', `There is no such ${noun}, or it was revoked before.`);
}

/** The body of an error response. */
export function errorBody({ code, message, faults }: OperationError): object {
  return faults.length > 0 ? { code, message, faults } : { code, message };
}

/** Converts any error of a handler, of Express or of its body parser. */
export function toOperationError(error: unknown): OperationError {
  if (error instanceof OperationError) return error;
  if (error instanceof StoreUnavailable)
    return new OperationError('unavailable', undefined, { cause: error });
  if (error instanceof ApiError) return fromTravelService(error);
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 413) return new OperationError('tooLarge', `The body is larger than ${limitOf(error)}.`);
  if (status === 415) return new OperationError('unsupportedMediaType');
  if (status === 400) return new OperationError('invalidRequest');
  return new OperationError('internalError', undefined, { cause: error });
}

/** Converts an error of the embedded travel service, which handlers call below HTTP. */
function fromTravelService(error: ApiError): OperationError {
  const { code, message, invalid } = error;
  switch (code) {
    case 'notFound':
      return new OperationError('notFound', message);
    case 'conflict':
    case 'forbidden':
      return new OperationError('conflict', message);
    case 'badRequest':
    case 'invalidParam':
    case 'validationFailed':
      return new OperationError('invalid', message, { faults: invalid.map(toFault) });
    case 'internalError':
      return new OperationError('internalError', undefined, { cause: error });
  }
}

/** A message of the travel API begins with the field in quotes, which the page shows above it. */
function toFault({ field, message }: ApiError['invalid'][number]): FieldFault {
  return { field, message: message.replace(`"${field}" `, '') };
}

/** The limit that a body exceeds, as the body parser of Express tells it. */
function limitOf(error: unknown): string {
  const bytes = Number(Object(error).limit);
  return bytes < 1_048_576 ? `${Math.round(bytes / 1_024)} KB` : '1 MB';
}
