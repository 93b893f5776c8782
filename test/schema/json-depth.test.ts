import { hasNul, isNestedTooDeep } from '../../src/schema/json-depth.ts';

function nested(levels: number, inside: unknown): unknown {
  let value = inside;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

test('64 levels of objects and arrays are accepted, and one more is too deep', () => {
  expect(isNestedTooDeep(nested(64, 'text'))).toBe(false);
  expect(isNestedTooDeep(nested(65, 'text'))).toBe(true);
  expect(isNestedTooDeep([1, nested(64, 'text'), 2])).toBe(true);
});

test('a list of any length is not deep', () => {
  expect(isNestedTooDeep(Array.from({ length: 200_000 }, () => ({ a: [1, null] })))).toBe(false);
});

test('a text with NUL is found at any depth, without recursion', () => {
  expect(hasNul({ a: [{ b: 'x\0' }] })).toBe(true);
  expect(hasNul({ a: [{ b: 'x' }, null, 0] })).toBe(false);
  expect(hasNul(nested(500_000, '\0'))).toBe(true);
});
