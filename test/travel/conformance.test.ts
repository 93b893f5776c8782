import { catalog } from '../../src/travel/catalog.ts';
import { items } from './conformance/items.ts';
import { lists } from './conformance/lists.ts';
import { relations } from './conformance/relations.ts';

/** Everything a declaration promises, tried on every resource that clients may create. */
for (const resource of catalog.filter(({ operations }) => operations.includes('create'))) {
  describe(resource.type, () => {
    describe('as an item', () => items(resource));
    describe('as a list', () => lists(resource));
    describe('among others', () => {
      relations(resource);
      test('is declared once', () => {
        const { type, collectionPath } = resource;
        const same = catalog.filter(
          (other) => other.type === type || other.collectionPath === collectionPath,
        );
        expect(same).toEqual([resource]);
      });
    });
  });
}
