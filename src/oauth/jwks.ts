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
