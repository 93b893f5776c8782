import { readdirSync } from 'node:fs';
import { catalog } from '../../../src/travel/catalog.ts';
import { eventKinds } from '../../../src/travel/resources/event.ts';

test('every resource that clients may create has a conformance test file', () => {
  const creatable = catalog.filter(({ operations }) => operations.includes('create'));
  const expected = creatable.map(
    ({ type }) => `${type.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.test.ts`,
  );
  expect(readdirSync(__dirname)).toEqual(expect.arrayContaining(expected));
});

test('every event that a resource declares is a kind to which webhooks can subscribe', () => {
  const declared = catalog.flatMap(({ type, events = [] }) => events.map((change) => `${type}.${change}`));
  expect(declared.filter((kind) => !eventKinds.some((known) => known === kind))).toEqual([]);
});

test('a resource offers reading alone, or all operations', () => {
  const forms = catalog.map(({ operations }) => operations.toSorted().join(' '));
  expect([...new Set(forms)].toSorted()).toEqual([
    'create delete list patch replace retrieve',
    'list retrieve',
  ]);
});
