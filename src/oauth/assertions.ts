import { hashSecret } from '../http/authentication.ts';
import {
  CLOCK_TOLERANCE_S,
  type Claims,
  type KeyResolver,
  KeysUnavailable,
  localKeyResolver,
  remoteKeyResolver,
  verificationFaultText,
  verifyToken,
} from '../http/jwt.ts';
import type { AddressGuard } from '../http/limited-fetch.ts';
import type { Proof, UsedAssertions } from './clients.ts';

/** The assertion does not authenticate its client. The message is for the log: it may quote the assertion. */
export class AssertionRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AssertionRefused';
  }
}

/** Dependencies of the checks of assertions. */
export interface AssertionDeps {
  assertions: UsedAssertions;
  /** The public URL of the token endpoint, which assertions that clients issue themselves must name as their audience. */
  audience: string;
  /** Admins give the URLs of keys, which must not lead into the network of the service. */
  guard: AddressGuard;
  /** Epoch milliseconds. */
  now(): number;
}

/**
 * Checks an assertion that a client has issued itself (RFC 7523 §3). Throws AssertionRefused or KeysUnavailable unless the client signed
 * it for this endpoint, it is valid now, and it was not used before.
 */
export type CheckAssertion = (client: { id: string; proof: Proof }, assertion: string) => Promise<void>;

/** Returns the function that checks assertions. It caches keys that are read from a URL. */
export function createAssertionCheck(deps: AssertionDeps): CheckAssertion {
  const { audience, guard, now } = deps;
  const remote = new Map<string, KeyResolver>();
  const keysOf = (proof: Exclude<Proof, { kind: 'secret' }>): KeyResolver => {
    if (proof.kind === 'jwks') return localKeyResolver(proof.jwks);
    const known = remote.get(proof.uri) ?? remoteKeyResolver(async () => proof.uri, now, guard);
    remote.set(proof.uri, known);
    return known;
  };
  return async ({ id, proof }, assertion) => {
    if (proof.kind === 'secret') throw new AssertionRefused('the client has a secret, not keys');
    const keys = keysOf(proof);
    const { exp = 0, jti } = await verifyAssertion(assertion, keys, {
      ...{ issuer: id, subject: id, audience },
      now: now(),
    });
    // One assertion may have several valid signatures, so only the signed input identifies it.
    const key = jti === undefined ? `input ${assertion.split('.', 2).join('.')}` : `jti ${jti}`;
    await useAssertion({ clientId: id, key, exp }, deps);
  };
}

/** Verifies an assertion, and returns its claims. Throws AssertionRefused with the claim that is wrong, or KeysUnavailable. */
export async function verifyAssertion(
  assertion: string,
  keys: KeyResolver,
  expected: Parameters<typeof verifyToken>[2],
): Promise<Claims> {
  try {
    return (await verifyToken(assertion, keys, expected)).claims;
  } catch (error) {
    if (error instanceof KeysUnavailable) throw error;
    throw new AssertionRefused(verificationFaultText(error, expected.now), { cause: error });
  }
}

/**
 * The claim `exp` is required ("The JWT MUST contain an exp claim"). An assertion that is valid for more than a day is
 * refused as "unreasonably far in the future".
 */
const MAX_LIFETIME_S = 24 * 60 * 60;

/** Throws AssertionRefused if a verified assertion is valid for too long, or if one with this key was used before. */
export async function useAssertion(
  { clientId, key, exp }: { clientId: string; key: string | undefined; exp: number },
  { assertions, now }: Pick<AssertionDeps, 'assertions' | 'now'>,
): Promise<void> {
  if (exp > now() / 1000 + MAX_LIFETIME_S) throw new AssertionRefused('it ends more than a day ahead');
  if (key === undefined) return;
  const use = { clientId, key: hashSecret(key), expiresAt: (exp + CLOCK_TOLERANCE_S) * 1000 };
  if (!(await assertions.useOnce(use, now()))) throw new AssertionRefused('it was used before');
}
