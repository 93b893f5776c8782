import type { JsonObject } from '../../src/schema/resource.ts';
import { urns } from '../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';
import { found, type ScimClient } from '../fixtures/scim-client.ts';

let count = 0;
const data = { badge: 'B-7', boss: { value: 'm-1', displayName: 'Max' }, codes: ['x', 'y'] };

/** Creates a user with these extensions. */
export async function create(scim: ScimClient, extensions: JsonObject) {
  count += 1;
  const { status, body } = await scim.send('POST', '/Users', { userName: `user-${count}`, ...extensions });
  expect(status).toBe(201);
  return body;
}

/** Returns the user after a PATCH with this operation. */
export async function patched(
  scim: ScimClient,
  user: JsonObject,
  operation: JsonObject,
): Promise<JsonObject> {
  const { status, body } = await scim.send('PATCH', `/Users/${user['id']}`, patchOp(operation));
  expect([status, body]).toEqual([200, expect.objectContaining({ id: user['id'] })]);
  return body;
}

/** Returns only the extensions of a user. */
export function extensionsOf(user: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(user).filter(([key]) => key.includes(':')));
}

/** The tests that extensions with these URNs are stored, selected, changed and found. */
export function testExtensions(chosen: readonly [string, string][]): void {
  let scim: ScimFixture;
  beforeAll(async () => {
    scim = await scimFixture();
  });
  afterAll(() => scim.close());

  describe.each(chosen)('the extension of %s, %s,', (_, urn) => {
    const odd = urn.replace(/[a-z]/gi, (letter, at) =>
      at < 4 || at % 2 ? letter.toLowerCase() : letter.toUpperCase(),
    );

    test('is stored verbatim by POST and PUT, listed in schemas, and returned by GET', async () => {
      const user = await create(scim, { [urn]: data });
      expect([user.schemas, extensionsOf(user)]).toEqual([[urns.user, urn], { [urn]: data }]);
      const path = `/Users/${user.id}`;
      expect((await scim.send('GET', path)).body).toEqual(user);
      const changed = { userName: user.userName, schemas: [urns.user, urn], [urn]: { badge: 'B-8' } };
      expect(extensionsOf((await scim.send('PUT', path, changed)).body)).toEqual({ [urn]: { badge: 'B-8' } });
      expect((await scim.send('GET', path)).body.schemas).toEqual([urns.user, urn]);
    });

    test('is selected by attributes and excludedAttributes, as a whole and in parts, in any case', async () => {
      const { id } = await create(scim, { [urn]: data, [urns.enterprise]: { department: 'D' } });
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
      const user = await create(scim, { [urn]: data });
      const badge = await patched(scim, user, { op: 'replace', path: `${odd}:badge`, value: 'B-9' });
      expect(extensionsOf(badge)).toEqual({ [urn]: { ...data, badge: 'B-9' } });
      const part = await patched(scim, user, { op: 'replace', path: `${urn}:boss.value`, value: 'm-2' });
      expect(extensionsOf(part)).toMatchObject({ [urn]: { boss: { value: 'm-2' } } });
      const added = await patched(scim, user, { op: 'add', path: odd, value: { floor: 3 } });
      expect(extensionsOf(added)).toMatchObject({ [urn]: { badge: 'B-9', floor: 3 } });
      const removed = await patched(scim, user, { op: 'remove', path: `${urn}:codes` });
      expect(Object.keys(extensionsOf(removed)[urn] ?? {})).toEqual(['badge', 'boss', 'floor']);
      expect(extensionsOf(await patched(scim, user, { op: 'remove', path: odd }))).toEqual({});
    });

    test('is created by a PATCH of a user without it', async () => {
      const whole = await patched(scim, await create(scim, {}), {
        op: 'add',
        path: urn,
        value: { badge: 'B-1' },
      });
      expect(extensionsOf(whole)).toEqual({ [urn]: { badge: 'B-1' } });
      const one = await patched(scim, await create(scim, {}), {
        op: 'add',
        path: `${urn}:badge`,
        value: 'B-1',
      });
      expect(extensionsOf(one)).toEqual({ [urn]: { badge: 'B-1' } });
    });

    test('is changed by keys of a PATCH without a path', async () => {
      const made = await create(scim, {});
      const whole = await patched(scim, made, {
        op: 'add',
        value: { [urn]: { badge: 'B-1', 'two words': 2 } },
      });
      expect(extensionsOf(whole)).toEqual({ [urn]: { badge: 'B-1', 'two words': 2 } });
      const one = await patched(scim, made, { op: 'replace', value: { [`${odd}:badge`]: 'B-2' } });
      expect(extensionsOf(one)).toEqual({ [urn]: { badge: 'B-2', 'two words': 2 } });
      const dotted = await patched(scim, made, { op: 'replace', value: { [`${urn}:boss.value`]: 'm-3' } });
      expect(extensionsOf(dotted)).toMatchObject({ [urn]: { badge: 'B-2', boss: { value: 'm-3' } } });
      const withDot = await patched(scim, made, { op: 'replace', value: { [`${urn}.badge`]: 'B-3' } });
      expect(extensionsOf(withDot)).toMatchObject({ [urn]: { badge: 'B-3' } });
      expect(extensionsOf(await patched(scim, made, { op: 'replace', value: { [odd]: null } }))).toEqual({});
    });

    test('is found by filters', async () => {
      const badge = `badge-${count}`;
      const { id } = await create(scim, { [urn]: { ...data, badge } });
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
}
