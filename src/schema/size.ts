import { SchemaFault } from './fault.ts';
import type { ScimResource } from './resource.ts';

/** In characters of JSON: more than any person has, and little enough that a page of the largest can be answered. */
const MAX_SIZE = 262_144;

/** Refuses a resource that is too large to be read, filtered and answered in an instant; its nesting is bounded before. */
export function checkSize(resource: ScimResource): void {
  if (JSON.stringify(resource).length > MAX_SIZE) {
    throw new SchemaFault('value', `The resource is larger than ${MAX_SIZE} characters.`);
  }
}
