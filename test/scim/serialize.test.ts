import fc from 'fast-check';
import type { UserView } from '../../src/provisioning/users/list-users.ts';
import { type JsonObject, urns } from '../../src/schema/resource.ts';
import { fullProjection } from '../../src/scim/lists/projection.ts';
import { serializeUser, toUserResource } from '../../src/scim/serialize.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';
import { anyCharacter } from '../fixtures/unicode.ts';

const base = 'https://bridge.example/scim/v2';
const names = fc.constantFrom('userName', 'title', 'emails', urns.enterprise, urns.travel, 'urn:x:y:User');

/** Stored users, with and without the list of their extensions. */
const views = fc
  .record({
    resource: fc.dictionary(
      names,
      fc.oneof(
        fc.string({ unit: anyCharacter }),
        fc.record({ a: fc.string() }),
        fc.constant({}),
        fc.constant({ travelUserId: 'mine' }),
        fc.constant({ [urns.travel]: {} }),
      ),
    ),
    isKnown: fc.boolean(),
    travelUserId: fc.option(fc.string(), { nil: undefined }),
    groups: fc.array(fc.record({ value: fc.uuid(), display: fc.string({ unit: anyCharacter }) })),
    version: fc.nat(),
    createdAt: fc.nat({ max: 8.64e15 - 1 }),
  })
  .map(({ resource, isKnown, ...view }): UserView => {
    const extensions = Object.keys(resource).filter((name) => name.includes(':'));
    return {
      ...view,
      id: 'u1',
      desired: JSON.stringify(resource),
      extensions: isKnown ? JSON.stringify(extensions) : null,
      lastModified: view.createdAt + 1,
      inGroups: view.groups.length > 0,
    };
  });

test('inserting into the stored text gives the same JSON as parsing and printing it', () => {
  fc.assert(
    fc.property(views, (view) => {
      const printed = JSON.parse(serializeUser(view, base, fullProjection)) as JsonObject;
      const parsed = toUserResource(view, base);
      expect(printed).toEqual(JSON.parse(JSON.stringify(parsed)));
      expect(Object.keys(printed)).toEqual(Object.keys(parsed));
    }),
  );
});

let scim: ScimService;
beforeAll(async () => {
  scim = await scimService();
});
afterAll(() => scim.close());

/** The status of a response, and which of the two headers have the URL of the resource. */
async function located(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
  const answer = await scim.send(method, path, body, headers);
  const names = ['location', 'content-location'].filter((name) => answer.headers.has(name));
  for (const name of names.filter(() => answer.body !== undefined))
    expect(answer.headers.get(name)).toBe(answer.body.meta.location);
  return [answer.status, names];
}

const both = ['location', 'content-location'];

test('every response with a user has Location beside Content-Location (RFC 7644 §3.4.1, §3.5.1)', async () => {
  const { body } = await scim.send('POST', '/Users', { userName: 'located' });
  const path = `/Users/${body.id}`;
  expect(await located('POST', '/Users', { userName: 'located 2' })).toEqual([201, both]);
  expect(await located('GET', path)).toEqual([200, both]);
  expect(await located('HEAD', path)).toEqual([200, both]);
  expect(await located('PUT', path, { userName: 'located', title: 'a' })).toEqual([200, both]);
  const operation = { op: 'replace', path: 'title', value: 'b' };
  expect(await located('PATCH', path, patchOp(operation))).toEqual([200, both]);
  const ifNoneMatch = { 'If-None-Match': '*' };
  expect(await located('GET', path, undefined, ifNoneMatch)).toEqual([304, ['content-location']]);
});

test('every response with a group has Location beside Content-Location; the 204 of a large group has neither', async () => {
  const { body } = await scim.send('POST', '/Groups', { displayName: 'located' });
  const path = `/Groups/${body.id}`;
  expect(await located('GET', path)).toEqual([200, both]);
  expect(await located('PUT', path, { displayName: 'located' })).toEqual([200, both]);
  const operation = { op: 'replace', path: 'displayName', value: 'relocated' };
  expect(await located('PATCH', `${path}?attributes=id,meta`, patchOp(operation))).toEqual([200, both]);
  expect(await located('PATCH', path, patchOp(operation))).toEqual([200, both]);
  const members = Array.from({ length: 1001 }, (_, index) => `m${index}`);
  const addition = { op: 'add', path: 'members', value: members };
  expect(await located('PATCH', path, patchOp(addition))).toEqual([204, []]);
});

test.each([
  '/ServiceProviderConfig',
  '/ResourceTypes/User',
  '/Schemas/urn:ietf:params:scim:schemas:core:2.0:User',
])('GET %s has both headers', async (path) => {
  expect(await located('GET', path)).toEqual([200, both]);
});
