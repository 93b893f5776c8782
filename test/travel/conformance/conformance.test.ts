import { catalog } from '../../../src/travel/catalog.ts';
import { eventKinds } from '../../../src/travel/resources/event.ts';
import { describeItems } from './items.ts';
import { describeLists } from './lists.ts';
import { describeRelations } from './relations.ts';

/** Everything that the declaration of a resource promises, for each resource that clients may create. */
const creatable = catalog.filter(({ operations }) => operations.includes('create'));

describe.each(creatable.map((resource) => ({ resource, type: resource.type })))('$type', ({ resource }) => {
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
});

describe('the catalog', () => {
  test('has only events that are kinds to which webhooks can subscribe', () => {
    const declared = catalog.flatMap(({ type, events = [] }) => events.map((change) => `${type}.${change}`));
    expect(declared.filter((kind) => !eventKinds.some((known) => known === kind))).toEqual([]);
  });

  test('offers reading alone, or all operations', () => {
    const forms = catalog.map(({ operations }) => operations.toSorted().join(' '));
    expect([...new Set(forms)].toSorted()).toEqual([
      'create delete list patch replace retrieve',
      'list retrieve',
    ]);
  });
});
