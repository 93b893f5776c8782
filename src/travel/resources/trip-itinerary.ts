import { z } from 'zod';
import { date, flag, localeDateTime, text } from '../fields.ts';
import { place } from './place.ts';

/** What was searched for. Its kinds are open: `hotelOnly` and `roundTripWithHotel` occur. */
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

/** A car for some days. `returnpPlace` is spelled as the specification spells it. */
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

/** Some nights in a hotel. */
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

/** From one stop to the next, without change. */
export const transportSegment = z
  .strictObject({
    arrival: stop,
    bookingId: text.optional(),
    canceled: flag,
    departure: stop,
    /** Minutes. */
    duration: z.int().optional(),
    exchanged: flag,
    id: text,
    operatingCarrier: z.strictObject({ id: text, name: text }).optional(),
    rateId: text,
    transportNumber: text.optional(),
  })
  .meta({ id: 'TransportSegment' });

/** One way of a journey. Its kinds are open: `flight` occurs. */
export const transportLeg = z
  .strictObject({
    kind: text,
    segments: z.array(transportSegment),
    summary: text.optional(),
  })
  .meta({ id: 'TransportLeg' });
