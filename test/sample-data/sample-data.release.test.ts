import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { isPossiblePhoneNumber } from 'libphonenumber-js';
import { cities } from '../../src/sample-data/reference-data.ts';
import { createSampleData, type SampleCompany } from '../../src/sample-data/sample-data.ts';
import { travelStore } from '../../src/store/travel/travel-writes.ts';
import { isJsonObject, type JsonObject } from '../../src/travel/json.ts';
import type { StoredResource, TravelStore } from '../../src/travel/ports.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';
import { dumpOf } from '../travel/dump.ts';

const now = Date.UTC(2026, 10, 20);
const DAY = 86_400_000;
const options = { users: 30, trips: 60, seed: 1, now };

type Item = JsonObject & { id: string; createdAt: string };

interface Run {
  company: SampleCompany;
  /** The number of calls of `pause` and of `progress`. */
  pauses: number;
  progress: number;
}

async function createCompany(
  store: TravelStore,
  changes: Partial<typeof options> = {},
  writes = 500,
): Promise<Run> {
  const calls = { pauses: 0, progress: 0 };
  const deps = {
    store,
    pause: async () => {
      calls.pauses += 1;
      return writes;
    },
    progress: () => {
      calls.progress += 1;
    },
  };
  const company = await createSampleData(deps, { ...options, ...changes });
  return { company, ...calls };
}

/** A store that rolls each transaction of the simulation back once and runs it again, as if another transaction of the commit had failed. */
function repeating(store: TravelStore): TravelStore {
  return {
    ...store,
    write: async (types, work) => {
      // The first admin, whose type is locked, is created before the simulation.
      if (types.length > 0) return store.write(types, work);
      const rollback = new Error('rolled back');
      const first = store.write(types, async (within) => {
        await work(within);
        throw rollback;
      });
      await expect(first).rejects.toBe(rollback);
      return store.write(types, work);
    },
  };
}

/** Runs `work` on an empty database, which is removed afterwards. */
async function withStore<T>(
  work: (store: TravelStore, dump: () => Promise<string>) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'sample-data-'));
  const database = await openTestDatabase(directory, false);
  try {
    return await work(travelStore(database), () => dumpOf(database));
  } finally {
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Reads a whole collection page by page through the API. */
async function readAll(fixture: Fixture, path: string): Promise<Item[]> {
  const found: Item[] = [];
  for (let offset = 0; ; offset += 100) {
    const { body } = await fixture.send('get', `${path}?limit=100&offset=${offset}`).expect(200);
    found.push(...body.data);
    if (offset + 100 >= body.meta.total) return found;
  }
}

interface Stop {
  localeDateTime: string;
}

/** The time zones of the cities, by the tz database. */
const zones: Record<string, string> = {
  ...{ Paris: 'Europe/Paris', Lyon: 'Europe/Paris', Toulouse: 'Europe/Paris' },
  ...{ Berlin: 'Europe/Berlin', Munich: 'Europe/Berlin', Hamburg: 'Europe/Berlin' },
  ...{ London: 'Europe/London', Manchester: 'Europe/London', Lisbon: 'Europe/Lisbon' },
  ...{ Madrid: 'Europe/Madrid', Barcelona: 'Europe/Madrid', Milan: 'Europe/Rome', Rome: 'Europe/Rome' },
  ...{ Stockholm: 'Europe/Stockholm', Gothenburg: 'Europe/Stockholm', Copenhagen: 'Europe/Copenhagen' },
  ...{ Amsterdam: 'Europe/Amsterdam', Brussels: 'Europe/Brussels', Zurich: 'Europe/Zurich' },
  ...{ Vienna: 'Europe/Vienna', 'New York': 'America/New_York', Singapore: 'Asia/Singapore' },
};

function zoneOf(place: string): string {
  const city = Object.keys(zones).find((name) => place.startsWith(name)) ?? '';
  return zones[city] ?? '';
}

/** The time, in epoch milliseconds, at which the clocks of a place show `local`. Fails unless there is exactly one. */
function instantOf(local: string, place: string): number {
  const shown = new Intl.DateTimeFormat('sv-SE', {
    ...{ timeZone: zoneOf(place), dateStyle: 'short', timeStyle: 'medium' },
  });
  const utc = Date.parse(`${local}Z`);
  const quarters = Array.from({ length: 105 }, (_none, number) => utc + (number - 52) * 900_000);
  const times = quarters.filter((time) => shown.format(time).replace(' ', 'T') === local);
  expect([local, place, times.length]).toEqual([local, place, 1]);
  return times[0] ?? 0;
}

describe('a sample company, read through the travel API', () => {
  let fixture: Fixture;
  let run: Run;
  const lists = new Map<string, Item[]>();
  const list = (path: string) => lists.get(path) ?? [];
  const byId = (path: string) => new Map(list(path).map((item) => [item.id, item]));
  const paths = [
    ...['users', 'travel-policies', 'billing-profiles', 'cost-centers', 'project-codes', 'custom-fields'],
    ...['trip-projects', 'billing-operations', 'invoices', 'refunds', 'disputes', 'events'],
  ];
  beforeAll(async () => {
    fixture = await openFixture();
    run = await createCompany(fixture.runtime.store, { users: 100, trips: 250 });
    for (const path of paths) lists.set(path, await readAll(fixture, `/${path}`));
  });
  afterAll(() => fixture.close());

  const parts = (field: string) =>
    list('trip-projects').flatMap((trip) => (trip[field] ?? []) as unknown as JsonObject[]);
  const cents = ({ amount }: JsonObject) => Math.round(Number((amount as JsonObject)['total']) * 100);

  it('has the requested numbers of people and trips, and the reported number of every resource', () => {
    const counts = Object.fromEntries(run.company.counts);
    expect(counts).toMatchObject({ user: 100, tripProject: 250, travelPolicy: 4 });
    // The fixture adds one admin.
    expect(list('users')).toHaveLength(101);
    expect(list('events')).toHaveLength((counts['event'] ?? 0) + 1);
    for (const [path, type] of [
      ['trip-projects', 'tripProject'],
      ['billing-operations', 'billingOperation'],
      ['invoices', 'invoice'],
      ['refunds', 'refund'],
      ['disputes', 'dispute'],
    ] as const)
      expect({ path, count: list(path).length }).toEqual({ path, count: counts[type] });
    expect(run.progress).toBe(350);
    expect(run.pauses).toBeGreaterThan(3);
  });

  it('has people with plausible data, in one tree of managers', () => {
    const people = list('users').filter(({ id }) => id !== fixture.admin);
    const known = byId('users');
    for (const person of people) {
      expect(String(person['email'])).toMatch(/^[a-z0-9.-]+@corvanne\.example$/);
      const phone = person['phoneNumber'];
      if (phone !== undefined) expect([phone, isPossiblePhoneNumber(String(phone))]).toEqual([phone, true]);
      const chain = [];
      for (let at: Item | undefined = person; at; at = known.get(String(at['managerId']))) {
        chain.push(at.id);
        if (chain.length > 20) break;
      }
      expect(chain.at(-1)).toBe(people[0]?.id);
      expect(Date.parse(person.createdAt)).toBeLessThan(now);
    }
    expect(new Set(people.map(({ email }) => email)).size).toBe(people.length);
    const withRole = (role: string) =>
      people.filter(({ roles }) => Array.isArray(roles) && roles.includes(role)).length;
    expect(withRole('admin')).toBe(2);
    expect(withRole('accountant')).toBeGreaterThan(0);
    expect(withRole('organizer')).toBeGreaterThan(2);
    const archived = people.filter((person) => person['archived'] === true);
    expect(archived.length).toBeGreaterThan(0);
    expect(archived.length).toBeLessThan(15);
  });

  it('refers only to resources that exist, and that existed when the reference was made', () => {
    const ofPath: [string, string, string][] = [
      ['users', 'managerId', 'users'],
      ['users', 'billingProfileId', 'billing-profiles'],
      ['users', 'costCenterId', 'cost-centers'],
      ['users', 'travelPolicyId', 'travel-policies'],
      ['trip-projects', 'projectCodeId', 'project-codes'],
      ['billing-operations', 'tripProjectId', 'trip-projects'],
      ['billing-operations', 'invoiceId', 'invoices'],
      ['billing-operations', 'purchaseBillingOperationId', 'billing-operations'],
      ['invoices', 'billingProfileId', 'billing-profiles'],
      ['refunds', 'invoiceId', 'invoices'],
      ['disputes', 'invoiceId', 'invoices'],
    ];
    for (const [path, field, to] of ofPath) {
      const targets = byId(to);
      const naming = list(path).filter((item) => item[field] !== undefined);
      expect({ path, field, any: naming.length > 0 }).toEqual({ path, field, any: true });
      for (const item of naming) {
        const target = targets.get(String(item[field]));
        // An operation is older than the invoice that it is billed on.
        const earliest = field === 'invoiceId' && path === 'billing-operations' ? '' : target?.createdAt;
        expect(earliest).toBeDefined();
        expect(item.createdAt >= String(earliest)).toBe(true);
      }
    }
    const users = byId('users');
    for (const trip of list('trip-projects'))
      for (const id of trip['travelerIds'] as string[])
        expect(String(users.get(id)?.createdAt) < trip.createdAt).toBe(true);
  });

  it('lists resources and events in order of their creation', () => {
    for (const path of paths) {
      const times = list(path).map(({ createdAt }) => createdAt);
      expect({ path, times }).toEqual({ path, times: [...times].sort() });
    }
  });

  it('has trips by plane and train in the past year and the next two months, with cancellations, exchanges and failures', () => {
    const trips = list('trip-projects');
    for (const { search } of trips) {
      const departs = Date.parse(`${(search as JsonObject)['departureLocaleDateTime']}Z`);
      expect(departs).toBeGreaterThan(now - 395 * DAY);
      expect(departs).toBeLessThan(now + 62 * DAY);
    }
    const kinds = new Set(parts('bookings').map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['car', 'flight', 'hotel', 'rail']);
    const statuses = new Set(trips.map(({ approvalStatus }) => approvalStatus));
    expect(statuses).toContain('approved');
    expect(statuses).toContain('bookingAllowed');
    expect(statuses).toContain('declined');
    expect(new Set(parts('bookings').map(({ status }) => status))).toEqual(new Set(['succeeded', 'failed']));
    expect(parts('bookings').some(({ canceled }) => canceled === true)).toBe(true);
    expect(parts('bookings').some(({ exchanged }) => exchanged === true)).toBe(true);
    expect(parts('bookings').some(({ modifications }) => modifications !== undefined)).toBe(true);
    expect(list('billing-operations').some((one) => one['tripProjectId'] === undefined)).toBe(true);
    for (const { segments } of parts('transportLegs'))
      for (const { arrival, departure } of segments as JsonObject[]) expect(arrival).not.toEqual(departure);
  });

  it('names a known city for every journey and stay in a booking snapshot', () => {
    const known = new Set(cities.map(({ name }) => name));
    const snapshots = list('billing-operations').map((one) => (one['bookingSnapshot'] ?? {}) as JsonObject);
    const spots = snapshots.flatMap(({ hotel, transport }) => {
      const { place } = (hotel ?? {}) as JsonObject;
      const { departure, destination } = (transport ?? {}) as JsonObject;
      return [place, departure, destination].filter(isJsonObject);
    });
    expect(spots.length).toBeGreaterThan(200);
    for (const { city } of spots) expect([city, known.has(String(city))]).toEqual([city, true]);
  });

  it('gives train tickets the classes of trains, and flight tickets those of flights', () => {
    const seen = new Map<string, Set<unknown>>();
    for (const { bookingSnapshot } of list('billing-operations')) {
      const { kind, transport } = (bookingSnapshot ?? {}) as JsonObject;
      const { cabinClass } = (transport ?? {}) as JsonObject;
      if (cabinClass === undefined) continue;
      seen.set(String(kind), (seen.get(String(kind)) ?? new Set()).add(cabinClass));
    }
    expect(seen.get('rail')).toEqual(new Set(['first', 'second']));
    expect(seen.get('flight')).toEqual(new Set(['economy', 'premiumEco', 'business']));
    expect([...seen.keys()].sort()).toEqual(['flight', 'rail']);
  });

  it('states a duration for every segment that fits its local times in their time zones', () => {
    const segments = parts('transportLegs').flatMap(({ segments }) => segments as unknown as JsonObject[]);
    const instant = (stop: unknown) => {
      const { localeDateTime, place } = stop as { localeDateTime: string; place: { name: string } };
      return instantOf(localeDateTime, place.name);
    };
    for (const { arrival, departure, duration } of segments)
      expect((instant(arrival) - instant(departure)) / 60_000).toBe(duration);
    const zones = new Set(
      segments.map(({ arrival }) => zoneOf((arrival as { place: { name: string } }).place.name)),
    );
    expect(zones.size).toBeGreaterThan(5);
  });

  it('has hotel stays and car rentals that lie between the arrival and the return journey', () => {
    let seen = 0;
    for (const trip of list('trip-projects')) {
      const legs = (trip['transportLegs'] ?? []) as unknown as {
        segments: { arrival: Stop; departure: Stop }[];
      }[];
      const there = legs[0]?.segments.at(-1)?.arrival.localeDateTime;
      const back = legs[1]?.segments[0]?.departure.localeDateTime;
      if (there === undefined || back === undefined) continue;
      expect(there < back).toBe(true);
      for (const stay of (trip['hotelStays'] ?? []) as JsonObject[]) {
        seen += 1;
        expect(String(stay['checkinLocaleDate']) >= there.slice(0, 10)).toBe(true);
        expect(String(stay['checkinLocaleDate']) < String(stay['checkoutLocaleDate'])).toBe(true);
        expect(String(stay['checkoutLocaleDate']) <= back.slice(0, 10)).toBe(true);
      }
      for (const rental of (trip['carRentals'] ?? []) as JsonObject[]) {
        seen += 1;
        const [from, to] = [String(rental['pickupLocaleDateTime']), String(rental['returnLocaleDateTime'])];
        expect([there < from, from < to, to < back]).toEqual([true, true, true]);
      }
    }
    expect(seen).toBeGreaterThan(50);
  });

  it('is billed every month, and the operations of every invoice add up to its amount', async () => {
    const operations = list('billing-operations');
    for (const invoice of list('invoices')) {
      const own = operations.filter(({ invoiceId }) => invoiceId === invoice.id);
      const onIt = own.filter(({ refundId, disputeId }) => refundId === undefined && disputeId === undefined);
      const sum = onIt.reduce(
        (total, one) => total + (one['transactionKind'] === 'refund' ? -cents(one) : cents(one)),
        0,
      );
      expect({ sum, count: onIt.length }).toEqual({
        sum: cents(invoice),
        count: invoice['billingOperationsCount'],
      });
    }
    const states = (path: string) => new Set(list(path).map(({ status }) => status));
    expect(states('invoices')).toEqual(new Set(['open', 'paid', 'uncollectible', 'void']));
    const count = (status: string) => list('invoices').filter((one) => one['status'] === status).length;
    expect([count('uncollectible'), count('void')]).toEqual([1, 1]);
    expect(list('disputes').length).toBeGreaterThan(0);
    expect(states('refunds')).toContain('succeeded');
    const refunds = operations.filter(({ transactionKind }) => transactionKind === 'refund');
    expect(refunds.some(({ refundId }) => refundId === undefined)).toBe(true);
    expect(refunds.some(({ refundId }) => refundId !== undefined)).toBe(true);
    const kinds = operations.map(({ operationType }) => operationType);
    expect(new Set(kinds)).toEqual(
      new Set(['car', 'flight', 'hotel', 'other', 'rail', 'seminar', 'subscription', 'booking']),
    );
  });

  it('returns an example of a trip with users and of an invoice with operations', async () => {
    const { tripProjectId, invoiceId } = run.company;
    for (const path of [
      `/trip-projects/${tripProjectId}/users`,
      `/trip-projects/${tripProjectId}/billing-operations`,
      `/invoices/${invoiceId}/billing-operations`,
    ]) {
      const { body } = await fixture.send('get', path).expect(200);
      expect({ path, some: body.meta.total > 0 }).toEqual({ path, some: true });
    }
  });

  it('has users that the API accepts unchanged in a PUT', async () => {
    for (const person of list('users').slice(1, 30)) {
      const { id, type: _type, createdAt: _createdAt, ...data } = person;
      await fixture.send('put', `/users/${id}`, { data }).expect(200);
    }
  });
});

/** The resources and events of a company that is created in an empty account. */
function contentsOf(
  changes: Partial<typeof options>,
  { writes = 500, wrap = (store: TravelStore) => store } = {},
): Promise<StoredResource[]> {
  const types = [
    'user',
    'billingProfile',
    'tripProject',
    'billingOperation',
    'invoice',
    'refund',
    'dispute',
    'event',
  ];
  return withStore(async (store) => {
    await createCompany(wrap(store), changes, writes);
    const found = [];
    for (const type of types) {
      const query = { type, parentId: '', order: 'asc', limit: 10_000, offset: 0 } as const;
      found.push(...(await store.page(query)).resources);
    }
    return found;
  });
}

it('the same options create the same data, ids and events included', async () => {
  const trips = 80;
  const first = await contentsOf({ trips });
  expect(first.length).toBeGreaterThan(900);
  expect(await contentsOf({ trips })).toEqual(first);
});

it('a transaction that the store runs twice creates the same data', async () => {
  const few = { users: 20, trips: 10 };
  expect(await contentsOf(few, { wrap: repeating })).toEqual(await contentsOf(few));
});

it('the number of writes in one transaction does not change the data', async () => {
  const few = { users: 30, trips: 40 };
  const inOne = await contentsOf(few, { writes: 1_000_000 });
  expect(inOne.length).toBeGreaterThan(600);
  expect(await contentsOf(few, { writes: 7 })).toEqual(inOne);
});

it('another seed adds another company; the same seed is refused and changes nothing', async () => {
  await withStore(async (store, dump) => {
    const first = await createCompany(store, { users: 20, trips: 10 });
    const second = await createCompany(store, { users: 20, trips: 10, seed: 2 });
    expect(first.company.domain).not.toBe(second.company.domain);
    const policies = await store.find({ type: 'travelPolicy', name: 'default', values: ['set'] });
    expect(policies.map(({ doc }) => doc['name'])).toEqual([`${first.company.company} standard`]);
    const before = await dump();
    await expect(createCompany(store, { users: 30, trips: 0 })).rejects.toThrow(
      `${first.company.company} (${first.company.domain}) is here already, perhaps of a run that was ended early: choose another --seed.`,
    );
    expect(await dump()).toBe(before);
  });
});

it('an account with a mandatory custom field is refused, with the name of the field', async () => {
  const fixture = await openFixture();
  try {
    const field = { dataType: 'text', mandatory: true, name: 'Badge', resourceType: 'user' };
    await fixture.make('/custom-fields', field);
    const before = await fixture.dump();
    await expect(createCompany(fixture.runtime.store)).rejects.toThrow(
      'The custom field "Badge" is mandatory',
    );
    expect(await fixture.dump()).toBe(before);
  } finally {
    await fixture.close();
  }
});

it('companies of any size, seed and day can be created', async () => {
  const anyOptions = fc.record({
    users: fc.integer({ min: 1, max: 12 }),
    trips: fc.integer({ min: 0, max: 25 }),
    seed: fc.integer({ min: 0, max: 2 ** 31 }),
    now: fc.integer({ min: 12_000, max: 30_000 }).map((day) => day * DAY),
  });
  await fc.assert(
    fc.asyncProperty(anyOptions, async (chosen) => {
      const { company } = await withStore((store) => createCompany(store, chosen));
      const { users, trips } = chosen;
      expect(company.counts.get('user')).toBe(users);
      expect(company.counts.get('tripProject') ?? 0).toBe(trips);
    }),
    // In the example, the only person of the company is drawn as one who leaves before the first trip.
    { numRuns: 12, examples: [[{ users: 1, trips: 2, seed: 30, now: 12_000 * DAY }]] },
  );
});
