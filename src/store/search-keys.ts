import { createHash } from 'node:crypto';
import { foldCase } from '../schema/case-fold.ts';
import type { JsonObject } from '../schema/resource.ts';

/**
 * The spelling under which a text is found without case. Made here, as one database folds ASCII only and the other by
 * its locale.
 */
export function caseFoldedKey(text: string): string {
  return hashIfLong(foldCase(text));
}

/** The text under which a value is found exactly. */
export function exactKey(text: string): string {
  return hashIfLong(text);
}

/** The key of an attribute that should be a text; anything else can't be searched for. */
export function attributeKey(value: unknown, key: (text: string) => string): string | null {
  return typeof value === 'string' ? key(value) : null;
}

/** The keys of a user's email addresses, each once (RFC 7643 §4.1.2). */
export function emailKeys({ emails }: JsonObject): string[] {
  const values = Array.isArray(emails)
    ? emails.map((email) =>
        typeof email === 'object' && email && !Array.isArray(email) ? email.value : null,
      )
    : [];
  return [...new Set(values.filter((value) => typeof value === 'string').map(caseFoldedKey))];
}

/** More than any honest name or address has. PostgreSQL refuses an index entry above 2,700 bytes. */
const MAX_KEY_LENGTH = 500;

/** How the key of a text that is too long begins. The key of no text is this with anything but a hash behind it. */
export const HASH_PREFIX = 'sha256:';

/** What is too long for an index is found by its hash; so is what looks like one. */
function hashIfLong(text: string): string {
  const isKept = text.length <= MAX_KEY_LENGTH && !text.startsWith(HASH_PREFIX);
  return isKept ? text : `${HASH_PREFIX}${createHash('sha256').update(text).digest('hex')}`;
}
