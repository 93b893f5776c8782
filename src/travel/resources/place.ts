import { z } from 'zod';
import { country, text } from '../fields.ts';

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
