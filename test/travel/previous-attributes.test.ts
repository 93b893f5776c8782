import fc, { type Arbitrary } from 'fast-check';
import { catalog } from '../../src/travel/catalog.ts';
import { mergePatch, previousAttributes } from '../../src/travel/changes.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/travel/json.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';
import { valuesOf } from './arbitrary.ts';
import { bodyPointer, operations, partAt } from './contract.ts';
import { sample } from './samples.ts';

const names = fc.constantFrom('a', 'b', 'constructor', 'toString');
const scalar: Arbitrary<Json> = fc.oneof(fc.constantFrom<Json>('x', 'y', 1, 0, true, false));
const { state } = fc.letrec<{ state: JsonObject; value: Json }>((tie) => ({
  state: fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(scalar, { maxLength: 2 }),
    tie('state') as Arbitrary<Json>,
  ),
}));

test('previousAttributes applied as a merge patch to any new state gives the old state', () => {
  fc.assert(
    fc.property(state, state, (before, after) => {
      expect(mergePatch(after, previousAttributes(before, after))).toEqual(before);
    }),
  );
});

test('previousAttributes contains no unchanged attributes', () => {
  fc.assert(
    fc.property(state, (same) => {
      expect(previousAttributes(same, JSON.parse(JSON.stringify(same)))).toEqual({});
    }),
  );
});

describe.each(
  catalog
    .filter(({ events, operations: own }) => events?.includes('updated') && own.includes('patch'))
    .map((resource) => [resource.type, resource] as const),
)('the events of random changes of a %s', (type, resource) => {
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
        expect(event).toMatchObject({ kind: `${type}.updated`, data: answer.body.data });
        expect(mergePatch(event.data, event.previousAttributes)).toEqual(before);
      }),
      { numRuns: 60 },
    );
    expect(changes).toBeGreaterThan(5);
  });
});
