/** One fault in a body or a query (specification, "Error body"). */
export interface FieldFault {
  /** Nested fields use dots. */
  field: string;
  /** As received; left out when nothing was. */
  value?: string | number;
  code: string;
  message: string;
}

/** The codes of an error body, with the status that goes with each. */
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

/** A failure that the client is told; its message is made for the client. */
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

/** The body of a failure; `invalid` is present when something is named (specification, "Error body"). */
export function errorBody(error: ApiError): object {
  const { code, message, invalid } = error;
  return invalid.length > 0 ? { code, message, invalid } : { code, message };
}

/** As many faults are collected: an answer must not be larger than its question, nor cost more than it. */
export const MAX_FAULTS = 100;

/** 422: the resource would not be valid. */
export function validationFailed(invalid: FieldFault[]): ApiError {
  return new ApiError('validationFailed', 'The resource is not valid.', {
    invalid: invalid.slice(0, MAX_FAULTS),
  });
}

/** 503: the store takes nothing at the moment. The specification has no code of its own for it. */
export function storeUnavailable(cause?: unknown): ApiError {
  const text = 'Nothing can be stored at the moment; try again.';
  return new ApiError('internalError', text, { status: 503, cause });
}

/** 404: there is no such resource. */
export function notFound(type: string): ApiError {
  return new ApiError('notFound', `There is no such ${type}.`);
}
