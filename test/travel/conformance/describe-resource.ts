import { catalog } from '../../../src/travel/catalog.ts';
import { describeItems } from './items.ts';
import { describeLists } from './lists.ts';
import { describeRelations } from './relations.ts';

/** Tests everything that the declaration of one resource promises. Each creatable resource has a test file, so that they run in parallel. */
export function describeResource(type: string): void {
  const resource = catalog.find((candidate) => candidate.type === type);
  if (!resource) throw new Error(`the catalog has no resource ${type}`);
  describe(type, () => {
    describe('as an item', () => describeItems(resource));
    describe('as a list', () => describeLists(resource));
    describe('among others', () => {
      describeRelations(resource);
      test('is declared once', () => {
        const { collectionPath } = resource;
        const same = catalog.filter(
          (other) => other.type === type || other.collectionPath === collectionPath,
        );
        expect(same).toEqual([resource]);
      });
    });
  });
}
