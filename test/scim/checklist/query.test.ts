import { urns } from '../../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../../fixtures/scim.ts';
import { found, scimClient } from '../../fixtures/scim-client.ts';
import { scimService } from '../../fixtures/scim-service.ts';
import { writeSettingsFile } from '../../fixtures/settings-file.ts';

let scim: ScimFixture;
beforeEach(async () => {
  scim = await scimFixture();
});
afterEach(() => scim.close());

const people = [
  {
    userName: 'ada',
    externalId: 'E-Ada',
    title: 'Countess',
    name: { familyName: 'Lovelace' },
    emails: [
      { value: 'ada@corp.example', type: 'work', primary: true },
      { value: 'ada@home.example', type: 'home' },
    ],
    [urns.enterprise]: { department: 'R&D' },
  },
  { userName: 'bob', title: 'Clerk', active: false, emails: [{ value: 'bob@corp.example', type: 'home' }] },
  { userName: 'cleo', x509Certificates: [{ value: 'TUlJ' }], externalId: 'e-cleo' },
];

async function seed(): Promise<void> {
  for (const person of people) await scim.send('POST', '/Users', person);
}

const namesFound = async (filter: string) => (await found(scim, '/Users', filter, 'userName')).join(' ');
const query = (text: string) => scim.send('GET', `/Users?${text}`);

async function expectInvalid(filter: string): Promise<void> {
  const answer = await query(`filter=${encodeURIComponent(filter)}`);
  expect({ filter, answer }).toMatchObject({ answer: { status: 400, body: { scimType: 'invalidFilter' } } });
}

test('54. all operators, and/or/not, groups and value paths; not binds before and, and before or', async () => {
  await seed();
  const filters: [string, string][] = [
    ['title eq "countess"', 'ada'],
    ['title ne "Countess"', 'bob cleo'],
    ['title co "LER"', 'bob'],
    ['title sw "c"', 'ada bob'],
    ['title ew "SS"', 'ada'],
    ['title pr', 'ada bob'],
    ['title gt "Clerk"', 'ada'],
    ['title ge "Clerk"', 'ada bob'],
    ['title lt "Countess"', 'bob'],
    ['title le "Countess"', 'ada bob'],
    ['active eq false', 'bob'],
    ['meta.created gt "2020-01-01T00:00:00Z" and meta.created lt "2020-01-01T00:00:00+01:00"', ''],
    ['meta.lastModified ge "2020-01-01T01:00:00+01:00"', 'ada bob cleo'],
    ['title eq "Clerk" or title eq "Countess" and active eq false', 'bob'],
    ['(title eq "Clerk" or title eq "Countess") and active eq true', 'ada'],
    ['not (title pr) or active eq false', 'bob cleo'],
    ['not (title pr or active eq false)', 'cleo'],
    ['emails[type eq "work" and value co "@corp"]', 'ada'],
    ['emails[type eq "work" and value co "@home"]', ''],
    ['emails.type eq "work" and emails.value co "@home"', 'ada'],
    ['emails[type eq "home"].value eq "bob@corp.example"', 'bob'],
    [`${urns.enterprise}:department eq "r&d"`, 'ada'],
    [`schemas eq "${urns.enterprise}"`, 'ada'],
    ['userName eq "ada" or userName eq "cleo"', 'ada cleo'],
  ];
  for (const [filter, expected] of filters)
    expect([filter, await namesFound(filter)]).toEqual([filter, expected]);
});

test('55. a malformed or unsupported filter is 400 invalidFilter', async () => {
  for (const filter of [
    '',
    'x',
    'userName',
    'userName eq',
    'userName gt ada',
    "userName eq 'ada'",
    'userName is "ada"',
    '(userName pr',
    'userName pr)',
    'userName pr and',
    'not userName pr',
    'emails[type eq "work"',
    'emails[type[value pr] pr]',
    'nope eq "x"',
    'userName.sub eq "x"',
  ])
    await expectInvalid(filter);
});

test('56. names and operators in any case, text by caseExact; booleans and binaries have no order', async () => {
  await seed();
  expect(await namesFound('USERNAME EQ "ADA" Or UserName Sw "CL"')).toBe('ada cleo');
  expect(await namesFound('externalId eq "E-Ada"')).toBe('ada');
  expect(await namesFound('externalId eq "e-ada"')).toBe('');
  expect(await namesFound('externalId sw "e-"')).toBe('cleo');
  expect(await namesFound('x509Certificates.value eq "TUlJ"')).toBe('cleo');
  expect(await namesFound('x509Certificates.value eq "tulj"')).toBe('');
  for (const operator of ['gt', 'ge', 'lt', 'le']) {
    await expectInvalid(`active ${operator} true`);
    await expectInvalid(`x509Certificates.value ${operator} "TUlJ"`);
    await expectInvalid(`emails.primary ${operator} true`);
  }
});

test('57. no match is 200 with totalResults 0', async () => {
  for (const filter of ['userName eq "nobody"', 'id eq "nobody"', 'title co "nobody"']) {
    const { status, body } = await query(`filter=${encodeURIComponent(filter)}`);
    expect([status, body]).toEqual([
      200,
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
        totalResults: 0,
        startIndex: 1,
        itemsPerPage: 0,
        Resources: [],
      },
    ]);
  }
});

test('58. a multi-valued attribute without a sub-attribute is compared by its value', async () => {
  await seed();
  expect(await namesFound('emails eq "bob@corp.example"')).toBe('bob');
  expect(await namesFound('emails co "@HOME"')).toBe('ada');
  expect(await namesFound('emails pr')).toBe('ada bob');
});

test('59. a page has at most filter.maxResults resources', async () => {
  const { send, close } = await scimFixture();
  const { maxResults } = (await send('GET', '/ServiceProviderConfig')).body.filter;
  const names = Array.from({ length: maxResults + 5 }, (_, n) => `user${String(n).padStart(3, '0')}`);
  for (const userName of names) expect((await send('POST', '/Users', { userName })).status).toBe(201);
  for (const asked of ['count=1000', 'filter=userName+sw+%22user%22&count=1000', '']) {
    const { body } = await send('GET', `/Users?${asked}`);
    expect([body.totalResults, body.itemsPerPage, body.Resources.length]).toEqual([
      maxResults + 5,
      maxResults,
      maxResults,
    ]);
  }
  const rest = await send('GET', `/Users?startIndex=${maxResults + 1}`);
  expect(rest.body.Resources.map(({ userName }: { userName: string }) => userName)).toEqual(
    names.slice(maxResults),
  );
  await close();
});

test('60. startIndex counts from 1 and less is 1; count below 0 is 0, which is totalResults only; both are returned', async () => {
  await seed();
  for (const [asked, startIndex, shown] of [
    ['', 1, 'ada bob cleo'],
    ['startIndex=2', 2, 'bob cleo'],
    ['startIndex=2&count=1', 2, 'bob'],
    ['startIndex=0&count=1', 1, 'ada'],
    ['startIndex=-7&count=2', 1, 'ada bob'],
    ['startIndex=4', 4, ''],
    ['count=0', 1, ''],
    ['count=-1', 1, ''],
    ['filter=title+pr&startIndex=2&count=5', 2, 'bob'],
  ] as const) {
    const { body } = await query(asked);
    const names = body.Resources.map(({ userName }: { userName: string }) => userName);
    expect([asked, names.join(' '), body.startIndex, body.itemsPerPage]).toEqual([
      asked,
      shown,
      startIndex,
      names.length,
    ]);
    expect(body.totalResults).toBe(asked.startsWith('filter') ? 2 : 3);
  }
  for (const wrong of ['startIndex=one', 'count=1.5'])
    expect(await query(wrong)).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
});

test('61. attributes and excludedAttributes on every method; id always; not both at once', async () => {
  const [ada] = people;
  const { id } = (await scim.send('POST', '/Users', ada)).body;
  const change = patchOp({ op: 'add', path: 'title', value: 'Countess' });
  const asks = (text: string) => [
    () => scim.send('GET', `/Users/${id}?${text}`),
    () => scim.send('PUT', `/Users/${id}?${text}`, ada),
    () => scim.send('PATCH', `/Users/${id}?${text}`, change),
    () => scim.send('POST', `/Users?${text}`, { ...ada, userName: `${text.length} ${text}` }),
    async () => {
      const { body, ...answer } = await query(`filter=id+eq+%22${id}%22&${text}`);
      return { ...answer, body: body.Resources?.[0] };
    },
  ];
  for (const ask of asks(`attributes=title,name.familyName,${urns.enterprise}:department`)) {
    const { body } = await ask();
    expect(body).toEqual({
      schemas: expect.any(Array),
      id: expect.any(String),
      title: 'Countess',
      name: { familyName: 'Lovelace' },
      [urns.enterprise]: { department: 'R&D' },
    });
  }
  for (const ask of asks('excludedAttributes=id,emails.value,meta,title')) {
    const { body } = await ask();
    expect(body.id).toEqual(expect.any(String));
    expect([body.title, body.meta]).toEqual([undefined, undefined]);
    expect(body.emails).toEqual([{ type: 'work', primary: true }, { type: 'home' }]);
  }
  for (const ask of asks('attributes=title&excludedAttributes=name').slice(0, 4))
    expect(await ask()).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
});

test('62. returned: always, never and default are respected; no attribute is request', async () => {
  const { id } = (await scim.send('POST', '/Users', { ...people[0], password: 'secret' })).body;
  const read = async (text: string) => Object.keys((await scim.send('GET', `/Users/${id}?${text}`)).body);
  expect(await read('')).toEqual(expect.arrayContaining(['schemas', 'id', 'title', 'emails', 'meta']));
  expect(await read('')).not.toContain('password');
  expect(await read('attributes=title')).toEqual(['schemas', 'id', 'title']);
  expect(await read('attributes=password')).toEqual(['schemas', 'id']);
  expect(await read('excludedAttributes=schemas,id,title')).toEqual(
    expect.arrayContaining(['schemas', 'id']),
  );
  expect(JSON.stringify((await scim.send('GET', '/Schemas')).body)).not.toContain('"returned":"request"');
});

test('63. sortBy and sortOrder are honoured or ignored as advertised', async () => {
  await seed();
  expect((await scim.send('GET', '/ServiceProviderConfig')).body.sort).toEqual({ supported: true });
  const order = async (sorting: string) => {
    const { status, body } = await query(sorting);
    return status === 200
      ? body.Resources.map(({ userName }: { userName: string }) => userName).join(' ')
      : body;
  };
  expect(await order('sortBy=userName&sortOrder=descending')).toBe('cleo bob ada');
  expect(await order('sortBy=USERNAME&sortOrder=Descending')).toBe('cleo bob ada');
  expect(await order('sortBy=userName')).toBe('ada bob cleo');
  // "If "sortBy" is … no value …, sorted last if ascending and first if descending"
  expect(await order('sortBy=externalId')).toBe('ada cleo bob');
  expect(await order('sortBy=externalId&sortOrder=descending')).toBe('bob cleo ada');
  expect(await order('sortBy=meta.created&sortOrder=descending')).toBe('cleo bob ada');
  // Any other sortBy is ignored (a deviation).
  expect(await order('sortBy=title&sortOrder=descending')).toBe('ada bob cleo');
  expect(await order('sortBy=[')).toBe('ada bob cleo');
});

test('64. etag.supported: ETag is meta.version, If-Match is 412, If-None-Match is 304', async () => {
  expect((await scim.send('GET', '/ServiceProviderConfig')).body.etag).toEqual({ supported: true });
  const created = await scim.send('POST', '/Users', people[0]);
  const path = `/Users/${created.body.id}`;
  const tag = created.headers.get('etag') ?? '';
  expect(tag).toBe(created.body.meta.version);
  expect((await scim.send('GET', path, undefined, { 'If-None-Match': tag })).status).toBe(304);
  const change = (value: string) => patchOp({ op: 'replace', path: 'title', value });
  const changed = await scim.send('PATCH', path, change('x'), { 'If-Match': tag });
  expect([changed.status, changed.headers.get('etag') === tag]).toEqual([200, false]);
  for (const [method, body] of [
    ['PATCH', change('y')],
    ['PUT', people[0]],
    ['DELETE', undefined],
  ] as const)
    expect((await scim.send(method, path, body, { 'If-Match': tag })).status).toBe(412);
  expect((await scim.send('GET', path, undefined, { 'If-None-Match': tag })).body.title).toBe('x');
});

test('65. /Bulk and /Me are 501 with an error body; POST /.search works', async () => {
  await seed();
  for (const [method, path] of [
    ['POST', '/Bulk'],
    ['GET', '/Me'],
    ['POST', '/Me'],
    ['PUT', '/Me'],
    ['PATCH', '/Me'],
    ['DELETE', '/Me'],
  ] as const) {
    const answer = await scim.send(method, path, method === 'GET' || method === 'DELETE' ? undefined : {});
    expect(answer).toMatchObject({ status: 501, body: { status: '501', detail: expect.any(String) } });
  }
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
  for (const path of ['/.search', '/Users/.search']) {
    const { status, body } = await scim.send('POST', path, { schemas, filter: 'title sw "c"', count: 1 });
    expect([status, body.totalResults, body.Resources[0].userName]).toEqual([200, 2, 'ada']);
  }
});

test('67. the token fixes the tenant; ids and uniqueness are per tenant, and nothing leaks: 404, not 403', async () => {
  const settings = writeSettingsFile({}, { default: {}, second: { scimTokenEnv: 'SECOND_TOKEN' } });
  const tokens = { SCIM_TOKEN: 'a-token-of-the-first', SECOND_TOKEN: 'a-token-of-the-second' };
  const both = await scimService({ ...tokens, JETBRIDGE_CONFIG: settings.path });
  const one = scimClient(both.service.url, tokens.SCIM_TOKEN);
  const other = scimClient(both.service.url, tokens.SECOND_TOKEN);
  const person = { userName: 'ada', externalId: 'E-1' };
  for (const [endpoint, body] of [
    ['/Users', person],
    ['/Groups', { displayName: 'Crew', externalId: 'E-1' }],
  ] as const) {
    const mine = await one.send('POST', endpoint, body);
    const path = `${endpoint}/${mine.body.id}`;
    for (const [method, sent] of [
      ['GET', undefined],
      ['PUT', body],
      ['PATCH', patchOp({ op: 'add', path: 'externalId', value: 'x' })],
      ['DELETE', undefined],
    ] as const)
      expect((await other.send(method, path, sent)).status).toBe(404);
    for (const list of [endpoint, '/', `${endpoint}?filter=externalId+eq+%22E-1%22`])
      expect(JSON.stringify((await other.send('GET', list)).body)).not.toContain(mine.body.id);
    const theirs = await other.send('POST', endpoint, body);
    expect([theirs.status, theirs.body.id === mine.body.id]).toEqual([201, false]);
    expect((await one.send('GET', path)).body).toEqual(mine.body);
  }
  await both.close();
  settings.remove();
});
