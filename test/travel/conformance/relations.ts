import { catalog } from '../../../src/travel/catalog.ts';
import type { Resource } from '../../../src/travel/declaration/resource.ts';
import { collectionOf, sample, without } from '../samples.ts';
import { matchError, matchFault, restoredFixture } from './resource-fixture.ts';

/** Tests unique values, references and parents. */
export function describeRelations(resource: Resource): void {
  const view = restoredFixture(resource);
  const { post, make } = view;

  for (const { field, fold } of resource.unique ?? []) {
    test(`has a ${field} of its own`, async () => {
      const first = await make(0);
      const second = await make(1);
      const taken = String(first[field]);
      const clash = [409, matchError('conflict')];
      const double = await post({ ...sample(resource, 2), [field]: taken });
      expect([double.status, double.body]).toEqual(clash);
      const moved = await view.fixture.send('patch', `${view.path}/${second.id}`, {
        data: { [field]: taken },
      });
      expect([moved.status, moved.body]).toEqual(clash);
      const replaced = await view.fixture.send('put', `${view.path}/${second.id}`, {
        data: { ...sample(resource, 1), [field]: taken },
      });
      expect([replaced.status, replaced.body]).toEqual(clash);
      expect((await view.fixture.send('get', `${view.path}/${second.id}`)).body.data).toEqual(second);
      if (fold) {
        const other = await post({ ...sample(resource, 2), [field]: taken.toUpperCase() });
        expect([other.status, other.body]).toEqual(clash);
        const own = await view.fixture.send('patch', `${view.path}/${first.id}`, {
          data: { [field]: taken.toUpperCase() },
        });
        expect([own.status, own.body.data[field]]).toEqual([200, taken.toUpperCase()]);
      }
      await view.fixture.send('delete', `${view.path}/${first.id}`);
      expect((await post(sample(resource, 0))).status).toBe(201);
    });
  }

  for (const { field, to } of resource.references ?? []) {
    test(`refers by ${field} to a ${to}, which stays as long`, async () => {
      const target = catalog.find(({ type }) => type === to) ?? resource;
      const made = await view.fixture.make(await collectionOf(view.fixture, target), sample(target, 5));
      // A mapping can have only one target.
      const body = without(sample(resource, 0), 'userAttribute');
      const nothing = await post({ ...body, [field]: 'abcdefabcdefabcdefabcdef' });
      const dangling = [422, matchError('validationFailed', [matchFault(field, 'reference')])];
      expect([nothing.status, nothing.body]).toEqual(dangling);
      const referrer = await view.fixture.make(view.path, { ...body, [field]: made.id });
      expect(referrer[field]).toBe(made.id);
      const item = `${view.path}/${referrer.id}`;
      const lost = await view.fixture.send('patch', item, { data: { [field]: 'nothing' } });
      expect([lost.status, lost.body]).toEqual(dangling);
      const held = await view.fixture.send('delete', `/${target.path}/${made.id}`);
      expect([held.status, held.body]).toEqual([409, matchError('conflict')]);
      await view.fixture.send('delete', item);
      expect((await view.fixture.send('delete', `/${target.path}/${made.id}`)).status).toBe(200);
    });
  }

  if (resource.parent) {
    test('is found under its own parent only', async () => {
      const { id } = await make();
      const elsewhere = await collectionOf(view.fixture, resource);
      const nowhere = view.path.replace(/[0-9a-f]{24}/, 'abcdefabcdefabcdefabcdef');
      for (const wrong of [elsewhere, nowhere]) {
        for (const method of ['get', 'patch', 'put', 'delete'] as const) {
          const body = method === 'get' ? undefined : { data: sample(resource, 0) };
          expect((await view.fixture.send(method, `${wrong}/${id}`, body)).status).toBe(404);
        }
      }
      expect((await view.fixture.send('get', nowhere)).status).toBe(404);
      expect((await view.fixture.send('post', nowhere, { data: sample(resource, 0) })).status).toBe(404);
      expect((await view.fixture.send('get', elsewhere)).body.data).toEqual([]);
    });
  }
}
