import { cleanupJobs } from '../../../src/travel/deletion/cleanup.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';
import { sample } from '../samples.ts';
import { playFullYear } from './company.ts';
import { declarationOf } from './paths.ts';
import { sectionsOf } from './statements.ts';

type Event = JsonObject & { id: string; kind: string; data: JsonObject };

const kindsByResource = sectionsOf<{ kinds?: string[] }>('events.test.ts')
  .flatMap(({ statements }) => statements)
  .filter((one): one is typeof one & { kinds: string[] } => one.kinds !== undefined);

async function eventsOf({ send }: Fixture): Promise<Event[]> {
  const all: Event[] = [];
  for (let total = 1; all.length < total; ) {
    const { data, meta } = (await send('get', `/events?limit=100&offset=${all.length}`)).body;
    all.push(...data);
    total = meta.total;
  }
  return all;
}

/** Creates, changes and deletes every writable resource. */
async function writeEverything({ make, send }: Fixture): Promise<void> {
  for (const [type, change] of Object.entries({
    user: { firstName: 'Augusta' },
    billingProfile: { lang: 'en' },
    costCenter: { name: 'Laboratory' },
    projectCode: { confidential: false },
    travelPolicy: { control: 'full' },
    webhook: { disabled: true },
  })) {
    const resource = declarationOf(type);
    const { id } = await make(`/${resource.path}`, sample(resource, 5));
    const { status } = await send('patch', `/${resource.path}/${id}`, { data: change });
    expect([type, status]).toEqual([type, 200]);
    await send('delete', `/${resource.path}/${id}`);
  }
}

describe('in a year in which everything happens', () => {
  let fixture: Fixture;
  let all: Event[];
  beforeAll(async () => {
    fixture = await openFixture();
    await playFullYear(fixture);
    await writeEverything(fixture);
    all = await eventsOf(fixture);
  });
  afterAll(() => fixture.close());

  test.each(kindsByResource)('$statement', ({ kinds }) => {
    const told = new Set(all.map(({ kind }) => kind));
    expect(kinds.filter((kind) => !told.has(kind))).toEqual([]);
  });

  test('there are no other kinds', () => {
    const known = kindsByResource.flatMap(({ kinds }) => kinds);
    expect(known).toHaveLength(31);
    expect(all.filter(({ kind }) => !known.includes(kind))).toEqual([]);
  });

  test('1. the `data` of an event whose kind starts with a resource name embeds that resource', () => {
    for (const { kind, data } of all) {
      const [resource, ...what] = kind.split('.');
      expect([kind, data['type']]).toEqual([kind, what.length > 1 ? what[0] : resource]);
    }
  });

  test('2. the payload type of `dispute.*`, `refund.*` and `tripProject.booking.*` events: not specified', async () => {
    for (const [start, path] of [
      ['dispute.', '/disputes'],
      ['refund.', '/refunds'],
    ]) {
      const last = all.findLast(({ kind }) => kind.startsWith(start ?? ''));
      expect((await fixture.send('get', `${path}/${last?.data['id']}`)).body.data).toEqual(last?.data);
    }
    const failed = all.find(({ kind }) => kind === 'tripProject.booking.failed');
    const trip = (await fixture.send('get', `/trip-projects/${failed?.data['tripProjectId']}`)).body.data;
    expect(trip.bookings).toContainEqual(failed?.data);
  });
});

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());
const events = () => eventsOf(fixture);

test('an event embeds the state of the resource at the time of the change in `data`', async () => {
  const created = await fixture.make('/cost-centers', { name: 'Research' });
  const item = `/cost-centers/${created.id}`;
  const updated = (await fixture.send('patch', item, { data: { name: 'Laboratory' } })).body.data;
  const deleted = (await fixture.send('delete', item)).body.data;
  const told = (await events()).slice(-3).map(({ kind, data }) => [kind, data]);
  expect(told).toEqual([
    ['costCenter.created', created],
    ['costCenter.updated', updated],
    ['costCenter.deleted', deleted],
  ]);
});

test('events can be fetched by API', async () => {
  const { id } = await fixture.make('/cost-centers', { name: 'Research' });
  const event = (await events()).at(-1);
  expect(event).toMatchObject({ type: 'event', kind: 'costCenter.created', data: { id } });
});

test('previousAttributes: names of the changed attributes and their previous values, with update events', async () => {
  const address = { city: 'Paris', postalCode: '75002' };
  const { id } = await fixture.make('/users', { email: 'ada@example.com', firstName: 'Ada', address });
  const data = { address: { city: 'Lyon' }, firstName: 'Augusta', lastName: 'King' };
  await fixture.send('patch', `/users/${id}`, { data });
  await fixture.send('delete', `/users/${id}`);
  const [created, updated, deleted] = (await events()).slice(-3);
  expect(updated?.['previousAttributes']).toEqual({
    address: { city: 'Paris' },
    firstName: 'Ada',
    lastName: null,
  });
  for (const event of [created, deleted]) expect(event).not.toHaveProperty('previousAttributes');
});

test('3. access to events through the API is guaranteed only for 30 days', async () => {
  const DAY = 86_400_000;
  const { store, now } = fixture.runtime;
  const tidy = async () => {
    for (const job of cleanupJobs({ store, records: fixture.records, now })) await job.run();
  };
  await fixture.make('/cost-centers', { name: 'Research' });
  const [first, ...others] = await events();
  fixture.advanceClock(30 * DAY - 1000);
  await tidy();
  expect(await events()).toEqual([first, ...others]);
  fixture.advanceClock(2000);
  await fixture.make('/cost-centers', { name: 'Laboratory' });
  await tidy();
  expect((await events()).map(({ data }) => data['name'])).toEqual(['Laboratory']);
  expect((await fixture.send('get', `/events/${first?.id}`)).status).toBe(404);
});

test('4. list events supports cursor pagination; an event is retrieved by id', async () => {
  await writeEverything(fixture);
  const all = await events();
  const { body } = await fixture.send('get', '/events?pageKind=cursor&limit=100');
  expect([body.meta.pageKind, body.data]).toEqual(['cursor', all]);
  for (const event of all) {
    expect((await fixture.send('get', `/events/${event.id}`)).body).toEqual({ data: event });
  }
});
