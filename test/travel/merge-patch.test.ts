import fc from 'fast-check';
import { mergePatch } from '../../src/travel/changes.ts';
import type { JsonObject } from '../../src/travel/json.ts';

/** RFC 7396, Appendix A: the cases that patch an object with an object. */
test.each<[JsonObject, JsonObject, JsonObject]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('%j patched with %j is %j', (target, patch, result) => {
  expect(mergePatch(target, patch)).toEqual(result);
});

const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })) as fc.Arbitrary<JsonObject>;

test('applying a patch twice equals applying it once, and modifies neither argument', () => {
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const [targetBefore, patchBefore] = [JSON.stringify(target), JSON.stringify(patch)];
      const once = mergePatch(target, patch);
      expect(mergePatch(once, patch)).toEqual(once);
      expect([JSON.stringify(target), JSON.stringify(patch)]).toEqual([targetBefore, patchBefore]);
    }),
  );
});

test('a member called __proto__ is a member like any other', () => {
  const merged = mergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}'));
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  expect(Object.keys(merged)).toEqual(['__proto__']);
});
