import { urns } from '../../src/schema/resource.ts';
import { type ScimHouse, scimHouse } from '../support/scim-house.ts';

let house: ScimHouse;
beforeEach(async () => {
  house = await scimHouse();
});
afterEach(() => house.close());

interface Described {
  name: string;
  subAttributes?: Described[];
  [characteristic: string]: unknown;
}

test('ResourceTypes are User, with both extensions, and Group', async () => {
  const { body } = await house.send('GET', '/ResourceTypes');
  expect(body).toMatchObject({ totalResults: 2, itemsPerPage: 2, startIndex: 1 });
  expect(body.Resources[0]).toMatchObject({
    id: 'User',
    endpoint: '/Users',
    schema: urns.user,
    schemaExtensions: [
      { schema: urns.enterprise, required: false },
      { schema: urns.travel, required: false },
    ],
  });
  expect(body.Resources[1]).toMatchObject({ id: 'Group', endpoint: '/Groups', schema: urns.group });
  expect((await house.send('GET', '/ResourceTypes/User')).body).toEqual(body.Resources[0]);
});

test('Schemas are the four that are stored, each readable by its URN', async () => {
  const { body } = await house.send('GET', '/Schemas');
  expect(body.Resources.map(({ id }: { id: string }) => id)).toEqual([
    urns.user,
    urns.enterprise,
    urns.travel,
    urns.group,
  ]);
  for (const schema of body.Resources) {
    expect((await house.send('GET', `/Schemas/${schema.id}`)).body).toEqual(schema);
  }
});

test('every attribute states all its characteristics (RFC 7643 §7)', async () => {
  const { body } = await house.send('GET', '/Schemas');
  const all = (attributes: Described[]): Described[] =>
    attributes.flatMap((one) => [one, ...all(one.subAttributes ?? [])]);
  for (const attribute of body.Resources.flatMap((schema: { attributes: Described[] }) =>
    all(schema.attributes),
  )) {
    expect(attribute).toEqual(
      expect.objectContaining({
        name: expect.any(String),
        type: expect.stringMatching(/^(string|boolean|dateTime|reference|binary|complex)$/),
        description: expect.any(String),
        multiValued: expect.any(Boolean),
        required: expect.any(Boolean),
        caseExact: expect.any(Boolean),
        mutability: expect.stringMatching(/^(readOnly|readWrite|immutable|writeOnly)$/),
        returned: expect.stringMatching(/^(always|never|default|request)$/),
        uniqueness: expect.stringMatching(/^(none|server|global)$/),
      }),
    );
  }
});

test('what provisioning tools derive their mapping from', async () => {
  const { body } = await house.send('GET', `/Schemas/${urns.user}`);
  const find = (name: string): Described => body.attributes.find((one: Described) => one.name === name);
  const types = (name: string) =>
    find(name).subAttributes?.find((one) => one.name === 'type')?.['canonicalValues'];
  expect(
    body.attributes.filter((one: Described) => one['required']).map((one: Described) => one.name),
  ).toEqual(['userName', 'name', 'emails']);
  expect(types('emails')).toEqual(['work', 'home', 'other']);
  expect(types('phoneNumbers')).toEqual(['work', 'mobile', 'fax', 'home', 'other', 'pager']);
  expect(types('addresses')).toEqual(['work', 'home', 'other']);
  expect(types('roles')).toBeUndefined();
});

test('what is not there is 404, and filters are 403 (RFC 7644 §4)', async () => {
  expect((await house.send('GET', '/Schemas/urn:nope')).status).toBe(404);
  expect((await house.send('GET', '/ResourceTypes/Nope')).status).toBe(404);
  for (const path of ['/Schemas', '/ResourceTypes', '/ServiceProviderConfig']) {
    expect((await house.send('GET', `${path}?filter=id+pr`)).body).toMatchObject({ status: '403' });
  }
});
