import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  errors,
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

/** The claims of a token, when it was signed with one of the keys, is of now, and is as expected; else it throws (RFC 7519 §7.2). */
export async function verifiedClaims(
  token: string,
  keys: Keys,
  { now, ...expected }: Pick<JWTVerifyOptions, 'issuer' | 'subject' | 'audience'> & { now: number },
): Promise<Claims> {
  const { payload } = await jwtVerify(token, keys, {
    ...expected,
    algorithms,
    requiredClaims: ['exp', 'sub'],
    clockTolerance: CLOCK_TOLERANCE_S,
    currentDate: new Date(now),
  });
  return payload;
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

/** How long an answer may take, how long keys are taken for current, and how long after a failure nobody asks again. */
const TIMEOUT_MS = 3_000;
const FRESH_MS = 10 * 60_000;
const RETRY_MS = 5_000;

/** The keys of a JWKS (RFC 7517 §5) at an address, which is looked up when a key is first needed. */
export function remoteKeys(addressOf: () => Promise<string>, now: () => number): Keys {
  let keys: Promise<Keys> | undefined;
  let retryAt = 0;
  const open = async () => {
    const options = { timeoutDuration: TIMEOUT_MS, cacheMaxAge: FRESH_MS };
    return createRemoteJWKSet(new URL(await addressOf()), options);
  };
  return async (header, token) => {
    const left = retryAt - now();
    // It is longer than that only after the clock was set back.
    if (left > 0 && left <= RETRY_MS) throw new KeysUnavailable('the keys could not be had some seconds ago');
    keys ??= open();
    try {
      return await (await keys)(header, token);
    } catch (error) {
      if (isAnswered(error)) throw error;
      keys = undefined;
      retryAt = now() + RETRY_MS;
      throw new KeysUnavailable('the keys cannot be had', { cause: error });
    }
  };
}

/** The keys of a JWKS that is at hand. */
export function localKeys(jwks: { keys: object[] }): Keys {
  return createLocalJWKSet(jwks);
}

/** The keys are there, but not the one that was asked for. */
function isAnswered(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
}

/** Where an OpenID provider says that its keys are (OpenID Connect Discovery 1.0 §4). */
export async function discoveredKeys(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  const { issuer: named, jwks_uri: uri } = Object(await answer.json());
  // "The issuer value returned MUST be identical to the Issuer URL that was used" (§4.3)
  if (named !== issuer) throw new Error(`${url} is of another issuer`);
  if (typeof uri !== 'string') throw new Error(`${url} names no jwks_uri`);
  return uri;
}
