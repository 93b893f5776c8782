import SCIMMY from 'scimmy';
import { travelSchema } from '../../src/schema/generated-travel-schema.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { scimmySchemas } from '../../src/scim/discovery/schemas.ts';
import { travelExtensionAttributes } from '../../src/translator/fields/fields.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';

test('src/schema/generated-travel-schema.ts is up to date; `npm run schemas` writes it', () => {
  // As text, since the order of the attributes is part of /Schemas.
  expect(JSON.stringify(travelSchema.attributes)).toBe(JSON.stringify(travelExtensionAttributes()));
});

test("the schemas of this service leave SCIMMY's own definitions as they are", () => {
  const definitions = () =>
    [SCIMMY.Schemas.User, SCIMMY.Schemas.Group, SCIMMY.Schemas.EnterpriseUser].map(({ definition }) =>
      JSON.stringify([definition.describe(), definition.attributes.length]),
    );
  const before = definitions();
  scimmySchemas();
  expect(definitions()).toEqual(before);
});

describe('in a service that runs', () => {
  let scim: ScimService;
  beforeAll(async () => {
    scim = await scimService();
  });
  afterAll(() => scim.close());

  test.each(['User', 'Group'])(
    'the resource class %s declares the schema that /Schemas lists',
    async (name) => {
      const { definition } = SCIMMY.Resources.declared(name).schema;
      const { body } = await scim.send('GET', `/Schemas/${definition.id}`);
      const paths = (attributes: JsonObject[]): unknown[] =>
        attributes.map((one) => [one['name'], paths((one['subAttributes'] ?? []) as JsonObject[])]);
      const declared = JSON.parse(JSON.stringify(definition.describe()));
      expect(paths(declared.attributes)).toEqual(paths(body.attributes));
      expect([declared.name, declared.description]).toEqual([body.name, body.description]);
    },
  );

  test('SCIMMY knows the same schemas and extensions of users and groups as /ResourceTypes', async () => {
    const { body } = await scim.send('GET', '/ResourceTypes');
    // SCIMMY routes no requests for roles.
    const routed = body.Resources.filter(({ id }: { id: string }) => id !== 'Role');
    const listed = routed.flatMap(
      ({ schema, schemaExtensions }: { schema: string; schemaExtensions: { schema: string }[] }) => [
        schema,
        ...schemaExtensions.map((extension) => extension.schema),
      ],
    );
    expect(SCIMMY.Schemas.declared().map(({ id }) => id)).toEqual(expect.arrayContaining(listed));
  });
});
