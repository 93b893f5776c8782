import type { Quote } from '../../../src/travel/booking/prices.ts';
import type { TripSearch } from '../../../src/travel/booking/search.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { type BookingFixture, openBookingFixture, summarizeEvents } from './fixture.ts';
import { car, flight, hotel, lisbon, paris, rail, roundTrip } from './quotes.ts';

let at: BookingFixture;
beforeEach(async () => {
  at = await openBookingFixture();
});
afterEach(() => at.fixture.close());

const conflict = expect.objectContaining({ name: 'ApiError', code: 'conflict' });
const search = { kind: 'roundTripWithHotel' };

const find = (wanted: Partial<TripSearch> & { travelerIds: string[] }) =>
  at.transact((service) => service.searchTrip({ search, quotes: [flight(100)], ...wanted }));

describe('a search', () => {
  test('creates a trip project with a rate for each quote, with an event', async () => {
    const travelerId = await at.traveler();
    await at.newEvents();
    const { id } = await find({
      travelerIds: [travelerId],
      search: { kind: 'roundTripWithHotel', arrivalPlace: lisbon, departurePlace: paris },
      quotes: [roundTrip(300), hotel(240), car(90)],
    });
    const trip = await at.get(`/trip-projects/${id}`);
    expect(trip).toMatchObject({
      type: 'tripProject',
      approvalStatus: 'bookingAllowed',
      search: { kind: 'roundTripWithHotel', arrivalPlace: { airport: { iataCode: 'LIS' } } },
      rates: [
        { type: 'rate', kind: 'flight', price: { base: 272.73, currency: 'EUR', tax: 27.27, total: 300 } },
        { type: 'rate', kind: 'hotel', price: { currency: 'EUR', total: 240 } },
        { type: 'rate', kind: 'car', price: { currency: 'EUR', total: 90 } },
      ],
      travelerIds: [travelerId],
    });
    const [first, second, third] = (trip['rates'] as JsonObject[]).map((rate) => rate['id']);
    expect(trip['transportLegs']).toMatchObject([
      { kind: 'flight', summary: 'out', segments: [{ rateId: first }, { rateId: first }] },
      { kind: 'flight', segments: [{ rateId: first, canceled: false, exchanged: false }] },
    ]);
    expect(trip['hotelStays']).toMatchObject([{ rateId: second, hotelId: 'lis-042' }]);
    expect(trip['carRentals']).toMatchObject([{ rateId: third, returnpPlace: { name: 'Lisbon' } }]);
    expect(trip).not.toHaveProperty('bookings');
    expect(await at.newEvents()).toEqual([{ kind: 'tripProject.created', data: trip }]);
  });

  test('requires existing travelers who are not archived, and existing references', async () => {
    const travelerId = await at.traveler();
    const gone = await at.traveler({ archived: true });
    const missing = { code: 'notFound' };
    await expect(find({ travelerIds: [] })).rejects.toEqual(conflict);
    await expect(find({ travelerIds: [gone] })).rejects.toEqual(conflict);
    await expect(find({ travelerIds: [travelerId, 'nobody'] })).rejects.toMatchObject(missing);
    const projectCodeId = 'f'.repeat(24);
    await expect(find({ travelerIds: [travelerId], projectCodeId })).rejects.toMatchObject(missing);
    await expect(find({ travelerIds: [travelerId], quotes: [flight(-1)] })).rejects.toEqual(conflict);
    const offers = [flight(10, 'euro')];
    await expect(find({ travelerIds: [travelerId], quotes: offers })).rejects.toMatchObject({
      code: 'validationFailed',
    });
    expect(await at.all('/trip-projects')).toEqual([]);
  });

  test('accepts custom fields of trip projects, and requires the mandatory ones', async () => {
    const field = (data: JsonObject) =>
      at.fixture.make('/custom-fields', { dataType: 'text', resourceType: 'tripProject', ...data });
    const { id: customFieldId } = await field({ name: 'Purpose', mandatory: true });
    const { id: ofUsers } = await field({ name: 'Badge', resourceType: 'user' });
    const travelerIds = [await at.traveler()];
    const failed = { code: 'validationFailed' };
    await expect(find({ travelerIds })).rejects.toMatchObject(failed);
    const values = [{ data: 'Audit' }];
    const wrong = [{ customFieldId: ofUsers, values }];
    await expect(find({ travelerIds, customFields: wrong })).rejects.toMatchObject(failed);
    const { id } = await find({ travelerIds, customFields: [{ customFieldId, values }] });
    const answered = [{ customFieldId, name: 'Purpose', values }];
    expect(await at.get(`/trip-projects/${id}`)).toMatchObject({ customFields: answered });
    const { operations } = await at.transact((service) => service.bookTrip({ tripProjectId: id }));
    const operation = await at.get(`/billing-operations/${operations[0]?.id}`);
    expect(operation).toMatchObject({ customFields: answered });
  });
});

test.each([hotel(240), roundTrip(300)])(
  'the name of a hotel or airport is never used as its city: without a known city there is none',
  async (offer) => {
    const { operations } = await at.bookTrip([offer]);
    const { hotel: stay, transport } = operations[0]?.doc.bookingSnapshot ?? {};
    const spots = [stay?.place, transport?.departure, transport?.destination].flatMap((spot) => spot ?? []);
    expect(spots.length).toBeGreaterThan(0);
    for (const spot of spots) expect(spot).not.toHaveProperty('city');
  },
);

describe('a booking', () => {
  test.each<[string, Quote, JsonObject]>([
    [
      'flight',
      roundTrip(300),
      {
        supplierName: 'TAP Air Portugal',
        transport: {
          departure: { airport: 'CDG', city: 'Paris', countryCode: 'FR' },
          departureLocaleDate: '2026-12-01',
          destination: { airport: 'LIS', city: 'Lisbon', countryCode: 'PT' },
          itineraryType: 'roundTrip',
          returnLocaleDate: '2026-12-04',
        },
      },
    ],
    ['rail', rail(80), { transport: expect.objectContaining({ itineraryType: 'oneWay' }) }],
    [
      'hotel',
      hotel(240),
      {
        supplierName: 'Hotel Tejo',
        hotel: {
          checkinLocaleDate: '2026-12-01',
          checkoutLocaleDate: '2026-12-04',
          place: { city: 'Lisbon', countryCode: 'PT' },
        },
      },
    ],
    ['car', car(90), {}],
  ])('of a %s succeeds with an event, and creates a purchase with a snapshot', async (kind, offer, known) => {
    const profileId = await at.profile();
    const costCenterId = (await at.fixture.make('/cost-centers', { name: 'Sales' })).id;
    const travelerId = await at.traveler({ billingProfileId: profileId, costCenterId });
    const { id: tripProjectId } = await find({ travelerIds: [travelerId], quotes: [offer] });
    await at.newEvents();
    const [rate] = (await at.get(`/trip-projects/${tripProjectId}`))['rates'] as JsonObject[];
    const cities = { departure: 'Paris', destination: 'Lisbon' };
    const orders = [{ rateId: String(rate?.['id']), cities }];
    await at.transact((service) => service.bookTrip({ tripProjectId, orders }));
    const trip = await at.get(`/trip-projects/${tripProjectId}`);
    const [booking = {}] = trip['bookings'] as JsonObject[];
    expect(booking).toMatchObject({
      type: 'booking',
      canceled: false,
      exchanged: false,
      kind,
      rateId: (trip['rates'] as JsonObject[])[0]?.['id'],
      status: 'succeeded',
      tripProjectId,
    });
    const parts = [
      ...((trip['transportLegs'] ?? []) as { segments: JsonObject[] }[]).flatMap(({ segments }) => segments),
      ...((trip['hotelStays'] ?? []) as JsonObject[]),
      ...((trip['carRentals'] ?? []) as JsonObject[]),
    ];
    expect(new Set(parts.map(({ bookingId }) => bookingId))).toEqual(new Set([booking['id']]));
    const [operation = {}, ...others] = await at.all(`/trip-projects/${tripProjectId}/billing-operations`);
    expect(others).toEqual([]);
    const user = await at.get(`/users/${travelerId}`);
    const person = { id: travelerId, email: user['email'], fullName: `Ada ${user['lastName']}` };
    expect(operation).toMatchObject({
      amount: { currency: 'EUR', total: offer.price.total },
      billingProfileId: profileId,
      costCenterId,
      date: '2026-11-20T12:00:00Z',
      operationType: kind,
      status: 'delayed',
      transactionKind: 'purchase',
      tripProjectId,
    });
    expect(operation['bookingSnapshot']).toMatchObject({
      booker: person,
      channel: 'online',
      date: '2026-11-20T12:00:00Z',
      kind,
      reference: booking['reference'],
      traveler: person,
      ...known,
    });
    expect(await at.newEvents()).toEqual([
      { kind: 'tripProject.booking.succeeded', data: booking },
      { kind: 'billingOperation.created', data: operation },
    ]);
  });

  test('that fails has an event and costs nothing; its rate can be booked again', async () => {
    const trip = await find({ travelerIds: [await at.traveler()], quotes: [flight(100), hotel(50)] });
    const [first = { id: '' }, second = { id: '' }] = trip.doc.rates;
    await at.newEvents();
    const orders = [{ rateId: first.id, fails: true }, { rateId: second.id }];
    await at.transact((service) => service.bookTrip({ tripProjectId: trip.id, orders }));
    const { bookings, transportLegs } = await at.get(`/trip-projects/${trip.id}`);
    const [failed, succeeded] = bookings as JsonObject[];
    expect(failed).toMatchObject({ status: 'failed', kind: 'flight', rateId: first.id });
    expect(failed).not.toHaveProperty('reference');
    const [leg] = transportLegs as { segments: JsonObject[] }[];
    expect(leg?.segments).toHaveLength(1);
    expect(leg?.segments[0]).not.toHaveProperty('bookingId');
    const listed = await at.all(`/trip-projects/${trip.id}/billing-operations`);
    expect(await at.newEvents()).toEqual([
      { kind: 'tripProject.booking.failed', data: failed },
      { kind: 'tripProject.booking.succeeded', data: succeeded },
      { kind: 'billingOperation.created', data: listed[0] },
    ]);
    const again = await at.transact((service) => service.bookTrip({ tripProjectId: trip.id }));
    expect(again.bookings).toMatchObject([{ rateId: first.id, status: 'succeeded' }]);
    const twice = [{ rateId: second.id }];
    await expect(
      at.transact((service) => service.bookTrip({ tripProjectId: trip.id, orders: twice })),
    ).rejects.toEqual(conflict);
  });

  test('of several travelers creates a purchase for each, exact to the cent; a car creates one', async () => {
    const ids = [await at.traveler(), await at.traveler(), await at.traveler()];
    const { trip, operations } = await at.bookTrip([roundTrip(100), car(50)], ids);
    const shown = operations.map(({ doc }) => [
      doc.operationType,
      doc.bookingSnapshot?.traveler.id,
      doc.bookingSnapshot?.booker.id,
      doc.amount.total,
    ]);
    expect(shown).toEqual([
      ['flight', ids[0], ids[0], 33.34],
      ['flight', ids[1], ids[0], 33.33],
      ['flight', ids[2], ids[0], 33.33],
      ['car', ids[0], ids[0], 50],
    ]);
    for (const { doc } of operations.slice(0, 3)) {
      const { base = 0, tax = 0, total } = doc.amount;
      expect(Math.round((base + tax) * 100)).toBe(Math.round(total * 100));
    }
    const travelers = await at.all(`/trip-projects/${trip.id}/users`);
    expect(travelers.map(({ id }) => id).sort()).toEqual([...ids].sort());
  });

  test('contains the conditions of its order and its booker', async () => {
    const trip = await find({ travelerIds: [await at.traveler()] });
    const bookerId = await at.traveler();
    const order = {
      rateId: trip.doc.rates[0]?.id ?? '',
      supplierName: 'Iberia',
      budget: { currency: 'EUR', total: 150 },
      fare: { cabinClass: 'business', fareType: 'flex', lowCost: false },
    };
    const { operations } = await at.transact((service) =>
      service.bookTrip({ tripProjectId: trip.id, bookerId, orders: [order] }),
    );
    const operation = await at.get(`/billing-operations/${operations[0]?.id}`);
    expect(operation['bookingSnapshot']).toMatchObject({
      booker: { id: bookerId },
      servicebudget: { currency: 'EUR', total: 150 },
      supplierName: 'Iberia',
      transport: { cabinClass: 'business', fareType: 'flex', lowCost: false },
    });
  });

  test('is billed to the project, else to an option of a custom field, else to the traveler', async () => {
    const [own, ofOption, ofProject] = [await at.profile(), await at.profile(), await at.profile()];
    const field = { dataType: 'option', name: 'Team', resourceType: 'user' };
    const { id: customFieldId } = await at.fixture.make('/custom-fields', field);
    const option = await at.fixture.make(`/custom-fields/${customFieldId}/options`, {
      data: 'red',
      billingProfileId: ofOption,
    });
    const project = { code: 'APOLLO', billingProfileId: ofProject };
    const { id: projectCodeId } = await at.fixture.make('/project-codes', project);
    const plain = await at.traveler({ billingProfileId: own });
    const customFields = [{ customFieldId, values: [{ customFieldOptionId: option.id }] }];
    const member = await at.traveler({ billingProfileId: own, customFields });
    const billed = async (travelerId: string, more: Partial<TripSearch> = {}) => {
      const { id } = await find({ travelerIds: [travelerId], ...more });
      const { operations } = await at.transact((service) => service.bookTrip({ tripProjectId: id }));
      const { billingProfileId, projectCodeId: code } = operations[0]?.doc ?? {};
      return [billingProfileId, code];
    };
    expect(await billed(plain)).toEqual([own, undefined]);
    expect(await billed(member)).toEqual([ofOption, undefined]);
    expect(await billed(member, { projectCodeId })).toEqual([ofProject, projectCodeId]);
  });
});

describe('approval', () => {
  const policy = async (control: string, data: JsonObject = {}) => {
    const body = { control, name: control, hotelBudget: {}, transportBudget: {}, ...data };
    return (await at.fixture.make('/travel-policies', body)).id;
  };
  const book = (tripProjectId: string) => at.transact((service) => service.bookTrip({ tripProjectId }));

  test.each([
    ['full', 'awaitApproval'],
    ['none', 'bookingAllowed'],
    ['notif', 'bookingAllowed'],
    ['smart', 'bookingAllowed'],
  ])('under the control %s begins as %s', async (control, status) => {
    const travelPolicyId = await policy(control);
    const trip = await find({ travelerIds: [await at.traveler({ travelPolicyId })] });
    expect(await at.get(`/trip-projects/${trip.id}`)).toMatchObject({ approvalStatus: status });
  });

  test('follows the policy of the traveler, their cost center, their billing profile, or the default; the strictest counts', async () => {
    const travelPolicyId = await policy('full');
    const costCenterId = (await at.fixture.make('/cost-centers', { name: 'C', travelPolicyId })).id;
    const free = await policy('none');
    const approvalOf = async (...travelers: JsonObject[]) => {
      const travelerIds = [];
      for (const data of travelers) travelerIds.push(await at.traveler(data));
      return (await find({ travelerIds })).doc.approvalStatus;
    };
    expect(await approvalOf({ costCenterId })).toBe('awaitApproval');
    expect(await approvalOf({ costCenterId, travelPolicyId: free })).toBe('bookingAllowed');
    const billingProfileId = await at.profile({ travelPolicyId });
    expect(await approvalOf({ billingProfileId })).toBe('awaitApproval');
    expect(await approvalOf({}, { travelPolicyId })).toBe('awaitApproval');
    expect(await approvalOf({})).toBe('bookingAllowed');
    await policy('full', { default: true });
    expect(await approvalOf({})).toBe('awaitApproval');
  });

  test('allows booking once it is given or an admin overrides it', async () => {
    const travelPolicyId = await policy('full');
    const traveler = await at.traveler({ travelPolicyId });
    const fresh = async () => (await find({ travelerIds: [traveler] })).id;
    const approved = await fresh();
    await expect(book(approved)).rejects.toEqual(conflict);
    expect((await at.transact((service) => service.approveTrip(approved))).doc.approvalStatus).toBe(
      'approved',
    );
    expect((await book(approved)).operations).toHaveLength(1);
    const declined = await fresh();
    await at.transact((service) => service.declineTrip(declined));
    await expect(book(declined)).rejects.toEqual(conflict);
    await expect(at.transact((service) => service.approveTrip(declined))).rejects.toEqual(conflict);
    const allowed = await at.transact((service) => service.allowBooking(declined));
    expect(allowed.doc.approvalStatus).toBe('bookingAllowed');
    expect((await book(declined)).operations).toHaveLength(1);
    for (const again of ['approveTrip', 'declineTrip', 'allowBooking'] as const) {
      await expect(at.transact((service) => service[again](declined))).rejects.toEqual(conflict);
    }
    const skipped = await fresh();
    await at.transact((service) => service.allowBooking(skipped));
    expect((await book(skipped)).operations).toHaveLength(1);
  });
});

test('a booking of the offline channel has a snapshot and its own date, and no trip project', async () => {
  const travelerId = await at.traveler({ billingProfileId: await at.profile() });
  await at.newEvents();
  const { id } = await at.transact((service) =>
    service.bookOffline({
      travelerId,
      kind: 'hotel',
      price: { currency: 'EUR', total: 80 },
      bookedAt: Date.UTC(2026, 9, 1, 8),
      details: { supplierName: 'Hotel Tejo', reference: 'H1' },
    }),
  );
  const operation = await at.get(`/billing-operations/${id}`);
  expect(operation).toMatchObject({
    createdAt: '2026-11-20T12:00:00Z',
    date: '2026-10-01T08:00:00Z',
    operationType: 'hotel',
    bookingSnapshot: {
      channel: 'offline',
      date: '2026-10-01T08:00:00Z',
      kind: 'hotel',
      supplierName: 'Hotel Tejo',
      traveler: { id: travelerId },
    },
  });
  expect(operation).not.toHaveProperty('tripProjectId');
  expect(summarizeEvents(await at.newEvents())).toEqual([['billingOperation.created', id]]);
});

test.each(['other', 'seminar', 'subscription'] as const)('%s is charged to a profile', async (type) => {
  const billingProfileId = await at.profile();
  const charge = { operationType: type, price: { currency: 'EUR', total: 12.5 }, description: 'By hand' };
  const { id } = await at.transact((service) => service.charge({ ...charge, billingProfileId }));
  const operation = await at.get(`/billing-operations/${id}`);
  expect(operation).toMatchObject({ operationType: type, description: 'By hand', billingProfileId });
  expect(operation).not.toHaveProperty('bookingSnapshot');
  const nobody = at.transact((service) => service.charge({ ...charge, billingProfileId: 'f'.repeat(24) }));
  await expect(nobody).rejects.toMatchObject({ code: 'notFound' });
});
