import { z } from 'zod';
import { amount, dateTime, oneOf, text } from '../declaration/fields.ts';
import { defineResource, type ResourceDeclaration } from '../declaration/resource.ts';
import { type JsonObject, stringMember } from '../json.ts';
import type { NamedValue, ResourceRef, StoredResource, TravelReader } from '../ports.ts';
import {
  customFieldReferences,
  customFieldsOf,
  customFieldValues,
  serializeCustomFields,
} from './custom-field-values.ts';
import { bookingSnapshot } from './trip-project.ts';

/** The statuses of an invoice. */
export const invoiceStatuses = ['open', 'paid', 'uncollectible', 'void'] as const;

const invoiceSchema = z
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
  .meta({ description: 'Purchases and refunds that are paid together' });

/** The document of an invoice. */
export type Invoice = z.infer<typeof invoiceSchema>;

/**
 * The resource of invoices: "An invoice aggregates one or several purchase and refund billing operations"
 * (specification).
 */
export const invoice = defineResource({
  type: 'invoice',
  path: 'invoices',
  idForm: 'A',
  schema: invoiceSchema,
  filterBy: { kind: 'kind', status: 'status', billingProfileId: 'billingProfileId' },
  isReadOnly: true,
  cursor: true,
  events: ['created', 'updated'],
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
 * The kind of invoice that operations of this type belong on: "An operation is either a booking (value `booking`, or
 * the specific `car`, `flight`, `hotel`, `rail`, `seminar`), or a `subscription` operation, or an `other` operation".
 */
export function invoiceKindOf(operationType: string): string {
  return operationType === 'subscription' || operationType === 'other' ? operationType : 'booking';
}

/** The statuses of a dispute. */
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

/** The reasons for a dispute. */
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

const disputeSchema = z
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
export type Dispute = z.infer<typeof disputeSchema>;

/** The index of disputes, and of refunds, by their invoice. */
export const INVOICE_INDEX = 'invoice';

/** The common definition of disputes and refunds: clients only read them, and find them by their invoice. */
const belongsToInvoice = {
  isReadOnly: true,
  events: ['created', 'updated'],
  references: [{ field: 'invoiceId', to: 'invoice' }],
  rules: {
    index: ({ doc }) => [{ name: INVOICE_INDEX, value: stringMember(doc, 'invoiceId') ?? '' }],
  },
} satisfies Partial<ResourceDeclaration>;

/** A dispute of the charge of a paid invoice. The billing provider opens it and refunds the charge. */
export const dispute = defineResource({
  type: 'dispute',
  path: 'disputes',
  idForm: 'A',
  schema: disputeSchema,
  filterBy: { kind: 'reason', status: 'status' },
  ...belongsToInvoice,
  example: {
    amount: { currency: 'EUR', total: 220 },
    invoiceId: '66b0c1d2e3f4a5b6c7d8e912',
    reason: 'duplicate',
    status: 'needsResponse',
  },
});

/** The statuses of a refund. */
export const refundStatuses = ['delayed', 'waiting', 'pending', 'succeeded', 'failed', 'canceled'] as const;

const refundSchema = z
  .strictObject({
    amount,
    invoiceId: text,
    pdf: text.meta({ format: 'uri' }).optional(),
    reference: text.optional(),
    status: oneOf(refundStatuses),
  })
  .meta({ description: 'A transfer of money back to the customer, after the invoice was emitted' });

/** The document of a refund. */
export type Refund = z.infer<typeof refundSchema>;

/** A transfer of money back to the customer, after an invoice was emitted. */
export const refund = defineResource({
  type: 'refund',
  path: 'refunds',
  idForm: 'A',
  schema: refundSchema,
  filterBy: { status: 'status' },
  ...belongsToInvoice,
  example: {
    amount: { currency: 'EUR', total: 220 },
    invoiceId: '66b0c1d2e3f4a5b6c7d8e912',
    reference: 'REF-D8E913',
    status: 'waiting',
  },
});

/**
 * Returns the resource that determines the status of a billing operation (specification, "Derivation of the billing
 * operation status"): the invoice of a purchase, the refund resource of a refund, the dispute resource of a dispute. A
 * refund resource is `delayed` until its invoice is paid, so the invoice is not needed for it.
 */
export function statusSource(doc: JsonObject): ResourceRef | undefined {
  const source = statusSources.get(stringMember(doc, 'transactionKind') ?? '');
  const id = source && stringMember(doc, source.field);
  return source && id !== undefined ? { type: source.type, id } : undefined;
}

/**
 * The status of a billing operation, given that of its source. An operation without a source was made before any
 * invoice was emitted.
 */
export function billingOperationStatus(doc: JsonObject, ofSource: string | undefined): string {
  return ofSource ?? (doc['transactionKind'] === 'refund' ? 'succeeded' : 'delayed');
}

const statusSources = new Map([
  ['purchase', { field: 'invoiceId', type: 'invoice' }],
  ['refund', { field: 'refundId', type: 'refund' }],
  ['dispute', { field: 'disputeId', type: 'dispute' }],
]);

const billingOperationSchema = z
  .strictObject({
    amount,
    billingProfileId: text.optional(),
    bookingSnapshot: bookingSnapshot.optional(),
    costCenterId: text.optional(),
    customFields: customFieldValues.optional(),
    date: dateTime,
    description: text.optional(),
    disputeId: text.optional(),
    invoiceId: text.optional(),
    operationType: oneOf(['booking', 'car', 'flight', 'hotel', 'other', 'rail', 'seminar', 'subscription']),
    projectCodeId: text.optional(),
    purchaseBillingOperationId: text.optional(),
    refundId: text.optional(),
    transactionKind: oneOf(['dispute', 'purchase', 'refund']),
    tripProjectId: text.optional(),
  })
  .meta({ description: 'The lowest billing granularity: a purchase, a refund or a dispute' });

/** The document of a billing operation, without its derived status. */
export type BillingOperation = z.infer<typeof billingOperationSchema>;

/** "A billing operation is the lowest billing granularity." Its status is derived and not stored. */
export const billingOperation = defineResource({
  type: 'billingOperation',
  path: 'billing-operations',
  idForm: 'A',
  schema: billingOperationSchema,
  readOnly: z.strictObject({
    status: oneOf([...new Set(['delayed', ...invoiceStatuses, ...refundStatuses, ...disputeStatuses])]),
  }),
  filterBy: {
    ...{ kind: 'operationType', status: 'status', date: 'date' },
    ...{ billingProfileId: 'billingProfileId', costCenterId: 'costCenterId' },
  },
  isReadOnly: true,
  cursor: true,
  events: ['created', 'updated'],
  sortBy: ['date'],
  references: [
    { field: 'billingProfileId', to: 'billingProfile' },
    { field: 'costCenterId', to: 'costCenter' },
    { field: 'disputeId', to: 'dispute' },
    { field: 'invoiceId', to: 'invoice' },
    { field: 'projectCodeId', to: 'projectCode' },
    { field: 'purchaseBillingOperationId', to: 'billingOperation' },
    { field: 'tripProjectId', to: 'tripProject' },
  ],
  subCollections: [
    { type: 'invoice', path: 'invoices', field: 'invoiceId' },
    { type: 'tripProject', path: 'trip-projects', field: 'tripProjectId' },
  ],
  rules: {
    index: operationIndex,
    references: operationReferences,
    serialize: serializeOperations,
    status: (doc) => statusSource(doc) ?? billingOperationStatus(doc, undefined),
  },
  example: {
    amount: { base: 200, currency: 'EUR', tax: 20, taxRate: 10, total: 220 },
    billingProfileId: '66b0c1d2e3f4a5b6c7d8e911',
    bookingSnapshot: {
      booker: {
        id: '7d4e7f0a-52b1-4f53-8a0e-3c1f9f0a6b21',
        email: 'ada@example.com',
        fullName: 'Ada Lovelace',
      },
      channel: 'online',
      date: '2026-11-20T12:00:00Z',
      kind: 'flight',
      reference: 'B3C401',
      servicebudget: { currency: 'EUR', total: 250 },
      supplierName: 'TAP Air Portugal',
      transport: {
        cabinClass: 'economy',
        departure: { airport: 'CDG', city: 'Paris', countryCode: 'FR' },
        departureLocaleDate: '2026-12-01',
        destination: { airport: 'LIS', city: 'Lisbon', countryCode: 'PT' },
        fareType: 'flex',
        itineraryType: 'roundTrip',
        lowCost: false,
        returnLocaleDate: '2026-12-02',
      },
      traveler: {
        id: '7d4e7f0a-52b1-4f53-8a0e-3c1f9f0a6b21',
        email: 'ada@example.com',
        fullName: 'Ada Lovelace',
      },
    },
    date: '2026-11-20T12:00:00Z',
    description: 'Flight to Lisbon Humberto Delgado',
    operationType: 'flight',
    status: 'delayed',
    transactionKind: 'purchase',
    tripProjectId: '0f8b1c52-6d0e-4d7c-9a51-2f7d6e1b3c40',
  },
});

/** The index by which operations are found from the resources that they belong to; its values are `<field>/<id>`. */
export const PARENT_INDEX = 'belongs';

/** The index of the operations that are not invoiced yet; its values are `<billingProfileId>/<invoice kind>`. */
export const UNINVOICED_INDEX = 'uninvoiced';

function operationIndex({ doc }: StoredResource): NamedValue[] {
  const belongs = [
    'invoiceId',
    'tripProjectId',
    'purchaseBillingOperationId',
    'refundId',
    'disputeId',
  ].flatMap((field) => {
    const id = stringMember(doc, field);
    return id === undefined ? [] : [{ name: PARENT_INDEX, value: `${field}/${id}` }];
  });
  const profile = stringMember(doc, 'billingProfileId');
  if (profile === undefined || !isToBeInvoiced(doc)) return belongs;
  const kind = invoiceKindOf(stringMember(doc, 'operationType') ?? '');
  return [...belongs, { name: UNINVOICED_INDEX, value: `${profile}/${kind}` }];
}

/** A refund with a transfer, and a dispute, "does not appear on the invoice". */
function isToBeInvoiced({ invoiceId, refundId, disputeId }: JsonObject): boolean {
  return invoiceId === undefined && refundId === undefined && disputeId === undefined;
}

/** The `refundId` of a dispute refers to no refund: "no refund resource is created". */
function operationReferences(doc: JsonObject): ResourceRef[] {
  const refundId = doc['transactionKind'] === 'refund' ? stringMember(doc, 'refundId') : undefined;
  return [
    ...customFieldReferences(customFieldsOf(doc)),
    ...(refundId === undefined ? [] : [{ type: 'refund', id: refundId }]),
  ];
}

async function serializeOperations(
  operations: StoredResource[],
  reader: TravelReader,
): Promise<JsonObject[]> {
  const docs = await serializeCustomFields(operations, reader);
  const sources = await reader.read(docs.flatMap((doc) => statusSource(doc) ?? []));
  const statuses = new Map(
    sources.map(({ type, id, doc }) => [`${type} ${id}`, stringMember(doc, 'status')]),
  );
  return docs.map((doc) => {
    const source = statusSource(doc);
    const found = source && statuses.get(`${source.type} ${source.id}`);
    return { ...doc, status: billingOperationStatus(doc, found) };
  });
}
