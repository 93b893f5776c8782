import { type Claims, discoveredKeys, KeysUnavailable, remoteKeys, verifiedClaims } from '../http/jwt.ts';
import { adminWithEmail } from './admins.ts';
import type { Credentials, TravelReading } from './ports.ts';

/** The OpenID provider whose tokens are taken, and what they are checked with. */
export interface OpenidDeps {
  issuer: string;
  audience: string;
  /** Undefined: as the provider's discovery document tells. */
  jwksUri?: string | undefined;
  reading: TravelReading;
  now(): number;
  log: { warn(fields: object, message: string): void };
}

/** Three parts of base64url, the first of which is a JSON object (RFC 7515 §7.1). */
const jwt = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/;

/** Tokens of an OpenID provider as credentials: each is that of the admin with its email. */
export function openidCredentials({ issuer, audience, jwksUri, reading, now, log }: OpenidDeps): Credentials {
  const keys = remoteKeys(async () => jwksUri ?? discoveredKeys(issuer), now);
  const claimsOf = async (token: string) => {
    try {
      return await verifiedClaims(token, keys, { issuer, audience, now: now() });
    } catch (error) {
      // Without a cause it was told some seconds ago. Why a token is refused is its bearer's business.
      if (error instanceof KeysUnavailable && error.cause)
        log.warn({ err: error }, 'the keys of the OpenID provider cannot be had; its tokens are refused');
      return undefined;
    }
  };
  return async (token) => {
    const claims = jwt.test(token) ? await claimsOf(token) : undefined;
    const email = claims && verifiedEmail(claims);
    const admin = email === undefined ? undefined : await adminWithEmail(reading, email);
    return admin && { userId: admin.id, credential: `openid:${String(claims?.sub).slice(0, 255)}` };
  };
}

/** An address that the provider says is not verified may be anybody's (OpenID Connect Core 1.0 §5.1). */
function verifiedEmail({ email, email_verified: verified }: Claims): string | undefined {
  const isRefused = verified === false || verified === 'false';
  const isAddress = typeof email === 'string' && /^[^\s\p{C}]{1,320}$/u.test(email);
  return isAddress && !isRefused ? email : undefined;
}
