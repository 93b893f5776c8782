import {
  createLocalJWKSet,
  decodeJwt,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';

/** Signatures that nobody can make who knows only what is public. */
const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** How far the clocks of others may be off, in seconds. */
export const CLOCK_TOLERANCE_S = 60;

/** What a JSON Web Token says. */
export type Claims = JWTPayload;

/** What a verified token says, and its media type (RFC 7515 §4.1.9) in lower case, without `application/`. */
export interface VerifiedToken {
  claims: Claims;
  type: string | undefined;
}

/** Verifies that a token was signed with one of the keys, is valid now, and is as expected; else it throws (RFC 7519 §7.2). */
export async function verifyToken(
  token: string,
  keys: Keys,
  { now, ...expected }: Pick<JWTVerifyOptions, 'issuer' | 'subject' | 'audience'> & { now: number },
): Promise<VerifiedToken> {
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    ...expected,
    algorithms,
    requiredClaims: ['exp', 'sub'],
    clockTolerance: CLOCK_TOLERANCE_S,
    currentDate: new Date(now),
  });
  const { typ } = protectedHeader;
  const type =
    typ === undefined
      ? undefined
      : String(typ)
          .toLowerCase()
          .replace(/^application\//, '');
  return { claims: payload, type };
}

/** Whom a token says it is about; not to be believed before it is verified. */
export function claimedSubject(token: string): string | undefined {
  try {
    return decodeJwt(token).sub;
  } catch {
    return undefined;
  }
}

/** Finds the key that a token says it was signed with. */
export type Keys = JWTVerifyGetKey;

/** Nobody can tell whether a token is good, as its keys cannot be had. */
export class KeysUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeysUnavailable';
  }
}

/** Why a token was not verified, for the log: by the library's codes, as its messages may quote the token. */
export function verificationFault(error: unknown): string {
  if (error instanceof KeysUnavailable) return 'its keys cannot be had';
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    return `its claim ${error.claim} is missing or wrong`;
  return error instanceof errors.JOSEError ? error.code : 'it cannot be verified';
}

/** The keys of a JWKS that is at hand. */
export function localKeys(jwks: { keys: object[] }): Keys {
  return createLocalJWKSet(jwks);
}

/** The keys of what should be a JWKS (RFC 7517 §5); throws where it is none. */
export function parsedKeys(json: unknown): Keys {
  // createLocalJWKSet checks what it is given.
  return createLocalJWKSet(json as JSONWebKeySet);
}

/** Whether an error says that none of the keys at hand is the one a token names. */
export function isUnknownKey(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey;
}
