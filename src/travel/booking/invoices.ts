import { seconds } from '../collection.ts';
import { notFound } from '../errors.ts';
import { textOf } from '../json.ts';
import { readOne } from '../ports.ts';
import { type Invoice, REFUNDS, UNINVOICED } from '../resources/billing.ts';
import type { BookingSnapshot } from '../resources/trip-project.ts';
import { add, type BookingDeps, change, find, get, type Kept, operationsOf, retelling } from './context.ts';
import { billTo, travelersBy } from './coverage.ts';
import { personOf } from './orders.ts';
import { balance, type Price, priced } from './prices.ts';
import { moveRefund, referenceOf } from './refunds.ts';
import { type InvoiceStatus, mustFollow } from './transitions.ts';

/** Asks for the money that a billing profile owes for one kind of purchases. */
export interface Invoicing {
  billingProfileId: string;
  kind: 'booking' | 'other' | 'subscription';
  description?: string;
}

/**
 * Emits the invoices of a profile, one for each currency: all purchases of the kind that were not invoiced yet, less the
 * refunds that they had since. Nothing to invoice: no invoice.
 */
export async function invoiceProfile(deps: BookingDeps, invoicing: Invoicing): Promise<Kept<'invoice'>[]> {
  const { billingProfileId, kind } = invoicing;
  const profile = await readOne(deps.recorder.within, 'billingProfile', billingProfileId);
  if (!profile) throw notFound('billingProfile');
  const index = { name: UNINVOICED, values: [`${billingProfileId}/${kind}`] };
  const open = await find(deps, 'billingOperation', index);
  const currencies = [...new Set(open.map(({ doc }) => doc.amount.currency))].sort();
  const emitted: Kept<'invoice'>[] = [];
  for (const currency of currencies) {
    const operations = open.filter(({ doc }) => doc.amount.currency === currency);
    const paymentMethodSummary = textOf(profile.doc, 'paymentMethodSummary');
    emitted.push(await emit(deps, operations, { ...invoicing, paymentMethodSummary }));
  }
  return emitted;
}

/** The money came. Refunds that waited for it are transferred now. */
export async function payInvoice(
  deps: BookingDeps,
  invoiceId: string,
  paymentReference?: string,
): Promise<Kept<'invoice'>> {
  const paid = paymentReference === undefined ? {} : { paymentReference };
  const invoice = await moveInvoice(deps, invoiceId, { ...paid, status: 'paid' });
  for (const refund of await delayedRefunds(deps, invoiceId)) await moveRefund(deps, refund, 'waiting');
  return invoice;
}

/** The invoice should not have been: nobody owes it, and there is nothing to give back. */
export async function voidInvoice(deps: BookingDeps, invoiceId: string): Promise<Kept<'invoice'>> {
  const invoice = await moveInvoice(deps, invoiceId, { status: 'void' });
  for (const refund of await delayedRefunds(deps, invoiceId)) await moveRefund(deps, refund, 'canceled');
  return invoice;
}

/** Nobody expects the money any more; it may come all the same. */
export function giveUpInvoice(deps: BookingDeps, invoiceId: string): Promise<Kept<'invoice'>> {
  return moveInvoice(deps, invoiceId, { status: 'uncollectible' });
}

const descriptions = { booking: 'Bookings', other: 'Other services', subscription: 'Subscription' };

async function emit(
  deps: BookingDeps,
  operations: Kept<'billingOperation'>[],
  {
    description,
    paymentMethodSummary,
    ...invoicing
  }: Invoicing & { paymentMethodSummary: string | undefined },
): Promise<Kept<'invoice'>> {
  const amounts = (kind: string) =>
    operations.filter(({ doc }) => doc.transactionKind === kind).map(({ doc }) => doc.amount);
  const id = deps.newId('A');
  const doc: Invoice = {
    ...invoicing,
    amount: balance(amounts('purchase'), amounts('refund')),
    billingOperationsCount: operations.length,
    description: description ?? descriptions[invoicing.kind],
    paymentMethodSummary,
    reference: referenceOf('INV', id),
    status: 'open',
  };
  const invoice = await add(deps, 'invoice', doc, id);
  for (const operation of operations) await change(deps, 'billingOperation', operation, { invoiceId: id });
  return invoice;
}

async function moveInvoice(
  deps: BookingDeps,
  invoiceId: string,
  changed: { status: InvoiceStatus; paymentReference?: string },
): Promise<Kept<'invoice'>> {
  const invoice = await get(deps, 'invoice', invoiceId);
  mustFollow('invoice', invoice.doc.status, changed.status);
  const operations = await operationsOf(deps, 'invoiceId', [invoiceId]);
  return retelling(deps, operations, () => change(deps, 'invoice', invoice, changed));
}

async function delayedRefunds(deps: BookingDeps, invoiceId: string): Promise<Kept<'refund'>[]> {
  const refunds = await find(deps, 'refund', { name: REFUNDS, values: [invoiceId] });
  return refunds.filter(({ doc }) => doc.status === 'delayed');
}

/** A purchase that is no booking of a traveler. */
export interface Charge {
  billingProfileId: string;
  operationType: 'other' | 'seminar' | 'subscription';
  price: Price;
  description: string;
  costCenterId?: string;
  projectCodeId?: string;
}

/** A booking that support made by telephone or mail, and that becomes known here afterwards. */
export interface OfflineBooking {
  travelerId: string;
  /** Nothing said: the traveler. */
  bookerId?: string;
  kind: 'booking' | 'car' | 'flight' | 'hotel' | 'rail' | 'seminar';
  price: Price;
  description?: string;
  /** Epoch milliseconds; nothing said: now. */
  bookedAt?: number;
  projectCodeId?: string;
  details?: Pick<BookingSnapshot, 'hotel' | 'reference' | 'supplierName' | 'transport'>;
}

/** A subscription, or something that support does by hand. */
export async function charge(deps: BookingDeps, wanted: Charge): Promise<Kept<'billingOperation'>> {
  const { price, ...rest } = wanted;
  await refuseUnknown(deps, wanted);
  return add(deps, 'billingOperation', {
    ...rest,
    amount: priced(price),
    date: seconds(deps.now()),
    transactionKind: 'purchase',
  });
}

/** An operation of the offline channel: it has a snapshot, and no trip project. */
export async function bookOffline(
  deps: BookingDeps,
  booking: OfflineBooking,
): Promise<Kept<'billingOperation'>> {
  const { travelerId, bookerId = travelerId, bookedAt = deps.now(), kind, price, projectCodeId } = booking;
  await refuseUnknown(deps, { projectCodeId });
  const [traveler, booker] = await travelersBy(deps, [travelerId, bookerId]);
  if (!traveler || !booker) throw notFound('user');
  const date = seconds(bookedAt);
  return add(deps, 'billingOperation', {
    ...(await billTo(deps, traveler, { projectCodeId })),
    amount: priced(price),
    bookingSnapshot: {
      ...booking.details,
      ...{ booker: personOf(booker), traveler: personOf(traveler), channel: 'offline', date, kind },
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

async function refuseUnknown({ recorder }: BookingDeps, referred: Referred): Promise<void> {
  const { billingProfileId, costCenterId, projectCodeId } = referred;
  for (const [type, id] of Object.entries({
    billingProfile: billingProfileId,
    costCenter: costCenterId,
    projectCode: projectCodeId,
  })) {
    if (id !== undefined && !(await readOne(recorder.within, type, id))) throw notFound(type);
  }
}
