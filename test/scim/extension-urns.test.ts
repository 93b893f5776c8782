import fc from 'fast-check';
import { pathReader } from '../../src/schema/filter-match.ts';
import { parsePath } from '../../src/schema/filter-parser.ts';
import { normalize } from '../../src/schema/normalize.ts';
import { type JsonObject, urns } from '../../src/schema/resource.ts';
import { userType } from '../../src/schema/resource-types.ts';
import { applyPatch, parsePatch } from '../../src/scim/patch.ts';
import { parseProjection } from '../../src/scim/projection.ts';
import { extensionUrns } from '../fixtures/extension-urns.ts';
import { runs } from '../fixtures/runs.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';
import { found } from '../fixtures/scim-client.ts';

let scim: ScimFixture;
let count = 0;
beforeAll(async () => {
  scim = await scimFixture();
});
afterAll(() => scim.close());

const data = { badge: 'B-7', boss: { value: 'm-1', displayName: 'Max' }, codes: ['x', 'y'] };

/** Creates a user with these extensions. */
async function create(extensions: JsonObject) {
  count += 1;
  const { status, body } = await scim.send('POST', '/Users', { userName: `user-${count}`, ...extensions });
  expect(status).toBe(201);
  return body;
}

/** Returns the user after a PATCH with this operation. */
async function patched(user: JsonObject, operation: JsonObject): Promise<JsonObject> {
  const { status, body } = await scim.send('PATCH', `/Users/${user['id']}`, patchOp(operation));
  expect([status, body]).toEqual([200, expect.objectContaining({ id: user['id'] })]);
  return body;
}

/** Returns only the extensions of a user. */
function extensionsOf(user: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(user).filter(([key]) => key.includes(':')));
}

describe.each(extensionUrns)('the extension of %s, %s,', (_, urn) => {
  const odd = urn.replace(/[a-z]/gi, (letter, at) =>
    at < 4 || at % 2 ? letter.toLowerCase() : letter.toUpperCase(),
  );

  test('is stored verbatim by POST and PUT, listed in schemas, and returned by GET', async () => {
    const user = await create({ [urn]: data });
    expect([user.schemas, extensionsOf(user)]).toEqual([[urns.user, urn], { [urn]: data }]);
    const path = `/Users/${user.id}`;
    expect((await scim.send('GET', path)).body).toEqual(user);
    const changed = { userName: user.userName, schemas: [urns.user, urn], [urn]: { badge: 'B-8' } };
    expect(extensionsOf((await scim.send('PUT', path, changed)).body)).toEqual({ [urn]: { badge: 'B-8' } });
    expect((await scim.send('GET', path)).body.schemas).toEqual([urns.user, urn]);
  });

  test('is selected by attributes and excludedAttributes, as a whole and in parts, in any case', async () => {
    const { id } = await create({ [urn]: data, [urns.enterprise]: { department: 'D' } });
    const read = async (parameter: string, name: string) =>
      extensionsOf((await scim.send('GET', `/Users/${id}?${parameter}=${encodeURIComponent(name)}`)).body);
    const rest = { [urns.enterprise]: { department: 'D' } };
    for (const spelling of [urn, odd]) {
      expect(await read('attributes', spelling)).toEqual({ [urn]: data });
      expect(await read('attributes', `${spelling}:badge`)).toEqual({ [urn]: { badge: 'B-7' } });
      expect(await read('attributes', `${spelling}:boss.value`)).toEqual({
        [urn]: { boss: { value: 'm-1' } },
      });
      expect(await read('excludedAttributes', spelling)).toEqual(rest);
      const { badge: _badge, ...others } = data;
      expect(await read('excludedAttributes', `${spelling}:badge`)).toEqual({ ...rest, [urn]: others });
    }
  });

  test('is changed by a PATCH path with and without an attribute, in any case', async () => {
    const user = await create({ [urn]: data });
    const badge = await patched(user, { op: 'replace', path: `${odd}:badge`, value: 'B-9' });
    expect(extensionsOf(badge)).toEqual({ [urn]: { ...data, badge: 'B-9' } });
    const part = await patched(user, { op: 'replace', path: `${urn}:boss.value`, value: 'm-2' });
    expect(extensionsOf(part)).toMatchObject({ [urn]: { boss: { value: 'm-2' } } });
    const added = await patched(user, { op: 'add', path: odd, value: { floor: 3 } });
    expect(extensionsOf(added)).toMatchObject({ [urn]: { badge: 'B-9', floor: 3 } });
    const removed = await patched(user, { op: 'remove', path: `${urn}:codes` });
    expect(Object.keys(extensionsOf(removed)[urn] ?? {})).toEqual(['badge', 'boss', 'floor']);
    expect(extensionsOf(await patched(user, { op: 'remove', path: odd }))).toEqual({});
  });

  test('is created by a PATCH of a user without it', async () => {
    const whole = await patched(await create({}), { op: 'add', path: urn, value: { badge: 'B-1' } });
    expect(extensionsOf(whole)).toEqual({ [urn]: { badge: 'B-1' } });
    const one = await patched(await create({}), { op: 'add', path: `${urn}:badge`, value: 'B-1' });
    expect(extensionsOf(one)).toEqual({ [urn]: { badge: 'B-1' } });
  });

  test('is changed by keys of a PATCH without a path', async () => {
    const made = await create({});
    const whole = await patched(made, { op: 'add', value: { [urn]: { badge: 'B-1', 'two words': 2 } } });
    expect(extensionsOf(whole)).toEqual({ [urn]: { badge: 'B-1', 'two words': 2 } });
    const one = await patched(made, { op: 'replace', value: { [`${odd}:badge`]: 'B-2' } });
    expect(extensionsOf(one)).toEqual({ [urn]: { badge: 'B-2', 'two words': 2 } });
    const dotted = await patched(made, { op: 'replace', value: { [`${urn}:boss.value`]: 'm-3' } });
    expect(extensionsOf(dotted)).toMatchObject({ [urn]: { badge: 'B-2', boss: { value: 'm-3' } } });
    const withDot = await patched(made, { op: 'replace', value: { [`${urn}.badge`]: 'B-3' } });
    expect(extensionsOf(withDot)).toMatchObject({ [urn]: { badge: 'B-3' } });
    expect(extensionsOf(await patched(made, { op: 'replace', value: { [odd]: null } }))).toEqual({});
  });

  test('is found by filters', async () => {
    const badge = `badge-${count}`;
    const { id } = await create({ [urn]: { ...data, badge } });
    for (const filter of [
      `${urn}:badge eq "${badge}"`,
      `${odd}:BADGE sw "${badge}" and ${urn}:boss.value eq "m-1"`,
      `${urn} pr and ${urn}:codes eq "y" and ${urn}:badge eq "${badge}"`,
      `${urn}:boss[value eq "m-1"].displayName eq "Max" and ${urn}:badge eq "${badge}"`,
    ])
      expect([filter, await found(scim, '/Users', filter, 'id')]).toEqual([filter, [id]]);
    expect(await found(scim, '/Users', `${urn}:badge eq "nobody"`, 'id')).toEqual([]);
  });
});

describe('a name is divided into URN and attribute', () => {
  const okta = 'urn:okta:onprem_app:1.0:user:custom';

  it('by the longest URN that the user has', async () => {
    const shorter = 'urn:okta:onprem_app:1.0:user';
    const user = await create({ [shorter]: { custom: { badge: 'short' } }, [okta]: { badge: 'long' } });
    const changed = await patched(user, { op: 'replace', path: okta, value: { badge: 'longer' } });
    expect(extensionsOf(changed)).toEqual({
      [shorter]: { custom: { badge: 'short' } },
      [okta]: { badge: 'longer' },
    });
    const without = await patched(user, { op: 'remove', path: okta });
    expect(extensionsOf(without)).toEqual({ [shorter]: { custom: { badge: 'short' } } });
    const inner = await patched(user, { op: 'replace', path: `${okta}.badge`, value: 'x' });
    expect(extensionsOf(inner)).toEqual({ [shorter]: { custom: { badge: 'x' } } });
  });

  it('by a URN that only schemas lists', async () => {
    const urn = 'urn:acme:people.v2';
    const user = await create({ schemas: [urns.user, urn], [`${urn}.badge`]: 'B-1' });
    expect(extensionsOf(user)).toEqual({ [urn]: { badge: 'B-1' } });
  });

  it('at the last colon if the user has no such URN', async () => {
    const user = await create({ [`${okta}:badge`]: 'B-1', 'urn:acme:hr:1.0:group': 'Crew' });
    expect(extensionsOf(user)).toEqual({ [okta]: { badge: 'B-1' }, 'urn:acme:hr:1.0': { group: 'Crew' } });
  });

  it('by the URN of a known schema if this declares the attribute, whatever its value is', async () => {
    const key = `${urns.enterprise}:manager`;
    const user = await create({ [key]: { value: 'm-1' }, [`${urns.user}:name`]: { givenName: 'Ada' } });
    expect(extensionsOf(user)).toEqual({ [urns.enterprise]: { manager: { value: 'm-1' } } });
    expect(user.name).toEqual({ givenName: 'Ada' });
  });

  it('as a separate extension if an object stands under the URN of a known schema and an undeclared name', async () => {
    const urn = `${urns.enterprise}:custom`;
    const user = await create({ [urn]: { badge: 'B-1' }, [`${urns.user}:custom`]: { badge: 'B-2' } });
    const expected = { [urn]: { badge: 'B-1' }, [`${urns.user}:custom`]: { badge: 'B-2' } };
    expect(extensionsOf(user)).toEqual(expected);
    const changed = await patched(user, { op: 'replace', path: `${urn}:badge`, value: 'B-3' });
    expect(extensionsOf(changed)).toEqual({ ...expected, [urn]: { badge: 'B-3' } });
    expect(await found(scim, '/Users', `${urn}:badge eq "B-3"`, 'id')).toEqual([user.id]);
  });

  it('in a PATCH path before the last part, if the URN has the form of RFC 7643 §10.3, although the value is an object', async () => {
    const urn = 'urn:ietf:params:scim:schemas:extension:CustomExtensionName:2.0:User';
    const user = await create({});
    const changed = await patched(user, { op: 'add', path: `${urn}:boss`, value: { value: 'm-1' } });
    expect(extensionsOf(changed)).toEqual({ [urn]: { boss: { value: 'm-1' } } });
  });

  it('at a dot behind the URN', async () => {
    const urn = 'urn:scim:schemas:extension:enterprise:1.0';
    const user = await create({ [`${urn}.manager`]: 'm-1' });
    expect(extensionsOf(user)).toEqual({ [urn]: { manager: 'm-1' } });
  });

  it('in a list by the extensions of each user', async () => {
    const mark = `mark-${count}`;
    const one = await create({ title: mark, 'urn:acme:a:b': { c: { d: 'x' } } });
    const other = await create({ title: mark, 'urn:acme:a:b:c': { d: 'x' } });
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
