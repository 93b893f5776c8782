import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  encryption,
  parseEncryptionKey,
  readOrCreateKeyFile,
} from '../../src/store/credentials/encryption.ts';

describe('an encrypted text', () => {
  const { encrypt: seal, decrypt: open } = encryption(randomBytes(32));

  test('is decrypted with its key and in its place only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (text, place, elsewhere) => {
        const sealed = seal(text, place);
        expect(open(sealed, place)).toBe(text);
        if (elsewhere !== place) expect(open(sealed, elsewhere)).toBeUndefined();
        expect(encryption(randomBytes(32)).decrypt(sealed, place)).toBeUndefined();
      }),
    );
  });

  test('is different each time, and reveals nothing but the id of its key', () => {
    const [one, other] = [seal('secret', 'here'), seal('secret', 'here')];
    expect(one).not.toBe(other);
    expect(one).toMatch(/^1\.[0-9a-f]{8}\.[\w-]+$/);
    expect(one.slice(0, 11)).toBe(other.slice(0, 11));
    expect(Buffer.from(one.slice(11), 'base64url')).toHaveLength(12 + 'secret'.length + 16);
  });

  test('is not decrypted if one bit is changed', () => {
    const sealed = seal('secret', 'here');
    const bytes = Buffer.from(sealed.slice(11), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = Buffer.from(bytes);
      const at = Math.floor(bit / 8);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (bit % 8));
      expect(open(sealed.slice(0, 11) + damaged.toString('base64url'), 'here')).toBeUndefined();
    }
    for (const other of ['', 'x', sealed.slice(0, 11), sealed.slice(0, -4), `2${sealed.slice(1)}`])
      expect(open(other, 'here')).toBeUndefined();
  });
});

describe('the encryption key', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'key-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test('is 32 bytes, in hexadecimal or base64', () => {
    const key = randomBytes(32);
    const spellings = [key.toString('hex'), key.toString('hex').toUpperCase(), key.toString('base64')];
    for (const text of [...spellings, key.toString('base64url'), ` ${key.toString('hex')}\n`])
      expect(parseEncryptionKey(text)).toEqual(key);
    for (const text of ['', 'secret', 'a'.repeat(63), randomBytes(31).toString('base64'), 'é'.repeat(43)])
      expect(parseEncryptionKey(text)).toBeUndefined();
  });

  test('is created once, in a file that only its owner can read', () => {
    const folder = join(directory, 'data');
    const key = readOrCreateKeyFile(folder);
    expect(key).toHaveLength(32);
    expect(readdirSync(folder)).toEqual(['jetbridge.key']);
    expect(statSync(join(folder, 'jetbridge.key')).mode & 0o777).toBe(0o600);
    expect(readOrCreateKeyFile(folder)).toEqual(key);
    expect(parseEncryptionKey(readFileSync(join(folder, 'jetbridge.key'), 'utf8'))).toEqual(key);
  });

  test('in a damaged file is not replaced, because existing ciphertexts would be lost', () => {
    const file = join(directory, 'jetbridge.key');
    writeFileSync(file, 'nonsense');
    expect(() => readOrCreateKeyFile(directory)).toThrow(
      /jetbridge\.key holds no key\. Restore it from a backup/,
    );
    expect(existsSync(file) && readFileSync(file, 'utf8')).toBe('nonsense');
  });
});
