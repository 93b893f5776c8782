import type { Identity } from './identity.ts';

/** Every value by which others may refer to an identity (DESIGN §5, managerId). */
export function valuesOf({ id, desired, travelId }: Pick<Identity, 'id' | 'desired' | 'travelId'>): string[] {
  const emails = Array.isArray(desired.emails)
    ? desired.emails.map((email) =>
        typeof email === 'object' && email && !Array.isArray(email) ? email.value : undefined,
      )
    : [];
  return [id, travelId, desired.userName, desired.externalId, ...emails].filter(
    (value) => typeof value === 'string',
  );
}
