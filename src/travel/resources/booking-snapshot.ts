import { z } from 'zod';
import { country, date, dateTime, oneOf, text } from '../fields.ts';
import { amount } from './amount.ts';

const person = z.strictObject({ id: text, email: text, fullName: text });

const spot = z.strictObject({
  airport: text.optional(),
  city: text.optional(),
  countryCode: country.optional(),
});

/**
 * "Information at booking time". Its lists are open, but for the channel: "Complete enumerations of the snapshot: not
 * shown".
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

/** A snapshot as it is kept and answered. */
export type BookingSnapshot = z.infer<typeof bookingSnapshot>;
