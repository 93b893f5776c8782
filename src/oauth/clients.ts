import { hashSecret, newSecret } from '../http/authentication.ts';

/** What the tokens of a client open: SCIM for a connection, or the travel API on behalf of an admin. */
export type Grant = { kind: 'scim'; connection: string } | { kind: 'travel'; userId: string };

/** How a client shows who it is: by a secret, of which only a hash is kept, or by what it signs with a private key. */
export type Proof =
  | { kind: 'secret'; hash: string }
  | { kind: 'jwks'; jwks: { keys: object[] } }
  | { kind: 'jwksUri'; uri: string };

/** A client as it is listed. Times are epoch milliseconds. */
export interface OAuthClient {
  id: string;
  /** What an admin calls it. */
  name: string;
  grant: Grant;
  proof: Proof['kind'];
  createdAt: number;
  revokedAt: number | undefined;
}

/** The registered clients. */
export interface OAuthClients {
  add(client: Omit<OAuthClient, 'proof' | 'revokedAt'> & { proof: Proof }): Promise<void>;
  /** All there ever were, oldest first; clients for an admin go with the admin. */
  list(): Promise<OAuthClient[]>;
  /** What is needed to let one in; undefined when there is none, or it was revoked. */
  findActive(id: string): Promise<{ id: string; grant: Grant; proof: Proof } | undefined>;
  /** False when there is no such client, or it was revoked before. Its tokens open nothing any more. */
  revoke(id: string, now: number): Promise<boolean>;
}

/** The access tokens that were handed out; of each only a hash is kept. */
export interface AccessTokens {
  /** Keeps a token, and forgets those that have expired. */
  save(token: { hash: string; clientId: string; expiresAt: number }, now: number): Promise<void>;
  /** What a token with this hash opens; undefined for an unknown or expired one, and for one of a revoked client. */
  findActive(hash: string, now: number): Promise<{ clientId: string; grant: Grant } | undefined>;
}

/** The assertions that were used already. */
export interface UsedAssertions {
  /** True when this is the first use. Forgets those that have expired, which are refused for that. */
  useOnce(assertion: { clientId: string; key: string; expiresAt: number }, now: number): Promise<boolean>;
}

/** What a client is registered with. */
export interface ClientRegistration {
  name: string;
  grant: Grant;
  /** Where the client's public keys are; undefined: it gets a secret. */
  keys: Exclude<Proof, { kind: 'secret' }> | undefined;
}

/** Registers a client. Its secret, if it has one, is answered now and never again. */
export async function registerClient(
  { clients, now, newId }: { clients: OAuthClients; now(): number; newId(): string },
  { name, grant, keys }: ClientRegistration,
): Promise<{ id: string; secret: string | undefined }> {
  const id = newId();
  const secret = keys ? undefined : newSecret('client');
  const proof: Proof = keys ?? { kind: 'secret', hash: hashSecret(secret ?? '') };
  await clients.add({ id, name, grant, proof, createdAt: now() });
  return { id, secret };
}

/** Members that only private and shared keys have (RFC 7518 §6). */
const secretMembers = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];

/** Reads a JSON Web Key Set (RFC 7517 §5) of public keys, or tells why it is none. */
export function parseJwks(json: unknown): { jwks: { keys: object[] } } | { problem: string } {
  const { keys } = Object(json);
  if (!Array.isArray(keys) || keys.length === 0)
    return { problem: 'is no JSON Web Key Set, an object with "keys"' };
  if (!keys.every(isJsonWebKey))
    return { problem: 'has an entry in "keys" that is no key: each has a "kty"' };
  if (keys.some((key) => secretMembers.some((name) => Object.hasOwn(key, name))))
    return { problem: 'has a private key; give the public ones' };
  return { jwks: { keys } };
}

function isJsonWebKey(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'kty' in value && typeof value.kty === 'string';
}
