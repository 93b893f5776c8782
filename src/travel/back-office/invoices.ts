import { notFound } from '../errors.ts';
import { textOf } from '../json.ts';
import { readOne } from '../ports.ts';
import { UNINVOICED } from '../resources/billing-operation.ts';
import type { Invoice } from '../resources/invoice.ts';
import { REFUNDS } from '../resources/refund.ts';
import { add, change, type Desk, find, get, type Kept, operationsOf } from './desk.ts';
import { balance } from './money.ts';
import { moveRefund, referenceOf } from './refunds.ts';
import { retelling } from './retelling.ts';
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
export async function invoiceProfile(desk: Desk, invoicing: Invoicing): Promise<Kept<'invoice'>[]> {
  const { billingProfileId, kind } = invoicing;
  const profile = await readOne(desk.recorder.within, 'billingProfile', billingProfileId);
  if (!profile) throw notFound('billingProfile');
  const index = { name: UNINVOICED, values: [`${billingProfileId}/${kind}`] };
  const open = await find(desk, 'billingOperation', index);
  const currencies = [...new Set(open.map(({ doc }) => doc.amount.currency))].sort();
  const emitted: Kept<'invoice'>[] = [];
  for (const currency of currencies) {
    const operations = open.filter(({ doc }) => doc.amount.currency === currency);
    const paymentMethodSummary = textOf(profile.doc, 'paymentMethodSummary');
    emitted.push(await emit(desk, operations, { ...invoicing, paymentMethodSummary }));
  }
  return emitted;
}

/** The money came. Refunds that waited for it are transferred now. */
export async function payInvoice(
  desk: Desk,
  invoiceId: string,
  paymentReference?: string,
): Promise<Kept<'invoice'>> {
  const paid = paymentReference === undefined ? {} : { paymentReference };
  const invoice = await moveInvoice(desk, invoiceId, { ...paid, status: 'paid' });
  for (const refund of await delayedRefunds(desk, invoiceId)) await moveRefund(desk, refund, 'waiting');
  return invoice;
}

/** The invoice should not have been: nobody owes it, and there is nothing to give back. */
export async function voidInvoice(desk: Desk, invoiceId: string): Promise<Kept<'invoice'>> {
  const invoice = await moveInvoice(desk, invoiceId, { status: 'void' });
  for (const refund of await delayedRefunds(desk, invoiceId)) await moveRefund(desk, refund, 'canceled');
  return invoice;
}

/** Nobody expects the money any more; it may come all the same. */
export function giveUpInvoice(desk: Desk, invoiceId: string): Promise<Kept<'invoice'>> {
  return moveInvoice(desk, invoiceId, { status: 'uncollectible' });
}

const descriptions = { booking: 'Bookings', other: 'Other services', subscription: 'Subscription' };

async function emit(
  desk: Desk,
  operations: Kept<'billingOperation'>[],
  {
    description,
    paymentMethodSummary,
    ...invoicing
  }: Invoicing & { paymentMethodSummary: string | undefined },
): Promise<Kept<'invoice'>> {
  const amounts = (kind: string) =>
    operations.filter(({ doc }) => doc.transactionKind === kind).map(({ doc }) => doc.amount);
  const id = desk.newId('A');
  const doc: Invoice = {
    ...invoicing,
    amount: balance(amounts('purchase'), amounts('refund')),
    billingOperationsCount: operations.length,
    description: description ?? descriptions[invoicing.kind],
    paymentMethodSummary,
    reference: referenceOf('INV', id),
    status: 'open',
  };
  const invoice = await add(desk, 'invoice', doc, id);
  for (const operation of operations) await change(desk, 'billingOperation', operation, { invoiceId: id });
  return invoice;
}

async function moveInvoice(
  desk: Desk,
  invoiceId: string,
  changed: { status: InvoiceStatus; paymentReference?: string },
): Promise<Kept<'invoice'>> {
  const invoice = await get(desk, 'invoice', invoiceId);
  mustFollow('invoice', invoice.doc.status, changed.status);
  const operations = await operationsOf(desk, 'invoiceId', [invoiceId]);
  return retelling(desk, operations, () => change(desk, 'invoice', invoice, changed));
}

async function delayedRefunds(desk: Desk, invoiceId: string): Promise<Kept<'refund'>[]> {
  const refunds = await find(desk, 'refund', { name: REFUNDS, values: [invoiceId] });
  return refunds.filter(({ doc }) => doc.status === 'delayed');
}
