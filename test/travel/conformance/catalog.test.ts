import { readdirSync } from 'node:fs';
import { catalog } from '../../../src/travel/catalog.ts';

test('every resource that clients may create has a conformance test file', () => {
  const creatable = catalog.filter(({ operations }) => operations.includes('create'));
  const expected = creatable.map(
    ({ type }) => `${type.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.test.ts`,
  );
  expect(readdirSync(__dirname)).toEqual(expect.arrayContaining(expected));
});
