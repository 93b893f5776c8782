/** The detail error keywords of RFC 7644 §3.12, and those of cursors (RFC 9865 §2.1); ours never expire. */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'invalidCursor'
  | 'invalidCount';

const errorUrn = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** An answer that is an error (RFC 7644 §3.12). The message may be read by the client; the cause is for the log. */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;
  readonly headers: Record<string, string>;
  /** By this SCIMMYRouters knows it for a SCIM error, whatever its status, and passes it on instead of answering itself. */
  readonly schemas = [errorUrn];

  constructor(
    status: number,
    scimType: ScimType | undefined,
    detail: string,
    { headers = {}, ...options }: ErrorOptions & { headers?: Record<string, string> } = {},
  ) {
    super(detail, options);
    this.name = 'ScimError';
    this.status = status;
    this.scimType = scimType;
    this.headers = headers;
  }
}

/** The body that tells of an error (RFC 7644 §3.12). */
export function errorBody({
  status,
  scimType,
  message,
}: Pick<ScimError, 'status' | 'scimType' | 'message'>): string {
  return JSON.stringify({ schemas: [errorUrn], status: String(status), scimType, detail: message });
}

/** A 400 of that kind. */
export function badRequest(scimType: ScimType, detail: string): ScimError {
  return new ScimError(400, scimType, detail);
}
