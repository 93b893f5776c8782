import type { JsonObject } from '../../src/schema/resource.ts';
import { urns } from '../../src/schema/resource.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { type TravelAdmin, travelAdmin } from '../fixtures/travel-admin.ts';

let scim: ScimService;
let travel: TravelAdmin;
const settings = writeSettingsFile({}, { default: { policies: { safetyValve: false } } });
beforeAll(async () => {
  scim = await scimService({ JETBRIDGE_CONFIG: settings.path });
  travel = travelAdmin(scim.service.url, scim.service.travelApiKey);
});
afterAll(async () => {
  await scim.close();
  settings.remove();
});

function personOf(userName: string): JsonObject {
  return {
    schemas: [urns.user],
    userName,
    name: { givenName: 'Kim', familyName: 'Doe' },
    emails: [{ value: userName, type: 'work', primary: true }],
    title: 'Lead',
    active: true,
  };
}

let count = 0;

/** Creates a user with a name of its own. */
async function createUser(more: JsonObject = {}) {
  count += 1;
  const person = { ...personOf(`off.${count}@corp.example`), ...more };
  const { status, body } = await scim.send('POST', '/Users', person);
  expect(status).toBe(201);
  return { person, path: `/Users/${body.id}`, id: String(body.id) };
}

async function findingsOf(id: string) {
  const identity = (await scim.service.people('default')).find((one) => one.id === id);
  return identity?.findings.map(({ code, value }) => [code, value]) ?? [];
}

async function isArchived(userName: unknown): Promise<boolean | undefined> {
  return (await travel.travelers()).find(({ email }) => email === userName)?.archived;
}

const tooLong = 'x'.repeat(65_537);
const manager = (value: unknown) => ({ [urns.enterprise]: { manager: value } }) as JsonObject;
const manyPhones = Array.from({ length: 251 }, (_, n) => ({ type: 'work', value: `+331${n}` }));

/** Values that do not fit, what the user has afterwards, and the findings. */
const unfit: [string, JsonObject, JsonObject, unknown[]][] = [
  [
    'two postal codes',
    { addresses: [{ type: 'work', locality: 'Paris', postalCode: ['75001', '75002'] }] },
    { addresses: [{ type: 'work', locality: 'Paris', postalCode: '75001' }] },
    [['severalValues', '["75001","75002"]']],
  ],
  ['a list as title', { title: ['A', 'B'] }, { title: 'A' }, [['severalValues', '["A","B"]']]],
  [
    'a list of nothing usable as title',
    { title: [{ x: 1 }, ['B']] },
    { title: 'Lead' },
    [['valueRefused', '[{"x":1},["B"]]']],
  ],
  [
    'a text as name',
    { name: 'Kim Doe' },
    { name: { givenName: 'Kim', familyName: 'Doe' } },
    [['valueRefused', 'Kim Doe']],
  ],
  [
    'addresses of which none can be used',
    { emails: [['a@x.example'], true] },
    {},
    [['valueRefused', '["a@x.example"]']],
  ],
  [
    'two managers',
    manager([{ value: 'a' }, { value: 'b' }]),
    manager({ value: 'a' }),
    [['severalValues', '[{"value":"a"},{"value":"b"}]']],
  ],
  ['an object as title', { title: { value: 'x' } }, { title: 'Lead' }, [['valueRefused', '{"value":"x"}']]],
  [
    'a text that is too long',
    { title: tooLong },
    { title: 'Lead' },
    [['valueRefused', `${'x'.repeat(200)}…`]],
  ],
  ['an extension that is a text', { [urns.enterprise]: 'x' }, {}, [['valueRefused', 'x']]],
  [
    'a flag that is a number',
    { photos: [{ value: 'k', primary: 7 }] },
    { photos: [{ value: 'k' }] },
    [['valueRefused', '7']],
  ],
];

const spellings: unknown[] = [false, 'False', 'false', [false], [{ value: 'False' }]];

describe('a PUT that deactivates is carried out whatever its other values are, which become findings', () => {
  test.each(unfit)('%s', async (_title, values, after, findings) => {
    const { person, path, id } = await createUser();
    const { status, body } = await scim.send('PUT', path, { ...person, ...values, active: false });
    expect([status, body]).toEqual([200, expect.objectContaining({ ...after, active: false })]);
    expect(await findingsOf(id)).toEqual(expect.arrayContaining(findings));
    expect(await isArchived(person['userName'])).toBe(true);
  });

  test('with more than 250 phone numbers, the first 250 count', async () => {
    const { person, path } = await createUser();
    const { status, body } = await scim.send('PUT', path, {
      ...person,
      phoneNumbers: manyPhones,
      active: false,
    });
    expect([status, body.active, body.phoneNumbers.length]).toEqual([200, false, 250]);
  });

  test('without a userName, or with a resource that is too large', async () => {
    const { person, path, id } = await createUser();
    const { userName, ...nameless } = person;
    const long = ['title', 'nickName', 'userType', 'displayName', 'locale'].map((name) => [
      name,
      'x'.repeat(60_000),
    ]);
    const first = await scim.send('PUT', path, { ...nameless, active: false });
    expect([first.status, first.body.userName]).toEqual([200, userName]);
    const second = await scim.send('PUT', path, { ...person, ...Object.fromEntries(long), active: false });
    expect([second.status, second.body.title, second.body.active]).toEqual([200, 'Lead', false]);
    expect(await findingsOf(id)).toEqual([['valueRefused', '*']]);
  });

  test.each(spellings)('with active as %j', async (active) => {
    const { person, path } = await createUser();
    const { status, body } = await scim.send('PUT', path, { ...person, name: 'Kim', Active: active });
    expect([status, body.active]).toEqual([200, false]);
  });
});

describe('a PATCH that deactivates is carried out whatever its other values are', () => {
  test.each(unfit)('%s, in a value without a path', async (_title, values, after, findings) => {
    const { person, path, id } = await createUser();
    const operation = { op: 'replace', value: { ...values, active: false } };
    const { status, body } = await scim.send('PATCH', path, patchOp(operation));
    expect([status, body]).toEqual([200, expect.objectContaining({ ...after, active: false })]);
    expect(await findingsOf(id)).toEqual(expect.arrayContaining(findings));
    expect(await isArchived(person['userName'])).toBe(true);
  });

  test.each(unfit)('%s, with a path, before or after the deactivation', async (_title, values, after) => {
    for (const isLast of [true, false]) {
      const { path } = await createUser();
      const operations: unknown[] = Object.entries(values).map(([name, value]) => ({
        ...{ op: 'replace', path: name, value },
      }));
      const deactivation = { op: 'Replace', path: 'active', value: 'False' };
      const all = isLast ? [...operations, deactivation] : [deactivation, ...operations];
      const { status, body } = await scim.send('PATCH', path, patchOp(...all));
      expect([status, body]).toEqual([200, expect.objectContaining({ ...after, active: false })]);
    }
  });

  const deactivate = { op: 'replace', path: 'active', value: false };

  test('a value filter that matches nothing, or more operations than one PATCH may have', async () => {
    const { path, id } = await createUser();
    const other = { op: 'replace', path: 'emails[value eq "nobody"].display', value: 'x' };
    expect((await scim.send('PATCH', path, patchOp(other, deactivate))).body.active).toBe(false);
    const second = await createUser();
    const many = Array.from({ length: 2000 }, () => ({ op: 'replace', path: 'title', value: 'x' }));
    const { status, body } = await scim.send('PATCH', second.path, patchOp(...many, deactivate));
    expect([status, body.active, body.title]).toEqual([200, false, 'Lead']);
    expect(await findingsOf(id)).toEqual([['valueRefused', 'x']]);
  });

  const refused: [string, unknown[], number][] = [
    ['the last value of active is true', [deactivate, { ...deactivate, value: true }], 400],
    ['the last value of active is none', [deactivate, { ...deactivate, value: 'inactive' }], 400],
    ['active is not set', [], 400],
    ['a path cannot be read', [deactivate, { op: 'replace', path: 'emails[', value: 1 }], 400],
    ['a path has an unknown sub-attribute', [deactivate, { op: 'add', path: 'name.x', value: 1 }], 400],
    ['a path has too many parts', [deactivate, { op: 'add', path: 'name.givenName.more', value: 1 }], 400],
    ['an operation is unknown', [deactivate, { op: 'move', path: 'title', value: 'x' }], 400],
    ['id would change', [deactivate, { op: 'replace', path: 'id', value: 'x' }], 400],
  ];
  test.each(refused)('but not if %s', async (_title, operations, expected) => {
    const { path } = await createUser();
    const unfitting = { op: 'replace', path: 'name', value: 'Kim Doe' };
    const { status } = await scim.send('PATCH', path, patchOp(unfitting, ...operations));
    const { body } = await scim.send('GET', path);
    expect([status, body.active, body.meta.version]).toEqual([expected, true, 'W/"1"']);
  });

  test('the last value of active counts if an earlier one cannot be read', async () => {
    const { path } = await createUser();
    const unreadable = { op: 'replace', path: 'active', value: 'inactive' };
    const { status, body } = await scim.send('PATCH', path, patchOp(unreadable, deactivate));
    expect([status, body.active]).toEqual([200, false]);
  });

  test('but not with an outdated If-Match, a taken userName, or as a group', async () => {
    const { path, person } = await createUser();
    const other = await createUser();
    const leaving = { ...person, name: 'Kim', active: false };
    const outdated = await scim.send('PUT', path, leaving, { 'if-match': 'W/"7"' });
    const taken = await scim.send('PUT', path, { ...leaving, userName: other.person['userName'] ?? '' });
    const group = await scim.send('PUT', path, { ...leaving, schemas: [urns.group] });
    expect([outdated.status, taken.status, group.status]).toEqual([412, 409, 400]);
    expect((await scim.send('GET', path)).body.active).toBe(true);
  });
});

describe('the findings about values that were left out', () => {
  test('stay after a PATCH of something else, and end with a PUT of values that fit', async () => {
    const { path, person, id } = await createUser();
    const leaving = { ...person, name: 'Kim Doe', active: false };
    expect((await scim.send('PUT', path, leaving)).status).toBe(200);
    const finding = ['valueRefused', 'Kim Doe'];
    await scim.send('PATCH', path, patchOp({ op: 'replace', path: 'title', value: 'Chief' }));
    expect(await findingsOf(id)).toContainEqual(finding);
    await scim.send('PUT', path, { ...person, title: 'Chief', active: false });
    expect(await findingsOf(id)).not.toContainEqual(finding);
  });

  test('are made and ended by requests that change nothing else, which leave the version alone', async () => {
    const { path, person, id } = await createUser({ title: 'A' });
    const { body: before } = await scim.send('GET', path);
    const several = await scim.send('PUT', path, { ...person, title: ['A', 'B'] });
    expect([several.status, several.body.meta]).toEqual([200, before.meta]);
    expect(await findingsOf(id)).toEqual([['severalValues', '["A","B"]']]);
    expect((await scim.send('PUT', path, person)).body.meta).toEqual(before.meta);
    expect(await findingsOf(id)).toEqual([]);
  });
});

describe('a list where one value is expected', () => {
  test('does not prevent a creation: the first usable value counts, with a finding', async () => {
    const { path, id } = await createUser({
      title: ['', 'A', 'B'],
      addresses: [{ type: 'work', locality: 'Paris', postalCode: ['75001', '75002'] }],
      ...manager([null, { value: 'a' }, { value: 'b' }]),
    });
    const { body } = await scim.send('GET', path);
    expect(body).toMatchObject({
      title: 'A',
      addresses: [{ postalCode: '75001' }],
      ...manager({ value: 'a' }),
    });
    const findings = (await findingsOf(id)).filter(([code]) => code === 'severalValues');
    expect(findings.map(([, value]) => value)).toEqual([
      '["","A","B"]',
      '["75001","75002"]',
      '[null,{"value":"a"},{"value":"b"}]',
    ]);
  });

  test('is refused at a creation if no value of it can be used, and so is another value that does not fit', async () => {
    for (const values of [{ title: [{ x: 1 }, ['A']] }, { name: 'Kim Doe' }]) {
      const person = { ...personOf('unfit@corp.example'), ...values };
      const { status, body } = await scim.send('POST', '/Users', person as JsonObject);
      expect([status, body.scimType]).toEqual([400, 'invalidValue']);
    }
  });
});

test('a PUT may repeat the list of a creation, and a PATCH that leaves the user active is strict', async () => {
  const { person, path } = await createUser({ title: ['A', 'B'] });
  const put = await scim.send('PUT', path, { ...person, title: ['B', 'C'] });
  expect([put.status, put.body.title]).toEqual([200, 'B']);
  const patch = await scim.send('PATCH', path, patchOp({ op: 'add', path: 'title', value: ['C', 'D'] }));
  expect([patch.status, patch.body.scimType]).toEqual([400, 'invalidValue']);
});

describe('a PATCH of an attribute that no schema has', () => {
  test('is kept, and gets a finding that names it if it may be misspelt, until it is sent no more', async () => {
    const { path, id } = await createUser();
    const { body: before } = await scim.send('GET', path);
    const misspelt = { op: 'replace', path: 'tittle', value: 'secret' };
    const { status, body } = await scim.send('PATCH', path, patchOp(misspelt));
    expect([status, body]).toEqual([200, { ...before, tittle: 'secret', meta: body.meta }]);
    expect(await findingsOf(id)).toEqual([['attributeUnknown', 'tittle']]);
    const qualified = { op: 'add', path: `${urns.user}:usrName`, value: 'x' };
    const title = { op: 'replace', path: 'title', value: 'Chief' };
    await scim.send('PATCH', path, patchOp(title, qualified));
    expect(await findingsOf(id)).toEqual([['attributeUnknown', 'usrName']]);
    await scim.send('PATCH', path, patchOp({ ...title, value: 'Boss' }));
    expect(await findingsOf(id)).toEqual([]);
    await scim.send('PATCH', path, patchOp({ op: 'add', path: 'badgeNumber', value: '7' }));
    expect(await findingsOf(id)).toEqual([]);
  });

  test.each(['name.givenName.more', 'name.x', 'emails[', 'title..x'])('but %s stays 400', async (text) => {
    const { path, id } = await createUser();
    const { status } = await scim.send('PATCH', path, patchOp({ op: 'add', path: text, value: 'x' }));
    expect([status, await findingsOf(id)]).toEqual([400, []]);
  });
});
