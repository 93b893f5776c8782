import fc from 'fast-check';
import { pathReader } from '../../src/schema/filter-match.ts';
import { parsePath } from '../../src/schema/filter-parser.ts';
import { normalize } from '../../src/schema/normalize.ts';
import { type JsonObject, urns } from '../../src/schema/resource.ts';
import { userType } from '../../src/schema/resource-types.ts';
import { parseProjection } from '../../src/scim/lists/projection.ts';
import { applyPatch, parsePatch } from '../../src/scim/patch/patch.ts';
import { extensionUrns } from '../fixtures/extension-urns.ts';
import { runs } from '../fixtures/runs.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';
import { found } from '../fixtures/scim-client.ts';
import { create, extensionsOf, patched, testExtensions } from './extensions.ts';

let scim: ScimFixture;
beforeAll(async () => {
  scim = await scimFixture();
});
afterAll(() => scim.close());

// The slow test of the same name has all URNs.
describe('over HTTP', () => testExtensions(extensionUrns.filter((_, at) => at % 6 === 0)));

describe('a name is divided into URN and attribute', () => {
  const okta = 'urn:okta:onprem_app:1.0:user:custom';

  it('by the longest URN that the user has', async () => {
    const shorter = 'urn:okta:onprem_app:1.0:user';
    const user = await create(scim, { [shorter]: { custom: { badge: 'short' } }, [okta]: { badge: 'long' } });
    const changed = await patched(scim, user, { op: 'replace', path: okta, value: { badge: 'longer' } });
    expect(extensionsOf(changed)).toEqual({
      [shorter]: { custom: { badge: 'short' } },
      [okta]: { badge: 'longer' },
    });
    const without = await patched(scim, user, { op: 'remove', path: okta });
    expect(extensionsOf(without)).toEqual({ [shorter]: { custom: { badge: 'short' } } });
    const inner = await patched(scim, user, { op: 'replace', path: `${okta}.badge`, value: 'x' });
    expect(extensionsOf(inner)).toEqual({ [shorter]: { custom: { badge: 'x' } } });
  });

  it('by a URN that only schemas lists', async () => {
    const urn = 'urn:acme:people.v2';
    const user = await create(scim, { schemas: [urns.user, urn], [`${urn}.badge`]: 'B-1' });
    expect(extensionsOf(user)).toEqual({ [urn]: { badge: 'B-1' } });
  });

  it('at the last colon if the user has no such URN', async () => {
    const user = await create(scim, { [`${okta}:badge`]: 'B-1', 'urn:acme:hr:1.0:group': 'Crew' });
    expect(extensionsOf(user)).toEqual({ [okta]: { badge: 'B-1' }, 'urn:acme:hr:1.0': { group: 'Crew' } });
  });

  it('by the URN of a known schema if this declares the attribute, whatever its value is', async () => {
    const key = `${urns.enterprise}:manager`;
    const user = await create(scim, { [key]: { value: 'm-1' }, [`${urns.user}:name`]: { givenName: 'Ada' } });
    expect(extensionsOf(user)).toEqual({ [urns.enterprise]: { manager: { value: 'm-1' } } });
    expect(user.name).toEqual({ givenName: 'Ada' });
  });

  it('as a separate extension if an object stands under the URN of a known schema and an undeclared name', async () => {
    const urn = `${urns.enterprise}:custom`;
    const user = await create(scim, { [urn]: { badge: 'B-1' }, [`${urns.user}:custom`]: { badge: 'B-2' } });
    const expected = { [urn]: { badge: 'B-1' }, [`${urns.user}:custom`]: { badge: 'B-2' } };
    expect(extensionsOf(user)).toEqual(expected);
    const changed = await patched(scim, user, { op: 'replace', path: `${urn}:badge`, value: 'B-3' });
    expect(extensionsOf(changed)).toEqual({ ...expected, [urn]: { badge: 'B-3' } });
    expect(await found(scim, '/Users', `${urn}:badge eq "B-3"`, 'id')).toEqual([user.id]);
  });

  it('in a PATCH path before the last part, if the URN has the form of RFC 7643 §10.3, although the value is an object', async () => {
    const urn = 'urn:ietf:params:scim:schemas:extension:CustomExtensionName:2.0:User';
    const user = await create(scim, {});
    const changed = await patched(scim, user, { op: 'add', path: `${urn}:boss`, value: { value: 'm-1' } });
    expect(extensionsOf(changed)).toEqual({ [urn]: { boss: { value: 'm-1' } } });
  });

  it('at a dot behind the URN', async () => {
    const urn = 'urn:scim:schemas:extension:enterprise:1.0';
    const user = await create(scim, { [`${urn}.manager`]: 'm-1' });
    expect(extensionsOf(user)).toEqual({ [urn]: { manager: 'm-1' } });
  });

  it('in a list by the extensions of each user', async () => {
    const mark = 'mark';
    const one = await create(scim, { title: mark, 'urn:acme:a:b': { c: { d: 'x' } } });
    const other = await create(scim, { title: mark, 'urn:acme:a:b:c': { d: 'x' } });
    const query = (parameters: Record<string, string>) =>
      scim.send('GET', `/Users?${new URLSearchParams({ filter: `title eq "${mark}"`, ...parameters })}`);
    const { body } = await query({ attributes: 'urn:acme:a:b:c.d' });
    expect(body.Resources.map(extensionsOf)).toEqual([extensionsOf(one), extensionsOf(other)]);
    const filter = `title eq "${mark}" and urn:acme:a:b:c.d eq "x"`;
    expect(await found(scim, '/Users', filter, 'id')).toEqual([one.id, other.id]);
    const excluded = await query({ excludedAttributes: 'urn:acme:a:b:c' });
    expect(excluded.body.Resources.map(extensionsOf)).toEqual([{ 'urn:acme:a:b': {} }, {}]);
  });
});

/** URNs that a path can name, except those of this service and those that end like a sub-attribute. */
const segment = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.+~-]{0,8}$/);
const anyUrn = fc
  .array(segment, { minLength: 1, maxLength: 8 })
  .map((segments) => `urn:${segments.join(':')}`)
  .filter((urn) => !urn.toLowerCase().startsWith('urn:ietf:params:scim:schemas'));
const anyName = fc.stringMatching(/^[a-z][A-Za-z0-9_-]{0,8}$/);
const anyCase = fc.array(fc.boolean(), { minLength: 10, maxLength: 10 });

test('an extension with any URN can be stored, named and changed', () => {
  fc.assert(
    fc.property(anyUrn, anyName, anyCase, fc.boolean(), (urn, name, flips, isThere) => {
      const odd = urn.replace(/./g, (letter, at) => (flips[at % 10] ? letter.toUpperCase() : letter));
      const extension: JsonObject = { [name]: 'v', other: 1 };
      const body: JsonObject = { userName: 'ada', [urn]: extension };
      const { resource, dropped } = normalize(userType, body);
      expect([resource, dropped]).toEqual([body, []]);
      const path = parsePath(`${odd}:${name}`);
      if ('fault' in path) throw new Error(path.fault);
      expect(pathReader(userType, path)(resource)).toEqual([name === 'other' ? 1 : 'v']);
      const selected = parseProjection(userType, { attributes: `${odd}:${name}` }).apply(resource);
      expect(selected).toEqual({ [urn]: { [name]: extension[name] ?? null } });
      const operation = { op: 'replace', path: `${isThere ? odd : urn}:${name}`, value: 'w' };
      const seed = isThere ? resource : { userName: 'ada' };
      const changed = applyPatch(userType, seed, parsePatch(patchOp(operation)));
      expect(changed).toEqual({ ...seed, [urn]: { ...(isThere ? extension : {}), [name]: 'w' } });
      const removed = applyPatch(userType, resource, parsePatch(patchOp({ op: 'remove', path: odd })));
      expect(removed).toEqual({ userName: 'ada' });
    }),
    runs(500),
  );
});
