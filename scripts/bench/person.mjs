/** The title of every new person. A PATCH with the same title changes nothing. */
export const title = 'Engineer';

/** Returns the body of a POST with the attributes that Entra ID sends by default. */
export function newPerson(name) {
  const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', enterprise],
    externalId: name,
    userName: `${name}@example.com`,
    active: true,
    displayName: 'Ada Lovelace',
    title,
    preferredLanguage: 'en-GB',
    name: { formatted: 'Ada Lovelace', givenName: 'Ada', familyName: 'Lovelace' },
    emails: [{ primary: true, type: 'work', value: `${name}@example.com` }],
    phoneNumbers: [{ type: 'mobile', value: '+33612345678' }],
    addresses: [
      {
        type: 'work',
        streetAddress: '1 rue de la Paix',
        locality: 'Paris',
        postalCode: '75002',
        country: 'FR',
      },
    ],
    [enterprise]: { department: 'Research', employeeNumber: name },
  };
}
