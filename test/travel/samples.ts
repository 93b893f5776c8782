import type { JsonObject } from '../../src/travel/json.ts';
import type { Resource } from '../../src/travel/resource.ts';
import { scimAttributes } from '../../src/travel/resources/scim-user-mapping.ts';
import type { Fixture } from '../fixtures/travel.ts';

/** As many different samples of one resource as there can be. */
export const MOST = scimAttributes.length;

/** A valid body, different for each number below `MOST` in every field that is unique or sorted by. */
export function sample(resource: Resource, number: number): JsonObject {
  // Not in order of creation, and not all in one case.
  const mark = (number * 7) % MOST;
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

/** The path of a collection; where it is nested, its parent is made. */
export async function collectionOf(fixture: Fixture, resource: Resource): Promise<string> {
  if (!resource.parent) return `/${resource.path}`;
  const parent = { dataType: 'option', name: 'Parent', resourceType: 'user' };
  const { id } = await fixture.make(`/${resource.parent.path}`, parent);
  return `/${resource.parent.path}/${id}/${resource.path}`;
}

/** The fields of a schema that must be given. */
export function requiredFields(resource: Resource): string[] {
  return Object.entries(resource.schema.shape)
    .filter(([, schema]) => !schema.safeParse(undefined).success)
    .map(([name]) => name);
}

/** The fields of a schema that are false when they are not given. */
export function flags(resource: Resource): string[] {
  return Object.entries(resource.schema.shape)
    .filter(([, schema]) => schema.safeParse(undefined).data === false)
    .map(([name]) => name);
}

/** A copy without some of its fields. */
export function without(object: JsonObject, ...names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** True when there is a null anywhere. */
export function hasNull(value: unknown): boolean {
  if (value === null) return true;
  return typeof value === 'object' && Object.values(value).some(hasNull);
}
