import { createHash } from 'node:crypto';
import { foldCase } from '../schema/case-fold.ts';
import type { JsonObject } from '../schema/resource.ts';

/**
 * The spelling under which a text is found without case. Made here, as one database folds ASCII only and the other by
 * its locale.
 */
export function keyOf(text: string): string {
  return bounded(foldCase(text));
}

/** The text under which a value is found exactly. */
export function exactKey(text: string): string {
  return bounded(text);
}

/** The key of an attribute that should be a text; anything else can't be searched for. */
export function keyOfAttribute(value: unknown, key: (text: string) => string): string | null {
  return typeof value === 'string' ? key(value) : null;
}

/** The keys of a user's email addresses, each once (RFC 7643 §4.1.2). */
export function emailKeys({ emails }: JsonObject): string[] {
  const values = Array.isArray(emails)
    ? emails.map((email) =>
        typeof email === 'object' && email && !Array.isArray(email) ? email.value : null,
      )
    : [];
  return [...new Set(values.filter((value) => typeof value === 'string').map(keyOf))];
}

/** More than any honest name or address has. PostgreSQL refuses an index entry above 2,700 bytes. */
const LONGEST = 500;

/** How the key of a text that is too long begins. The key of no text is this with anything but a hash behind it. */
export const HASHED = 'sha256:';

/** What is too long for an index is found by its hash; so is what looks like one. */
function bounded(text: string): string {
  const isKept = text.length <= LONGEST && !text.startsWith(HASHED);
  return isKept ? text : `${HASHED}${createHash('sha256').update(text).digest('hex')}`;
}
