import { createHash } from 'node:crypto';

/** The title of every new person. A PATCH with the same title changes nothing. */
export const title = 'Engineer';

/** Returns the body of a POST with the attributes that Entra ID sends by default, with names, a phone number and an address of their own. */
export function newPerson(name) {
  const number = Number.parseInt(createHash('md5').update(name).digest('hex').slice(0, 8), 16);
  const givenName = `Ada${number % 1_000}`;
  const familyName = `Lovelace${number}`;
  const digits = String(number % 100_000_000).padStart(8, '0');
  const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', enterprise],
    externalId: name,
    userName: `${name}@example.com`,
    active: true,
    displayName: `${givenName} ${familyName}`,
    title,
    preferredLanguage: 'en-GB',
    name: { formatted: `${givenName} ${familyName}`, givenName, familyName },
    emails: [{ primary: true, type: 'work', value: `${name}@example.com` }],
    phoneNumbers: [{ type: 'mobile', value: `+336${digits}` }],
    addresses: [
      {
        type: 'work',
        streetAddress: `${(number % 200) + 1} rue de la Paix`,
        locality: 'Paris',
        postalCode: `750${String((number % 20) + 1).padStart(2, '0')}`,
        country: 'FR',
      },
    ],
    [enterprise]: { department: 'Research', employeeNumber: name },
  };
}
