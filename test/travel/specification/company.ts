import type { BookingService } from '../../../src/travel/booking/booking-service.ts';
import type { CarQuote, HotelQuote, TransportQuote } from '../../../src/travel/booking/prices.ts';
import { type BookingTransaction, bookingTransactions } from '../../fixtures/bookings.ts';
import type { Fixture } from '../../fixtures/travel.ts';

/** Travelers, payers and the booking operations of a company. */
export interface Company {
  /** Runs booking operations, each call in its own transaction. */
  transact: BookingTransaction;
  ada: string;
  bob: string;
  billingProfile: string;
  costCenter: string;
  projectCode: string;
  /** The ids of custom fields of trip projects and of users. */
  tripField: string;
  userField: string;
}

/** Creates a company of two travelers with everything that bookings copy. */
export async function openCompany(fixture: Fixture): Promise<Company> {
  const { id: billingProfile } = await fixture.make('/billing-profiles', {
    email: 'billing@example.com',
    lang: 'en',
    name: 'Headquarters',
  });
  const { id: costCenter } = await fixture.make('/cost-centers', { name: 'Research' });
  const { id: projectCode } = await fixture.make('/project-codes', { code: 'APOLLO' });
  const field = { dataType: 'text', name: 'Reason' };
  const team = { dataType: 'option', name: 'Team' };
  const { id: tripField } = await fixture.make('/custom-fields', { ...field, resourceType: 'tripProject' });
  const { id: userField } = await fixture.make('/custom-fields', { ...field, resourceType: 'user' });
  const { id: teamField } = await fixture.make('/custom-fields', { ...team, resourceType: 'user' });
  await fixture.make(`/custom-fields/${teamField}/options`, { data: 'red', displayName: 'Red team' });
  const person = {
    billingProfileId: billingProfile,
    costCenterId: costCenter,
    customFields: [
      { customFieldId: userField, values: [{ data: 'R 42' }] },
      { customFieldId: teamField, values: [{ data: 'red' }] },
    ],
    lastName: 'King',
  };
  const { id: ada } = await fixture.make('/users', { ...person, email: 'ada@example.com', firstName: 'Ada' });
  const { id: bob } = await fixture.make('/users', { ...person, email: 'bob@example.com', firstName: 'Bob' });
  const transact = bookingTransactions({ ...fixture.runtime, onChange: () => undefined });
  return { transact, ada, bob, billingProfile, costCenter, projectCode, tripField, userField };
}

const price = (total: number) => ({ currency: 'EUR', total, taxRate: 10 });

const paris = {
  airport: { iataCode: 'CDG' },
  country: { code: 'FR', name: 'France' },
  geoloc: { lat: 49.0097, lng: 2.5479 },
  name: 'Paris Charles de Gaulle',
  type: 'airport',
};

const lisbon = {
  airport: { iataCode: 'LIS' },
  country: { code: 'PT', name: 'Portugal' },
  geoloc: { lat: 38.7742, lng: -9.1342 },
  name: 'Lisbon Humberto Delgado',
  type: 'airport',
};

const segment = (from: typeof paris, to: typeof paris, day: string) => ({
  arrival: { localeDateTime: `${day}T11:40:00`, place: to },
  departure: { localeDateTime: `${day}T10:00:00`, place: from },
  duration: 160,
  operatingCarrier: { id: 'TP', name: 'TAP Air Portugal' },
  transportNumber: 'TP 439',
});

/** A return flight. */
export const flight: TransportQuote = {
  kind: 'flight',
  price: price(400),
  legs: [
    { summary: 'Paris to Lisbon', segments: [segment(paris, lisbon, '2026-12-01')] },
    { summary: 'Lisbon to Paris', segments: [segment(lisbon, paris, '2026-12-03')] },
  ],
};

/** Two nights. */
export const hotel: HotelQuote = {
  kind: 'hotel',
  price: price(300),
  stay: {
    checkinLocaleDate: '2026-12-01',
    checkoutLocaleDate: '2026-12-03',
    hotelId: 'H 17',
    place: { ...lisbon, name: 'Hotel do Chiado', type: 'hotel' },
  },
};

/** Two days. */
export const car: CarQuote = {
  kind: 'car',
  price: price(90),
  rental: {
    car: { acriss: 'ECMR', group: 'B', name: 'A small one' },
    pickupLocaleDateTime: '2026-12-01T12:00:00',
    pickupPlace: lisbon,
    renterName: 'Ada King',
    returnLocaleDateTime: '2026-12-03T08:00:00',
    returnpPlace: lisbon,
  },
};

/** The search. */
export const search = {
  arrivalLocaleDateTime: '2026-12-01T11:40:00',
  arrivalPlace: lisbon,
  departureLocaleDateTime: '2026-12-01T10:00:00',
  departurePlace: paris,
  kind: 'roundTripWithHotel',
  returnLocaleDateTime: '2026-12-03T10:00:00',
};

/** Books a flight, a hotel and a car for both travelers with all details; the first hotel is full. Returns the trip's id. */
export async function bookTrip(service: BookingService, company: Company): Promise<string> {
  const { ada, bob, projectCode, tripField } = company;
  const { id, doc } = await service.searchTrip({
    travelerIds: [ada, bob],
    search,
    quotes: [flight, hotel, car],
    projectCodeId: projectCode,
    customFields: [{ customFieldId: tripField, values: [{ data: 'A fair' }] }],
  });
  const fare = { cabinClass: 'economy', category: 'standard', fareType: 'flex', lowCost: false };
  const cities = { departure: 'Paris', destination: 'Lisbon' };
  await service.bookTrip({
    tripProjectId: id,
    orders: doc.rates.map(({ id: rateId, kind }) => ({
      rateId,
      fails: kind === 'hotel',
      ...(kind === 'flight' ? { cities, fare, budget: price(500), supplierName: 'TAP Air Portugal' } : {}),
    })),
  });
  // The next hotel has a room.
  const { rates } = (await service.bookTrip({ tripProjectId: id })).trip.doc;
  if (rates.length !== 3) throw new Error('Each offer has one rate.');
  return id;
}

/** Plays a year in which every event of the specification happens once. */
export async function playFullYear(fixture: Fixture): Promise<Company> {
  const company = await openCompany(fixture);
  const { transact, ada, billingProfile, costCenter, projectCode } = company;
  await transact(async (service) => {
    const tripProjectId = await bookTrip(service, company);
    const { trip } = await service.bookTrip({ tripProjectId, orders: [] });
    const flown = trip.doc.bookings?.find(({ kind, status }) => kind === 'flight' && status === 'succeeded');
    const bookingId = flown?.id ?? '';
    const [first] = trip.doc.transportLegs?.[0]?.segments ?? [];
    const earlier = { ...flight, price: price(250), legs: flight.legs.slice(0, 1) };
    await service.modifyBooking({
      ...{ tripProjectId, bookingId, quote: earlier },
      transportSegmentIds: [first?.id ?? ''],
    });
    await service.cancelBooking({ tripProjectId, bookingId, travelerIds: [ada] });
    const stay = { travelerIds: [ada], search: { kind: 'hotelOnly', arrivalPlace: lisbon }, quotes: [hotel] };
    await service.searchTrip(stay);
    const hotelStay = { checkinLocaleDate: '2026-12-01', checkoutLocaleDate: '2026-12-02' };
    await service.bookOffline({
      travelerId: ada,
      kind: 'hotel',
      price: price(120),
      details: { hotel: { ...hotelStay, place: { airport: 'LIS', city: 'Lisbon', countryCode: 'PT' } } },
    });
    const charge = { billingProfileId: billingProfile, costCenterId: costCenter, projectCodeId: projectCode };
    await service.charge({ ...charge, operationType: 'seminar', price: price(900), description: 'Retreat' });
    await service.charge({ ...charge, operationType: 'other', price: price(20), description: 'Visa' });
  });
  fixture.advanceClock(86_400_000);
  const [invoice] = await transact((service) =>
    service.invoiceProfile({ billingProfileId: billingProfile, kind: 'booking' }),
  );
  const invoiceId = invoice?.id ?? '';
  const { data } = (await fixture.send('get', `/invoices/${invoiceId}/billing-operations?limit=100`)).body;
  const bought = data.find((one: { transactionKind: string }) => one.transactionKind === 'purchase');
  fixture.advanceClock(86_400_000);
  await transact(async (service) => {
    await service.payInvoice(invoiceId, 'TR-2026-117');
    await giveBackTwice(service, bought.id);
    const { dispute } = await service.disputeInvoice({ invoiceId, reason: 'duplicate', total: 5 });
    await service.disputeInvoice({ invoiceId, reason: 'warningNeedsResponse', total: 4 });
    await service.setDisputeStatus(dispute.id, 'underReview');
    const other = await service.invoiceProfile({ billingProfileId: billingProfile, kind: 'other' });
    await service.markInvoiceUncollectible(other[0]?.id ?? '');
  });
  return company;
}

/** Creates two refunds and starts the transfer of one. */
async function giveBackTwice(service: BookingService, billingOperationId: string): Promise<void> {
  const { doc } = await service.refundOperation({ billingOperationId, total: 10 });
  await service.refundOperation({ billingOperationId, total: 7 });
  await service.startTransfer(doc.refundId ?? '');
}
