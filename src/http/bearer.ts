import { hash, randomBytes } from 'node:crypto';

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
