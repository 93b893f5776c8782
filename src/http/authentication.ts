import { hash, randomBytes } from 'node:crypto';
import type { Response } from 'express';
import { addRequestNotes, type RequestScope } from './log.ts';
import { addressGroup } from './proxies.ts';

/** Counts one failed authentication of a client address. Answers the seconds for `Retry-After` if there were too many, else undefined. */
export type FailureLimit = (address: string) => number | undefined;

/** Why a token opens nothing, and which credential it is, if that is known. Goes into the log, never into an answer. */
export interface RefusalReason {
  reason: string;
  credential?: string | undefined;
}

/** What a service does with requests that have no valid credential. */
export interface FailedAuthenticationDeps {
  limit: FailureLimit;
  /** Finds out why a token was refused. */
  explain(token: string): Promise<RefusalReason>;
}

/** A request without a valid credential, with what it brought in its place; `known`: why that is refused. */
interface UnauthenticatedRequest {
  authorization: string | undefined;
  token: string | undefined;
  known?: RefusalReason | undefined;
}

const WINDOW_MS = 60_000;
/** An identity provider with a wrong secret tries a few times an hour; 256 random bits cannot be guessed at this rate. */
const MAX_FAILURES = 100;
/** Bounds the memory: beyond so many addresses the one that failed first is forgotten. */
const MAX_ADDRESSES = 10_000;

/** Allows each address 100 failures a minute, counted from the first; `now` is in milliseconds and never goes back. */
export function createFailureLimit(now: () => number): FailureLimit {
  // In the order of their ends, as each window is as long as the others.
  const windows = new Map<string, { failures: number; endsAt: number }>();
  return (address) => {
    const group = addressGroup(address);
    const at = now();
    const known = windows.get(group);
    if (known && known.endsAt > at) {
      known.failures += 1;
      return known.failures > MAX_FAILURES ? Math.ceil((known.endsAt - at) / 1000) : undefined;
    }
    windows.delete(group);
    for (const [oldest, { endsAt }] of windows) {
      if (endsAt > at && windows.size < MAX_ADDRESSES) break;
      windows.delete(oldest);
    }
    windows.set(group, { failures: 1, endsAt: at + WINDOW_MS });
    return undefined;
  };
}

/**
 * Counts a request without a valid credential and notes the reason for its line in the log. Answers the seconds for
 * `Retry-After` if its address failed too often: the request is then answered 429 in place of 401.
 */
export async function recordFailedAuthentication(
  response: Response,
  { authorization, token, known }: UnauthenticatedRequest,
  { limit, explain }: FailedAuthenticationDeps,
): Promise<number | undefined> {
  const retryAfter = limit(clientAddressOf(response));
  if (retryAfter !== undefined) addRequestNotes(response, { reason: TOO_MANY_FAILURES });
  else if (token === undefined)
    addRequestNotes(response, { reason: authorization ? 'malformed credential' : 'no credential' });
  else addRequestNotes(response, known ?? (await explain(token)));
  return retryAfter;
}

/** The reason in the log of a request that is answered 429. */
export const TOO_MANY_FAILURES = 'too many failures';

/** The client's address; '' outside of an `httpApp`. */
export function clientAddressOf({ locals }: Response): string {
  const scope: RequestScope | undefined = locals['scope'];
  return scope?.address ?? '';
}

/** The token of an `Authorization: Bearer …` header (RFC 6750 §2.1), or undefined; never taken from anywhere else. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(authorization ?? '')?.[1];
}

/** A new credential of 256 random bits, with a prefix that tells leak scanners whose it is. */
export function newSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** What is kept of a credential: enough to recognise it, not to use it. Looking this up by equality leaks no timing of the secret. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}
