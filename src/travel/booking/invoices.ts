import { formatTimestamp, requireStored } from '../collection.ts';
import { notFound } from '../errors.ts';
import { stringMember } from '../json.ts';
import { INVOICE_INDEX, type Invoice, UNINVOICED_INDEX } from '../resources/billing.ts';
import type { BookingSnapshot } from '../resources/trip-project.ts';
import { toPerson } from './book-trip.ts';
import {
  type BookingDeps,
  emitDerivedEvents,
  findDocuments,
  findOperations,
  insertDocument,
  requireDocument,
  type StoredInvoice,
  type StoredOperation,
  type StoredRefund,
  updateDocument,
} from './context.ts';
import { type Price, sumAmounts, toAmount } from './prices.ts';
import { referenceOf, setRefundStatus } from './refunds.ts';
import { type InvoiceStatus, requireTransition } from './transitions.ts';
import { findBillingTarget, requireTravelers } from './traveler-segments.ts';

/** A request to invoice one kind of operations of a billing profile. */
export interface InvoiceRequest {
  billingProfileId: string;
  kind: 'booking' | 'other' | 'subscription';
  description?: string;
}

/**
 * Creates the invoices of a billing profile, one per currency: all uninvoiced purchases of the kind, minus the refunds
 * made since. Returns an empty list if there is nothing to invoice.
 */
export async function invoiceProfile(deps: BookingDeps, invoicing: InvoiceRequest): Promise<StoredInvoice[]> {
  const { billingProfileId, kind } = invoicing;
  const profile = await requireStored(deps.recorder.transaction, 'billingProfile', billingProfileId);
  const index = { name: UNINVOICED_INDEX, values: [`${billingProfileId}/${kind}`] };
  const open = await findDocuments(deps, 'billingOperation', index);
  const currencies = [...new Set(open.map(({ doc }) => doc.amount.currency))].sort();
  const emitted: StoredInvoice[] = [];
  for (const currency of currencies) {
    const operations = open.filter(({ doc }) => doc.amount.currency === currency);
    const paymentMethodSummary = stringMember(profile.doc, 'paymentMethodSummary');
    emitted.push(await emitInvoice(deps, operations, { ...invoicing, paymentMethodSummary }));
  }
  return emitted;
}

/** Records the payment of an invoice. Refunds that were delayed until then become `waiting`. */
export async function payInvoice(
  deps: BookingDeps,
  invoiceId: string,
  paymentReference?: string,
): Promise<StoredInvoice> {
  const paid = paymentReference === undefined ? {} : { paymentReference };
  const invoice = await updateInvoiceStatus(deps, invoiceId, { ...paid, status: 'paid' });
  for (const refund of await delayedRefunds(deps, invoiceId)) await setRefundStatus(deps, refund, 'waiting');
  return invoice;
}

/** Voids an invoice that should not have been issued. Its delayed refunds are canceled, because nothing was paid. */
export async function voidInvoice(deps: BookingDeps, invoiceId: string): Promise<StoredInvoice> {
  const invoice = await updateInvoiceStatus(deps, invoiceId, { status: 'void' });
  for (const refund of await delayedRefunds(deps, invoiceId)) await setRefundStatus(deps, refund, 'canceled');
  return invoice;
}

/** Marks an invoice as uncollectible. It can still be paid later. */
export function markInvoiceUncollectible(deps: BookingDeps, invoiceId: string): Promise<StoredInvoice> {
  return updateInvoiceStatus(deps, invoiceId, { status: 'uncollectible' });
}

const descriptions = { booking: 'Bookings', other: 'Other services', subscription: 'Subscription' };

async function emitInvoice(
  deps: BookingDeps,
  operations: StoredOperation[],
  {
    description,
    paymentMethodSummary,
    ...invoicing
  }: InvoiceRequest & { paymentMethodSummary: string | undefined },
): Promise<StoredInvoice> {
  const amounts = (kind: string) =>
    operations.filter(({ doc }) => doc.transactionKind === kind).map(({ doc }) => doc.amount);
  const id = deps.newId('A');
  const doc: Invoice = {
    ...invoicing,
    amount: sumAmounts(amounts('purchase'), amounts('refund')),
    billingOperationsCount: operations.length,
    description: description ?? descriptions[invoicing.kind],
    paymentMethodSummary,
    reference: referenceOf('INV', id),
    status: 'open',
  };
  const invoice = await insertDocument(deps, 'invoice', doc, id);
  for (const operation of operations)
    await updateDocument(deps, 'billingOperation', operation, { invoiceId: id });
  return invoice;
}

async function updateInvoiceStatus(
  deps: BookingDeps,
  invoiceId: string,
  changed: { status: InvoiceStatus; paymentReference?: string },
): Promise<StoredInvoice> {
  const invoice = await requireDocument(deps, 'invoice', invoiceId);
  requireTransition('invoice', invoice.doc.status, changed.status);
  const operations = await findOperations(deps, 'invoiceId', [invoiceId]);
  return emitDerivedEvents(deps, operations, () => updateDocument(deps, 'invoice', invoice, changed));
}

async function delayedRefunds(deps: BookingDeps, invoiceId: string): Promise<StoredRefund[]> {
  const refunds = await findDocuments(deps, 'refund', { name: INVOICE_INDEX, values: [invoiceId] });
  return refunds.filter(({ doc }) => doc.status === 'delayed');
}

/** A purchase that is not a booking of a traveler. */
export interface Charge {
  billingProfileId: string;
  operationType: 'other' | 'seminar' | 'subscription';
  price: Price;
  description: string;
  costCenterId?: string;
  projectCodeId?: string;
}

/** A booking that support made by telephone or mail and that is recorded afterwards. */
export interface OfflineBooking {
  travelerId: string;
  /** Defaults to the traveler. */
  bookerId?: string;
  kind: 'booking' | 'car' | 'flight' | 'hotel' | 'rail' | 'seminar';
  price: Price;
  description?: string;
  /** Epoch milliseconds; now by default. */
  bookedAt?: number;
  projectCodeId?: string;
  details?: Pick<BookingSnapshot, 'hotel' | 'reference' | 'supplierName' | 'transport'>;
}

/** Charges a subscription or a service of support. */
export async function charge(deps: BookingDeps, wanted: Charge): Promise<StoredOperation> {
  const { price, ...rest } = wanted;
  await requireReferences(deps, wanted);
  return insertDocument(deps, 'billingOperation', {
    ...rest,
    amount: toAmount(price),
    date: formatTimestamp(deps.now()),
    transactionKind: 'purchase',
  });
}

/** Records a booking of the offline channel, which has a snapshot but no trip project. */
export async function bookOffline(deps: BookingDeps, booking: OfflineBooking): Promise<StoredOperation> {
  const { travelerId, bookerId = travelerId, bookedAt = deps.now(), kind, price, projectCodeId } = booking;
  await requireReferences(deps, { projectCodeId });
  const [traveler, booker] = await requireTravelers(deps, [travelerId, bookerId]);
  if (!traveler || !booker) throw notFound('user');
  const date = formatTimestamp(bookedAt);
  return insertDocument(deps, 'billingOperation', {
    ...(await findBillingTarget(deps, traveler, { projectCodeId })),
    amount: toAmount(price),
    bookingSnapshot: {
      ...booking.details,
      ...{ booker: toPerson(booker), traveler: toPerson(traveler), channel: 'offline', date, kind },
    },
    date,
    description: booking.description ?? `Offline ${kind}`,
    operationType: kind,
    transactionKind: 'purchase',
  });
}

interface Referred {
  billingProfileId?: string | undefined;
  costCenterId?: string | undefined;
  projectCodeId?: string | undefined;
}

async function requireReferences({ recorder }: BookingDeps, referred: Referred): Promise<void> {
  const { billingProfileId, costCenterId, projectCodeId } = referred;
  for (const [type, id] of Object.entries({
    billingProfile: billingProfileId,
    costCenter: costCenterId,
    projectCode: projectCodeId,
  })) {
    if (id !== undefined) await requireStored(recorder.transaction, type, id);
  }
}
