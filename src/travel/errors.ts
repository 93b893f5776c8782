/** One invalid field of a body or parameter of a query (specification, "Error body"). */
export interface FieldFault {
  /** Nested fields are separated by dots. */
  field: string;
  /** The value as received; absent if there was none. */
  value?: string | number;
  code: string;
  message: string;
}

/** The error codes and their HTTP statuses. */
export const statuses = {
  badRequest: 400,
  invalidParam: 400,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  validationFailed: 422,
  internalError: 500,
} as const;

type ErrorCode = keyof typeof statuses;

/** An error that is answered to the client. Its message is written for the client. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly invalid: FieldFault[];

  constructor(
    code: ErrorCode,
    message: string,
    details: { invalid?: FieldFault[]; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = details.status ?? statuses[code];
    this.invalid = details.invalid ?? [];
  }
}

/** The response body of an error. `invalid` is present only if fields are named (specification, "Error body"). */
export function errorBody(error: ApiError): object {
  const { code, message, invalid } = error;
  return invalid.length > 0 ? { code, message, invalid } : { code, message };
}

/** Maximum number of faults in one response, so that a small request cannot cause a large response. */
export const MAX_FAULTS = 100;

/** 422: the document violates its schema or rules. */
export function validationFailed(invalid: FieldFault[]): ApiError {
  return new ApiError('validationFailed', 'The resource is not valid.', {
    invalid: invalid.slice(0, MAX_FAULTS),
  });
}

/** 503: the store cannot write at the moment. The specification has no code for it, so the code is `internalError`. */
export function storeUnavailable(cause?: unknown): ApiError {
  const text = 'Nothing can be stored at the moment; try again.';
  return new ApiError('internalError', text, { status: 503, cause });
}

/** 404: the resource does not exist. */
export function notFound(type: string): ApiError {
  return new ApiError('notFound', `There is no such ${type}.`);
}
