import type { JsonObject } from '../../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../../fixtures/scim.ts';

const EXTENSIONS = 240;
const KEYS = 1_450;
const urnOf = (index: number) => `urn:acme:${'x'.repeat(260)}:1.0:e${index}`;

let fixture: ScimFixture;
let user: JsonObject;
beforeAll(async () => {
  fixture = await scimFixture();
  const extensions = Object.fromEntries(
    Array.from({ length: EXTENSIONS }, (_, index) => [urnOf(index), { first: 'x' }]),
  );
  const { status, body } = await fixture.send('POST', '/Users', { userName: 'ada', ...extensions });
  expect(status).toBe(201);
  user = body;
});
afterAll(() => fixture.close());
afterEach(() => jest.restoreAllMocks());

describe('a PATCH folds the case of the URNs of a resource once, however many paths it has', () => {
  const name = (index: number) => `a${Math.floor(index / EXTENSIONS)}`;
  const exact = Array.from({ length: KEYS }, (_, index) => `${urnOf(index % EXTENSIONS)}:${name(index)}`);
  test.each([
    ['of present extensions', exact],
    ['of present extensions in another case', exact.map((key) => key.replace('acme', 'ACME'))],
    ['of absent extensions', exact.map((key) => key.replace('acme', 'other'))],
  ])('%s', async (_title, keys) => {
    const lowerCase = jest.spyOn(String.prototype, 'toLowerCase');
    const operation = { op: 'add', value: Object.fromEntries(keys.map((key) => [key, 'y'])) };
    const { status, body } = await fixture.send('PATCH', `/Users/${user['id']}`, patchOp(operation));
    expect([status, body.id]).toEqual([200, user['id']]);
    // A few calls for each path and each extension. Folding all URNs for each path would take 348,000 calls.
    expect(lowerCase.mock.calls.length).toBeLessThan(60_000);
  });
});

describe('a path is divided by the extensions that the resource has after the operations before', () => {
  const outer = 'urn:acme:hr:1.0';
  const inner = `${outer}:staff`;
  const patch = async (extensions: JsonObject, ...operations: JsonObject[]) => {
    const created = await fixture.send('POST', '/Users', { userName: 'bob', ...extensions });
    expect(created.status).toBe(201);
    const path = `/Users/${created.body.id}`;
    const { status, body } = await fixture.send('PATCH', path, patchOp(...operations));
    await fixture.send('DELETE', path);
    expect(status).toBe(200);
    return { [outer]: body[outer], [inner]: body[inner] };
  };

  test('when an extension was added', async () => {
    const add = { op: 'add', path: inner, value: { badge: 1 } };
    const remove = { op: 'remove', path: inner.toUpperCase() };
    expect(await patch({}, add, { op: 'replace', path: `${inner.toUpperCase()}:badge`, value: 2 })).toEqual({
      [inner]: { badge: 2 },
    });
    expect(await patch({}, add, remove)).toEqual({});
  });

  test('when an extension was removed, as a whole or with its last attribute', async () => {
    const both = { [outer]: { staff: 'yes' }, [inner]: { badge: 1 } };
    const remove = { op: 'remove', path: inner };
    // The same path then names an attribute of the other extension.
    expect(await patch(both, remove)).toEqual({ [outer]: { staff: 'yes' } });
    expect(await patch(both, remove, remove)).toEqual({});
    expect(await patch(both, { op: 'remove', path: `${inner}:badge` }, remove)).toEqual({});
  });
});
