import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { types } from 'node:util';

/** Encrypts what must be read back. `place` says where a text is kept: what is copied to another place cannot be opened there. */
export interface Encryption {
  encrypt(text: string, place: string): string;
  /** Undefined: it was sealed with another key or for another place, or it is damaged. */
  decrypt(sealed: string, place: string): string | undefined;
}

const CIPHER = 'aes-256-gcm';
/** The nonce and the tag that NIST SP 800-38D §8.2.2 and §5.2.1.2 recommend for random nonces. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals by AES-256-GCM with a key of 32 bytes. What is sealed names its key, so that a change of keys is recognised. */
export function encryption(key: Uint8Array): Encryption {
  const keyId = createHash('sha256').update(key).digest('hex').slice(0, 8);
  const prefix = `1.${keyId}.`;
  const bound = (place: string) => Buffer.from(prefix + place);
  return {
    encrypt: (text, place) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(bound(place));
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return prefix + Buffer.concat(parts).toString('base64url');
    },
    decrypt: (sealed, place) => {
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

const KEY_BYTES = 32;

/** The 32 bytes that a text stands for, in hexadecimal or base64; undefined when it stands for anything else. */
export function parseEncryptionKey(text: string): Buffer | undefined {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  if (!/^[\w+/-]{43}=?$/.test(trimmed)) return undefined;
  const key = Buffer.from(trimmed, 'base64');
  return key.length === KEY_BYTES ? key : undefined;
}

/** The key in a file of the data folder that only its owner can read; made when there is none. */
export function readOrCreateKeyFile(directory: string): Buffer {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'jetbridge.key');
  const text = readFileIfExists(file) ?? createKeyFile(file);
  const key = parseEncryptionKey(text);
  if (!key) throw new Error(`${file} holds no key. Restore it from a backup, or set JETBRIDGE_KEY.`);
  return key;
}

function readFileIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** It is there wholly or not at all, whenever the process dies; if another one was faster, its key counts. */
function createKeyFile(file: string): string {
  const draft = `${file}.${process.pid}`;
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    writeSync(descriptor, `${randomBytes(KEY_BYTES).toString('hex')}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, 'utf8');
}

function hasErrorCode(error: unknown, code: string): boolean {
  return types.isNativeError(error) && 'code' in error && error.code === code;
}
