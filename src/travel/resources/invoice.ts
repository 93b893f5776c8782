import { z } from 'zod';
import { oneOf, text } from '../fields.ts';
import { defineResource } from '../resource.ts';
import { amount } from './amount.ts';

/** The states of an invoice. */
export const invoiceStatuses = ['open', 'paid', 'uncollectible', 'void'] as const;

const schema = z
  .strictObject({
    amount,
    billingOperationsCount: z.int(),
    billingProfileId: text,
    description: text,
    kind: oneOf(['booking', 'other', 'subscription']),
    paymentMethodSummary: text.optional(),
    paymentReference: text.optional(),
    pdf: text.meta({ format: 'uri' }).optional(),
    reference: text.optional(),
    status: oneOf(invoiceStatuses),
    url: text.meta({ format: 'uri' }).optional(),
  })
  .meta({ description: 'One or several purchases and refunds that are paid together' });

/** The document of an invoice. */
export type Invoice = z.infer<typeof schema>;

/** "An invoice aggregates one or several purchase and refund billing operations." */
export const invoice = defineResource({
  type: 'invoice',
  path: 'invoices',
  idForm: 'A',
  schema,
  operations: ['list', 'retrieve'],
  cursor: true,
  events: ['created', 'updated'],
  sortBy: [],
  filters: [],
  references: [{ field: 'billingProfileId', to: 'billingProfile' }],
  example: {
    amount: { base: 200, currency: 'EUR', tax: 20, taxRate: 10, total: 220 },
    billingOperationsCount: 1,
    billingProfileId: '66b0c1d2e3f4a5b6c7d8e911',
    description: 'Bookings',
    kind: 'booking',
    paymentMethodSummary: 'Visa ending in 4242',
    paymentReference: 'TR-2026-117',
    reference: 'INV-D8E912',
    status: 'paid',
  },
});

/**
 * The kind of the invoice on which operations of this type come: "An operation is either a booking (value `booking`, or
 * the specific `car`, `flight`, `hotel`, `rail`, `seminar`), or a `subscription` operation, or an `other` operation".
 */
export function invoiceKindOf(operationType: string): string {
  return operationType === 'subscription' || operationType === 'other' ? operationType : 'booking';
}
