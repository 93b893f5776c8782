import { type JsonObject, urns } from '../../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../../fixtures/scim.ts';

/** RFC 7644 §3.5.2, statement by statement, over HTTP. Titles that cite docs/deviations.md go beyond the RFC. */

const ENT = urns.enterprise;
const TRAVEL = urns.travel;
const OTHER = 'urn:example:params:scim:schemas:extension:acme:2.0:User';

const work = { value: 'a@x', type: 'work', primary: true };
const home = { value: 'b@x', type: 'home' };
const office = { type: 'work', streetAddress: '1 Main', locality: 'Paris' };
const annex = { type: 'work', streetAddress: '3 Back', locality: 'Metz' };
const flat = { type: 'home', streetAddress: '2 Side', locality: 'Lyon' };

let fixture: ScimFixture;
let count = 0;
beforeAll(async () => {
  fixture = await scimFixture();
});
afterAll(() => fixture.close());

/** Title, user before, operations, user after; both without id, meta, schemas, userName and active. */
type Case = [string, JsonObject, JsonObject[], JsonObject];

/** Title, user before, operations, scimType of the error. */
type Refusal = [string, JsonObject, JsonObject[], string];

const add = (path: string, value: unknown) => ({ op: 'add', path, value }) as JsonObject;
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value }) as JsonObject;
const remove = (path: string): JsonObject => ({ op: 'remove', path });

async function patched(seed: JsonObject, operations: unknown[], query = '') {
  count += 1;
  const created = await fixture.send('POST', '/Users', { userName: `ada${count}`, ...seed });
  expect(created.status).toBe(201);
  const path = `/Users/${created.body.id}`;
  const answer = await fixture.send('PATCH', `${path}${query}`, patchOp(...operations));
  const now = (await fixture.send('GET', path)).body;
  return { created: created.body, answer, now };
}

function own({
  id: _id,
  meta: _meta,
  schemas: _schemas,
  userName: _name,
  active: _active,
  ...rest
}: JsonObject): JsonObject {
  return rest;
}

function becomes(cases: Case[]): void {
  test.each(cases)('%s', async (_title, seed, operations, expected) => {
    const { answer, now } = await patched(seed, operations);
    expect(answer.status).toBe(200);
    expect(own(now)).toEqual(expected);
    expect(answer.body).toEqual(now);
  });
}

function refuses(cases: Refusal[]): void {
  test.each(cases)('%s', async (_title, seed, operations, scimType) => {
    const { created, answer, now } = await patched(seed, operations);
    expect(answer).toMatchObject({ status: 400, body: { status: '400', scimType } });
    expect(now).toEqual(created);
  });
}

describe('§3.5.2.1 add', () => {
  becomes([
    [
      'no path: "the "value" parameter contains a set of attributes to be added to the resource"',
      { title: 'T' },
      [{ op: 'add', value: { nickName: 'N', name: { givenName: 'A' }, emails: [home] } }],
      { title: 'T', nickName: 'N', name: { givenName: 'A' }, emails: [home] },
    ],
    [
      '"if the target location does not exist, the attribute and value are added"',
      {},
      [add('title', 'T')],
      { title: 'T' },
    ],
    [
      '"… exists, the value is replaced" (a single value)',
      { title: 'T' },
      [add('title', 'U')],
      { title: 'U' },
    ],
    [
      '"a complex attribute, a set of sub-attributes": they are added to those that are there',
      { name: { givenName: 'A', familyName: 'L' } },
      [add('name', { givenName: 'B', middleName: 'M' })],
      { name: { givenName: 'B', familyName: 'L', middleName: 'M' } },
    ],
    [
      'a sub-attribute of a complex attribute',
      { name: { givenName: 'A' } },
      [add('name.familyName', 'L')],
      { name: { givenName: 'A', familyName: 'L' } },
    ],
    [
      '"a multi-valued attribute, a new value is added"',
      { emails: [work] },
      [add('emails', [home])],
      { emails: [work, home] },
    ],
    ['… also one that is not an array', { emails: [work] }, [add('emails', home)], { emails: [work, home] }],
    ['… also to an attribute without values', {}, [add('emails', [home])], { emails: [home] }],
    [
      '… without a path: added as well, not replaced',
      { emails: [work] },
      [{ op: 'add', value: { emails: [home] } }],
      { emails: [work, home] },
    ],
    [
      'a value filter: added to the values that match',
      { addresses: [office, flat] },
      [add('addresses[type eq "home"]', { postalCode: '69000' })],
      { addresses: [office, { ...flat, postalCode: '69000' }] },
    ],
    [
      'a value filter and a sub-attribute: of the values that match',
      { addresses: [office, flat] },
      [add('addresses[type eq "home"].postalCode', '69000')],
      { addresses: [office, { ...flat, postalCode: '69000' }] },
    ],
    [
      'an attribute of an extension, by its URN',
      {},
      [add(`${ENT}:department`, 'D')],
      { [ENT]: { department: 'D' } },
    ],
    [
      'a complex attribute of an extension',
      {},
      [add(`${ENT}:manager`, { value: 'm' })],
      { [ENT]: { manager: { value: 'm' } } },
    ],
    [
      'a multi-valued attribute of an extension',
      { [TRAVEL]: { roles: [{ value: 'a' }] } },
      [add(`${TRAVEL}:roles`, [{ value: 'b' }])],
      { [TRAVEL]: { roles: [{ value: 'a' }, { value: 'b' }] } },
    ],
    [
      'a whole extension',
      { [ENT]: { division: 'V' } },
      [add(ENT, { department: 'D' })],
      { [ENT]: { division: 'V', department: 'D' } },
    ],
    [
      'an extension that no schema declares',
      {},
      [add(`${OTHER}:badge`, { no: 7, tags: ['a'] })],
      { [OTHER]: { badge: { no: 7, tags: ['a'] } } },
    ],
    [
      'a value to a list of an undeclared extension',
      { [OTHER]: { tags: ['a'] } },
      [add(`${OTHER}:tags`, ['b'])],
      { [OTHER]: { tags: ['a', 'b'] } },
    ],
  ]);
});

describe('"if the target location already contains the value specified, no changes SHOULD be made …, SHALL NOT change the modify timestamp"', () => {
  const seed: JsonObject = {
    title: 'T',
    active: true,
    name: { givenName: 'A', familyName: 'L' },
    emails: [work, home],
    [ENT]: { department: 'D', manager: { value: 'm' } },
    [OTHER]: { tags: ['a', { b: 1 }] },
  };
  test.each<[string, JsonObject]>([
    ['a single value', add('title', 'T')],
    ['a boolean', add('active', true)],
    ['a sub-attribute', add('name.givenName', 'A')],
    ['a part of a complex value', add('name', { familyName: 'L' })],
    ['one of many', add('emails', [home])],
    ['one of many, by its value alone', add('emails', [{ value: 'b@x' }])],
    ['one of many, by a filter', add('emails[type eq "home"].value', 'b@x')],
    ['an extension', add(ENT, { department: 'D' })],
    ['a reference', add(`${ENT}:manager`, { value: 'm' })],
    ['one of many of an undeclared extension', add(`${OTHER}:tags`, [{ b: 1 }])],
    ['everything', { op: 'add', value: seed }],
    ['the same by replace', { op: 'replace', value: seed }],
    ['remove of an absent attribute', remove('nickName')],
  ])('%s', async (_title, operation) => {
    const { created, answer } = await patched(seed, [operation]);
    expect(answer).toMatchObject({ status: 200, body: created });
  });
});

describe('§3.5.2.2 remove', () => {
  becomes([
    [
      '"a single-value attribute … is removed, … unassigned"',
      { title: 'T', nickName: 'N' },
      [remove('title')],
      { nickName: 'N' },
    ],
    [
      'a sub-attribute',
      { name: { givenName: 'A', familyName: 'L' } },
      [remove('name.givenName')],
      { name: { familyName: 'L' } },
    ],
    [
      'the last sub-attribute: the attribute is unassigned',
      { name: { givenName: 'A' } },
      [remove('name.givenName')],
      {},
    ],
    [
      '"a multi-valued attribute and no filter …: the attribute and all values are removed"',
      { emails: [work, home] },
      [remove('emails')],
      {},
    ],
    [
      '"a complex filter … comparing a "value": the values matched by the filter are removed"',
      { emails: [work, home] },
      [remove('emails[value eq "a@x"]')],
      { emails: [home] },
    ],
    [
      '"if no other values remain …, the multi-valued attribute SHALL be considered unassigned"',
      { emails: [work] },
      [remove('emails[value eq "a@x"]')],
      {},
    ],
    [
      '"based on the attribute\'s sub-attributes: the matching records are removed"',
      { addresses: [office, flat, { ...office, locality: 'Lille' }] },
      [remove('addresses[type eq "work" and locality sw "P"]')],
      { addresses: [flat, { ...office, locality: 'Lille' }] },
    ],
    [
      'a filter with or, not and brackets',
      { emails: [work, home, { value: 'c@x', type: 'other' }] },
      [remove('emails[not (type eq "home" or (primary eq true))]')],
      { emails: [work, home] },
    ],
    [
      'a sub-attribute of the values that match',
      { addresses: [office, flat] },
      [remove('addresses[type eq "work"].locality')],
      { addresses: [{ type: 'work', streetAddress: '1 Main' }, flat] },
    ],
    [
      'a filter that matches nothing',
      { emails: [home] },
      [remove('emails[type eq "work"]')],
      { emails: [home] },
    ],
    [
      'an attribute of an extension',
      { [ENT]: { department: 'D', division: 'V' } },
      [remove(`${ENT}:department`)],
      { [ENT]: { division: 'V' } },
    ],
    [
      'the last attribute of an extension: the extension is removed',
      { [ENT]: { department: 'D' } },
      [remove(`${ENT}:department`)],
      {},
    ],
    ['a whole extension', { [ENT]: { department: 'D', division: 'V' } }, [remove(ENT)], {}],
    [
      'in an undeclared extension',
      {
        [OTHER]: {
          list: [
            { type: 'a', v: 1 },
            { type: 'b', v: 2 },
          ],
        },
      },
      [remove(`${OTHER}:list[type eq "a"]`)],
      { [OTHER]: { list: [{ type: 'b', v: 2 }] } },
    ],
  ]);
  refuses([
    [
      '"if "path" is unspecified, the operation fails with … "noTarget""',
      { title: 'T' },
      [{ op: 'remove' }],
      'noTarget',
    ],
    ['"required …: "mutability""', {}, [remove('userName')], 'mutability'],
    ['"… or a read-only attribute: "mutability"" (id)', {}, [remove('id')], 'mutability'],
    [
      '… also after others that would work',
      { title: 'T' },
      [remove('title'), remove('userName')],
      'mutability',
    ],
  ]);
});

describe('§3.5.2.3 replace', () => {
  becomes([
    [
      'no path: "a list of one or more attributes that are to be replaced"',
      { title: 'T', nickName: 'N', emails: [work] },
      [{ op: 'replace', value: { title: 'U', emails: [home] } }],
      { title: 'U', nickName: 'N', emails: [home] },
    ],
    [
      '"a single-value attribute: the attribute\'s value is replaced"',
      { title: 'T' },
      [replace('title', 'U')],
      { title: 'U' },
    ],
    [
      '"a multi-valued attribute and no filter …: the attribute and all values are replaced"',
      { emails: [work] },
      [replace('emails', [home])],
      { emails: [home] },
    ],
    [
      '"an attribute that does not exist …: treat the operation as an "add""',
      {},
      [replace('title', 'T'), replace('emails', [home]), replace('name.givenName', 'A')],
      { title: 'T', emails: [home], name: { givenName: 'A' } },
    ],
    [
      '"a complex attribute: … sub-attributes that are not specified SHALL be left unchanged"',
      { name: { givenName: 'A', familyName: 'L' } },
      [replace('name', { givenName: 'B' })],
      { name: { givenName: 'B', familyName: 'L' } },
    ],
    [
      '"a value selection filter … that matches one or more values: all matching record values SHALL be replaced"',
      { addresses: [office, flat, annex] },
      [replace('addresses[type eq "work"]', { locality: 'Nice' })],
      // Both are replaced; they are then equal, so they become one.
      { addresses: [{ type: 'work', locality: 'Nice' }, flat] },
    ],
    [
      '"… and a specific sub-attribute: the matching sub-attribute of all matching records is replaced"',
      { addresses: [office, flat, annex] },
      [replace('addresses[type eq "work"].locality', 'Nice')],
      { addresses: [{ ...office, locality: 'Nice' }, flat, { ...annex, locality: 'Nice' }] },
    ],
    [
      'a filter on type that matches nothing creates the value (docs/deviations.md)',
      { emails: [home] },
      [replace('emails[type eq "work"].value', 'a@x')],
      { emails: [home, { type: 'work', value: 'a@x' }] },
    ],
    [
      'a filter on primary that matches nothing creates the value (docs/deviations.md)',
      { emails: [home] },
      [replace('emails[primary eq true].value', 'a@x')],
      { emails: [home, { primary: true, value: 'a@x' }] },
    ],
    [
      'a new value of a reference clears the description of the old one',
      { [ENT]: { manager: { value: 'm', displayName: 'Max' } } },
      [replace(`${ENT}:manager`, { value: 'n' })],
      { [ENT]: { manager: { value: 'n' } } },
    ],
    [
      'in an undeclared extension',
      { [OTHER]: { badge: { no: 1, color: 'red' } } },
      [replace(`${OTHER}:badge.no`, 2)],
      { [OTHER]: { badge: { no: 2, color: 'red' } } },
    ],
    [
      'an undeclared list, by a filter',
      {
        [OTHER]: {
          list: [
            { type: 'a', v: 1 },
            { type: 'b', v: 2 },
          ],
        },
      },
      [replace(`${OTHER}:list[type eq "b"].v`, 3)],
      {
        [OTHER]: {
          list: [
            { type: 'a', v: 1 },
            { type: 'b', v: 3 },
          ],
        },
      },
    ],
  ]);
  refuses([
    [
      '"a value selection filter … and no record match was made: … "noTarget""',
      { emails: [home] },
      [replace('emails[value eq "z@x"].display', 'Z')],
      'noTarget',
    ],
    [
      '… for the whole value as well',
      { emails: [home] },
      [replace('emails[value eq "z@x"]', { value: 'y@x' })],
      'noTarget',
    ],
    [
      '… for a filter on type and something else',
      { emails: [home] },
      [replace('emails[type eq "work" and value sw "z"].value', 'y@x')],
      'noTarget',
    ],
    ['no path and a value that is not an object', {}, [{ op: 'replace', value: 'x' }], 'invalidValue'],
  ]);
});

describe('§3.5.2 of all operations', () => {
  becomes([
    [
      '"applied sequentially in the order they appear … the resulting resource becomes the target of the next"',
      {},
      [
        add('title', 'T'),
        remove('title'),
        add('title', 'U'),
        add('emails', [work]),
        replace('emails[type eq "work"].value', 'c@x'),
        remove('emails[value eq "a@x"]'),
      ],
      { title: 'U', emails: [{ ...work, value: 'c@x' }] },
    ],
    [
      '"sets a value\'s "primary" … to "true" SHALL … set "primary" to "false" for any other values" (add)',
      { emails: [work] },
      [add('emails', [{ ...home, primary: true }])],
      {
        emails: [
          { ...work, primary: false },
          { ...home, primary: true },
        ],
      },
    ],
    [
      '… by a filter',
      { emails: [work, home] },
      [replace('emails[type eq "home"].primary', true)],
      {
        emails: [
          { ...work, primary: false },
          { ...home, primary: true },
        ],
      },
    ],
    [
      '… of the operations of one PATCH the last',
      { emails: [work] },
      [add('emails', [{ ...home, primary: true }]), replace('emails[type eq "work"].primary', true)],
      { emails: [work, { ...home, primary: false }] },
    ],
    [
      'changes of the read-only meta and groups are ignored (docs/deviations.md)',
      { title: 'T' },
      [
        replace('meta.created', '2001-01-01T00:00:00Z'),
        replace('groups', [{ value: 'g' }]),
        remove('groups'),
        replace(`${TRAVEL}:travelUserId`, 't'),
      ],
      { title: 'T' },
    ],
    [
      'read-only attributes in a value without a path are ignored',
      { title: 'T' },
      [{ op: 'replace', value: { id: 'x', meta: {}, groups: [], schemas: [], title: 'U' } }],
      { title: 'U' },
    ],
    [
      'a secret is taken and never kept',
      {},
      [replace('password', 'x'), { op: 'add', value: { password: 'y', title: 'T' } }],
      { title: 'T' },
    ],
    [
      'names in any case (§3.10)',
      { name: { givenName: 'A' }, emails: [work] },
      [
        replace('NAME.GivenName', 'B'),
        replace('Emails[TYPE eq "WORK"].VALUE', 'c@x'),
        replace(`${ENT.toUpperCase()}:DEPARTMENT`, 'D'),
      ],
      { name: { givenName: 'B' }, emails: [{ ...work, value: 'c@x' }], [ENT]: { department: 'D' } },
    ],
    [
      'an unknown attribute is a custom one (docs/deviations.md)',
      { title: 'T' },
      [replace('favoriteColor', 'red')],
      { title: 'T', favoriteColor: 'red' },
    ],
  ]);
  refuses([
    ['"not compatible with an attribute\'s mutability": id', {}, [replace('id', 'x')], 'mutability'],
    ['"… or schema": a boolean', { active: true }, [replace('active', 'perhaps')], 'invalidValue'],
    ['… text for a complex attribute', {}, [replace('name', 'Ada')], 'invalidValue'],
    ['… an object for text', {}, [replace('title', { value: 'x' })], 'invalidValue'],
    ['… many values for one', {}, [replace('title', ['x', 'y'])], 'invalidValue'],
    ['… a sub-attribute that does not exist', {}, [replace('name.nickName', 'x')], 'invalidPath'],
    ['… a sub-attribute of a simple attribute', { title: 'T' }, [replace('title.value', 'x')], 'invalidPath'],
    ['"invalidPath": a path that cannot be read', {}, [replace('emails[type eq', 'x')], 'invalidPath'],
    [
      '… with a filter in a filter',
      {},
      [replace('emails[type[value eq "x"] eq "y"].value', 'x')],
      'invalidPath',
    ],
    [
      '"SHALL be treated as atomic": what came before the fault is undone',
      { title: 'T', emails: [work] },
      [replace('title', 'U'), remove('emails'), add('nickName', 'N'), replace('active', 'perhaps')],
      'invalidValue',
    ],
    ['no "op"', {}, [{ path: 'title', value: 'x' }], 'invalidSyntax'],
    ['an "op" that is none of the three', {}, [{ op: 'copy', path: 'title', value: 'x' }], 'invalidSyntax'],
    ['add without a "value"', {}, [{ op: 'add', path: 'title' }], 'invalidValue'],
  ]);

  test('"MUST return a 200 OK if the "attributes" parameter is specified", and the resource is "subject to" it', async () => {
    const { answer } = await patched(
      { title: 'T', emails: [work] },
      [replace('title', 'U')],
      '?attributes=title',
    );
    expect(answer).toMatchObject({ status: 200, body: { title: 'U' } });
    expect(Object.keys(answer.body).sort()).toEqual(['id', 'schemas', 'title']);
  });

  test('attributes that "attributes" leaves out of the response are kept', async () => {
    const { now } = await patched(
      { title: 'T', emails: [work] },
      [replace('title', 'U')],
      '?attributes=title',
    );
    expect(own(now)).toEqual({ title: 'U', emails: [work] });
  });
});

describe('§3.5.2 of groups', () => {
  let path: string;
  const make = async (...members: JsonObject[]) => {
    count += 1;
    const { body } = await fixture.send('POST', '/Groups', { displayName: `Team ${count}`, members });
    path = `/Groups/${body.id}`;
  };
  const patchedTo = async (...operations: JsonObject[]) => {
    const { status, body } = await fixture.send('PATCH', path, patchOp(...operations));
    const { displayName, externalId, members = [] } = (await fixture.send('GET', path)).body;
    const values = members.map(({ value }: JsonObject) => value);
    return { status, scimType: body?.scimType, displayName, externalId, values };
  };

  test('a member may be a group (RFC 7643 §4.2)', async () => {
    await make({ value: 'a', type: 'User' });
    const { body: other } = await fixture.send('POST', '/Groups', { displayName: 'Others' });
    await patchedTo(add('members', [{ value: other.id, type: 'Group', display: 'Others' }]));
    const { members } = (await fixture.send('GET', path)).body;
    expect(members[1]).toEqual({
      value: other.id,
      type: 'Group',
      display: 'Others',
      $ref: `https://bridge.example/scim/v2/Groups/${other.id}`,
    });
  });

  test('a member that is added twice is one member, in one operation or in two', async () => {
    await make({ value: 'a' }, { value: 'a' });
    const { values } = await patchedTo(
      add('members', [{ value: 'b' }, { value: 'b' }, { value: 'a' }]),
      add('members', ['b']),
    );
    expect(values).toEqual(['a', 'b']);
  });

  test('"immutable": members are added and removed, their sub-attributes are not changed', async () => {
    await make({ value: 'a', display: 'A' });
    expect(await patchedTo(replace('members[value eq "a"].display', 'B'))).toMatchObject({
      status: 400,
      scimType: 'mutability',
    });
    expect(await patchedTo(remove('members[value eq "a"].value'))).toMatchObject({
      status: 400,
      scimType: 'mutability',
    });
  });

  test('a failing PATCH changes neither members nor other attributes', async () => {
    await make({ value: 'a' });
    const before = (await fixture.send('GET', path)).body;
    const operations = [
      add('members', [{ value: 'b' }]),
      replace('displayName', 'New'),
      remove('displayName'),
    ];
    expect(await patchedTo(...operations)).toMatchObject({ status: 400, scimType: 'mutability' });
    expect((await fixture.send('GET', path)).body).toEqual(before);
  });

  test('operations on members are applied in their order, also with other operations between them', async () => {
    await make({ value: 'a' });
    const answer = await patchedTo(
      replace('members', [{ value: 'b' }]),
      replace('displayName', 'New'),
      add('members', [{ value: 'c' }]),
      remove('members[value eq "b"]'),
      add('externalId', 'e'),
    );
    expect(answer).toEqual({
      status: 200,
      scimType: undefined,
      displayName: 'New',
      externalId: 'e',
      values: ['c'],
    });
  });
});
