import { randomBytes, randomInt, scrypt, timingSafeEqual } from 'node:crypto';

/** The costs of a hash, as scrypt names them. */
export interface PasswordCosts {
  N: number;
  r: number;
  p: number;
}

/** The costs of a new hash: 16 MB of memory for each (OWASP Password Storage Cheat Sheet, "scrypt"). */
export const PASSWORD_COSTS: PasswordCosts = { N: 2 ** 14, r: 8, p: 5 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** Creates a password for the first admin: 100 random bits in groups that can be read aloud. */
export function newPassword(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
  const characters = Array.from({ length: 20 }, () => letters.charAt(randomInt(letters.length)));
  return [0, 5, 10, 15].map((start) => characters.slice(start, start + 5).join('')).join('-');
}

/** Hashes a password with a new salt. The result contains the costs, so that later versions can raise them. */
export async function hashPassword(password: string, costs = PASSWORD_COSTS): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await deriveKey(password, salt, costs);
  const parts = ['scrypt', costs.N, costs.r, costs.p, salt.toString('base64url'), key.toString('base64url')];
  return parts.join('$');
}

/**
 * Returns true if the password has this hash. Without a hash it takes the time of a new one and returns false, so that the time does
 * not tell which accounts exist. It takes a quarter of a second of CPU time.
 */
export async function verifyPassword(
  password: string,
  hash: string | undefined,
  newCosts = PASSWORD_COSTS,
): Promise<boolean> {
  const [kind, N, r, p, salt = '', key = ''] = (hash ?? '').split('$');
  const isUsable = kind === 'scrypt';
  const costs = isUsable ? { N: Number(N), r: Number(r), p: Number(p) } : newCosts;
  const derived = await deriveKey(password, Buffer.from(salt, 'base64url'), costs);
  const expected = Buffer.from(key, 'base64url');
  return isUsable && expected.length === derived.length && timingSafeEqual(expected, derived);
}

function deriveKey(password: string, salt: Buffer, costs: PasswordCosts): Promise<Buffer> {
  // Two ways to type the same letter must give the same hash.
  const text = password.normalize('NFKC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, KEY_BYTES, { ...costs, maxmem: 64 * 1024 * 1024 }, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}
