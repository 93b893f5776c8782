import { type Attribute, attribute, complex, type Schema } from './attribute.ts';
import { urns } from './resource.ts';

/**
 * What only a travel service knows of a person (an extension, RFC 7643 §3.3); the flat forms are for IdPs that cannot
 * send complex values.
 */
export const travelSchema: Schema = {
  id: urns.travel,
  name: 'TravelUser',
  description: 'What the travel service needs to know of a user.',
  attributes: [
    named('billingProfile', 'The billing profile, by its id or exact name.'),
    named('costCenter', 'The cost center, by its id or exact name.'),
    named('travelPolicy', 'The travel policy, by its id or exact name.'),
    attribute('billingProfileId', 'The id of the billing profile.', { caseExact: true }),
    attribute('costCenterId', 'The id of the cost center.', { caseExact: true }),
    attribute('travelPolicyId', 'The id of the travel policy.', { caseExact: true }),
    complex('manager', 'The manager, by travel user id or by email.', {
      subAttributes: [
        attribute('id', 'The travel user id of the manager.', { caseExact: true }),
        attribute('email', 'The email address of the manager.'),
      ],
    }),
    attribute('dateOfBirth', 'The date of birth, as YYYY-MM-DD.'),
    attribute('gender', 'The gender, as in travel documents.'),
    attribute('currency', 'The currency, by its ISO 4217 code.'),
    attribute('separateIcsEmails', 'Whether calendar files come in emails of their own.', {
      type: 'boolean',
    }),
    complex('roles', 'Roles in the travel service.', {
      multiValued: true,
      subAttributes: [attribute('value', 'The role.'), attribute('display', 'A name for people to read.')],
    }),
    attribute('travelUserId', 'The id of the traveler.', { mutability: 'readOnly', caseExact: true }),
  ],
};

function named(name: string, description: string): Attribute {
  return complex(name, description, {
    subAttributes: [
      attribute('id', 'Its id; wins over the name.', { caseExact: true }),
      attribute('name', 'Its exact name.'),
    ],
  });
}
