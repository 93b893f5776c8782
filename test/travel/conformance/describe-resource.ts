import { catalog } from '../../../src/travel/catalog.ts';
import type { Resource } from '../../../src/travel/declaration/resource.ts';
import { describeItems } from './items.ts';
import { describeLists } from './lists.ts';
import { describeRelations } from './relations.ts';

/** The types whose declarations together have every trait: unique values, references, an archive, a sort field, a parent, a secret. */
const examples = ['projectCode', 'customFieldOption', 'webhook'];

const creatable = catalog.filter(({ operations }) => operations.includes('create'));

/** Resources that clients may create, one for each trait of a declaration. */
export const exampleResources = creatable.filter(({ type }) => examples.includes(type));

/** The other resources that clients may create. */
export const otherResources = creatable.filter(({ type }) => !examples.includes(type));

/** Tests everything that the declaration of a resource promises. */
export function describeResource(resource: Resource): void {
  describe('as an item', () => describeItems(resource));
  describe('as a list', () => describeLists(resource));
  describe('among others', () => {
    describeRelations(resource);
    test('is declared once', () => {
      const { type, collectionPath } = resource;
      const same = catalog.filter((other) => other.type === type || other.collectionPath === collectionPath);
      expect(same).toEqual([resource]);
    });
  });
}
