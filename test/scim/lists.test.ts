import { urns } from '../../src/schema/resource.ts';
import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let fixture: ScimFixture;
beforeAll(async () => {
  fixture = await scimFixture();
  await populate();
});
afterAll(() => fixture.close());

const people = ['Ada', 'Bob', 'Cem', 'Dia', 'Eva'];

async function populate(): Promise<void> {
  for (const [index, name] of people.entries()) {
    await fixture.send('POST', '/Users', {
      userName: `${name}@corp.example`,
      externalId: `E${index}`,
      name: { givenName: name },
      emails: [
        { value: `${name}@corp.example`, type: 'work' },
        { value: `${name}@home.example`, type: 'home' },
      ],
      active: index % 2 === 0,
      [urns.enterprise]: { employeeNumber: String(index), department: 'Ops', manager: { value: 'u1' } },
    });
  }
}

interface Found {
  userName: string;
}
const namesIn = (body: { Resources: Found[] }) =>
  body.Resources.map(({ userName }) => userName.split('@')[0]);

describe('index paging (RFC 7644 §3.4.2.4)', () => {
  const cases: [string, number, string[]][] = [
    ['', 1, people],
    ['startIndex=1&count=2', 1, ['Ada', 'Bob']],
    ['startIndex=2&count=2', 2, ['Bob', 'Cem']],
    ['startIndex=5&count=2', 5, ['Eva']],
    ['startIndex=6&count=2', 6, []],
    ['startIndex=1000000&count=2', 1_000_000, []],
    ['startIndex=99999999999999999999', Number.MAX_SAFE_INTEGER, []],
    ['startIndex=0&count=1', 1, ['Ada']],
    ['startIndex=-5&count=1', 1, ['Ada']],
    ['count=0', 1, []],
    ['count=-1', 1, []],
    ['count=100000', 1, people],
  ];
  test.each(cases)('%s', async (query, startIndex, names) => {
    const { status, body } = await fixture.send('GET', `/Users?${query}`);
    expect(status).toBe(200);
    expect(namesIn(body)).toEqual(names);
    expect(body).toMatchObject({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
      totalResults: 5,
      itemsPerPage: names.length,
      startIndex,
    });
  });

  test.each(['count=abc', 'count=1e3', 'count=+', 'startIndex=1.5', 'startIndex=1&startIndex=2'])(
    '%s is 400 invalidValue',
    async (query) => {
      const answer = await fixture.send('GET', `/Users?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    },
  );
});

describe('a filter finds', () => {
  const cases: [string, string[]][] = [
    ['userName eq "ada@CORP.example"', ['Ada']],
    ['UserName Eq "ada@corp.example"', ['Ada']],
    [`${urns.user}:userName eq "ada@corp.example"`, ['Ada']],
    ['userName eq "nobody"', []],
    ['id eq "u2"', ['Bob']],
    ['externalId eq "E2"', ['Cem']],
    ['externalId eq "e2"', []],
    ['emails eq "BOB@home.example"', ['Bob']],
    ['emails.value eq "bob@home.example"', ['Bob']],
    ['emails[type eq "work"].value eq "bob@corp.example"', ['Bob']],
    ['emails[type eq "work"].value eq "bob@home.example"', []],
    ['emails[value eq "bob@home.example"]', ['Bob']],
    ['emails[type eq "home" and value eq "bob@home.example"]', ['Bob']],
    ['emails[type eq "work" and value eq "bob@home.example"]', []],
    ['id eq "u2" and manager eq "u1"', ['Bob']],
    [`id eq "u2" and ${urns.enterprise}:manager.value eq "u9"`, []],
    ['userName eq "ada@corp.example" and active eq false', []],
    ['active eq true', ['Ada', 'Cem', 'Eva']],
    ['active eq False', ['Bob', 'Dia']],
    ['active eq "False"', ['Bob', 'Dia']],
    ['not (active eq true)', ['Bob', 'Dia']],
    ['name.givenName sw "a" or name.givenName ew "b"', ['Ada', 'Bob']],
    ['(name.givenName eq "Ada" or name.givenName eq "Bob") and active eq true', ['Ada']],
    ['name.givenName eq "Ada" or name.givenName eq "Bob" and active eq true', ['Ada']],
    ['name.givenName co "i" and (((active eq false)))', ['Dia']],
    [`${urns.enterprise}:employeeNumber ge "3"`, ['Dia', 'Eva']],
    [`${urns.enterprise}:department pr and externalId ne "E0"`, ['Bob', 'Cem', 'Dia', 'Eva']],
    ['title pr', []],
    ['title eq null', people],
    ['meta.created gt "2026-11-20T10:00:03Z"', ['Dia', 'Eva']],
    ['meta.resourceType eq "User" and externalId eq "E1"', ['Bob']],
    ['urn:x:y:2.0:User:z eq "x"', []],
    // Words without quotes, as authentik sends them.
    ['userName eq ADA@corp.example', ['Ada']],
    ['externalId eq E1', ['Bob']],
    ['id eq u2 and emails[type eq work].value eq bob@corp.example', ['Bob']],
    ['externalId eq 05', []],
    ['userName sw ADA@corp', ['Ada']],
    ['name.givenName co i and name.givenName ew a', ['Dia']],
    ['meta.created gt 2026-11-20T10:00:03Z', ['Dia', 'Eva']],
    ['meta.created le 2026-11-20', []],
    [`${urns.enterprise}:employeeNumber ge 3`, ['Dia', 'Eva']],
    ['name.givenName eq Ada or (name.givenName eq Bob)', ['Ada', 'Bob']],
  ];
  test.each(cases)('%s', async (filter, names) => {
    const { status, body } = await fixture.send('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    expect(status).toBe(200);
    expect(namesIn(body)).toEqual(names);
    expect(body.totalResults).toBe(names.length);
  });

  test('values with quotes, backslashes, plus signs and letters of every script', async () => {
    const other = await scimFixture();
    await other.send('POST', '/Users', {
      userName: "o'neil+x@corp.example",
      externalId: 'q"u\\o',
      displayName: 'Søn & Co',
    });
    for (const query of [
      'userName+eq+%22o%27neil%2Bx@corp.example%22',
      'externalId%20eq%20%22q%5C%22u%5C%5Co%22',
      'displayName+eq+%22S%C3%B8n+%26+co%22',
    ]) {
      expect((await other.send('GET', `/Users?filter=${query}`)).body.totalResults).toBe(1);
    }
    await other.close();
  });

  test('pages of results that no index gives, with an exact total', async () => {
    const { body } = await fixture.send('GET', '/Users?filter=active+eq+true&startIndex=2&count=1');
    expect(namesIn(body)).toEqual(['Cem']);
    expect(body).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1 });
  });
});

describe('a filter that is malformed or not supported is 400 invalidFilter', () => {
  test.each([
    'noSuchAttribute eq "x"',
    '',
    'userName',
    'userName eq',
    'eq "x"',
    'userName xx "x"',
    'userName eq "x',
    '(userName eq "x"',
    'userName eq "x" and',
    'userName eq "x" userName eq "y"',
    'emails[type eq "work"',
    'emails[]',
    'not userName eq "x" )',
    "userName eq 'x'",
    'userName eq and',
    'userName eq bob x',
    'userName eq zoë',
    '"userName" eq "x"',
    'active gt true',
    'active eq "maybe"',
    'password eq "x"',
    'userName.value eq "x"',
    `${'('.repeat(3000)}userName eq "x"${')'.repeat(3000)}`,
  ])('%s', async (filter) => {
    const answer = await fixture.send('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    expect(answer).toMatchObject({
      status: 400,
      body: { scimType: 'invalidFilter', detail: expect.any(String) },
    });
  });

  test('when there are two filters', async () => {
    expect((await fixture.send('GET', '/Users?filter=a+pr&filter=b+pr')).body.scimType).toBe('invalidFilter');
  });
});

describe('attributes and excludedAttributes (RFC 7644 §3.9)', () => {
  const always = { schemas: [urns.user, urns.enterprise], id: 'u1' };
  const cases: [string, object][] = [
    ['attributes=userName', { ...always, userName: 'Ada@corp.example' }],
    [
      'attributes=USERNAME,NAME.GIVENNAME',
      { ...always, userName: 'Ada@corp.example', name: { givenName: 'Ada' } },
    ],
    [`attributes=${urns.user}:userName`, { ...always, userName: 'Ada@corp.example' }],
    [`attributes=${urns.enterprise}:department`, { ...always, [urns.enterprise]: { department: 'Ops' } }],
    [
      `attributes=${urns.enterprise}`,
      { ...always, [urns.enterprise]: { employeeNumber: '0', department: 'Ops', manager: { value: 'u1' } } },
    ],
    [
      'attributes=emails.value',
      { ...always, emails: [{ value: 'Ada@corp.example' }, { value: 'Ada@home.example' }] },
    ],
    ['attributes=nope,password', always],
    ['attributes=id', always],
    ['attributes=meta.resourceType', { ...always, meta: { resourceType: 'User' } }],
  ];
  test.each(cases)('%s', async (query, expected) => {
    expect((await fixture.send('GET', `/Users/u1?${query}`)).body).toEqual(expected);
    const list = await fixture.send('GET', `/Users?${query}&filter=id+eq+%22u1%22`);
    expect(list.body.Resources).toEqual([expected]);
  });

  test('excludedAttributes leaves out attributes, but never schemas and id', async () => {
    const { body } = await fixture.send(
      'GET',
      '/Users/u1?excludedAttributes=schemas,id,name,emails.type,meta',
    );
    expect(body).toMatchObject({ ...always, userName: 'Ada@corp.example' });
    expect(body.name ?? body.meta).toBeUndefined();
    expect(body.emails).toEqual([{ value: 'Ada@corp.example' }, { value: 'Ada@home.example' }]);
  });

  test('both parameters together are 400', async () => {
    expect((await fixture.send('GET', '/Users/u1?attributes=id&excludedAttributes=name')).status).toBe(400);
  });
});
