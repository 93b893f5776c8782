import { z } from 'zod';
import {
  amount,
  country,
  date,
  dateTime,
  flag,
  localeDateTime,
  oneOf,
  place,
  text,
} from '../declaration/fields.ts';
import { defineResource } from '../declaration/resource.ts';
import type { JsonObject } from '../json.ts';
import {
  customFieldReferences,
  customFieldsOf,
  customFieldValues,
  serializeCustomFields,
} from './custom-field-values.ts';

const person = z.strictObject({ id: text.meta({ 'x-resource': 'user' }), email: text, fullName: text });

const spot = z.strictObject({
  airport: text.optional(),
  city: text.optional(),
  countryCode: country.optional(),
});

/**
 * "Information at booking time". The lists are open, except for the channel: "Complete enumerations of the snapshot:
 * not shown".
 */
export const bookingSnapshot = z
  .strictObject({
    booker: person,
    channel: oneOf(['online', 'offline']),
    date: dateTime,
    hotel: z.strictObject({ checkinLocaleDate: date, checkoutLocaleDate: date, place: spot }).optional(),
    kind: text,
    reference: text.optional(),
    servicebudget: amount.optional(),
    supplierName: text.optional(),
    transport: z
      .strictObject({
        cabinClass: text.optional(),
        category: text.optional(),
        departure: spot,
        departureLocaleDate: date,
        destination: spot,
        fareType: text.optional(),
        itineraryType: text,
        lowCost: z.boolean().optional(),
        returnLocaleDate: date.optional(),
      })
      .optional(),
    traveler: person,
  })
  .meta({ id: 'BookingSnapshot' });

/** A snapshot as stored and returned. */
export type BookingSnapshot = z.infer<typeof bookingSnapshot>;

/** The search for a trip. `kind` is an open list; `hotelOnly` and `roundTripWithHotel` occur. */
export const search = z
  .strictObject({
    arrivalLocaleDateTime: localeDateTime.optional(),
    arrivalPlace: place.optional(),
    departureLocaleDateTime: localeDateTime.optional(),
    departurePlace: place.optional(),
    kind: text,
    returnLocaleDateTime: localeDateTime.optional(),
  })
  .meta({ id: 'TripSearch' });

/** A car rental. `returnpPlace` is spelled as in the specification. */
export const carRental = z
  .strictObject({
    bookingId: text.optional(),
    car: z.strictObject({ acriss: text, group: text.optional(), name: text.optional() }),
    pickupLocaleDateTime: localeDateTime,
    pickupPlace: place,
    rateId: text,
    renterName: text.optional(),
    returnLocaleDateTime: localeDateTime,
    returnpPlace: place,
  })
  .meta({ id: 'CarRental' });

/** A hotel stay. */
export const hotelStay = z
  .strictObject({
    bookingId: text.optional(),
    checkinLocaleDate: date,
    checkoutLocaleDate: date,
    hotelId: text,
    place,
    rateId: text,
  })
  .meta({ id: 'HotelStay' });

const stop = z.strictObject({ localeDateTime, place });

/** A part of a journey without change. */
export const transportSegment = z
  .strictObject({
    arrival: stop,
    bookingId: text.optional(),
    canceled: flag,
    departure: stop,
    /** The duration in minutes. */
    duration: z.int().optional(),
    exchanged: flag,
    id: text,
    operatingCarrier: z.strictObject({ id: text, name: text }).optional(),
    rateId: text,
    transportNumber: text.optional(),
  })
  .meta({ id: 'TransportSegment' });

/** One direction of a journey. `kind` is an open list; `flight` occurs. */
export const transportLeg = z
  .strictObject({
    kind: text,
    segments: z.array(transportSegment),
    summary: text.optional(),
  })
  .meta({ id: 'TransportLeg' });

function part<T extends string>(type: T) {
  return { id: text, type: z.literal(type), createdAt: dateTime };
}

/** The price of a part of a trip. `kind` is an open list; `car`, `flight` and `hotel` occur. */
export const rate = z.strictObject({ ...part('rate'), kind: text, price: amount }).meta({ id: 'Rate' });

/** The cancellation of a booking, or of some segments for some travelers. */
export const bookingCancellation = z
  .strictObject({
    ...part('bookingCancellation'),
    bookingId: text,
    transportSegmentIds: z.array(text).optional(),
    travelerIds: z.array(text),
    tripProjectId: text,
  })
  .meta({
    id: 'BookingCancellation',
    examples: [
      {
        id: '66b0c1d2e3f4a5b6c7d8e906',
        type: 'bookingCancellation',
        createdAt: '2026-11-21T09:00:00Z',
        bookingId: '66b0c1d2e3f4a5b6c7d8e901',
        transportSegmentIds: ['66b0c1d2e3f4a5b6c7d8e905'],
        travelerIds: ['7d4e7f0a-52b1-4f53-8a0e-3c1f9f0a6b21'],
        tripProjectId: '0f8b1c52-6d0e-4d7c-9a51-2f7d6e1b3c40',
      },
    ],
  });

/** The exchange of segments of a booking for those of another, for some travelers. */
export const bookingModification = z
  .strictObject({
    ...part('bookingModification'),
    bookingId: text,
    selectedBookingId: text,
    transportSegmentExchanges: z.array(
      z.strictObject({
        originalTransportSegmentIds: z.array(text),
        targetTransportSegmentIds: z.array(text),
        travelerIds: z.array(text),
      }),
    ),
    tripProjectId: text,
  })
  .meta({
    id: 'BookingModification',
    examples: [
      {
        id: '66b0c1d2e3f4a5b6c7d8e907',
        type: 'bookingModification',
        createdAt: '2026-11-21T09:00:00Z',
        bookingId: '66b0c1d2e3f4a5b6c7d8e901',
        selectedBookingId: '66b0c1d2e3f4a5b6c7d8e908',
        transportSegmentExchanges: [
          {
            originalTransportSegmentIds: ['66b0c1d2e3f4a5b6c7d8e905'],
            targetTransportSegmentIds: ['66b0c1d2e3f4a5b6c7d8e909'],
            travelerIds: ['7d4e7f0a-52b1-4f53-8a0e-3c1f9f0a6b21'],
          },
        ],
        tripProjectId: '0f8b1c52-6d0e-4d7c-9a51-2f7d6e1b3c40',
      },
    ],
  });

const createdAt = '2026-11-20T12:00:00Z';
const tripProjectId = '0f8b1c52-6d0e-4d7c-9a51-2f7d6e1b3c40';
const bookingExample = {
  id: '66b0c1d2e3f4a5b6c7d8e901',
  type: 'booking',
  createdAt,
  canceled: false,
  exchanged: false,
  kind: 'flight',
  rateId: '66b0c1d2e3f4a5b6c7d8e902',
  reference: 'B3C401',
  status: 'succeeded',
  tripProjectId,
};

/** A booking of a rate, successful or failed. `kind` and `status` are open lists. */
export const booking = z
  .strictObject({
    ...part('booking'),
    canceled: flag,
    cancellations: z.array(bookingCancellation).optional(),
    exchanged: flag,
    kind: text,
    modifications: z.array(bookingModification).optional(),
    rateId: text,
    reference: text.optional(),
    status: text,
    tripProjectId: text,
  })
  .meta({ id: 'Booking', examples: [bookingExample] });

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

/** An example trip project with one flight and one night, in response form. */
export const tripProjectExample: JsonObject = {
  approvalStatus: 'approved',
  bookings: [bookingExample],
  customFields: [
    { customFieldId: '66b0c1d2e3f4a5b6c7d8e903', name: 'Purpose', values: [{ data: 'Customer visit' }] },
  ],
  hotelStays: [
    {
      checkinLocaleDate: '2026-12-01',
      checkoutLocaleDate: '2026-12-02',
      hotelId: 'lis-042',
      place: { country: { code: 'PT', name: 'Portugal' }, name: 'Hotel Tejo', type: 'hotel' },
      rateId: '66b0c1d2e3f4a5b6c7d8e904',
    },
  ],
  rates: [
    {
      id: '66b0c1d2e3f4a5b6c7d8e902',
      type: 'rate',
      createdAt,
      kind: 'flight',
      price: { base: 200, currency: 'EUR', tax: 20, taxRate: 10, total: 220 },
    },
    {
      id: '66b0c1d2e3f4a5b6c7d8e904',
      type: 'rate',
      createdAt,
      kind: 'hotel',
      price: { currency: 'EUR', total: 140 },
    },
  ],
  search: {
    arrivalPlace: lisbon,
    departureLocaleDateTime: '2026-12-01T09:30:00',
    departurePlace: paris,
    kind: 'oneWayWithHotel',
  },
  transportLegs: [
    {
      kind: 'flight',
      segments: [
        {
          arrival: { localeDateTime: '2026-12-01T11:10:00', place: lisbon },
          bookingId: '66b0c1d2e3f4a5b6c7d8e901',
          canceled: false,
          departure: { localeDateTime: '2026-12-01T09:30:00', place: paris },
          duration: 160,
          exchanged: false,
          id: '66b0c1d2e3f4a5b6c7d8e905',
          operatingCarrier: { id: 'TP', name: 'TAP Air Portugal' },
          rateId: '66b0c1d2e3f4a5b6c7d8e902',
          transportNumber: 'TP433',
        },
      ],
      summary: 'Paris – Lisbon',
    },
  ],
  travelerIds: ['7d4e7f0a-52b1-4f53-8a0e-3c1f9f0a6b21'],
};

const schema = z
  .strictObject({
    approvalStatus: oneOf(['approved', 'awaitApproval', 'bookingAllowed', 'declined']).optional(),
    bookings: z.array(booking).optional(),
    carRentals: z.array(carRental).optional(),
    customFields: customFieldValues.optional(),
    hotelStays: z.array(hotelStay).optional(),
    projectCodeId: text.optional(),
    rates: z.array(rate),
    search,
    transportLegs: z.array(transportLeg).optional(),
    travelerIds: z.array(text.meta({ 'x-resource': 'user' })),
  })
  .meta({ description: 'A travel booking file: the search, what it found, and what was booked' });

/** The document of a trip project. */
export type TripProject = z.infer<typeof schema>;

/** The resource of trip projects: "A trip project is a travel booking file" (specification). */
export const tripProject = defineResource({
  type: 'tripProject',
  path: 'trip-projects',
  idForm: 'B',
  schema,
  isReadOnly: true,
  events: ['created'],
  references: [{ field: 'projectCodeId', to: 'projectCode' }],
  rules: {
    references: (doc) => [
      ...travelerIds(doc).map((id) => ({ type: 'user', id })),
      ...customFieldReferences(customFieldsOf(doc)),
    ],
    serialize: serializeCustomFields,
  },
  example: tripProjectExample,
});

function travelerIds({ travelerIds: ids }: { travelerIds?: unknown }): string[] {
  return Array.isArray(ids) ? ids.map(String) : [];
}
