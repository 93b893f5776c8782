import { type Attribute, attribute, complex } from './attribute.ts';

const fixed = { mutability: 'readOnly' } as const;

/** What every resource has, in no schema of its own (RFC 7643 §3.1). */
export const commonAttributes: readonly Attribute[] = [
  attribute('id', 'Given by this service; never reused.', {
    ...fixed,
    returned: 'always',
    caseExact: true,
    uniqueness: 'server',
  }),
  attribute('externalId', 'The id that the client knows it by.', { caseExact: true }),
  complex('meta', 'About the resource itself.', {
    ...fixed,
    subAttributes: [
      attribute('resourceType', 'What kind of resource it is.', { ...fixed, caseExact: true }),
      attribute('created', 'When it was created.', { ...fixed, type: 'dateTime' }),
      attribute('lastModified', 'When it was last changed.', { ...fixed, type: 'dateTime' }),
      attribute('location', 'Its URI.', { ...fixed, type: 'reference', caseExact: true }),
      attribute('version', 'Its version, as in the header ETag.', { ...fixed, caseExact: true }),
    ],
  }),
  attribute('schemas', 'The schemas it is made of.', {
    ...fixed,
    type: 'reference',
    multiValued: true,
    returned: 'always',
    caseExact: true,
  }),
];
