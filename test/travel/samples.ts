import type { Resource } from '../../src/travel/declaration/resource.ts';
import type { JsonObject } from '../../src/travel/json.ts';
import { scimAttributes } from '../../src/travel/resources/scim-user-mapping.ts';
import type { Fixture } from '../fixtures/travel.ts';

/** The number of distinct samples that every resource can have. */
export const SAMPLE_COUNT = scimAttributes.length;

/** A valid body. Numbers below `SAMPLE_COUNT` give different values for all unique and sortable fields: email, code, name, data, scimAttribute. */
export function sample(resource: Resource, number: number): JsonObject {
  // Neither in order of creation nor all in one case.
  const mark = (number * 7) % SAMPLE_COUNT;
  const word = mark % 2 === 0 ? `sample ${mark}` : `SAMPLE ${mark}`;
  const different = new Map(
    Object.entries({
      email: `${word.replace(' ', '.')}@example.com`,
      code: word,
      name: word,
      data: word,
      scimAttribute: scimAttributes[mark] ?? '',
    }),
  );
  const fields = Object.entries(resource.example).map(([name, value]) => [
    name,
    different.get(name) ?? value,
  ]);
  return Object.fromEntries(fields);
}

/** The path of a collection; creates the parent of a nested one. */
export async function collectionOf(fixture: Fixture, resource: Resource): Promise<string> {
  if (!resource.parent) return `/${resource.path}`;
  const parent = { dataType: 'option', name: 'Parent', resourceType: 'user' };
  const { id } = await fixture.make(`/${resource.parent.path}`, parent);
  return `/${resource.parent.path}/${id}/${resource.path}`;
}

/** The required fields of a schema. */
export function requiredFields(resource: Resource): string[] {
  return Object.entries(resource.schema.shape)
    .filter(([, schema]) => !schema.safeParse(undefined).success)
    .map(([name]) => name);
}

/** The boolean fields that default to false. */
export function booleanDefaults(resource: Resource): string[] {
  return Object.entries(resource.schema.shape)
    .filter(([, schema]) => schema.safeParse(undefined).data === false)
    .map(([name]) => name);
}

/** A copy without some of its fields. */
export function without(object: JsonObject, ...names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Reports whether a value contains a null. */
export function hasNull(value: unknown): boolean {
  if (value === null) return true;
  return typeof value === 'object' && Object.values(value).some(hasNull);
}
