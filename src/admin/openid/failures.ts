import { OperationError } from '../../operations/errors.ts';

/** The failures of a sign-in through the OpenID provider, each with its status for the audit log and its text for the person. */
const signInFailures = {
  notConfigured: { status: 404, message: 'No OpenID provider is configured here.' },
  expired: {
    status: 401,
    message:
      'The sign-in took more than ten minutes, or was begun in another browser or tab, or was already used. Sign in again.',
  },
  denied: { status: 401, message: 'The OpenID provider did not let you in, or you cancelled the sign-in.' },
  invalidAnswer: {
    status: 401,
    message: 'The answer of the OpenID provider is not valid. Try again; the log of the service says why.',
  },
  noName: {
    status: 403,
    message:
      'The OpenID provider does not tell your name. An admin must choose another claim (adminPage.openid.nameClaim).',
  },
  noRole: {
    status: 403,
    message: 'You have no role here. Ask an admin for it, or those who manage the OpenID provider.',
  },
  tooManyAttempts: { status: 429, message: 'Too many sign-ins are under way. Try again in a moment.' },
  failed: { status: 500, message: 'Something went wrong here. The log of the service says more.' },
  misconfigured: {
    status: 502,
    message: 'The OpenID provider refuses this service. The log of the service says why.',
  },
  unavailable: {
    status: 503,
    message: 'The OpenID provider does not answer. Try again later; passwords work meanwhile.',
    messageWithoutPasswords: 'The OpenID provider does not answer. Try again later.',
  },
} as const;

export type SignInFailureCode = keyof typeof signInFailures;

/** Returns the text of a failure for the person. */
export function failureText(code: SignInFailureCode, acceptsPasswords: boolean): string {
  const failure = signInFailures[code];
  return !acceptsPasswords && 'messageWithoutPasswords' in failure
    ? failure.messageWithoutPasswords
    : failure.message;
}

/** The codes, for the declaration of a parameter. */
export const signInFailureCodes = Object.keys(signInFailures) as SignInFailureCode[];

/** A sign-in through the OpenID provider that did not succeed. The message is for the log and has no personal data. */
export class SignInFailure extends Error {
  readonly code: SignInFailureCode;

  constructor(code: SignInFailureCode, message: string = code, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SignInFailure';
    this.code = code;
  }

  get status(): number {
    return signInFailures[this.code].status;
  }
}

/** Converts any error of a sign-in. */
export function toSignInFailure(error: unknown): SignInFailure {
  if (error instanceof SignInFailure) return error;
  const isLimit = error instanceof OperationError && error.code === 'tooManyAttempts';
  return new SignInFailure(isLimit ? 'tooManyAttempts' : 'failed', undefined, { cause: error });
}
