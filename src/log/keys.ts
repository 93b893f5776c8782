import { createHmac } from 'node:crypto';
import { foldCase } from '../schema/case-fold.ts';
import { type Encryption, encryption, keyId } from '../store/credentials/encryption.ts';

/** A key of the log: it encrypts the texts of exchanges, and hashes the names of people by which exchanges are found. */
export interface LogKey extends Encryption {
  id: string;
  /** Returns the hash under which a name is found. It cannot be computed without the key, so that guessed names cannot be tried. */
  hash(name: string): string;
}

/** The keys of the log: the present one, which encrypts, and the one before if the settings still have it. */
export type LogKeys = readonly [current: LogKey, ...previous: LogKey[]];

/** The keys that decrypt the log; none if the key file is missing. */
export type LogReadKeys = readonly LogKey[];

/** Derives the key of the log from a key of 32 bytes. */
export function logKey(key: Uint8Array): LogKey {
  const hashKey = createHmac('sha256', key).update('names in the log of exchanges').digest();
  return {
    ...encryption(key),
    id: keyId(key),
    hash: (name) =>
      createHmac('sha256', hashKey).update(foldCase(name)).digest('base64url').slice(0, HASH_LENGTH),
  };
}

/** 132 bits: no two names have the same hash by chance. */
const HASH_LENGTH = 22;
