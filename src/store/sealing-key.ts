import { randomBytes } from 'node:crypto';
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

const KEY_BYTES = 32;

/** The 32 bytes that a text stands for, in hexadecimal or base64; undefined when it stands for anything else. */
export function readKey(text: string): Buffer | undefined {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  if (!/^[\w+/-]{43}=?$/.test(trimmed)) return undefined;
  const key = Buffer.from(trimmed, 'base64');
  return key.length === KEY_BYTES ? key : undefined;
}

/** The key in a file of the data folder that only its owner can read; made when there is none. */
export function keyInFolder(directory: string): Buffer {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'jetbridge.key');
  const text = textOf(file) ?? make(file);
  const key = readKey(text);
  if (!key) throw new Error(`${file} holds no key. Restore it from a backup, or set JETBRIDGE_KEY.`);
  return key;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** It is there wholly or not at all, whenever the process dies; if another one was faster, its key counts. */
function make(file: string): string {
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
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, 'utf8');
}

function isCode(error: unknown, code: string): boolean {
  return types.isNativeError(error) && 'code' in error && error.code === code;
}
