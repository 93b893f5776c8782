import { isPrivateHost } from '../http/address-guard.ts';
import { hashSecret, newSecret } from '../http/authentication.ts';

/** The access that the tokens of a client give: SCIM for one connection, or the travel API on behalf of an admin. */
export type Grant = { kind: 'scim'; connection: string } | { kind: 'travel'; userId: string };

/** The means by which a client authenticates: a secret, stored as a hash, or assertions signed with a private key. */
export type Proof =
  | { kind: 'secret'; hash: string }
  | { kind: 'jwks'; jwks: { keys: object[] } }
  | { kind: 'jwksUri'; uri: string };

/** A client as listed. Times are epoch milliseconds. */
export interface OAuthClient {
  id: string;
  /** Chosen by the admin. */
  name: string;
  grant: Grant;
  proof: Proof['kind'];
  createdAt: number;
  /** The time of the last token; undefined if the client never got one. */
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
}

/** The store of registered clients. */
export interface OAuthClients {
  add(client: Omit<OAuthClient, 'proof' | 'lastUsedAt' | 'revokedAt'> & { proof: Proof }): Promise<void>;
  /** All clients, including revoked ones, oldest first. Clients of an admin are deleted with the admin. */
  list(): Promise<OAuthClient[]>;
  /** The client with its grant and proof; undefined if it does not exist or was revoked. */
  findActive(id: string): Promise<{ id: string; grant: Grant; proof: Proof } | undefined>;
  /** False if the client does not exist or was revoked before. Its tokens become invalid at once. */
  revoke(id: string, now: number): Promise<boolean>;
}

/** The holder of an access token: a registered client, or a connection and the key of the federation that the settings had for it. */
export type TokenHolder = { clientId: string } | { connection: string; federation: string };

/** The store of access tokens. It contains only their hashes. */
export interface AccessTokens {
  /** Stores a token as the last use of its client, and deletes expired ones. */
  save(token: { hash: string; holder: TokenHolder; expiresAt: number }, now: number): Promise<void>;
  /**
   * The holder and the grant of the token with this hash; undefined if the token is unknown or expired, or if its client was
   * revoked. Whether the settings still have a federation, the caller checks.
   */
  findActive(hash: string, now: number): Promise<{ holder: TokenHolder; grant: Grant } | undefined>;
}

/** The store of used assertions, by which each assertion is accepted only once. */
export interface UsedAssertions {
  /** True for the first use by a client, or by a connection with a federation. Deletes expired assertions, which are refused as expired anyway. */
  useOnce(assertion: { clientId: string; key: string; expiresAt: number }, now: number): Promise<boolean>;
}

/** The data for the registration of a client by an admin. */
export interface ClientRegistration {
  name: string;
  grant: Grant;
  /** The client's public keys; undefined for a client with a secret. */
  keys: Exclude<Proof, { kind: 'secret' }> | undefined;
}

/** Registers a client. Returns its secret, if it has one; the secret cannot be read again later. */
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

/** Members of private and symmetric keys (RFC 7518 §6). */
const secretMembers = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];

/**
 * Returns the reason for which the URL of a client's keys is refused; undefined for a good one. The addresses of a name are checked
 * when the keys are read.
 */
export function keysUrlProblem(url: string, { allowPrivate }: { allowPrivate: boolean }): string | undefined {
  if (allowPrivate || !isPrivateHost(new URL(url).hostname)) return undefined;
  return 'leads to a private address, which the setting oauthClients.allowPrivate does not allow';
}

/** Parses a JSON Web Key Set of public keys (RFC 7517 §5), or returns what is wrong with it. */
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
