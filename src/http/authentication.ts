import { hash, randomBytes } from 'node:crypto';
import type { Response } from 'express';
import { addRequestNotes, type RequestScope } from './log.ts';
import { addressGroup } from './proxies.ts';

/**
 * Counts a failed authentication of a client address, and sets how many more the limit allows as headers of the response
 * (draft-ietf-httpapi-ratelimit-headers). Returns the seconds for `Retry-After` if there were too many, else undefined.
 */
export type FailureLimit = (address: string, response?: Pick<Response, 'set'>) => number | undefined;

/** The reason for which a credential was refused and, if known, the credential. For the log only. */
export interface RefusalReason {
  reason: string;
  credential?: string | undefined;
}

/** Dependencies for handling requests without a valid credential. */
export interface FailedAuthenticationDeps {
  limit: FailureLimit;
  /** Returns the reason for which a token was refused. */
  explain(token: string): Promise<RefusalReason>;
}

/**
 * A request without a valid credential. `known` is the reason for the refusal if the caller has already determined it.
 */
interface UnauthenticatedRequest {
  authorization: string | undefined;
  token: string | undefined;
  known?: RefusalReason | undefined;
}

const WINDOW_MS = 60_000;
/**
 * The allowed failures of an address in one window. An IdP with a wrong secret tries a few times an hour, and 256
 * random bits cannot be guessed at this rate.
 */
const MAX_FAILURES = 100;
/**
 * The maximum number of addresses that are counted, to limit the memory. Beyond it, the address whose window began
 * first is removed.
 */
const MAX_ADDRESSES = 10_000;

/**
 * Allows each client address 100 failures a minute, counted from the first one. `now` returns milliseconds of a
 * monotonic clock.
 */
export function createFailureLimit(now: () => number): FailureLimit {
  // Ordered by the end of the window, because all windows have the same length.
  const windows = new Map<string, { failures: number; endsAt: number }>();
  return (address, response) => {
    const group = addressGroup(address);
    const at = now();
    const known = windows.get(group);
    if (known && known.endsAt > at) {
      known.failures += 1;
      const seconds = Math.ceil((known.endsAt - at) / 1000);
      response?.set(rateLimit(known.failures, seconds));
      return known.failures > MAX_FAILURES ? seconds : undefined;
    }
    response?.set(rateLimit(1, WINDOW_MS / 1000));
    windows.delete(group);
    for (const [oldest, { endsAt }] of windows) {
      if (endsAt > at && windows.size < MAX_ADDRESSES) break;
      windows.delete(oldest);
    }
    windows.set(group, { failures: 1, endsAt: at + WINDOW_MS });
    return undefined;
  };
}

function rateLimit(failures: number, seconds: number): Record<string, string> {
  return {
    'RateLimit-Policy': `"failures";q=${MAX_FAILURES};w=${WINDOW_MS / 1000}`,
    RateLimit: `"failures";r=${Math.max(0, MAX_FAILURES - failures)};t=${seconds}`,
  };
}

/**
 * Counts a request without a valid credential and adds the reason to its log line. Returns the seconds for
 * `Retry-After` if the address failed too often; the caller then answers 429 instead of 401.
 */
export async function recordFailedAuthentication(
  response: Response,
  { authorization, token, known }: UnauthenticatedRequest,
  { limit, explain }: FailedAuthenticationDeps,
): Promise<number | undefined> {
  const retryAfter = limit(clientAddressOf(response), response);
  if (retryAfter !== undefined) addRequestNotes(response, { reason: TOO_MANY_FAILURES });
  else if (token === undefined)
    addRequestNotes(response, { reason: authorization ? 'malformed credential' : 'no credential' });
  else addRequestNotes(response, known ?? (await explain(token)));
  return retryAfter;
}

/** The reason that the log shows for a request that was answered with 429. */
export const TOO_MANY_FAILURES = 'too many failures';

/** Returns the client's address; '' outside of an `httpApp`. */
export function clientAddressOf({ locals }: Response): string {
  const scope: RequestScope | undefined = locals['scope'];
  return scope?.address ?? '';
}

/**
 * Returns the token of an `Authorization: Bearer …` header (RFC 6750 §2.1), or undefined. Tokens in other places are
 * not accepted.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(authorization ?? '')?.[1];
}

/** Creates a credential of 256 random bits. The prefix lets leak scanners recognize it. */
export function newSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/**
 * Returns the hash that is stored in place of a credential. Looking it up by equality reveals nothing about the
 * secret by timing.
 */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}
