import { catalog } from '../../../src/travel/catalog.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

test('page size `limit`: 1 to 100, default 10, on all list endpoints', async () => {
  const lists = catalog.filter(({ parent }) => !parent).map(({ path }) => path);
  expect(lists.length).toBeGreaterThan(12);
  const field = { dataType: 'option', name: 'Team', resourceType: 'user' };
  const { id } = await fixture.make('/custom-fields', field);
  for (const path of [...lists, `custom-fields/${id}/options`]) {
    const limits = [];
    for (const query of ['', '?limit=1', '?limit=100']) {
      limits.push((await fixture.send('get', `/${path}${query}`)).body.meta.limit);
    }
    expect([path, limits]).toEqual([path, [10, 1, 100]]);
    for (const limit of [0, 101]) {
      const { status, body } = await fixture.send('get', `/${path}?limit=${limit}`);
      expect([path, status, body.invalid[0].value]).toEqual([path, 400, limit]);
    }
  }
});
