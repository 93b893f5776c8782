import { hashSecret, newSecret } from '../http/bearer.ts';
import type { Clients, Grant, Proof } from './ports.ts';

/** What a client is registered with. */
export interface Registration {
  name: string;
  grant: Grant;
  /** Where the client's public keys are; undefined: it gets a secret. */
  keys: Exclude<Proof, { kind: 'secret' }> | undefined;
}

/** Registers a client. Its secret, if it has one, is answered now and never again. */
export async function registerClient(
  { clients, now, newId }: { clients: Clients; now(): number; newId(): string },
  { name, grant, keys }: Registration,
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
  if (!keys.every(isKey)) return { problem: 'has an entry in "keys" that is no key: each has a "kty"' };
  if (keys.some((key) => secretMembers.some((name) => Object.hasOwn(key, name))))
    return { problem: 'has a private key; give the public ones' };
  return { jwks: { keys } };
}

function isKey(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'kty' in value && typeof value.kty === 'string';
}
