import { type JsonObject, urns } from '../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let scim: ScimFixture;
beforeEach(async () => {
  scim = await scimFixture();
});
afterEach(() => scim.close());

const custom = {
  badgeNumber: '7',
  site: { city: 'Paris', floors: [1, 2] },
  constructor: 'Renault',
  toString: 'x',
  hasOwnProperty: true,
};

/** Creates a user with these attributes. */
async function create(attributes: JsonObject) {
  const { status, body } = await scim.send('POST', '/Users', { userName: 'ada', ...attributes });
  expect(status).toBe(201);
  return body;
}

/** Returns the members of a user that no schema has. */
function customOf(user: JsonObject): JsonObject {
  const known = ['schemas', 'id', 'meta', 'userName', 'active', 'name', urns.travel];
  return Object.fromEntries(Object.entries(user).filter(([name]) => !known.includes(name)));
}

describe('a custom attribute in the namespace of the core schema', () => {
  test('is stored verbatim by POST and PUT, needs no schema, and is returned by GET', async () => {
    const user = await create(custom);
    expect(customOf(user)).toEqual(custom);
    expect(user.schemas).not.toContain('badgeNumber');
    const path = `/Users/${user.id}`;
    expect((await scim.send('GET', path)).body).toEqual(user);
    const put = await scim.send('PUT', path, { userName: 'ada', badgeNumber: '8', [urns.user]: { desk: 3 } });
    expect(customOf(put.body)).toEqual({ badgeNumber: '8', desk: 3 });
    expect(customOf((await scim.send('GET', path)).body)).toEqual({ badgeNumber: '8', desk: 3 });
  });

  test('is selected by attributes and excludedAttributes, in any case', async () => {
    const { id } = await create(custom);
    const selected = await scim.send('GET', `/Users/${id}?attributes=BADGEnumber,site.city`);
    expect(customOf(selected.body)).toEqual({ badgeNumber: '7', site: { city: 'Paris' } });
    const { body } = await scim.send('GET', `/Users/${id}?excludedAttributes=badgeNumber,site`);
    expect(Object.keys(customOf(body))).toEqual(['constructor', 'toString', 'hasOwnProperty']);
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['a path', { op: 'replace', path: 'BadgeNumber', value: '8' }, { ...custom, badgeNumber: '8' }],
    ['no path', { op: 'add', value: { badgeNumber: '8' } }, { ...custom, badgeNumber: '8' }],
    [
      'a part of it',
      { op: 'replace', path: 'site.city', value: 'Lyon' },
      { ...custom, site: { ...custom.site, city: 'Lyon' } },
    ],
    [
      'the URN of the core schema',
      { op: 'add', path: `${urns.user}:desk`, value: 3 },
      { ...custom, desk: 3 },
    ],
    [
      'a name of a prototype',
      { op: 'replace', path: 'constructor', value: { prototype: 1 } },
      { ...custom, constructor: { prototype: 1 } },
    ],
    [
      'values of a name that every object inherits',
      { op: 'add', path: 'valueOf', value: ['x'] },
      { ...custom, valueOf: ['x'] },
    ],
    [
      'values of such a name in an extension',
      { op: 'add', path: 'urn:acme:hr:2.0:User:valueOf', value: ['x'] },
      { ...custom, 'urn:acme:hr:2.0:User': { valueOf: ['x'] } },
    ],
    ['__proto__', { op: 'add', value: { ['__proto__']: { admin: true } } }, custom],
    [
      'a value that is too large, which is dropped',
      { op: 'add', path: 'photo', value: 'x'.repeat(70_000) },
      custom,
    ],
  ])('is changed by PATCH with %s', async (_, operation, expected) => {
    const { id } = await create(custom);
    const { status, body } = await scim.send('PATCH', `/Users/${id}`, patchOp(operation));
    expect([status, customOf(body)]).toEqual([200, expected]);
  });

  test('is removed by PATCH', async () => {
    const { id } = await create({ badgeNumber: '7' });
    await scim.send('PATCH', `/Users/${id}`, patchOp({ op: 'remove', path: 'badgenumber' }));
    expect(customOf((await scim.send('GET', `/Users/${id}`)).body)).toEqual({});
  });

  test('is no attribute of a group', async () => {
    const { body } = await scim.send('POST', '/Groups', { displayName: 'Crew', badgeNumber: '7' });
    expect(body).not.toHaveProperty('badgeNumber');
  });

  test('does not prevent a request by its size or number', async () => {
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`a${index}`, index]));
    const user = await create({ ...many, photo: 'x'.repeat(70_000), title: 'Lead' });
    expect(user).toMatchObject({ title: 'Lead' });
    expect(user).not.toHaveProperty('photo');
    expect(Object.keys(user).length).toBeLessThan(410);
    const more = { op: 'add', value: { nickName: 'Ada', oneMore: 1 } };
    const { status, body } = await scim.send('PATCH', `/Users/${user.id}`, patchOp(more));
    expect([status, body.nickName, body.oneMore]).toEqual([200, 'Ada', undefined]);
  });
});
