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
  keys: KeyResolver,
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
export function unverifiedSubject(token: string): string | undefined {
  try {
    return decodeJwt(token).sub;
  } catch {
    return undefined;
  }
}

/** Finds the key that a token says it was signed with. */
export type KeyResolver = JWTVerifyGetKey;

/** Nobody can tell whether a token is good, as its keys cannot be had. */
export class KeysUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeysUnavailable';
  }
}

/** Why a token was not verified, for the log: by the library's codes, as its messages may quote the token. */
export function verificationFaultText(error: unknown): string {
  if (error instanceof KeysUnavailable) return 'its keys cannot be had';
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    return `its claim ${error.claim} is missing or wrong`;
  return error instanceof errors.JOSEError ? error.code : 'it cannot be verified';
}

/** The keys of a JWKS that is at hand. */
export function localKeyResolver(jwks: { keys: object[] }): KeyResolver {
  return createLocalJWKSet(jwks);
}

/** The keys of what should be a JWKS (RFC 7517 §5); throws where it is none. */
export function parseKeySet(json: unknown): KeyResolver {
  // createLocalJWKSet checks what it is given.
  return createLocalJWKSet(json as JSONWebKeySet);
}

/** Whether an error says that none of the keys at hand is the one a token names. */
export function isUnknownKey(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey;
}

/** How long one answer may take, in milliseconds, and how much of it is read, in bytes. */
const TIMEOUT_MS = 3_000;
const MAX_BYTES = 1024 * 1024;
/** Keys are read anew after this time, in milliseconds. */
const REFRESH_AFTER_MS = 10 * 60_000;
/** While they cannot be read, the last ones serve for so long: an outage is longer than that only rarely, and a withdrawn key must end. */
const MAX_STALE_MS = 60 * 60_000;
/** A token with an unknown `kid` causes no second reading within this time: tokens that anybody can make must not flood the provider. */
const COOLDOWN_MS = 30_000;
/** After a failure the address is not asked again for this time. */
const RETRY_MS = 5_000;

/** Keys as they were read. */
interface Cached {
  keys: KeyResolver;
  readAt: number;
}

/**
 * The keys of a JWKS (RFC 7517 §5) at an address, which is looked up when a key is first needed. Keys that were read stay
 * in use when a later reading fails; only tokens that name other keys are refused then.
 */
export function remoteKeyResolver(addressOf: () => Promise<string>, now: () => number): KeyResolver {
  const source = keySource(addressOf, now);
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
  /** Reads the keys; throws KeysUnavailable, without a cause where the failure was a few seconds ago. */
  read(): Promise<Cached>;
  /** The same, but answers the last keys where a reading fails and they are not too old. */
  renew(): Promise<Cached>;
}

function keySource(addressOf: () => Promise<string>, now: () => number): KeySource {
  let cached: Cached | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<Cached> | undefined;
  let address: Promise<string> | undefined;
  const request = async () => {
    try {
      address ??= addressOf();
      const keys = parseKeySet(await readJson(await address));
      cached = { keys, readAt: now() };
      return cached;
    } catch (error) {
      // The address may be another one by now.
      address = undefined;
      failedAt = now();
      throw new KeysUnavailable('the keys cannot be had', { cause: error });
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

/** Whether so much time lies within a span; time is negative after the clock was set back, and then nothing is known. */
function isWithin(ms: number, span: number): boolean {
  return ms >= 0 && ms < span;
}

/** Reads JSON from an address; throws for any answer but 200, for one that is too long, and for a redirect. */
async function readJson(url: string): Promise<unknown> {
  const answer = await fetch(url, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
    headers: { accept: 'application/json, application/jwk-set+json' },
  });
  if (answer.status !== 200 || !answer.body) {
    await answer.body?.cancel();
    throw new Error(`${url} answers ${answer.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the rest of the answer.
    if (bytes > MAX_BYTES) throw new Error(`${url} answers more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** Where an OpenID provider says that its keys are (OpenID Connect Discovery 1.0 §4). */
export async function discoverJwksUri(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const { issuer: named, jwks_uri: uri } = Object(await readJson(url));
  // "The issuer value returned MUST be identical to the Issuer URL that was used" (§4.3)
  if (named !== issuer) throw new Error(`${url} is of another issuer`);
  if (typeof uri !== 'string') throw new Error(`${url} names no jwks_uri`);
  return uri;
}
