import { z } from 'zod';
import { oneOf, text } from '../fields.ts';
import { textOf } from '../json.ts';
import { defineResource } from '../resource.ts';
import { amount } from './amount.ts';

/** The states of a refund. */
export const refundStatuses = ['delayed', 'waiting', 'pending', 'succeeded', 'failed', 'canceled'] as const;

const schema = z
  .strictObject({
    amount,
    invoiceId: text,
    pdf: text.meta({ format: 'uri' }).optional(),
    reference: text.optional(),
    status: oneOf(refundStatuses),
  })
  .meta({ description: 'A transfer of money back, for what was invoiced already' });

/** The document of a refund. */
export type Refund = z.infer<typeof schema>;

/** A transfer of money back to the customer, after an invoice was emitted. */
export const refund = defineResource({
  type: 'refund',
  path: 'refunds',
  idForm: 'A',
  schema,
  operations: ['list', 'retrieve'],
  events: ['created', 'updated'],
  sortBy: [],
  filters: [],
  references: [{ field: 'invoiceId', to: 'invoice' }],
  rules: { index: ({ doc }) => [{ name: REFUNDS, value: textOf(doc, 'invoiceId') ?? '' }] },
  example: {
    amount: { currency: 'EUR', total: 220 },
    invoiceId: '66b0c1d2e3f4a5b6c7d8e912',
    reference: 'REF-D8E913',
    status: 'waiting',
  },
});

/** The index under which refunds are found by their invoice. */
export const REFUNDS = 'invoice';
