import type { JsonObject } from '../json.ts';

const createdAt = '2026-11-20T12:00:00Z';
const tripProjectId = '0f8b1c52-6d0e-4d7c-9a51-2f7d6e1b3c40';
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

/** A trip project with one flight and one night, as it is answered. */
export const tripProjectExample: JsonObject = {
  approvalStatus: 'approved',
  bookings: [
    {
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
    },
  ],
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
