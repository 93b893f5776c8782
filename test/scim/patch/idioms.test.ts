import { type JsonObject, SchemaFault, type ScimResource } from '../../../src/schema/resource.ts';
import { userType } from '../../../src/schema/resource-types.ts';
import { applyPatch, parsePatch } from '../../../src/scim/patch/patch.ts';
import { ScimError } from '../../../src/scim/protocol/errors.ts';
import { expectedOf, idioms } from './idioms.ts';
import { playOverHttp } from './idioms-over-http.ts';

test.each(idioms)('idiom %d: %s', (_number, _title, seed, message, outcome) => {
  const before = structuredClone(seed);
  expect(outcomeOf(seed, message)).toEqual(
    typeof outcome['error'] === 'string' ? outcome : expectedOf(seed, outcome),
  );
  expect(seed).toEqual(before);
});

test('the idioms are numbered from 1 to 114', () => {
  expect(idioms.map(([number]) => number)).toEqual(Array.from({ length: 114 }, (_, index) => index + 1));
});

function outcomeOf(seed: ScimResource, message: JsonObject): JsonObject {
  try {
    return applyPatch(userType, seed, parsePatch(message));
  } catch (error) {
    if (error instanceof SchemaFault) return { error: 'invalidValue' };
    if (error instanceof ScimError) return { error: String(error.scimType) };
    throw error;
  }
}

// The slow test of the same name plays them all.
describe('over HTTP the outcome is the same', () => {
  playOverHttp(idioms.filter(([number]) => number % 10 === 4));
});
