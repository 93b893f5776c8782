import { z } from 'zod';
import { dateTime, oneOf, text } from '../fields.ts';
import { type JsonObject, textOf } from '../json.ts';
import type { NamedValue, ResourceRef, StoredResource, TravelReading } from '../ports.ts';
import { defineResource } from '../resource.ts';
import { amount } from './amount.ts';
import { billingOperationStatus, statusSource } from './billing-operation-status.ts';
import { bookingSnapshot } from './booking-snapshot.ts';
import { customFieldReferences } from './custom-field-check.ts';
import { customFieldValues, presentCustomFields, valuesOf } from './custom-field-values.ts';
import { disputeStatuses } from './dispute.ts';
import { invoiceKindOf, invoiceStatuses } from './invoice.ts';
import { refundStatuses } from './refund.ts';

const schema = z
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
export type BillingOperation = z.infer<typeof schema>;

/** "A billing operation is the lowest billing granularity." Its status is never kept. */
export const billingOperation = defineResource({
  type: 'billingOperation',
  path: 'billing-operations',
  idForm: 'A',
  schema,
  readOnly: z.strictObject({
    status: oneOf([...new Set(['delayed', ...invoiceStatuses, ...refundStatuses, ...disputeStatuses])]),
  }),
  operations: ['list', 'retrieve'],
  cursor: true,
  events: ['created', 'updated'],
  sortBy: ['date'],
  filters: [],
  references: [
    { field: 'billingProfileId', to: 'billingProfile' },
    { field: 'costCenterId', to: 'costCenter' },
    { field: 'disputeId', to: 'dispute' },
    { field: 'invoiceId', to: 'invoice' },
    { field: 'projectCodeId', to: 'projectCode' },
    { field: 'purchaseBillingOperationId', to: 'billingOperation' },
    { field: 'tripProjectId', to: 'tripProject' },
  ],
  under: [
    { type: 'invoice', path: 'invoices', field: 'invoiceId' },
    { type: 'tripProject', path: 'trip-projects', field: 'tripProjectId' },
  ],
  rules: { index, references, present },
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

/** The index under which operations are found by what they belong to, as `<field>/<id>`. */
export const BELONGS = 'belongs';

/** The index under which those are found that the next invoice of a profile takes, as `<billingProfileId>/<invoice kind>`. */
export const UNINVOICED = 'uninvoiced';

function index({ doc }: StoredResource): NamedValue[] {
  const belongs = [
    'invoiceId',
    'tripProjectId',
    'purchaseBillingOperationId',
    'refundId',
    'disputeId',
  ].flatMap((field) => {
    const id = textOf(doc, field);
    return id === undefined ? [] : [{ name: BELONGS, value: `${field}/${id}` }];
  });
  const profile = textOf(doc, 'billingProfileId');
  if (profile === undefined || !isToBeInvoiced(doc)) return belongs;
  const kind = invoiceKindOf(textOf(doc, 'operationType') ?? '');
  return [...belongs, { name: UNINVOICED, value: `${profile}/${kind}` }];
}

/** A refund that is transferred, and a dispute, "does not appear on the invoice". */
function isToBeInvoiced({ invoiceId, refundId, disputeId }: JsonObject): boolean {
  return invoiceId === undefined && refundId === undefined && disputeId === undefined;
}

/** The `refundId` of a dispute names no refund: "no refund resource is created". */
function references(doc: JsonObject): ResourceRef[] {
  const refundId = doc['transactionKind'] === 'refund' ? textOf(doc, 'refundId') : undefined;
  return [
    ...customFieldReferences(valuesOf(doc)),
    ...(refundId === undefined ? [] : [{ type: 'refund', id: refundId }]),
  ];
}

async function present(operations: StoredResource[], reading: TravelReading): Promise<JsonObject[]> {
  const docs = await presentCustomFields(operations, reading);
  const sources = await reading.read(docs.flatMap((doc) => statusSource(doc) ?? []));
  const statuses = new Map(sources.map(({ type, id, doc }) => [`${type} ${id}`, textOf(doc, 'status')]));
  return docs.map((doc) => {
    const source = statusSource(doc);
    const found = source && statuses.get(`${source.type} ${source.id}`);
    return { ...doc, status: billingOperationStatus(doc, found) };
  });
}
