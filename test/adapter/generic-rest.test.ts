import { travelClient } from '../../src/adapter/http/client.ts';
import { genericRestProfile } from '../../src/adapter/profiles/generic-rest.ts';
import { travelUsers } from '../../src/adapter/users.ts';
import type { TravelUsers } from '../../src/model/travel-ports.ts';
import { type OtherCall, type OtherTravelApi, otherTravelApi } from '../fixtures/other-travel-api.ts';
import { json, travelServer } from './travel-server.ts';

const profile = genericRestProfile({});
const clock = { now: Date.now, wallClock: Date.now, wait: async () => {} };

async function withApi(
  test: (api: OtherTravelApi, users: TravelUsers) => Promise<void>,
  timeoutMs = 5_000,
): Promise<void> {
  const api = await otherTravelApi({}, { style: 'generic-rest' });
  const { url, key: token } = api;
  const client = travelClient({
    url,
    token,
    profile,
    clock,
    timeoutMs,
    concurrency: 8,
    perSecond: undefined,
  });
  try {
    await test(api, travelUsers(client));
  } finally {
    client.close();
    await api.close();
  }
}

const ada = { email: 'ada@corp.example', firstName: 'Ada' };
const sent = ({ calls }: OtherTravelApi) => calls.map(({ method, path }) => `${method} ${path}`);
const isTo =
  (end: string, method = 'POST') =>
  (call: OtherCall) =>
    call.method === method && call.path.endsWith(end);

describe('the profile generic-rest', () => {
  test('a change reads the traveler and replaces it whole, in the names of the travel API', () =>
    withApi(async (api, users) => {
      const address = { city: 'Paris', countryCode: 'FR' };
      const { id } = api.addTraveler({ ...ada, address, seat: 'window', lang: 'fr' });
      await users.patch(id, { firstName: 'Augusta', lang: null, address: { city: 'Lyon' } });
      expect(sent(api)).toEqual([`GET /v1/people/${id}`, `PUT /v1/people/${id}`]);
      expect(api.calls[1]?.data).toEqual({
        email_address: 'ada@corp.example',
        given_name: 'Augusta',
        home_address: { city: 'Lyon', country: 'FR' },
        seat: 'window',
      });
    }));

  test('a change made in the travel service after the read is not overwritten, and the change is repeated', () =>
    withApi(async (api, users) => {
      const { id } = api.addTraveler(ada);
      api.failCall = ({ method }) => {
        if (method === 'PUT') api.editTraveler(id, { lastName: 'Lovelace' });
        return undefined;
      };
      const answer = await users.patch(id, { firstName: 'Augusta' });
      const text = `PUT /v1/people/${id}: 412`;
      expect(answer).toEqual({ kind: 'unavailable', text, isRejected: true, isDoubtful: true });
      expect(api.traveler(id)).toMatchObject({ firstName: 'Ada', lastName: 'Lovelace' });
      api.failCall = () => undefined;
      await users.patch(id, { firstName: 'Augusta' });
      expect(api.traveler(id)).toMatchObject({ firstName: 'Augusta', lastName: 'Lovelace' });
    }));

  test('a PUT that is carried out late has no effect after another one', () =>
    withApi(async (api, users) => {
      const { id } = api.addTraveler(ada);
      api.failCall = ({ method }) => (method === 'PUT' ? { answer: 504, carriedOut: 'onDemand' } : undefined);
      await users.patch(id, { firstName: 'Augusta' });
      api.failCall = () => undefined;
      await users.patch(id, { lastName: 'Lovelace' });
      expect(api.carryOutLate()).toBe(1);
      expect(api.traveler(id)).toMatchObject({ firstName: 'Ada', lastName: 'Lovelace' });
    }));

  test('a leaver is deactivated before other fields are sent, and a person who returns is activated after them', () =>
    withApi(async (api, users) => {
      const { id } = api.addTraveler(ada);
      await users.patch(id, { archived: true, firstName: 'Augusta' });
      await users.patch(id, { archived: false, firstName: 'Ada' });
      expect(sent(api)).toEqual([
        `POST /v1/people/${id}/deactivate`,
        `GET /v1/people/${id}`,
        `PUT /v1/people/${id}`,
        `GET /v1/people/${id}`,
        `PUT /v1/people/${id}`,
        `POST /v1/people/${id}/activate`,
      ]);
    }));

  test.each([
    ['refused values', { email: 'nobody' }, () => undefined, {}],
    ['a refused request', {}, { answer: 413 }, {}],
    ['a limit', {}, { answer: 429 }, { isThrottled: true, isDoubtful: true }],
    ['an outage', {}, { answer: 500 }, {}],
  ] as const)(
    'the outcome of a change that ends in %s after its first half is unknown',
    (_title, more, failure, meaning) =>
      withApi(async (api, users) => {
        const { id } = api.addTraveler(ada);
        api.failCall = (call) => (typeof failure === 'object' && isTo('', 'PUT')(call) ? failure : undefined);
        const answer = await users.patch(id, { archived: true, firstName: 'Augusta', ...more });
        expect(answer).toEqual({ kind: 'unavailable', text: expect.any(String), ...meaning });
        expect(api.traveler(id)).toMatchObject({ ...ada, archived: true });
      }),
  );

  test('a refusal of the first half of a change is the answer to the change, which has no effect', () =>
    withApi(async (api, users) => {
      const { id } = api.addTraveler(ada);
      api.failCall = (call) => (isTo('/deactivate')(call) ? { answer: 403 } : undefined);
      expect(await users.patch(id, { archived: true, firstName: 'Augusta' })).toEqual({ kind: 'forbidden' });
      expect(api.traveler(id)).toMatchObject({ ...ada, archived: false });
    }));

  test('a new traveler is active, whatever the create says', () =>
    withApi(async (api, users) => {
      const answer = await users.create({ ...ada, archived: true }, 'key-1');
      expect(answer).toMatchObject({ kind: 'ok', value: { ...ada, archived: false } });
      expect(api.travelers()).toHaveLength(2);
    }));

  test('a repeated create is answered with the traveler that the first one made', () =>
    withApi(async (api, users) => {
      api.failCall = () => ({ answer: 504, carriedOut: 'atOnce' });
      await users.create(ada, 'key-1');
      api.failCall = () => undefined;
      const id = api.traveler(ada.email)?.id;
      expect(await users.create(ada, 'key-1')).toMatchObject({ kind: 'ok', value: { id } });
      expect(await users.create(ada, 'key-2')).toEqual({ kind: 'conflict' });
    }));

  test('the requests of one change end together at the deadline of a call', () =>
    withApi(async (api, users) => {
      const { id } = api.addTraveler(ada);
      api.failCall = ({ method }) => (method === 'PUT' ? { answer: 'hang' } : undefined);
      const text = `PUT /v1/people/${id}: no answer within 150 ms`;
      const answer = await users.patch(id, { firstName: 'Augusta' });
      expect(answer).toEqual({ kind: 'unavailable', text, isUnanswered: true });
    }, 150));

  test('a person in another state than active and inactive is one of whom it is not known', async () => {
    const { read } = profile.travelers;
    const person = { uid: 'p1', email_address: 'ada@corp.example', status: 'suspended', created_at: 'x' };
    expect(read(person)).toMatchObject({ id: 'p1', archived: false, isArchivedUnknown: true });
    expect(read({ ...person, uid: '' })).toBeUndefined();
    expect(read('no person')).toBeUndefined();
  });

  test('a member that has the name of a field in the bridge is not taken for that field', () => {
    const person = { uid: 'p1', email_address: 'ada@corp.example', email: 'x', lang: 'fr', seat: '1A' };
    const traveler = profile.travelers.read(person);
    expect(traveler).toMatchObject({ email: 'ada@corp.example', otherFields: ['seat'] });
    expect(traveler?.lang).toBeUndefined();
  });

  test('the last page has no token, and a page names the people that cannot be read', async () => {
    const items = [{ uid: 'p1', email_address: ' ' }, { email_address: 'ada@corp.example' }];
    const server = await travelServer(({ url }, response) =>
      json(response, 200, { items, next_page_token: url.includes('page_token') ? '' : 'a/b' }),
    );
    try {
      const users = travelUsers(server.client({ profile }));
      const first = await users.readPage(0, 100);
      expect(first).toMatchObject({
        value: { unreadable: ['p1', undefined], nextToken: 'a/b', isLast: false },
      });
      expect(await users.readPage(2, 100, 'a/b')).toMatchObject({ value: { total: 4, isLast: true } });
      expect(server.requests.map(({ url }) => url)).toEqual([
        '/v1/people?page_size=100',
        '/v1/people?page_size=100&page_token=a%2Fb',
      ]);
    } finally {
      await server.close();
    }
  });
});
