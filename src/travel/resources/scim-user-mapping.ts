import { z } from 'zod';
import { oneOf, text } from '../declaration/fields.ts';
import { type Change, defineResource } from '../declaration/resource.ts';
import { readResource } from '../ports.ts';
import { fieldFault } from '../requests/validation.ts';

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** The closed list of SCIM attributes that can be mapped. */
export const scimAttributes = [
  'displayName',
  'name.honorificPrefix',
  'name.honorificSuffix',
  'name.middleName',
  'nickName',
  'title',
  'userType',
  `${ENTERPRISE}:employeeNumber`,
  `${ENTERPRISE}:organization`,
  `${ENTERPRISE}:division`,
  `${ENTERPRISE}:department`,
] as const;

/** Maps a SCIM attribute to a user attribute or custom field. */
export const scimUserMapping = defineResource({
  type: 'scimUserMapping',
  path: 'scim-user-mappings',
  idForm: 'A',
  schema: z
    .strictObject({
      customFieldId: text.optional(),
      scimAttribute: oneOf(scimAttributes),
      userAttribute: oneOf(['dateOfBirth', 'email', 'firstName', 'lastName', 'phoneNumber']).optional(),
    })
    .meta({ description: 'A mapping of a SCIM attribute to a user attribute or a custom field' }),
  unique: [{ field: 'scimAttribute', fold: false }],
  references: [{ field: 'customFieldId', to: 'customField' }],
  // "A SCIM attribute maps either to a custom field or to a user attribute" (specification).
  exactlyOneOf: ['customFieldId', 'userAttribute'],
  rules: { check },
  example: { scimAttribute: 'title', userAttribute: 'firstName' },
});

/** The custom field must be one of users. */
async function check({ wanted, transaction }: Change) {
  const { customFieldId } = wanted;
  const field =
    typeof customFieldId === 'string' && (await readResource(transaction, 'customField', customFieldId));
  const isForeign = field && field.doc['resourceType'] !== 'user';
  const invalid = isForeign
    ? [fieldFault('reference', ['customFieldId'], wanted, 'must be a custom field of users')]
    : [];
  return { doc: wanted, invalid };
}
