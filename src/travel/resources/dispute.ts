import { z } from 'zod';
import { oneOf, text } from '../fields.ts';
import { textOf } from '../json.ts';
import { defineResource } from '../resource.ts';
import { amount } from './amount.ts';

/** The states of a dispute. */
export const disputeStatuses = [
  'warningNeedsResponse',
  'warningUnderReview',
  'warningClosed',
  'needsResponse',
  'underReview',
  'chargeRefunded',
  'won',
  'lost',
  'solved',
] as const;

/** Why a charge can be disputed. */
export const disputeReasons = [
  'warningNeedsResponse',
  'bankCannotProcess',
  'creditNotProcessed',
  'customerInitiated',
  'debitNotAuthorized',
  'duplicate',
  'fraudulent',
  'general',
  'incorrectAccountDetails',
  'insufficientFunds',
  'productNotReceived',
  'productUnacceptable',
  'subscriptionCanceled',
  'unrecognized',
] as const;

const schema = z
  .strictObject({
    amount,
    invoiceId: text,
    reason: oneOf(disputeReasons),
    status: oneOf(disputeStatuses),
  })
  .meta({
    description: 'An issue that the billing provider found with a paid invoice, whose charge it refunds',
  });

/** The document of a dispute. */
export type Dispute = z.infer<typeof schema>;

/** An issue that the billing provider found with a paid invoice, whose charge it refunds. */
export const dispute = defineResource({
  type: 'dispute',
  path: 'disputes',
  idForm: 'A',
  schema,
  operations: ['list', 'retrieve'],
  events: ['created', 'updated'],
  sortBy: [],
  filters: [],
  references: [{ field: 'invoiceId', to: 'invoice' }],
  rules: { index: ({ doc }) => [{ name: DISPUTES, value: textOf(doc, 'invoiceId') ?? '' }] },
  example: {
    amount: { currency: 'EUR', total: 220 },
    invoiceId: '66b0c1d2e3f4a5b6c7d8e912',
    reason: 'duplicate',
    status: 'needsResponse',
  },
});

/** The index under which disputes are found by their invoice. */
export const DISPUTES = 'invoice';
