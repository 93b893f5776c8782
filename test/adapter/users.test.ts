import fc from 'fast-check';
import { jetbridgeProfile } from '../../src/adapter/profiles/jetbridge.ts';
import { travelUsers } from '../../src/adapter/users.ts';
import { json, type TravelServer, travelServer } from './travel-server.ts';

const ada = {
  id: 'u1',
  type: 'user',
  createdAt: '2026-01-01T00:00:00Z',
  email: 'Ada@corp.example',
  archived: false,
  separateIcsEmails: false,
};
const { type: _, ...adaRead } = ada;

describe('travelers over HTTP', () => {
  let server: TravelServer;
  afterEach(() => server.close());

  const wire = () => server.requests.map(({ method, url, body }) => [method, url, body]);

  test('each method makes one request', async () => {
    server = await travelServer(({ method }, response) =>
      json(response, method === 'POST' ? 201 : 200, { data: ada }),
    );
    const users = travelUsers(server.client());
    const ok = { kind: 'ok', value: adaRead };
    expect(await users.create({ email: 'Ada@corp.example' }, 'key')).toEqual(ok);
    expect(await users.read('u1')).toEqual(ok);
    expect(await users.patch('u1', { firstName: null })).toEqual(ok);
    expect(await users.remove('u1')).toMatchObject({ kind: 'ok' });
    expect(wire()).toEqual([
      ['POST', '/api/users', '{"data":{"email":"Ada@corp.example"}}'],
      ['GET', '/api/users/u1', ''],
      ['PATCH', '/api/users/u1', '{"data":{"firstName":null}}'],
      ['DELETE', '/api/users/u1', ''],
    ]);
  });

  test('the path of users is configurable', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: ada }));
    await travelUsers(server.client({ profile: jetbridgeProfile({ paths: { users: '/v2/people' } }) })).read(
      'u1',
    );
    expect(wire()).toEqual([['GET', '/v2/people/u1', '']]);
  });

  test('an id cannot address another path', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: ada }));
    const users = travelUsers(server.client());
    await users.read('../whoami?x=1#y');
    expect(wire()).toEqual([['GET', '/api/users/..%2Fwhoami%3Fx%3D1%23y', '']]);
    for (const id of ['', '.', '..']) {
      expect(await users.read(id)).toEqual({ kind: 'notFound' });
      expect(await users.patch(id, {})).toEqual({ kind: 'notFound' });
      expect(await users.remove(id)).toEqual({ kind: 'notFound' });
    }
    expect(server.requests).toHaveLength(1);
  });

  test('an email is searched as sent and in lower case, without case, and also among archived travelers', async () => {
    const archived = { ...ada, id: 'u2', email: 'eve+x@corp.example', archived: true };
    server = await travelServer((_, response) =>
      json(response, 200, { data: [ada, archived], meta: { total: 2 } }),
    );
    const answer = await travelUsers(server.client()).findByEmails([
      'ada@CORP.example',
      'eve+x@corp.example',
    ]);
    expect(answer).toMatchObject({ kind: 'ok', value: [{ id: 'u1' }, { id: 'u2' }] });
    expect(wire()).toEqual([
      ['GET', '/api/users?emails=ada%40CORP.example,ada%40corp.example,eve%2Bx%40corp.example&limit=100', ''],
    ]);
  });

  test.each([
    ['lower-cased', 'ÉVA@corp.example', 'éva@corp.example'],
    ['decomposed', 'éva@corp.example'.normalize('NFC'), 'éva@corp.example'.normalize('NFD')],
    ['composed', 'éva@corp.example'.normalize('NFD'), 'éva@corp.example'.normalize('NFC')],
    ['lower-cased and decomposed', 'ÉVA@corp.example', 'éva@corp.example'.normalize('NFD')],
    ['as it was sent', 'ÉVA@corp.example'.normalize('NFD'), 'ÉVA@corp.example'.normalize('NFD')],
  ])(
    'a travel API that compares exactly finds an address that it stores %s',
    async (_form, asked, stored) => {
      const eve = { ...ada, id: 'u3', email: stored };
      server = await travelServer(({ url }, response) => {
        const emails = new URL(url, 'http://travel.example').searchParams.get('emails')?.split(',') ?? [];
        json(response, 200, { data: emails.includes(eve.email) ? [eve] : [] });
      });
      const answer = await travelUsers(server.client()).findByEmails([asked]);
      expect(answer).toMatchObject({ kind: 'ok', value: [{ id: 'u3' }] });
    },
  );

  test('a travel API that treats compatibility letters as plain ones finds no other person', async () => {
    const fiona = { ...ada, email: 'fiona@corp.example' };
    server = await travelServer((_, response) => json(response, 200, { data: [fiona] }));
    const answer = await travelUsers(server.client()).findByEmails(['ﬁona@corp.example']);
    expect(answer).toEqual({ kind: 'ok', value: [] });
  });

  test('a travel API that ignores the email filter finds no other person', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: [ada], meta: { total: 1 } }));
    const users = travelUsers(server.client());
    expect(await users.findByEmails(['eve@corp.example'])).toEqual({ kind: 'ok', value: [] });
  });

  test('a search without an email makes no request', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: [] }));
    expect(await travelUsers(server.client()).findByEmails([])).toEqual({
      kind: 'ok',
      value: [],
    });
    expect(server.requests).toEqual([]);
  });

  test('a search by email has its own time limit', async () => {
    server = await travelServer(() => {});
    const answer = await travelUsers(server.client()).findByEmails(['ada@corp.example'], 40);
    expect(answer).toEqual({
      kind: 'unavailable',
      text: 'GET /api/users: no answer within 40 ms',
      isUnanswered: true,
    });
  });

  test('a page has the total', async () => {
    server = await travelServer((_, response) =>
      json(response, 200, { data: [ada, { id: 'no email' }], meta: { total: 321, limit: 100 } }),
    );
    const answer = await travelUsers(server.client()).readPage(200, 100);
    const counts = { total: 321, isTotalGiven: true, length: 2, isLast: false };
    expect(answer).toEqual({
      kind: 'ok',
      value: { users: [adaRead], unreadable: ['no email'], ...counts },
    });
    expect(wire()).toEqual([['GET', '/api/users?limit=100&offset=200', '']]);
  });

  test('a full page without a total is not the last page', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: [ada, ada] }));
    const users = travelUsers(server.client());
    expect(await users.readPage(10, 2)).toMatchObject({ value: { total: 13, isLast: false } });
    expect(await users.readPage(10, 3)).toMatchObject({ value: { total: 12, isLast: true } });
  });

  test('a page that is full by the limit of the travel API is not the last page', async () => {
    server = await travelServer((_, response) =>
      json(response, 200, { data: [ada, ada], meta: { limit: 2 } }),
    );
    const users = travelUsers(server.client());
    expect(await users.readPage(0, 100)).toMatchObject({ value: { total: 3, isLast: false } });
  });

  test('a page has the ids of unreadable travelers', async () => {
    const data = [
      null,
      'x',
      { id: 7, email: 'a@b.example' },
      { id: 'u5', email: 7 },
      { id: 'u6', email: ' ' },
    ];
    server = await travelServer((_, response) => json(response, 200, { data, meta: { total: 5 } }));
    expect(await travelUsers(server.client()).readPage(0, 100)).toMatchObject({
      value: {
        users: [],
        unreadable: [undefined, undefined, undefined, 'u5', 'u6'],
        length: 5,
        isLast: true,
      },
    });
  });

  test('a search by email returns travelers in the order of the emails', async () => {
    const eve = { ...ada, id: 'u2', email: 'eve@corp.example' };
    server = await travelServer((_, response) =>
      json(response, 200, { data: [eve, ada], meta: { total: 2 } }),
    );
    const answer = await travelUsers(server.client()).findByEmails([ada.email, eve.email]);
    expect(answer).toMatchObject({ kind: 'ok', value: [{ id: 'u1' }, { id: 'u2' }] });
  });

  test('a page that is not an array is unavailable', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: ada }));
    expect(await travelUsers(server.client()).readPage(0, 10)).toMatchObject({
      kind: 'unavailable',
    });
  });

  test('a collection that is not found does not mean that its travelers are missing', async () => {
    server = await travelServer((_, response) => json(response, 404, { code: 'notFound' }));
    const users = travelUsers(server.client());
    for (const answer of [
      await users.create({}, 'key'),
      await users.findByEmails(['a@b.example']),
      await users.readPage(0, 1),
    ])
      expect(answer).toMatchObject({ kind: 'unavailable', text: expect.stringContaining('/api/users: 404') });
    expect(await users.read('u1')).toEqual({ kind: 'notFound' });
  });
});

describe('reading a traveler', () => {
  const readTravelUser = jetbridgeProfile({}).travelers.read;
  const whole = {
    ...adaRead,
    address: {
      city: 'Paris',
      countryCode: 'FR',
      postalCode: '75002',
      region: 'IDF',
      streetAddress: '12 rue',
    },
    billingProfileId: 'b',
    costCenterId: 'c',
    currency: 'EUR',
    customFields: [{ customFieldId: 'f', name: 'Floor', values: [{ customFieldOptionId: 'o', data: '3' }] }],
    dateOfBirth: '1990-02-28',
    firstName: 'Ada',
    gender: 'female',
    lang: 'en',
    lastName: 'Lovelace',
    managerId: 'u2',
    phoneNumber: '+33 612345678',
    roles: ['manager'],
    travelPolicyId: 'p',
  };

  test('reads every field of the specification', () => {
    expect(readTravelUser(whole)).toEqual(whole);
  });

  test('keeps the names of unknown fields, and takes enum values as they are', () => {
    const future = { ...whole, gender: 'x', roles: ['manager', 'pilot'], loyalty: { tier: 1 } };
    expect(readTravelUser(future)).toEqual({
      ...whole,
      gender: 'x',
      roles: ['manager', 'pilot'],
      otherFields: ['loyalty'],
    });
  });

  test('reads the preferences that are a text or a boolean, and the names of the others', () => {
    const travelerPrefs = {
      flightSeatPosition: 'aisle',
      upgrades: true,
      meals: ['vegan'],
      bags: 2,
      none: null,
    };
    expect(readTravelUser({ ...whole, travelerPrefs })).toEqual({
      ...whole,
      travelerPrefs: { flightSeatPosition: 'aisle', upgrades: true },
      otherFields: ['travelerPrefs.bags', 'travelerPrefs.meals'],
    });
  });

  test('reads no values of another type', () => {
    const odd = {
      ...adaRead,
      firstName: 7,
      lastName: null,
      address: 'Paris',
      roles: 'admin',
      customFields: {},
      separateIcsEmails: 'yes',
      archived: 'yes',
    };
    const { separateIcsEmails: __, ...rest } = adaRead;
    expect(readTravelUser(odd)).toEqual({
      ...rest,
      isArchivedUnknown: true,
      otherFields: ['address', 'firstName', 'roles', 'separateIcsEmails'],
    });
    const mixed = {
      ...adaRead,
      roles: ['guest', 3],
      customFields: [7, { customFieldId: 'f', values: ['a', { data: 'b' }] }],
    };
    expect(readTravelUser(mixed)).toEqual({
      ...adaRead,
      roles: ['guest'],
      customFields: [{ customFieldId: 'f', values: [{ data: 'b' }] }],
    });
  });

  test('gives the same result for any order of roles and custom fields', () => {
    const listed = (isTurned: boolean) => {
      const turned = <T>(items: T[]) => (isTurned ? items.toReversed() : items);
      const values = turned([{ customFieldOptionId: 'o2' }, { customFieldOptionId: 'o1' }]);
      return readTravelUser({
        ...adaRead,
        roles: turned(['premium', 'guest', 'manager']),
        customFields: turned([
          { customFieldId: 'f2', values },
          { customFieldId: 'f1', values: [] },
        ]),
      });
    };
    expect(listed(true)).toEqual(listed(false));
  });

  test('reads nothing from a prototype', () => {
    expect(readTravelUser(JSON.parse('{"__proto__": {"id": "u1", "email": "a@b.example"}}'))).toBeUndefined();
  });

  test('never throws, and never returns a traveler without an id and an email', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const user = readTravelUser(value);
        expect(user === undefined || (typeof user.id === 'string' && typeof user.email === 'string')).toBe(
          true,
        );
      }),
    );
  });
});
