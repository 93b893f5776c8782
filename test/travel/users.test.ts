import type { JsonObject } from '../../src/travel/json.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const create = (data: JsonObject) =>
  fixture.send('post', '/users', { data: { email: 'a@example.com', ...data } });

describe('a field of a user', () => {
  const accepted: [string, JsonObject][] = [
    ['phoneNumber', { phoneNumber: '+33 612345678' }],
    ['phoneNumber', { phoneNumber: '+1 415-555-0100' }],
    ['phoneNumber', { phoneNumber: '+351 21 123 45 67' }],
    ['dateOfBirth', { dateOfBirth: '2000-02-29' }],
    ['lang', { lang: 'fr' }],
    ['gender', { gender: 'male' }],
    ['currency', { currency: 'GBP' }],
    ['address.countryCode', { address: { countryCode: 'GB' } }],
    [
      'roles',
      { roles: ['accountant', 'authAdmin', 'guest', 'guestCreator', 'manager', 'organizer', 'premium'] },
    ],
    [
      'travelerPrefs',
      { travelerPrefs: { flightSeatPosition: 'any', meals: [{ kind: 'vegan' }], upgrades: 2 } },
    ],
    ['email', { email: "o'hara+x.y_z@mail.example.co.uk" }],
    ['email', { email: 'zoë@exämple.com' }],
    ['email', { email: 'guest_contoso.com#EXT#@tenant.onmicrosoft.com' }],
  ];
  test.each(accepted)('%s is taken and kept: %j', async (_field, data) => {
    const answer = await create(data);
    expect([answer.status, answer.body.data]).toEqual([201, expect.objectContaining(data)]);
  });

  const refused: [string, string, JsonObject][] = [
    ['phoneNumber', 'pattern', { phoneNumber: '+33612345678' }],
    ['phoneNumber', 'pattern', { phoneNumber: '0612345678' }],
    ['phoneNumber', 'pattern', { phoneNumber: '33 612345678' }],
    ['phoneNumber', 'pattern', { phoneNumber: '+33  612345678' }],
    ['phoneNumber', 'pattern', { phoneNumber: '+0 612345678' }],
    ['phoneNumber', 'pattern', { phoneNumber: '+33 612345678 x12' }],
    ['phoneNumber', 'type', { phoneNumber: 33612345678 }],
    ['dateOfBirth', 'pattern', { dateOfBirth: '2001-02-29' }],
    ['dateOfBirth', 'pattern', { dateOfBirth: '2001-13-01' }],
    ['dateOfBirth', 'pattern', { dateOfBirth: '29/02/2000' }],
    ['dateOfBirth', 'pattern', { dateOfBirth: '2000-02-29T00:00:00Z' }],
    ['lang', 'lang', { lang: 'de' }],
    ['lang', 'lang', { lang: 'FR' }],
    ['gender', 'enum', { gender: 'other' }],
    ['currency', 'pattern', { currency: 'euro' }],
    ['address.countryCode', 'country', { address: { countryCode: 'ZZ' } }],
    ['address.countryCode', 'country', { address: { countryCode: 'France' } }],
    ['address.city', 'type', { address: { city: 75 } }],
    ['address.street', 'unknown', { address: { street: 'x' } }],
    ['address', 'type', { address: 'Paris' }],
    ['roles.1', 'enum', { roles: ['guest', 'king'] }],
    ['roles', 'type', { roles: 'guest' }],
    ['archived', 'type', { archived: 'true' }],
    ['email', 'email', { email: 'nobody' }],
    ['email', 'email', { email: 'a@b' }],
    ['email', 'email', { email: 'a b@example.com' }],
    ['email', 'email', { email: `${'x'.repeat(250)}@example.com` }],
    ['email', 'email', { email: '' }],
    ['managerId', 'reference', { managerId: 'nobody' }],
    ['travelerPrefs.flightSeatPosition', 'type', { travelerPrefs: { flightSeatPosition: 1 } }],
    ['travelerPrefs.x', 'type', { travelerPrefs: { x: [null] } }],
  ];
  test.each(refused)('%s is refused as %s: %j', async (field, code, data) => {
    const answer = await create(data);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: 'validationFailed', message: expect.any(String) });
    expect(answer.body.invalid).toEqual([
      { field, code, value: expect.anything(), message: expect.stringContaining(`"${field}"`) },
    ]);
  });

  test('is reported together with all other invalid fields', async () => {
    const answer = await create({ lang: 'de', email: 'x', address: { countryCode: '!' }, archived: 1 });
    const faults = answer.body.invalid.map(({ field, code, value }: JsonObject) => [field, code, value]);
    expect(new Set(faults.map(String))).toEqual(
      new Set(['lang,lang,de', 'email,email,x', 'address.countryCode,country,!', 'archived,type,1']),
    );
  });

  test('that is empty is absent from responses', async () => {
    const { data } = (await create({ roles: [], address: {}, customFields: [], travelerPrefs: {} })).body;
    expect(Object.keys(data).sort()).toEqual([
      'archived',
      'createdAt',
      'email',
      'id',
      'separateIcsEmails',
      'type',
    ]);
  });
});

describe('an email', () => {
  test('belongs to one user, archived users included', async () => {
    const { id } = await fixture.make('/users', { email: 'Éva@example.com' });
    await fixture.send('patch', `/users/${id}`, { data: { archived: true } });
    const answer = await create({ email: 'éVA@EXAMPLE.com' });
    expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
  });

  test('is given to exactly one of many concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => create({ email: 'race@example.com' })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 11 }, () => 409)]);
    const found = await fixture.send('get', '/users?emails=race@example.com');
    expect(found.body.meta.total).toBe(1);
    expect((await fixture.send('get', '/users')).body.meta.total).toBe(2);
  });
});

describe('the filter by emails', () => {
  const list = async (query: string) => {
    const { body } = await fixture.send('get', `/users?${query}`);
    return [body.meta.total, body.data.map(({ email }: JsonObject) => email)];
  };
  beforeEach(async () => {
    for (const email of ['c@example.com', 'B@example.com', 'a+x@example.com'])
      await fixture.make('/users', { email });
    const [archived] = (await fixture.send('get', '/users?emails=b@example.com')).body.data;
    await fixture.send('patch', `/users/${archived.id}`, { data: { archived: true } });
  });

  test('finds all users with these emails, without case, archived or not, oldest first', async () => {
    expect(await list('emails=A%2Bx@example.com,b@EXAMPLE.com, c@example.com,nobody@example.com')).toEqual([
      3,
      ['c@example.com', 'B@example.com', 'a+x@example.com'],
    ]);
  });

  test('can be combined with the other filters, sorting and paging', async () => {
    const all = 'emails=c@example.com,b@example.com,a%2Bx@example.com';
    expect(await list(`${all}&archived=true`)).toEqual([1, ['B@example.com']]);
    expect(await list(`${all}&archived=false`)).toEqual([2, ['c@example.com', 'a+x@example.com']]);
    expect(await list(`${all}&sortBy=email&order=desc`)).toEqual([
      3,
      ['c@example.com', 'B@example.com', 'a+x@example.com'],
    ]);
    expect(await list(`${all}&sortBy=email&limit=1&offset=1`)).toEqual([3, ['B@example.com']]);
  });

  test('finds no users for an empty list, and accepts five hundred emails', async () => {
    expect(await list('emails=')).toEqual([0, []]);
    expect(await list('emails=c@example.com%00')).toEqual([0, []]);
    const many = Array.from({ length: 501 }, (_, number) => `${number}@x.fr`);
    expect(await list(`emails=${many.slice(1).join(',')}`)).toEqual([0, []]);
    const answer = await fixture.send('get', `/users?emails=${many.join(',')}`);
    expect(answer.body.invalid).toEqual([expect.objectContaining({ field: 'emails', code: 'paramValue' })]);
  });
});

describe('a manager', () => {
  test('cannot be the user', async () => {
    const { id } = await fixture.make('/users', { email: 'a@example.com' });
    const answer = await fixture.send('patch', `/users/${id}`, { data: { managerId: id } });
    expect([answer.status, answer.body.invalid]).toEqual([
      422,
      [expect.objectContaining({ field: 'managerId', code: 'reference', value: id })],
    ]);
  });

  test('can be deleted once no user reports to them', async () => {
    const boss = await fixture.make('/users', { email: 'boss@example.com' });
    const report = await fixture.make('/users', { email: 'a@example.com', managerId: boss.id });
    expect((await fixture.send('delete', `/users/${boss.id}`)).status).toBe(409);
    await fixture.send('patch', `/users/${report.id}`, { data: { managerId: null } });
    expect((await fixture.send('delete', `/users/${boss.id}`)).status).toBe(200);
  });
});

describe('the calling admin', () => {
  const self = () => `/users/${fixture.admin}`;

  test.each([
    ['be archived', { archived: true }],
    ['lose the role', { roles: ['manager'] }],
    ['lose all roles', { roles: null }],
  ])('cannot %s', async (_what, data) => {
    const answer = await fixture.send('patch', self(), { data });
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    expect((await fixture.send('get', '/whoami')).status).toBe(200);
  });

  test('cannot delete themselves or remove their own admin role', async () => {
    const replaced = await fixture.send('put', self(), { data: { email: 'admin@example.com' } });
    expect([replaced.status, replaced.body.code]).toEqual([403, 'forbidden']);
    const deleted = await fixture.send('delete', self());
    expect([deleted.status, deleted.body.code]).toEqual([403, 'forbidden']);
  });

  test('can change other fields, and another admin can do all of this', async () => {
    const other = await fixture.make('/users', { email: 'other@example.com', roles: ['admin'] });
    const changed = await fixture.send('patch', self(), {
      data: { lastName: 'Root', roles: ['admin', 'premium'] },
    });
    expect([changed.status, changed.body.data.lastName]).toEqual([200, 'Root']);
    expect((await fixture.send('delete', `/users/${other.id}`)).status).toBe(200);
  });
});

test('PATCH merges into the address, and removes it with its last part', async () => {
  const { id } = await fixture.make('/users', {
    email: 'a@example.com',
    address: { city: 'Paris', region: 'IDF' },
  });
  const merge = async (address: JsonObject | null) =>
    (await fixture.send('patch', `/users/${id}`, { data: { address } })).body.data.address;
  expect(await merge({ city: 'Lyon', postalCode: '69001' })).toEqual({
    city: 'Lyon',
    postalCode: '69001',
    region: 'IDF',
  });
  expect(await merge({ region: null, postalCode: null })).toEqual({ city: 'Lyon' });
  expect(await merge({ city: null })).toBeUndefined();
});

test('PATCH replaces arrays as a whole, and stores a repeated role once', async () => {
  const { id } = await fixture.make('/users', { email: 'a@example.com', roles: ['guest', 'premium'] });
  const answer = await fixture.send('patch', `/users/${id}`, { data: { roles: ['manager', 'manager'] } });
  expect(answer.body.data.roles).toEqual(['manager']);
});

test('many concurrent patches of one user are all stored', async () => {
  const { id } = await fixture.make('/users', { email: 'a@example.com' });
  const fields = ['firstName', 'lastName', 'currency', 'lang', 'dateOfBirth', 'gender'];
  const values = ['Ada', 'Lovelace', 'EUR', 'en', '1815-12-10', 'female'];
  await Promise.all(
    fields.map((field, position) =>
      fixture.send('patch', `/users/${id}`, { data: { [field]: values[position] } }),
    ),
  );
  const { data } = (await fixture.send('get', `/users/${id}`)).body;
  expect(fields.map((field) => data[field])).toEqual(values);
});
