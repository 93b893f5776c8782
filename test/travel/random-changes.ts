import fc from 'fast-check';
import { catalog } from '../../src/travel/catalog.ts';
import { mergePatch } from '../../src/travel/changes.ts';
import type { Resource } from '../../src/travel/declaration/resource.ts';
import { isJsonObject } from '../../src/travel/json.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';
import { valuesOf } from './arbitrary.ts';
import { bodyPointer, operations, partAt } from './contract.ts';
import { sample } from './samples.ts';

/** The resources that clients change, and whose changes are events. */
export const changedResources = catalog.filter(
  ({ events, operations: own }) => events?.includes('updated') && own.includes('patch'),
);

/** Tests that the events of random changes lead from each state back to the one before. */
export function describeRandomChanges(resource: Resource): void {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture();
  });
  afterAll(() => fixture.close());

  const patch = operations.find(({ method, path }) => {
    return method === 'patch' && path.startsWith(`/api/${resource.path}/`);
  });
  const schema = patch ? partAt(String(partAt(`${bodyPointer(patch)}/properties/data`)['$ref'])) : {};
  // The referenced resources do not exist here; events treat references as text.
  const references = (resource.references ?? []).map(({ field }) => field);
  const properties = Object.fromEntries(
    Object.entries(isJsonObject(schema['properties']) ? schema['properties'] : {}).filter(
      ([name]) => !['customFields', ...references].includes(name),
    ),
  );
  const bodies = valuesOf({ ...schema, properties }, () => ['nobody']);

  test('lead from the embedded state back to the state before', async () => {
    const { id } = await fixture.make(`/${resource.path}`, sample(resource, 0));
    const path = `/${resource.path}/${id}`;
    let changes = 0;
    const change = fc.record({ method: fc.constantFrom('patch', 'patch', 'put'), data: bodies });
    await fc.assert(
      fc.asyncProperty(change, async ({ method, data }) => {
        const before = (await fixture.send('get', path)).body.data;
        const answer = await fixture.send(method as 'patch' | 'put', path, { data });
        if (answer.status !== 200 || JSON.stringify(answer.body.data) === JSON.stringify(before)) return;
        changes += 1;
        const [event] = (await fixture.send('get', '/events?pageKind=cursor&order=desc&limit=1')).body.data;
        expect(event).toMatchObject({ kind: `${resource.type}.updated`, data: answer.body.data });
        expect(mergePatch(event.data, event.previousAttributes)).toEqual(before);
      }),
      { numRuns: 60 },
    );
    expect(changes).toBeGreaterThan(5);
  });
}
