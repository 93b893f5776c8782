import { notFound } from '../errors.ts';
import { textOf } from '../json.ts';
import { readOne } from '../ports.ts';
import { UNINVOICED } from '../resources/billing-operation.ts';
import type { Invoice } from '../resources/invoice.ts';
import { REFUNDS } from '../resources/refund.ts';
import { add, type BookingDeps, change, find, get, type Kept, operationsOf, retelling } from './context.ts';
import { balance } from './prices.ts';
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
