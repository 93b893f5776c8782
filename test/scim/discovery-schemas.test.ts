import type { Definition } from '../fixtures/published.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';

let scim: ScimService;
beforeAll(async () => {
  scim = await scimService();
});
afterAll(() => scim.close());

const core = 'urn:ietf:params:scim:schemas:core:2.0';

test('GET /Schemas lists the schemas of the discovery endpoints as well (RFC 7643 §8.7.2)', async () => {
  const { body } = await scim.send('GET', '/Schemas');
  const ids = body.Resources.map(({ id }: { id: string }) => id);
  expect(ids).toEqual(expect.arrayContaining([`${core}:User`, `${core}:Group`]));
  expect(ids.slice(4)).toEqual([`${core}:ServiceProviderConfig`, `${core}:ResourceType`, `${core}:Schema`]);
  expect([body.totalResults, body.itemsPerPage]).toEqual([7, 7]);
});

test('GET /ResourceTypes does not list them: they are no resource types of clients', async () => {
  const { body } = await scim.send('GET', '/ResourceTypes');
  expect(body.Resources.map(({ id }: { id: string }) => id)).toEqual(['User', 'Group']);
  expect(body.totalResults).toBe(2);
});

test('the Group schema lists externalId', async () => {
  const { body } = await scim.send('GET', `/Schemas/${core}:Group`);
  const found = body.attributes.find(({ name }: Definition) => name === 'externalId');
  expect(found).toMatchObject({ type: 'string', caseExact: true, mutability: 'readWrite', required: false });
});

// The schema of Schema itself nests one level deeper than a schema can describe, in the RFC as well.
describe('the published schema describes the whole response of', () => {
  it.each([
    ['ServiceProviderConfig', '/ServiceProviderConfig'],
    ['ResourceType', '/ResourceTypes/User'],
    ['Schema', `/Schemas/${core}:User`],
  ])('%s at %s', async (name, path) => {
    const schema = (await scim.send('GET', `/Schemas/${core}:${name.toUpperCase()}`)).body;
    expect(schema).toMatchObject({
      id: `${core}:${name}`,
      meta: { resourceType: 'Schema', location: expect.stringContaining(`/scim/v2/Schemas/${core}:${name}`) },
    });
    const { schemas, meta, ...body } = (await scim.send('GET', path)).body;
    expect([schemas, meta.resourceType]).toEqual([[`${core}:${name}`], name]);
    expect(faultsOf(body, schema.attributes)).toEqual([]);
  });
});

/** Where an object has an attribute that is not defined, or lacks a required one, or has a value of another type. */
function faultsOf(object: Record<string, unknown>, definitions: Definition[], at = ''): string[] {
  const unknown = Object.keys(object).filter((key) => !definitions.some(({ name }) => name === key));
  const wrong = definitions.flatMap((definition) => {
    const place = `${at}.${definition.name}`;
    const value = object[definition.name];
    if (value === undefined) return definition.required ? [`${place} is missing`] : [];
    if (Array.isArray(value) !== definition.multiValued) return [`${place} has the wrong number of values`];
    return [value].flat().flatMap((one) => faultsOfValue(one, definition, place));
  });
  return [...unknown.map((key) => `${at}.${key} is not defined`), ...wrong];
}

function faultsOfValue(value: unknown, { type, subAttributes = [] }: Definition, place: string): string[] {
  const kind = { boolean: 'boolean', integer: 'number', complex: 'object' }[type] ?? 'string';
  if (typeof value !== kind) return [`${place} is not ${type}`];
  return kind === 'object' ? faultsOf(value as Record<string, unknown>, subAttributes, place) : [];
}
