import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Encrypts what must be read back. `place` says where a text is kept: what is copied to another place cannot be opened there. */
export interface Sealed {
  seal(text: string, place: string): string;
  /** Undefined: it was sealed with another key or for another place, or it is damaged. */
  open(sealed: string, place: string): string | undefined;
}

const CIPHER = 'aes-256-gcm';
/** The nonce and the tag that NIST SP 800-38D §8.2.2 and §5.2.1.2 recommend for random nonces. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals by AES-256-GCM with a key of 32 bytes. What is sealed names its key, so that a change of keys is recognised. */
export function sealing(key: Uint8Array): Sealed {
  const keyId = createHash('sha256').update(key).digest('hex').slice(0, 8);
  const prefix = `1.${keyId}.`;
  const bound = (place: string) => Buffer.from(prefix + place);
  return {
    seal: (text, place) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(bound(place));
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return prefix + Buffer.concat(parts).toString('base64url');
    },
    open: (sealed, place) => {
      if (!sealed.startsWith(prefix)) return undefined;
      const bytes = Buffer.from(sealed.slice(prefix.length), 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(bound(place))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch {
        // "final" throws when the tag does not match, and tells nothing more.
        return undefined;
      }
    },
  };
}
