import { type Json, type JsonObject, urns } from '../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';

// What a strict connection declares and refuses (docs/scim-profiles.md). An interoperable one accepts all of it.

let strict: ScimFixture;
let interoperable: ScimFixture;

beforeAll(async () => {
  strict = await scimFixture({ profile: 'strict' });
  interoperable = await scimFixture();
});

afterAll(async () => {
  await strict.close();
  await interoperable.close();
});

let names = 0;

/** Creates a resource under a name of its own, and returns its path. */
async function create(
  endpoint: '/Users' | '/Groups',
  extra: JsonObject = {},
  { send }: ScimFixture = strict,
): Promise<string> {
  names += 1;
  const name = endpoint === '/Users' ? 'userName' : 'displayName';
  const { status, body } = await send('POST', endpoint, { [name]: `name ${names}`, ...extra });
  expect([status, body.detail]).toEqual([201, undefined]);
  return `${endpoint}/${body.id}`;
}

async function patch(path: string, ...operations: JsonObject[]): Promise<JsonObject> {
  const { status, body } = await strict.send('PATCH', path, patchOp(...operations));
  expect([status, body.detail]).toEqual([200, undefined]);
  return body;
}

interface Refusal {
  status: number;
  scimType: string;
  detail: string;
}

function refusalOf({
  status,
  body: { scimType, detail },
}: Awaited<ReturnType<ScimFixture['send']>>): Refusal {
  return { status, scimType, detail };
}

/** Sends a request that only the strict connection refuses, and returns the error. */
async function refused(method: string, endpoint: '/Users' | '/Groups', body: JsonObject): Promise<Refusal> {
  const isCreate = method === 'POST';
  const [lenient, other] = [interoperable, strict];
  const pathIn = async (scim: ScimFixture) => (isCreate ? endpoint : create(endpoint, {}, scim));
  const accepted = await lenient.send(method, await pathIn(lenient), body);
  expect([accepted.status < 300, accepted.body.detail]).toEqual([true, undefined]);
  const answer = await other.send(method, await pathIn(other), body);
  return refusalOf(answer);
}

const refusedPatch = (endpoint: '/Users' | '/Groups', ...operations: JsonObject[]) =>
  refused('PATCH', endpoint, patchOp(...operations));

const unknownUrn = 'urn:acme:hr:2.0:User';

describe('discovery', () => {
  test('ServiceProviderConfig of a strict connection claims the profile, and its schema lists the claim', async () => {
    const path = '/ServiceProviderConfig';
    expect((await strict.send('GET', path)).body).toMatchObject({ interopProfileConformant: true });
    expect((await interoperable.send('GET', path)).body).not.toHaveProperty('interopProfileConformant');
    const schema = '/Schemas/urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';
    const listed = async ({ send }: ScimFixture) =>
      (await send('GET', schema)).body.attributes.map(({ name }: JsonObject) => name);
    expect(await listed(strict)).toContain('interopProfileConformant');
    expect(await listed(interoperable)).not.toContain('interopProfileConformant');
  });

  test('every type of a multi-valued attribute has its canonical values', async () => {
    const { Resources: schemas } = (await strict.send('GET', '/Schemas')).body;
    const typed = schemas.flatMap(({ attributes }: JsonObject) =>
      (attributes as JsonObject[]).flatMap(({ name, multiValued, subAttributes = [] }) => {
        const type = (subAttributes as JsonObject[]).find((sub) => sub['name'] === 'type');
        return multiValued && type && name !== 'authenticationSchemes' && name !== 'attributes'
          ? [[name, type['canonicalValues']]]
          : [];
      }),
    );
    expect(Object.fromEntries(typed)).toEqual({
      emails: ['work', 'home', 'other'],
      phoneNumbers: ['work', 'mobile', 'fax', 'home', 'other', 'pager'],
      ims: ['aim', 'gtalk', 'icq', 'xmpp', 'msn', 'skype', 'qq', 'yahoo'],
      photos: ['photo', 'thumbnail'],
      addresses: ['work', 'home', 'other'],
      groups: ['direct', 'indirect'],
      members: ['User', 'Group'],
    });
  });

  test('only what a request must have is declared as required', async () => {
    const { attributes } = (await strict.send('GET', `/Schemas/${urns.user}`)).body;
    const required = attributes.filter((attribute: JsonObject) => attribute['required']);
    expect(required.map(({ name }: JsonObject) => name)).toEqual(['userName']);
    await create('/Users');
  });

  test('every schema of /ResourceTypes is in /Schemas, and the id of a resource type is its name', async () => {
    const { Resources: types } = (await strict.send('GET', '/ResourceTypes')).body;
    expect(types.map(({ id, name }: JsonObject) => [id, name])).toEqual(
      ['User', 'Group', 'Role'].map((name) => [name, name]),
    );
    const named = types.flatMap(
      ({ schema, schemaExtensions }: { schema: string; schemaExtensions: JsonObject[] }) => [
        schema,
        ...schemaExtensions.map((extension) => extension['schema']),
      ],
    );
    expect(named).toHaveLength(5);
    for (const urn of named) expect((await strict.send('GET', `/Schemas/${urn}`)).status).toBe(200);
  });
});

describe('what no schema defines is 400 invalidSyntax', () => {
  const user = (extra: JsonObject): JsonObject => {
    names += 1;
    return { schemas: [urns.user], userName: `name ${names}`, ...extra };
  };

  test.each<[string, JsonObject, string]>([
    ['an attribute', { favoriteColor: 'blue' }, 'favoriteColor'],
    ['a sub-attribute', { name: { givenName: 'Ada', petName: 'Addie' } }, 'name.petName'],
    ['a sub-attribute of an element', { emails: [{ value: 'a@x.example', note: 'x' }] }, 'emails.note'],
    ['an extension', { [unknownUrn]: { badge: '7' } }, unknownUrn],
    ['an attribute of an extension', { [urns.enterprise]: { badge: '7' } }, `${urns.enterprise}:badge`],
    ['an attribute of an extension without its URN', { department: 'Research' }, 'department'],
    ['a password', { password: 'S3cret' }, 'password'],
    ['an attribute whose schema differs', { displayName: 'Ada', members: [] }, 'members'],
  ])('%s in a POST', async (_, extra, name) => {
    expect(await refused('POST', '/Users', user(extra))).toEqual({
      status: 400,
      scimType: 'invalidSyntax',
      detail: `User has no attribute ${name}. Use the attributes that /Schemas lists.`,
    });
  });

  test('a URI in schemas', async () => {
    const body = user({ schemas: [urns.user, unknownUrn] });
    expect(await refused('POST', '/Users', body)).toEqual({
      status: 400,
      scimType: 'invalidSyntax',
      detail: `User has no schema ${unknownUrn}. Use those that /ResourceTypes lists.`,
    });
  });

  test('an attribute in a PUT', async () => {
    expect(await refused('PUT', '/Users', user({ badge: '7' }))).toMatchObject({
      status: 400,
      scimType: 'invalidSyntax',
    });
  });

  test.each<[string, JsonObject]>([
    ['an attribute', { op: 'add', path: 'favoriteColor', value: 'blue' }],
    ['an attribute of an unknown extension', { op: 'add', path: `${unknownUrn}:badge`, value: '7' }],
    [
      'an attribute in the value of an extension',
      { op: 'add', path: urns.enterprise, value: { badge: '7' } },
    ],
    ['a sub-attribute in a value', { op: 'replace', path: 'name', value: { petName: 'Addie' } }],
    ['a sub-attribute of an element', { op: 'add', path: 'emails', value: [{ value: 'a@x', note: 'x' }] }],
  ])('%s in a PATCH', async (_, operation) => {
    expect(await refusedPatch('/Users', operation)).toMatchObject({ status: 400, scimType: 'invalidSyntax' });
  });

  test('a sub-attribute in the path of a PATCH', async () => {
    const path = await create('/Users');
    const operation = { op: 'add', path: 'name.petName', value: 'Addie' };
    const { status, body } = await strict.send('PATCH', path, patchOp(operation));
    expect([status, body.scimType]).toEqual([400, 'invalidSyntax']);
  });

  test('also when the user leaves, and then nothing is changed', async () => {
    const path = await create('/Users');
    const operations = [
      { op: 'replace', path: 'active', value: false },
      { op: 'replace', path: 'favoriteColor', value: 'blue' },
    ];
    expect((await strict.send('PATCH', path, patchOp(...operations))).status).toBe(400);
    expect((await strict.send('GET', path)).body).not.toHaveProperty('active', false);
  });

  test('but what the schemas define is accepted in any case, with and without the URN, and sent back as it was read', async () => {
    const path = await create('/Users', {
      externalId: 'E-1',
      DisplayName: 'Ada',
      [`${urns.user}:title`]: 'Lead',
      [urns.enterprise]: { department: 'Research', manager: { value: 'm-1', displayName: 'Max' } },
      [urns.travel]: { currency: 'EUR', roles: [{ value: 'premium', display: 'Premium' }] },
      roles: [{ value: 'organizer', display: 'Organizer', primary: true }],
    });
    const read = (await strict.send('GET', path)).body;
    expect(read).toMatchObject({ displayName: 'Ada', title: 'Lead' });
    expect((await strict.send('PUT', path, read)).body).toEqual(read);
  });
});

describe('a filter on what no schema defines is 400 invalidFilter', () => {
  const query = (filter: string) => `/Users?filter=${encodeURIComponent(filter)}`;

  test.each([
    'favoriteColor eq "blue"',
    `${unknownUrn}:badge eq "7"`,
    `${urns.enterprise}:badge eq "7"`,
    'department eq "Research"',
    'name.petName eq "Addie"',
    'emails[note eq "x"]',
    'emails[type eq "work" and note eq "x"].value pr',
  ])('%s', async (filter) => {
    const { status, body } = await strict.send('GET', query(filter));
    expect([status, body.scimType]).toEqual([400, 'invalidFilter']);
    const [name] = /emails|\S+/.exec(filter) ?? [];
    const attribute = name === 'emails' ? 'emails.note' : name;
    expect(body.detail).toBe(`User has no attribute ${attribute}. Use the attributes that /Schemas lists.`);
    const searchRequest = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';
    const search = await strict.send('POST', '/Users/.search', { schemas: [searchRequest], filter });
    expect([search.status, search.body.scimType]).toEqual([400, 'invalidFilter']);
  });

  test('on every attribute that the profiles name it is answered', async () => {
    const path = await create('/Users', {
      externalId: 'X-1',
      emails: [{ value: 'found@x.example', type: 'work' }],
    });
    const { id, userName } = (await strict.send('GET', path)).body;
    for (const filter of [
      `userName eq "${userName.toUpperCase()}"`,
      'externalId eq "X-1"',
      'emails[value eq "found@x.example"]',
      'emails[type eq "work" and value eq "found@x.example"]',
      `id eq "${id}" and userName eq "${userName}"`,
    ]) {
      const { body } = await strict.send('GET', query(filter));
      expect([filter, body.Resources.map((user: JsonObject) => user['id'])]).toEqual([filter, [id]]);
    }
    for (const filter of ['externalId eq "x-1"', `id eq "${id.toUpperCase()}"`])
      expect((await strict.send('GET', query(filter))).body.totalResults).toBe(0);
  });
});

describe('a value of another form than its attribute has is 400 invalidValue', () => {
  test.each<[string, JsonObject, string]>([
    ['one value of several', { emails: { value: 'a@x.example' } }, 'emails must be an array.'],
    ['texts in place of objects', { emails: ['a@x.example'] }, 'A value of emails must be an object.'],
    ['a text', { phoneNumbers: '+33 612345678' }, 'phoneNumbers must be an array.'],
    ['several values of one', { name: [{ givenName: 'Ada' }] }, 'name must not be an array.'],
    [
      'a text in an extension',
      { [urns.enterprise]: { manager: 'm-1' } },
      `A value of ${urns.enterprise}:manager must be an object.`,
    ],
  ])('%s', async (_, extra, detail) => {
    for (const method of ['POST', 'PUT']) {
      names += 1;
      const answer = await refused(method, '/Users', { userName: `name ${names}`, ...extra });
      expect(answer).toEqual({ status: 400, scimType: 'invalidValue', detail });
    }
  });

  test('also in schemas', async () => {
    const answer = await strict.send('POST', '/Users', { userName: 'x', schemas: { toString: 1 } });
    const detail = 'schemas must be an array.';
    expect(refusalOf(answer)).toEqual({ status: 400, scimType: 'invalidValue', detail });
  });

  test('and null is no value', async () => {
    await create('/Users', { name: null, emails: null, title: null, [urns.enterprise]: { manager: null } });
  });
});

describe('a PATCH', () => {
  test.each<[string, JsonObject]>([
    ['replace', { op: 'replace', value: { title: 'Lead' } }],
    ['add', { op: 'add', path: null, value: { title: 'Lead' } }],
  ])('with an operation without a path is 400 invalidSyntax: %s', async (_, operation) => {
    expect(await refusedPatch('/Users', operation)).toEqual({
      status: 400,
      scimType: 'invalidSyntax',
      detail:
        'Operation 1 must have a path. Send one operation for each attribute, such as {"op":"replace","path":"name.givenName","value":"Ada"}.',
    });
  });

  test('that removes without a path is 400 invalidSyntax', async () => {
    const { status, body } = await strict.send('PATCH', await create('/Users'), patchOp({ op: 'remove' }));
    expect([status, body.scimType]).toEqual([400, 'invalidSyntax']);
  });

  test.each(['add', 'replace'])('with %s of a whole element is 400 invalidPath', async (op) => {
    const operation = { op, path: 'emails[type eq "work"]', value: { value: 'a@x.example' } };
    expect(await refusedPatch('/Users', operation)).toEqual({
      status: 400,
      scimType: 'invalidPath',
      detail: 'The path of operation 1 must name a sub-attribute, as in emails[type eq "work"].value.',
    });
  });

  test('with remove of a whole element is 400 invalidPath, and its value can be removed', async () => {
    expect(await refusedPatch('/Users', { op: 'remove', path: 'emails[type eq "work"]' })).toMatchObject({
      status: 400,
      scimType: 'invalidPath',
    });
    const emails = [
      { value: 'a@x.example', type: 'work' },
      { value: 'a@home.example', type: 'home' },
    ];
    const path = await create('/Users', { emails });
    const removed = await patch(path, { op: 'remove', path: 'emails[type eq "work"].value' });
    expect(removed['emails']).toEqual(emails.slice(1));
  });

  test('takes add and replace of a single simple value for the same', async () => {
    const path = await create('/Users');
    expect(await patch(path, { op: 'add', path: 'title', value: 'Lead' })).toMatchObject({ title: 'Lead' });
    expect(await patch(path, { op: 'replace', path: 'title', value: 'Head' })).toMatchObject({
      title: 'Head',
    });
    expect(await patch(path, { op: 'add', path: 'title', value: 'Dean' })).toMatchObject({ title: 'Dean' });
  });

  test('replaces a single complex value as a whole, and merges what it adds', async () => {
    const path = await create('/Users', { name: { givenName: 'Ada', familyName: 'King' } });
    const added = await patch(path, { op: 'add', path: 'name', value: { middleName: 'B.' } });
    expect(added['name']).toEqual({ givenName: 'Ada', familyName: 'King', middleName: 'B.' });
    const replaced = await patch(path, { op: 'replace', path: 'name', value: { givenName: 'Ida' } });
    expect(replaced['name']).toEqual({ givenName: 'Ida' });
    const part = await patch(path, { op: 'replace', path: 'name.familyName', value: 'Byron' });
    expect(part['name']).toEqual({ givenName: 'Ida', familyName: 'Byron' });
  });

  test('replaces all values of a multi-valued attribute, and appends what it adds', async () => {
    const [one, two] = ['one@x.example', 'two@x.example'].map((value) => ({ value }));
    const path = await create('/Users');
    const emails = async (op: string, value: Json) =>
      (await patch(path, { op, path: 'emails', value }))['emails'];
    expect(await emails('add', [one ?? null])).toEqual([one]);
    expect(await emails('add', [two ?? null])).toEqual([one, two]);
    expect(await emails('replace', [two ?? null])).toEqual([two]);
  });

  test.each<[string, Json, string]>([
    ['emails', { value: 'a@x.example' }, 'emails must be an array.'],
    ['emails', ['a@x.example'], 'A value of emails must be an object.'],
    ['title', ['Lead'], 'title must not be an array.'],
    [`${urns.enterprise}:manager`, 'm-1', `A value of ${urns.enterprise}:manager must be an object.`],
    [urns.enterprise, { manager: 'm-1' }, `A value of ${urns.enterprise}:manager must be an object.`],
  ])('with a value of another form for %s is 400 invalidValue', async (path, value, detail) => {
    expect(await refusedPatch('/Users', { op: 'replace', path, value })).toEqual({
      status: 400,
      scimType: 'invalidValue',
      detail,
    });
  });

  test('changes several attributes in one request', async () => {
    const changed = await patch(
      await create('/Users'),
      { op: 'replace', path: 'title', value: 'Lead' },
      { op: 'add', path: `${urns.enterprise}:department`, value: 'Research' },
      { op: 'replace', path: 'active', value: false },
    );
    expect(changed).toMatchObject({
      title: 'Lead',
      active: false,
      [urns.enterprise]: { department: 'Research' },
    });
  });

  test('deactivates and reactivates a user, who stays', async () => {
    const path = await create('/Users', { active: true });
    await patch(path, { op: 'replace', path: 'active', value: false });
    expect((await strict.send('GET', path)).body).toMatchObject({ active: false });
    await patch(path, { op: 'replace', path: 'active', value: true });
    expect((await strict.send('GET', path)).body).toMatchObject({ active: true });
  });
});

describe('a type that /Schemas does not list is 400 invalidValue', () => {
  const detail = (name: string) => `${name} must be one of work, home, other.`;

  test('also if it is an object', async () => {
    names += 1;
    const emails = [{ value: 'a@x.example', type: { toString: 1 } }];
    const answer = await strict.send('POST', '/Users', { userName: `name ${names}`, emails });
    expect(refusalOf(answer)).toEqual({
      status: 400,
      scimType: 'invalidValue',
      detail: detail('emails.type'),
    });
  });

  test.each(['private', '', 7])('in a value: %j', async (type) => {
    names += 1;
    const emails = [{ value: 'a@x.example', type }];
    const body = { userName: `name ${names}`, emails };
    expect(await refused('POST', '/Users', body)).toEqual({
      status: 400,
      scimType: 'invalidValue',
      detail: detail('emails.type'),
    });
    const operation = { op: 'add', path: 'emails', value: emails };
    expect(await refusedPatch('/Users', operation)).toEqual({
      status: 400,
      scimType: 'invalidValue',
      detail: detail('emails.type'),
    });
  });

  test('in a value filter', async () => {
    const operation = { op: 'replace', path: 'emails[type eq "private"].value', value: 'a@x.example' };
    expect(await refusedPatch('/Users', operation)).toEqual({
      status: 400,
      scimType: 'invalidValue',
      detail: detail('emails.type'),
    });
  });

  test('and one in another case is accepted', async () => {
    await create('/Users', { emails: [{ value: 'a@x.example', type: 'Work' }] });
  });
});

describe('groups', () => {
  const membersOf = async (path: string) =>
    ((await strict.send('GET', path)).body.members as JsonObject[]).map(({ value }) => value);

  test('are created without members, and found by displayName, externalId and members', async () => {
    const path = await create('/Groups', { externalId: 'G-1' });
    const { id, displayName } = (await strict.send('GET', path)).body;
    await patch(path, { op: 'add', path: 'members', value: [{ value: 'm-1' }] });
    for (const filter of [
      `displayName eq "${displayName}"`,
      'externalId eq "G-1"',
      'members[value eq "m-1"]',
    ]) {
      const { body } = await strict.send('GET', `/Groups?filter=${encodeURIComponent(filter)}`);
      expect([filter, body.Resources.map((group: JsonObject) => group['id'])]).toEqual([filter, [id]]);
    }
  });

  test('take 60 operations on members in one PATCH', async () => {
    const path = await create('/Groups');
    const ids = Array.from({ length: 60 }, (_, index) => `member-${index}`);
    await patch(path, ...ids.map((value) => ({ op: 'add', path: 'members', value: [{ value }] })));
    expect(await membersOf(path)).toEqual(ids);
    const removals = ids.slice(0, 59).map((id) => ({ op: 'remove', path: `members[value eq "${id}"]` }));
    await patch(path, ...removals, { op: 'add', path: 'members', value: [{ value: 'last' }] });
    expect(await membersOf(path)).toEqual(['member-59', 'last']);
  });

  test.each(['add', 'replace'])('refuse %s of a whole member', async (op) => {
    const path = await create('/Groups', { members: [{ value: 'm-1' }] });
    const operation = { op, path: 'members[value eq "m-1"]', value: { value: 'm-1' } };
    expect(refusalOf(await strict.send('PATCH', path, patchOp(operation)))).toMatchObject({
      status: 400,
      scimType: 'invalidPath',
    });
  });

  test('refuse what no schema defines', async () => {
    const refusal = { status: 400, scimType: 'invalidSyntax' };
    const operation = { op: 'add', path: 'members', value: [{ value: 'm-1', role: 'x' }] };
    expect(await refusedPatch('/Groups', operation)).toMatchObject(refusal);
    names += 1;
    const body = { displayName: `name ${names}`, description: 'x' };
    expect(await refused('POST', '/Groups', body)).toMatchObject(refusal);
  });
});
