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
import { isNestedTooDeep, nestedTooDeepText } from '../schema/json-depth.ts';
import { type AddressGuard, fetchLimited, getGuarded } from './limited-fetch.ts';
import { isSafeUrl } from './proxies.ts';

/** Asymmetric algorithms only: a public key must not be usable as an HMAC secret. */
export const signatureAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** Accepted difference between two clocks, in seconds. */
export const CLOCK_TOLERANCE_S = 60;

/** The claims of a JSON Web Token. */
export type Claims = JWTPayload;

/** The claims of a verified token, and its media type (RFC 7515 §4.1.9) in lower case without `application/`. */
export interface VerifiedToken {
  claims: Claims;
  type: string | undefined;
}

/**
 * Verifies the signature, the validity period and the expected claims of a token. Throws if one of them is wrong
 * (RFC 7519 §7.2).
 */
export async function verifyToken(
  token: string,
  keys: KeyResolver,
  { now, ...expected }: Pick<JWTVerifyOptions, 'issuer' | 'subject' | 'audience'> & { now: number },
): Promise<VerifiedToken> {
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    ...expected,
    algorithms: signatureAlgorithms,
    requiredClaims: ['exp', 'sub'],
    clockTolerance: CLOCK_TOLERANCE_S,
    currentDate: new Date(now),
  });
  // A token that is issued in the future was made by a wrong clock, or to outlive its time.
  if (payload.iat !== undefined && !isIssued(payload.iat, now))
    throw new errors.JWTClaimValidationFailed('the token is issued in the future', payload, 'iat');
  if (isNestedTooDeep(payload)) throw new Error(`the token ${nestedTooDeepText()}`);
  const { typ } = protectedHeader;
  const type =
    typ === undefined
      ? undefined
      : String(typ)
          .toLowerCase()
          .replace(/^application\//, '');
  return { claims: payload, type };
}

/** False for the time of issue of a token, in epoch seconds, that is further ahead than clocks differ, and for one that is no number. */
export function isIssued(iat: number, now: number): boolean {
  return iat <= now / 1000 + CLOCK_TOLERANCE_S;
}

/** Returns the claims of a token without verifying it; undefined if it cannot be parsed, or if its issuer or subject is no text. */
export function unverifiedClaims(token: string): Claims | undefined {
  try {
    const claims = decodeJwt(token);
    const isText = (claim: unknown) => claim === undefined || typeof claim === 'string';
    return isText(claims.iss) && isText(claims.sub) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** Finds the key that a token names in its header. */
export type KeyResolver = JWTVerifyGetKey;

/** The keys of a provider cannot be read, so its tokens cannot be verified. */
export class KeysUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeysUnavailable';
  }
}

/**
 * Returns the reason for which a verification at a time failed, for the log. Built from the library's error codes, because its messages
 * may quote the token.
 */
export function verificationFaultText(error: unknown, now: number): string {
  if (error instanceof KeysUnavailable) return 'its keys could not be fetched';
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    const time = Number(['exp', 'nbf', 'iat'].includes(error.claim) ? error.payload[error.claim] : undefined);
    if (Number.isNaN(time)) return `its claim ${error.claim} is missing or wrong`;
    return `its claim ${error.claim} is ${time}, and now it is ${Math.floor(now / 1000)}`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return `its algorithm is none of ${signatureAlgorithms.join(', ')}`;
  if (error instanceof errors.JWKSNoMatchingKey) return 'no key of its issuer is the one that it names';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong';
  return error instanceof errors.JOSEError ? error.code : 'it cannot be verified';
}

/** Resolves keys of a parsed JWKS document (RFC 7517 §5). Throws if it is malformed. */
export function localKeyResolver(json: unknown): KeyResolver {
  // createLocalJWKSet validates its argument.
  return createLocalJWKSet(json as JSONWebKeySet);
}

/** True if a token names a key that the key set does not contain. */
export function isUnknownKey(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey;
}

/** Time limit of one request for keys, in milliseconds. */
const TIMEOUT_MS = 3_000;
/** Keys are read again after this time, in milliseconds. */
const REFRESH_AFTER_MS = 10 * 60_000;
/**
 * The time for which the last keys are used while new ones cannot be read, in milliseconds: longer than most outages,
 * but not forever, because a withdrawn key must become invalid.
 */
const MAX_STALE_MS = 60 * 60_000;
/**
 * Within this time, in milliseconds, a token with an unknown `kid` does not cause another read: forged tokens must
 * not flood the provider.
 */
const COOLDOWN_MS = 30_000;
/** Pause after a failed read, in milliseconds. */
const RETRY_MS = 5_000;

/** Keys with the time at which they were read. */
interface Cached {
  keys: KeyResolver;
  readAt: number;
}

/**
 * Resolves keys of a JWKS (RFC 7517 §5) at a URL, which is looked up when a key is first needed. If a later read
 * fails, known keys stay in use, and only tokens that name other keys are refused. A URL from the settings needs no `guard`.
 */
export function remoteKeyResolver(
  addressOf: () => Promise<string>,
  now: () => number,
  guard?: AddressGuard,
): KeyResolver {
  const source = keySource(addressOf, now, guard);
  return async (header, token) => {
    const cached = source.cached();
    const { keys, readAt } =
      cached && isWithin(now() - cached.readAt, REFRESH_AFTER_MS) ? cached : await source.renew();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!isUnknownKey(error) || isWithin(now() - readAt, COOLDOWN_MS)) throw error;
      return (await source.read()).keys(header, token);
    }
  };
}

interface KeySource {
  cached(): Cached | undefined;
  /** Reads the keys. Throws KeysUnavailable, without a cause if the last failure was a few seconds ago. */
  read(): Promise<Cached>;
  /** Like `read`, but falls back to the last keys if they are not too old. */
  renew(): Promise<Cached>;
}

function keySource(addressOf: () => Promise<string>, now: () => number, guard?: AddressGuard): KeySource {
  let cached: Cached | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<Cached> | undefined;
  let address: Promise<string> | undefined;
  const request = async () => {
    try {
      address ??= addressOf();
      const keys = localKeyResolver(await readJson(await address, guard));
      cached = { keys, readAt: now() };
      return cached;
    } catch (error) {
      // The provider may have moved its keys: resolve the URL again next time.
      address = undefined;
      failedAt = now();
      throw new KeysUnavailable('the keys could not be fetched', { cause: error });
    } finally {
      pending = undefined;
    }
  };
  const read = async () => {
    if (isWithin(now() - failedAt, RETRY_MS))
      throw new KeysUnavailable('the keys could not be had some seconds ago');
    pending ??= request();
    return pending;
  };
  const renew = async () => {
    try {
      return await read();
    } catch (error) {
      if (cached && isWithin(now() - cached.readAt, MAX_STALE_MS)) return cached;
      throw error;
    }
  };
  return { cached: () => cached, read, renew };
}

/**
 * True if a time span is shorter than the limit. Negative spans occur after the clock was set back and are never
 * within it.
 */
function isWithin(ms: number, span: number): boolean {
  return ms >= 0 && ms < span;
}

/** Reads JSON from a URL. Throws for every status but 200, for redirects and for responses that are too large. */
async function readJson(url: string, guard?: AddressGuard): Promise<unknown> {
  const headers = { accept: 'application/json, application/jwk-set+json' };
  const answer = guard
    ? await getGuarded(url, headers, { ...guard, timeoutMs: TIMEOUT_MS })
    : await fetchLimited(url, { redirect: 'error', headers }, TIMEOUT_MS);
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}`);
  return answer.json();
}

/** Returns the URL of the keys of an OpenID provider (OpenID Connect Discovery 1.0 §4), which is https, or on this machine. */
export async function discoverJwksUri(issuer: string, guard?: AddressGuard): Promise<string> {
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const { issuer: named, jwks_uri: uri } = Object(await readJson(url, guard));
  // The document must be that of the provider: "The issuer value returned MUST be identical to the Issuer URL that was
  // used" (OpenID Connect Discovery 1.0 §4.3).
  if (named !== issuer) throw new Error(`${url} is of another issuer`);
  if (typeof uri !== 'string' || !isSafeUrl(uri)) throw new Error(`${url} names no https URL as jwks_uri`);
  return uri;
}
