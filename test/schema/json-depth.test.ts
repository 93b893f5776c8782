import { hasNul, isNestedTooDeep, isTextNestedTooDeep, parseJson } from '../../src/schema/json-depth.ts';

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

test('the depth of a text is found before it is parsed, without brackets in strings', () => {
  const text = (levels: number, inside: string) =>
    `${'{"a":['.repeat(levels / 2)}${inside}${']}'.repeat(levels / 2)}`;
  expect(isTextNestedTooDeep(text(64, '"]}[{"'))).toBe(false);
  expect(isTextNestedTooDeep(text(64, '[]'))).toBe(true);
  expect(isTextNestedTooDeep(text(64, `"\\"${'['.repeat(99)}\\"`))).toBe(false);
  expect(isTextNestedTooDeep(text(64, '"\\\\",[0]'))).toBe(true);
  expect(isTextNestedTooDeep('['.repeat(65))).toBe(true);
  expect(parseJson(text(64, '1'))).toEqual(JSON.parse(text(64, '1')));
  expect(parseJson(text(66, '1'))).toBeUndefined();
});

test('a text that is nested too deep is not parsed: what follows the 65th level is not looked at', () => {
  const parse = jest.spyOn(JSON, 'parse');
  expect(parseJson('['.repeat(1_000_000))).toBeUndefined();
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
});

test('a list of any length is not deep', () => {
  expect(isNestedTooDeep(Array.from({ length: 200_000 }, () => ({ a: [1, null] })))).toBe(false);
});

test('a text with NUL is found at any depth, without recursion', () => {
  expect(hasNul({ a: [{ b: 'x\0' }] })).toBe(true);
  expect(hasNul({ a: [{ b: 'x' }, null, 0] })).toBe(false);
  expect(hasNul(nested(500_000, '\0'))).toBe(true);
});
