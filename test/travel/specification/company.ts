import {
  bookOffline,
  bookTrip as bookRates,
  cancelBooking,
  type Desk,
  exchangeLastLeg,
  type Trip,
} from '../../../src/sample-data/bookings.ts';
import type { Quote } from '../../../src/sample-data/trip-parts.ts';
import { formatTimestamp } from '../../../src/travel/collection.ts';
import {
  type BookingTransaction,
  bookAll,
  bookingTransactions,
  readTravelers,
  searchFor,
} from '../../fixtures/bookings.ts';
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
const flight: Quote = {
  kind: 'flight',
  price: price(400),
  legs: [
    { summary: 'Paris to Lisbon', segments: [segment(paris, lisbon, '2026-12-01')] },
    { summary: 'Lisbon to Paris', segments: [segment(lisbon, paris, '2026-12-03')] },
  ],
  terms: {
    budget: price(500),
    cities: { departure: 'Paris', destination: 'Lisbon' },
    fare: { cabinClass: 'economy', category: 'standard', fareType: 'flex', lowCost: false },
    supplierName: 'TAP Air Portugal',
  },
};

/** Two nights. */
export const hotel: Quote = {
  kind: 'hotel',
  price: price(300),
  stay: {
    checkinLocaleDate: '2026-12-01',
    checkoutLocaleDate: '2026-12-03',
    hotelId: 'H 17',
    place: { ...lisbon, name: 'Hotel do Chiado', type: 'hotel' },
  },
  terms: { cities: { destination: 'Lisbon' } },
};

/** Two days. */
const car: Quote = {
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

const search = {
  arrivalLocaleDateTime: '2026-12-01T11:40:00',
  arrivalPlace: lisbon,
  departureLocaleDateTime: '2026-12-01T10:00:00',
  departurePlace: paris,
  kind: 'roundTripWithHotel',
  returnLocaleDateTime: '2026-12-03T10:00:00',
};

/** Books a flight, a hotel and a car for both travelers with all details; the first hotel is full. */
export async function bookTrip(desk: Desk, { ada, bob, projectCode, tripField }: Company): Promise<Trip> {
  const customFields = [{ customFieldId: tripField, values: [{ data: 'A fair' }] }];
  const trip = await searchFor(desk, [ada, bob], [flight, hotel, car], {
    ...{ approvalStatus: 'approved', customFields, projectCodeId: projectCode, search },
  });
  const orders = trip.doc.rates.map(({ id: rateId, kind }) => ({ rateId, fails: kind === 'hotel' }));
  await bookRates(desk, trip, orders);
  // The next hotel has a room.
  await bookRates(
    desk,
    trip,
    orders.filter(({ fails }) => fails).map(({ rateId }) => ({ rateId })),
  );
  return trip;
}

/** Books one night for a traveler. */
export async function bookHotel(desk: Desk, travelerId: string): Promise<Trip> {
  const trip = await searchFor(desk, [travelerId], [hotel], {
    search: { kind: 'hotelOnly', arrivalPlace: lisbon },
  });
  await bookAll(desk, trip);
  return trip;
}

/** Plays a year in which every event of the specification happens once. */
export async function playFullYear(fixture: Fixture): Promise<Company> {
  const company = await openCompany(fixture);
  const { transact, ada, billingProfile, costCenter, projectCode } = company;
  await transact(async (desk) => {
    const trip = await bookTrip(desk, company);
    const [flown] = trip.doc.bookings ?? [];
    if (!flown) throw new Error('the flight is booked');
    const later = { ...flight, price: price(250), legs: flight.legs?.slice(1) ?? [] };
    await exchangeLastLeg(desk, trip, { booking: flown, quote: later });
    await cancelBooking(desk, trip, { booking: flown, travelerIds: [ada], refundPercentage: 100 });
    await searchFor(desk, [ada], [hotel], { search: { kind: 'hotelOnly', arrivalPlace: lisbon } });
    const [caller] = await readTravelers(desk, [ada]);
    await bookOffline(desk, caller, { quote: hotel, date: formatTimestamp(desk.now()) });
    const charge = { billingProfileId: billingProfile, costCenterId: costCenter, projectCodeId: projectCode };
    await desk.ledger.purchase({
      ...charge,
      operationType: 'seminar',
      amount: price(900),
      description: 'Retreat',
    });
    await desk.ledger.purchase({ ...charge, operationType: 'other', amount: price(20), description: 'Visa' });
  });
  fixture.advanceClock(86_400_000);
  const issued = await transact(async ({ ledger }) => {
    const [invoice] = await ledger.issueInvoices(billingProfile, 'booking');
    if (!invoice) throw new Error('there are bookings');
    return invoice;
  });
  fixture.advanceClock(86_400_000);
  await transact(async ({ ledger }) => {
    await ledger.setInvoiceStatus(issued, { status: 'paid', paymentReference: 'TR-2026-117' });
    const bought = issued.operations.find(({ doc }) => doc.operationType === 'hotel');
    if (!bought) throw new Error('a hotel is booked');
    const refund = await ledger.refund(bought, 1000);
    await ledger.refund(bought, 700);
    if (refund) await ledger.setRefundStatus(refund, 'pending');
    const dispute = await ledger.dispute(issued, 'duplicate', 500);
    await ledger.dispute(issued, 'warningNeedsResponse', 400);
    await ledger.setDisputeStatus(dispute, 'underReview');
    for (const other of await ledger.issueInvoices(billingProfile, 'other'))
      await ledger.setInvoiceStatus(other, { status: 'uncollectible' });
  });
  return company;
}
