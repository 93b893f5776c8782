import { z } from 'zod';
import { currency } from '../fields.ts';

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
