import { hashSecret } from '../http/bearer.ts';
import {
  CLOCK_TOLERANCE_S,
  type Keys,
  KeysUnavailable,
  localKeys,
  verificationFault,
  verifyToken,
} from '../http/jwt.ts';
import { remoteKeys } from '../http/remote-keys.ts';
import { invalidClient, type OAuthError } from './errors.ts';
import type { Assertions, Proof } from './ports.ts';

/** What assertions are checked with. */
export interface AssertionDeps {
  assertions: Assertions;
  /** The address of the token endpoint, which an assertion must be made for. */
  audience: string;
  now(): number;
  log: { warn(fields: object, message: string): void };
}

/** Checks what a client signed (RFC 7523 §3); throws invalid_client unless the client made it, for us, now and not before. */
export type CheckAssertion = (client: { id: string; proof: Proof }, assertion: string) => Promise<void>;

/** "The JWT MUST contain an exp claim"; one for longer than a day is "unreasonably far in the future". */
const LONGEST_S = 24 * 60 * 60;

/** Checks assertions; keys of clients that have theirs at an address are kept for a while. */
export function assertionCheck({ assertions, audience, now, log }: AssertionDeps): CheckAssertion {
  const remote = new Map<string, Keys>();
  const keysOf = (proof: Proof): Keys => {
    if (proof.kind === 'secret') throw invalidClient({ reason: 'the client has a secret, not keys' });
    if (proof.kind === 'jwks') return localKeys(proof.jwks);
    const known = remote.get(proof.uri) ?? remoteKeys(async () => proof.uri, now);
    remote.set(proof.uri, known);
    return known;
  };
  return async (client, assertion) => {
    const expected = { issuer: client.id, subject: client.id, audience, now: now() };
    const verified = verifyToken(assertion, keysOf(client.proof), expected);
    const { claims } = await verified.catch((error: unknown) => {
      // Without a cause it was told some seconds ago.
      if (error instanceof KeysUnavailable && error.cause)
        log.warn({ err: error, client: client.id }, 'the keys of an OAuth client cannot be had');
      throw refused(verificationFault(error), error);
    });
    const { exp = 0, jti } = claims;
    if (exp > now() / 1000 + LONGEST_S) throw refused('it ends more than a day ahead');
    // A signature can be written in several ways; what was signed cannot.
    const key = jti === undefined ? `input ${assertion.split('.', 2).join('.')}` : `jti ${jti}`;
    const use = { clientId: client.id, key: hashSecret(key), expiresAt: (exp + CLOCK_TOLERANCE_S) * 1000 };
    if (!(await assertions.useOnce(use, now()))) throw refused('it was used before');
  };
}

function refused(problem: string, cause?: unknown): OAuthError {
  return invalidClient({ reason: `assertion refused: ${problem}` }, cause);
}
