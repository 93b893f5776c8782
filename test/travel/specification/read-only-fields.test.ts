import type { JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';
import { playFullYear } from './company.ts';
import { formOf } from './forms.ts';
import { leavesOf, valuesAt } from './paths.ts';
import { rowsOf, type Section, sectionsOf } from './statements.ts';

/** All tests share one full year of data, which they do not change. */
let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
  await playFullYear(fixture);
});
afterAll(() => fixture.close());

/** All resources of a section's type. */
async function all({ path }: Section): Promise<(JsonObject & { id: string })[]> {
  const listed: (JsonObject & { id: string })[] = [];
  for (let total = 1; listed.length < total; ) {
    const { data, meta } = (await fixture.send('get', `/${path}?limit=100&offset=${listed.length}`)).body;
    listed.push(...data);
    total = meta.total;
  }
  return listed;
}

describe.each(sectionsOf('read-only-fields.test.ts'))('$section', (section) => {
  let resources: (JsonObject & { id: string })[];
  beforeAll(async () => {
    resources = await all(section);
  });

  test.each(rowsOf(section))('$statement', (row) => {
    const values = resources.flatMap((resource) => valuesAt(resource, row.field));
    const form = formOf(row);
    expect(values.filter((value) => !form?.isAnswered(value))).toEqual([]);
    if (row.required) expect(values).toHaveLength(resources.length);
    expect(values.length > 0).toBe(row.absent !== true);
    if (row.form === 'open') expect(row.values).toEqual(expect.arrayContaining(values.slice(0, 1)));
  });

  test('what is stored is answered as it stands', async () => {
    const { type } = section;
    const stored = await fixture.runtime.store.read(resources.map(({ id }) => ({ type, id })));
    expect(stored).toHaveLength(resources.length);
    const answers = new Map(resources.map((resource) => [resource.id, resource]));
    // Names of custom fields are the present ones.
    for (const { id, doc } of stored) {
      const { customFields: _, ...own } = doc;
      expect(answers.get(id)).toMatchObject(own);
    }
  });

  test('nothing is answered that the table does not name, and an item is as it is listed', async () => {
    for (const resource of resources) {
      expect(leavesOf(resource).filter((leaf) => !isNamed(leaf, section))).toEqual([]);
      expect((await fixture.send('get', `/${section.path}/${resource.id}`)).body).toEqual({ data: resource });
    }
  });
});

/** Amounts and the embedded resources of events are named as a whole. */
function isNamed(leaf: string, section: Section): boolean {
  const amount = leaf.replace(/\.(base|currency|tax|taxRate|total)$/, '');
  return rowsOf(section).some(
    ({ field, form }) =>
      field === leaf ||
      (form === 'amount' && field === amount) ||
      (form === 'embedded' && leaf.startsWith(`${field}.`)),
  );
}
