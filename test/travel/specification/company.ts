import {
  bookTrip as bookRates,
  cancelBooking,
  exchangeBooking,
  type Quote,
  type Trip,
} from '../../../src/sample-data/bookings.ts';
import type { Ledger } from '../../../src/sample-data/ledger.ts';
import {
  addDispute,
  addPurchase,
  addRefund,
  issueInvoice,
  setStatus,
} from '../../../src/sample-data/ledger.ts';
import {
  type BookingTransaction,
  bookAll,
  bookingTransactions,
  bookOffline,
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
  description: 'Flight to Lisbon',
  legs: [
    { summary: 'Paris to Lisbon', segments: [segment(paris, lisbon, '2026-12-01')] },
    { summary: 'Lisbon to Paris', segments: [segment(lisbon, paris, '2026-12-03')] },
  ],
  snapshot: {
    servicebudget: { base: 454.55, currency: 'EUR', tax: 45.45, taxRate: 10, total: 500 },
    supplierName: 'TAP Air Portugal',
    transport: {
      ...{ cabinClass: 'economy', category: 'standard', fareType: 'flex', lowCost: false },
      departure: { airport: 'CDG', city: 'Paris', countryCode: 'FR' },
      departureLocaleDate: '2026-12-01',
      destination: { airport: 'LIS', city: 'Lisbon', countryCode: 'PT' },
      ...{ itineraryType: 'roundTrip', returnLocaleDate: '2026-12-03' },
    },
  },
};

const nights = { checkinLocaleDate: '2026-12-01', checkoutLocaleDate: '2026-12-03' };

/** Two nights. */
export const hotel: Quote = {
  kind: 'hotel',
  price: price(300),
  description: 'Hotel do Chiado',
  stay: { ...nights, hotelId: 'H 17', place: { ...lisbon, name: 'Hotel do Chiado', type: 'hotel' } },
  snapshot: {
    hotel: { ...nights, place: { airport: 'LIS', city: 'Lisbon', countryCode: 'PT' } },
    supplierName: 'Hotel do Chiado',
  },
};

/** Two days. */
const car: Quote = {
  kind: 'car',
  price: price(90),
  description: 'A small car',
  snapshot: {},
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

/** Books a flight, a hotel and a car with all details; the first hotel is full. */
export async function bookTrip(ledger: Ledger, { ada, bob, projectCode, tripField }: Company): Promise<Trip> {
  const customFields = [{ customFieldId: tripField, values: [{ data: 'A fair' }] }];
  const trip = await searchFor(ledger, [ada, bob], [flight, hotel, car], {
    ...{ approvalStatus: 'approved', customFields, projectCodeId: projectCode, search },
  });
  const [flightRate = '', hotelRate = '', carRate = ''] = trip.doc.rates.map(({ id }) => id);
  await bookRates(ledger, trip, [flightRate]);
  await bookRates(ledger, trip, [hotelRate], 'failed');
  // The next hotel has a room.
  await bookRates(ledger, trip, [carRate, hotelRate]);
  return trip;
}

/** Books one night for a traveler. */
export async function bookHotel(ledger: Ledger, travelerId: string): Promise<Trip> {
  const trip = await searchFor(ledger, [travelerId], [hotel], {
    search: { kind: 'hotelOnly', arrivalPlace: lisbon },
  });
  await bookAll(ledger, trip);
  return trip;
}

/** Plays a year in which every event of the specification happens once. */
export async function playFullYear(fixture: Fixture): Promise<Company> {
  const company = await openCompany(fixture);
  const { transact, ada, billingProfile, costCenter, projectCode } = company;
  const day = 86_400_000;
  await transact(async (ledger) => {
    const trip = await bookTrip(ledger, company);
    const [flown] = trip.doc.bookings ?? [];
    if (!flown) throw new Error('the flight is booked');
    await exchangeBooking(ledger, trip, flown, { ...flight, price: price(450) });
    for (const late of trip.doc.bookings?.slice(4) ?? []) await cancelBooking(ledger, trip, late, 100);
    await searchFor(ledger, [ada], [hotel], { search: { kind: 'hotelOnly', arrivalPlace: lisbon } });
    await bookOffline(ledger, ada, hotel);
    const charge = { billingProfileId: billingProfile, costCenterId: costCenter, projectCodeId: projectCode };
    const [seminar, visa] = [price(900), price(20)];
    await addPurchase(ledger, {
      ...charge,
      operationType: 'seminar',
      amount: seminar,
      description: 'Retreat',
    });
    await addPurchase(ledger, { ...charge, operationType: 'other', amount: visa, description: 'Visa' });
  });
  fixture.advanceClock(day);
  const issued = await transact((ledger) => issueInvoice(ledger, billingProfile, 'booking'));
  if (!issued) throw new Error('there are bookings');
  fixture.advanceClock(day);
  await transact(async (ledger) => {
    await setStatus(ledger, 'invoice', issued, { status: 'paid', paymentReference: 'TR-2026-117' });
    const [hotelBought, carBought] = ['hotel', 'car'].map((type) =>
      issued.operations.find(({ doc }) => doc.operationType === type),
    );
    if (!hotelBought || !carBought) throw new Error('a hotel and a car are booked');
    const refund = await addRefund(ledger, hotelBought, 1000);
    await addRefund(ledger, carBought, 700);
    if (refund) await setStatus(ledger, 'refund', refund, { status: 'pending' });
    const dispute = await addDispute(ledger, issued, 'duplicate', 500);
    await addDispute(ledger, issued, 'warningNeedsResponse', 400);
    await setStatus(ledger, 'dispute', dispute, { status: 'underReview' });
    const other = await issueInvoice(ledger, billingProfile, 'other');
    if (other) await setStatus(ledger, 'invoice', other, { status: 'uncollectible' });
  });
  return company;
}
