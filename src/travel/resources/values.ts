import { z } from 'zod';
import { country, currency, text } from '../fields.ts';

/** An amount of money. "Responses may carry only `currency` and `total`." */
export const amount = z
  .strictObject({
    base: z.number().optional(),
    currency,
    tax: z.number().optional(),
    /** A percentage. */
    taxRate: z.number().optional(),
    total: z.number(),
  })
  .meta({ id: 'Amount' });

/** An amount of money as it is kept and answered. */
export type Amount = z.infer<typeof amount>;

/** Somewhere to travel to. Its types are open: `airport`, `address` and `hotel` occur. */
export const place = z
  .strictObject({
    airport: z.strictObject({ iataCode: text }).optional(),
    country: z.strictObject({ code: country, name: text.optional() }).optional(),
    geoloc: z.strictObject({ lat: z.number(), lng: z.number() }).optional(),
    name: text,
    type: text,
  })
  .meta({ id: 'Place' });

/** A place as it is kept and answered. */
export type Place = z.infer<typeof place>;
