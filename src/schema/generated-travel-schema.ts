// Generated from src/translator/fields/fields.ts by "npm run schemas"; do not edit.
import { attribute, complexAttribute, type Schema } from './attributes.ts';

/** The travel extension of users. */
export const travelSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:extension:travel:2.0:User',
  name: 'TravelUser',
  description: 'What the travel service needs to know of a user.',
  attributes: [
    complexAttribute('billingProfile', 'The billing profile, by its id or exact name.', {
      subAttributes: [
        attribute('id', 'Its id; wins over the name.', { caseExact: true }),
        attribute('name', 'Its exact name.'),
      ],
    }),
    complexAttribute('costCenter', 'The cost center, by its id or exact name.', {
      subAttributes: [
        attribute('id', 'Its id; wins over the name.', { caseExact: true }),
        attribute('name', 'Its exact name.'),
      ],
    }),
    complexAttribute('travelPolicy', 'The travel policy, by its id or exact name.', {
      subAttributes: [
        attribute('id', 'Its id; wins over the name.', { caseExact: true }),
        attribute('name', 'Its exact name.'),
      ],
    }),
    attribute('billingProfileId', 'The id of the billing profile.', { caseExact: true }),
    attribute('costCenterId', 'The id of the cost center.', { caseExact: true }),
    attribute('travelPolicyId', 'The id of the travel policy.', { caseExact: true }),
    complexAttribute('manager', 'The manager, by travel user id or by email.', {
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
    complexAttribute('roles', 'Roles in the travel service.', {
      multiValued: true,
      subAttributes: [attribute('value', 'The role.'), attribute('display', 'A name for people to read.')],
    }),
    attribute('travelUserId', 'The id of the traveler.', { caseExact: true, mutability: 'readOnly' }),
  ],
};
