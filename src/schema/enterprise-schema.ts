import { attribute, complex, type Schema } from './attribute.ts';
import { urns } from './resource.ts';

/** The enterprise extension (RFC 7643 §4.3). `manager.displayName` is kept as sent, so it is not read-only here. */
export const enterpriseSchema: Schema = {
  id: urns.enterprise,
  name: 'EnterpriseUser',
  description: 'The place of a user in the organization.',
  attributes: [
    attribute('employeeNumber', 'The number given by the employer.'),
    attribute('costCenter', 'The cost center, by its name or id.'),
    attribute('organization', 'The organization.'),
    attribute('division', 'The division.'),
    attribute('department', 'The department.'),
    complex('manager', "The user's manager.", {
      subAttributes: [
        attribute('value', 'The id of the manager.', { caseExact: true }),
        attribute('$ref', 'The URI of the manager.', {
          type: 'reference',
          referenceTypes: ['User'],
          caseExact: true,
        }),
        attribute('displayName', 'The name of the manager.'),
      ],
    }),
  ],
};
