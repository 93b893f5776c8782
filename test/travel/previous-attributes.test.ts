import fc, { type Arbitrary } from 'fast-check';
import { mergePatch, previousAttributes } from '../../src/travel/changes.ts';
import type { Json, JsonObject } from '../../src/travel/json.ts';
import { changedResources, describeRandomChanges } from './random-changes.ts';

const names = fc.constantFrom('a', 'b', 'constructor', 'toString');
const scalar: Arbitrary<Json> = fc.oneof(fc.constantFrom<Json>('x', 'y', 1, 0, true, false));
const { state } = fc.letrec<{ state: JsonObject; value: Json }>((tie) => ({
  state: fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(scalar, { maxLength: 2 }),
    tie('state') as Arbitrary<Json>,
  ),
}));

test('previousAttributes applied as a merge patch to any new state gives the old state', () => {
  fc.assert(
    fc.property(state, state, (before, after) => {
      expect(mergePatch(after, previousAttributes(before, after))).toEqual(before);
    }),
  );
});

test('previousAttributes contains no unchanged attributes', () => {
  fc.assert(
    fc.property(state, (same) => {
      expect(previousAttributes(same, JSON.parse(JSON.stringify(same)))).toEqual({});
    }),
  );
});

/** The other resources are changed in the slow tests. */
describe.each(changedResources.filter(({ type }) => type === 'billingProfile'))(
  'the events of random changes of a $type',
  (resource) => describeRandomChanges(resource),
);
