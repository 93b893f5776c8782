import { seconds } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { BillingOperation } from '../resources/billing-operation.ts';
import { add, change, type Desk, get, type Kept, operationsOf } from './desk.ts';
import { centsOf, partOf, priced } from './money.ts';
import { retelling } from './retelling.ts';
import { mustFollow, type RefundStatus } from './transitions.ts';

/** Gives back a purchase, or a part of it. */
export interface ManualRefund {
  billingOperationId: string;
  /** Nothing said: all that is left. */
  total?: number;
  description?: string;
}

/** A refund issued by hand, whatever was bought. */
export async function refundOperation(desk: Desk, refund: ManualRefund): Promise<Kept<'billingOperation'>> {
  const { billingOperationId, total, description } = refund;
  const purchase = await get(desk, 'billingOperation', billingOperationId);
  if (purchase.doc.transactionKind !== 'purchase') {
    throw new ApiError('conflict', `The billing operation ${billingOperationId} is no purchase.`);
  }
  const left = (await leftOf(desk, [purchase])).get(purchase.id) ?? 0;
  const { currency } = purchase.doc.amount;
  const cents = total === undefined ? left : centsOf(priced({ currency, total }));
  if (cents === 0 || cents > left) {
    throw new ApiError('conflict', `Of the purchase ${purchase.id} ${left / 100} ${currency} are left.`);
  }
  return giveBack(desk, purchase, { cents, left, description });
}

/** The cents of each purchase that were not given back. Nothing is left of what a void invoice asked for. */
export async function leftOf(
  desk: Desk,
  purchases: Kept<'billingOperation'>[],
): Promise<Map<string, number>> {
  const ids = purchases.map(({ id }) => id);
  const refunds = await operationsOf(desk, 'purchaseBillingOperationId', ids);
  const lost = await withStatus(desk, 'refund', fieldOf(refunds, 'refundId'), ['failed', 'canceled']);
  const voided = await withStatus(desk, 'invoice', fieldOf(purchases, 'invoiceId'), ['void']);
  const left = purchases.map(({ id, doc }): [string, number] => {
    if (voided.has(doc.invoiceId ?? '')) return [id, 0];
    const own = refunds.filter((one) => one.doc.purchaseBillingOperationId === id);
    const given = own.filter((one) => !lost.has(one.doc.refundId ?? ''));
    return [id, centsOf(doc.amount) - given.reduce((sum, one) => sum + centsOf(one.doc.amount), 0)];
  });
  return new Map(left);
}

/**
 * "If no invoice was emitted yet, the invoice balance is adjusted, no refund resource is created and `refundId` is
 * absent. If an invoice was emitted, a money transfer is performed, a refund resource is created and `refundId` is
 * filled." The transfer waits for the payment of the invoice.
 */
export async function giveBack(
  desk: Desk,
  purchase: Kept<'billingOperation'>,
  { cents, left, description }: { cents: number; left: number; description: string | undefined },
): Promise<Kept<'billingOperation'>> {
  const { invoiceId, disputeId: _none, ...bought } = purchase.doc;
  const amount = partOf(cents, left, purchase.doc.amount);
  const operation: BillingOperation = {
    ...bought,
    amount,
    date: seconds(desk.now()),
    description: description ?? `Refund of ${purchase.doc.description ?? purchase.doc.operationType}`,
    purchaseBillingOperationId: purchase.id,
    transactionKind: 'refund',
  };
  if (invoiceId === undefined) return add(desk, 'billingOperation', operation);
  const { doc: invoice } = await get(desk, 'invoice', invoiceId);
  const id = desk.newId('A');
  const status: RefundStatus = invoice.status === 'paid' ? 'waiting' : 'delayed';
  await add(desk, 'refund', { amount, invoiceId, reference: referenceOf('REF', id), status }, id);
  return add(desk, 'billingOperation', { ...operation, refundId: id });
}

/** The bank is asked to transfer the money. */
export async function startTransfer(desk: Desk, refundId: string): Promise<Kept<'refund'>> {
  return moveRefund(desk, await get(desk, 'refund', refundId), 'pending');
}

/** What came of a transfer. One that waits for the payment of its invoice ends with the invoice only. */
export async function endTransfer(
  desk: Desk,
  refundId: string,
  outcome: 'succeeded' | 'failed' | 'canceled',
): Promise<Kept<'refund'>> {
  const refund = await get(desk, 'refund', refundId);
  if (refund.doc.status === 'delayed') {
    throw new ApiError('conflict', 'The refund is delayed until its invoice is paid or void.');
  }
  return moveRefund(desk, refund, outcome);
}

/** Another state of a refund, told of its billing operation, too. */
export async function moveRefund(
  desk: Desk,
  refund: Kept<'refund'>,
  status: RefundStatus,
): Promise<Kept<'refund'>> {
  mustFollow('refund', refund.doc.status, status);
  const operations = await operationsOf(desk, 'refundId', [refund.id]);
  return retelling(desk, operations, () => change(desk, 'refund', refund, { status }));
}

/** A reference for people, made of an id. */
export function referenceOf(prefix: string, id: string): string {
  return `${prefix}-${id.slice(-10).toUpperCase()}`;
}

async function withStatus(
  { recorder }: Desk,
  type: 'refund' | 'invoice',
  ids: string[],
  statuses: string[],
): Promise<Set<string>> {
  const found = await recorder.within.read(ids.map((id) => ({ type, id })));
  return new Set(found.filter(({ doc }) => statuses.includes(String(doc['status']))).map(({ id }) => id));
}

function fieldOf(operations: Kept<'billingOperation'>[], field: 'refundId' | 'invoiceId'): string[] {
  return operations.flatMap(({ doc }) => doc[field] ?? []);
}
