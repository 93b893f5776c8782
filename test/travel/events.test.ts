import type { JsonObject } from '../../src/travel/json.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

type Event = JsonObject & { id: string; kind: string; data: JsonObject };

async function events(query = 'limit=100'): Promise<Event[]> {
  return (await fixture.send('get', `/events?${query}`)).body.data;
}

async function told(): Promise<Event[]> {
  // The first event is that of the first admin.
  return (await events()).slice(1);
}

test('the first event is the creation of the first admin', async () => {
  const [first] = await events();
  const { data } = (await fixture.send('get', `/users/${fixture.admin}`)).body;
  expect(first).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    type: 'event',
    createdAt: '2026-11-20T12:00:00Z',
    kind: 'user.created',
    data,
  });
});

describe.each([
  [
    'user',
    '/users',
    { email: 'ada@example.com', firstName: 'Ada' },
    { firstName: 'Augusta' },
    { firstName: 'Ada' },
  ],
  [
    'billingProfile',
    '/billing-profiles',
    { name: 'HQ', email: 'b@example.com', lang: 'fr' },
    { lang: 'en' },
    { lang: 'fr' },
  ],
  ['costCenter', '/cost-centers', { name: 'Research' }, { name: 'Lab' }, { name: 'Research' }],
  ['projectCode', '/project-codes', { code: 'A' }, { confidential: true }, { confidential: false }],
  [
    'travelPolicy',
    '/travel-policies',
    { control: 'none', name: 'All', hotelBudget: {}, transportBudget: {} },
    { control: 'full' },
    { control: 'none' },
  ],
] as const)('%s', (type, path, body, change, previousAttributes) => {
  test('has an event for its creation, update and deletion, with its state at that time', async () => {
    const created = await fixture.make(path, body as JsonObject);
    const updated = (await fixture.send('patch', `${path}/${created.id}`, { data: change })).body.data;
    await fixture.send('patch', `${path}/${created.id}`, { data: change });
    await fixture.send('delete', `${path}/${created.id}`);
    expect(
      (await told()).map(({ kind, data, previousAttributes: previous }) => [kind, data, previous]),
    ).toEqual([
      [`${type}.created`, created, undefined],
      [`${type}.updated`, updated, previousAttributes],
      [`${type}.deleted`, updated, undefined],
    ]);
  });
});

test('changes that the table of kinds does not list have no event', async () => {
  await fixture.make('/custom-fields', { dataType: 'text', name: 'Badge', resourceType: 'user' });
  await fixture.make('/scim-user-mappings', { scimAttribute: 'title', userAttribute: 'firstName' });
  expect(await told()).toEqual([]);
});

test('previousAttributes is the merge patch back to the old state: changed attributes alone, null where there was none', async () => {
  const { id } = await fixture.make('/users', {
    email: 'ada@example.com',
    address: { city: 'Paris', postalCode: '75002' },
    roles: ['organizer'],
    lang: 'en',
  });
  await fixture.send('patch', `/users/${id}`, {
    data: { address: { city: 'Lyon', region: 'Rhône' }, roles: ['guest'], lang: null, firstName: 'Ada' },
  });
  const [, updated] = await told();
  expect(updated?.['previousAttributes']).toEqual({
    address: { city: 'Paris', region: null },
    roles: ['organizer'],
    lang: 'en',
    firstName: null,
  });
});

test('a policy that loses the default mark to another has an update event', async () => {
  const policy = { control: 'none', hotelBudget: {}, transportBudget: {}, default: true };
  const first = await fixture.make('/travel-policies', { ...policy, name: 'One' });
  const second = await fixture.make('/travel-policies', { ...policy, name: 'Two' });
  expect((await told()).map(({ kind, data }) => [kind, data['id']])).toEqual([
    ['travelPolicy.created', first.id],
    ['travelPolicy.updated', first.id],
    ['travelPolicy.created', second.id],
  ]);
});

test('a refused change has no event', async () => {
  await fixture.make('/users', { email: 'ada@example.com' });
  expect((await fixture.send('post', '/users', { data: { email: 'ADA@example.com' } })).status).toBe(409);
  expect((await fixture.send('post', '/users', { data: { email: 'no' } })).status).toBe(422);
  expect((await fixture.send('delete', `/users/${fixture.admin}`)).status).toBe(403);
  expect(await told()).toHaveLength(1);
});

test('an event can be retrieved by its id but not written', async () => {
  const [event] = await events();
  const path = `/events/${event?.id}`;
  expect((await fixture.send('get', path)).body).toEqual({ data: event });
  expect((await fixture.send('get', '/events/abcdefabcdefabcdefabcdef')).status).toBe(404);
  for (const [method, url] of [
    ['post', '/events'],
    ['patch', path],
    ['put', path],
    ['delete', path],
  ] as const) {
    const answer = await fixture.send(method, url, { data: {} });
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
  }
});

test('events that commit while the clock goes back stay in the order of their commits', async () => {
  await fixture.make('/cost-centers', { name: 'one' });
  fixture.advanceClock(-60_000);
  await fixture.make('/cost-centers', { name: 'two' });
  const [one, two] = await told();
  expect([one?.data['name'], two?.data['name']]).toEqual(['one', 'two']);
  expect(two?.['createdAt']).toBe(one?.['createdAt']);
});
