import { attribute, complex, type Schema } from './attribute.ts';
import { urns } from './resource.ts';

/** Group (RFC 7643 §4.2). */
export const groupSchema: Schema = {
  id: urns.group,
  name: 'Group',
  description: 'A group of users.',
  attributes: [
    attribute('displayName', 'The name of the group.', { required: true, uniqueness: 'server' }),
    // Every resource has it without a schema (RFC 7643 §3.1); Entra ID maps only what a schema lists.
    attribute('externalId', 'The id that the client knows the group by.', { caseExact: true }),
    complex('members', 'The members of the group.', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The id of the member.', { mutability: 'immutable', caseExact: true }),
        attribute('$ref', 'The URI of the member.', {
          type: 'reference',
          referenceTypes: ['User', 'Group'],
          mutability: 'immutable',
          caseExact: true,
        }),
        attribute('type', 'What kind of resource the member is.', {
          mutability: 'immutable',
          canonicalValues: ['User', 'Group'],
        }),
        attribute('display', 'The name of the member.', { mutability: 'immutable' }),
      ],
    }),
  ],
};
