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

/**
 * Encrypts secrets that must be read back. `place` names the record that holds the ciphertext: a ciphertext copied
 * to another record cannot be decrypted there.
 */
export interface Encryption {
  encrypt(text: string, place: string): string;
  /** Returns undefined if the text was encrypted with another key or for another place, or if it is damaged. */
  decrypt(sealed: string, place: string): string | undefined;
}

const CIPHER = 'aes-256-gcm';
/** The nonce and tag lengths that NIST SP 800-38D §8.2.2 and §5.2.1.2 recommend for random nonces. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts by AES-256-GCM with a key of 32 bytes. A ciphertext begins with the id of its key, so that a change of
 * keys is detected.
 */
export function encryption(key: Uint8Array): Encryption {
  const prefix = `1.${keyId(key)}.`;
  const additionalData = (place: string) => Buffer.from(prefix + place);
  const seal = (text: string, place: string): Buffer => {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(
      additionalData(place),
    );
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  };
  const open = (bytes: Buffer, place: string): Buffer | undefined => {
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(additionalData(place))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const data = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([data, decipher.final()]);
    } catch {
      // `final` throws if the authentication tag does not match. The error has no further details.
      return undefined;
    }
  };
  return {
    encrypt: (text, place) => prefix + seal(text, place).toString('base64url'),
    decrypt: (sealed, place) => {
      if (!sealed.startsWith(prefix)) return undefined;
      return open(Buffer.from(sealed.slice(prefix.length), 'base64url'), place)?.toString('utf8');
    },
  };
}

/** Returns the beginning of a hash of the key, by which a change of keys is detected. */
export function keyId(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}

const KEY_BYTES = 32;

/** Parses a key of 32 bytes in hexadecimal or base64. Returns undefined for anything else. */
export function parseEncryptionKey(text: string): Buffer | undefined {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  if (!/^[\w+/-]{43}=?$/.test(trimmed)) return undefined;
  const key = Buffer.from(trimmed, 'base64');
  return key.length === KEY_BYTES ? key : undefined;
}

/** The settings of keys: JETBRIDGE_KEY, JETBRIDGE_KEY_PREVIOUS, and the data folder, which may have a key file. */
export interface KeySettings {
  key: string | undefined;
  previousKey: string | undefined;
  data: string;
}

/** Returns the key that encrypts secrets: JETBRIDGE_KEY, else the key file in the data folder, which is created if missing. */
export function currentEncryptionKey({ key, data }: Omit<KeySettings, 'previousKey'>): Uint8Array {
  return (key && parseEncryptionKey(key)) || readOrCreateKeyFile(data);
}

/** Returns the same key, but creates none: undefined if JETBRIDGE_KEY is not set and there is no key file. */
export function existingEncryptionKey({
  key,
  data,
}: Omit<KeySettings, 'previousKey'>): Uint8Array | undefined {
  return (key && parseEncryptionKey(key)) || readKeyFile(data);
}

/** Returns JETBRIDGE_KEY_PREVIOUS; undefined if it is not set. */
export function previousEncryptionKey({
  previousKey,
}: Pick<KeySettings, 'previousKey'>): Uint8Array | undefined {
  return previousKey === undefined ? undefined : parseEncryptionKey(previousKey);
}

/**
 * Reads the encryption key from the data directory. Creates the key file if it is missing; only its owner can read
 * it.
 */
export function readOrCreateKeyFile(directory: string): Buffer {
  mkdirSync(directory, { recursive: true });
  return parseKeyFile(directory, readFileIfExists(keyFile(directory)) ?? createKeyFile(keyFile(directory)));
}

/** Reads the encryption key from the data directory. Returns undefined if there is no key file. */
function readKeyFile(directory: string): Buffer | undefined {
  const text = readFileIfExists(keyFile(directory));
  return text === undefined ? undefined : parseKeyFile(directory, text);
}

function keyFile(directory: string): string {
  return join(directory, 'jetbridge.key');
}

function parseKeyFile(directory: string, text: string): Buffer {
  const key = parseEncryptionKey(text);
  if (!key) throw new KeyFileFault(`${keyFile(directory)} holds no key`, RESTORE);
  return key;
}

/** Thrown if there is a key file that cannot be used. The message is for the operator. */
export class KeyFileFault extends Error {
  override name = 'KeyFileFault';
  readonly problem: string;
  readonly remedy: string;

  constructor(problem: string, remedy: string, options?: ErrorOptions) {
    super(`${problem}. ${remedy}`, options);
    this.problem = problem;
    this.remedy = remedy;
  }
}

const RESTORE = 'Restore it from a backup, or set JETBRIDGE_KEY.';

function readFileIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    // Node does not name the file in this error.
    if (hasErrorCode(error, 'EISDIR'))
      throw new KeyFileFault(`${file} is a folder, and must be a file`, RESTORE, { cause: error });
    if (!hasErrorCode(error, 'EACCES')) throw error;
    const remedy = 'Run the command as the user of the server, or give that user the right to read it.';
    throw new KeyFileFault(`${file} cannot be read (EACCES)`, remedy, { cause: error });
  }
}

/**
 * Writes a temporary file and links it, so that the key file is never incomplete. If another process created the
 * file first, that key is used.
 */
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
