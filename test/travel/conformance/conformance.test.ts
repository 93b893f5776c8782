import { catalog } from '../../../src/travel/catalog.ts';
import { eventKinds } from '../../../src/travel/resources/event.ts';
import { user } from '../../../src/travel/resources/user.ts';
import { describeResource, exampleResources } from './describe-resource.ts';
import { describeRelations } from './relations.ts';

describe.each(exampleResources)('$type', (resource) => describeResource(resource));

/** The only resource with a value that is unique whatever its case. */
describe('user', () => describeRelations(user));

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
