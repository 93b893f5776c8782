import type { ScimResource } from '../schema/resource.ts';
import type { Identity } from './identity.ts';

/** Every value by which others may refer to an identity (docs/architecture.md, References). */
export function valuesOf({ id, desired, travelId }: Pick<Identity, 'id' | 'desired' | 'travelId'>): string[] {
  return [id, travelId, desired.userName, desired.externalId, ...emailsOf(desired)].filter(
    (value) => typeof value === 'string',
  );
}

/** The values of a user's email addresses. */
export function emailsOf({ emails }: ScimResource): string[] {
  if (!Array.isArray(emails)) return [];
  return emails
    .map((email) => (typeof email === 'object' && email && !Array.isArray(email) ? email.value : undefined))
    .filter((value) => typeof value === 'string');
}
