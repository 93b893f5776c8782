import { seconds } from '../collection.ts';
import { ApiError } from '../errors.ts';
import { type BillingOperation, DISPUTES, type disputeReasons, REFUNDS } from '../resources/billing.ts';
import { add, type BookingDeps, change, find, get, type Kept, operationsOf, retelling } from './context.ts';
import { amountOf, centsOf, partOf, priced } from './prices.ts';
import { type DisputeStatus, mustFollow, type RefundStatus } from './transitions.ts';

/** Gives back a purchase, or a part of it. */
export interface ManualRefund {
  billingOperationId: string;
  /** Nothing said: all that is left. */
  total?: number;
  description?: string;
}

/** A refund issued by hand, whatever was bought. */
export async function refundOperation(
  deps: BookingDeps,
  refund: ManualRefund,
): Promise<Kept<'billingOperation'>> {
  const { billingOperationId, total, description } = refund;
  const purchase = await get(deps, 'billingOperation', billingOperationId);
  if (purchase.doc.transactionKind !== 'purchase') {
    throw new ApiError('conflict', `The billing operation ${billingOperationId} is no purchase.`);
  }
  const left = await leftOf(deps, [purchase]);
  const most = left.most(purchase);
  const { currency } = purchase.doc.amount;
  const cents = total === undefined ? most : centsOf(priced({ currency, total }));
  if (cents <= 0 || cents > most) {
    throw new ApiError('conflict', `Of the purchase ${purchase.id} ${most / 100} ${currency} are left.`);
  }
  return giveBack(deps, purchase, { cents, left, description });
}

/** The cents of a purchase that can still be given back. */
export async function refundable(deps: BookingDeps, billingOperationId: string): Promise<number> {
  const purchase = await get(deps, 'billingOperation', billingOperationId);
  return (await leftOf(deps, [purchase])).most(purchase);
}

/** What is left of purchases, and of the invoices that they are on, while parts of them are given back. */
export interface Left {
  /** The cents of a purchase that were not given back. Nothing is left of what a void invoice asked for. */
  ofPurchase(purchase: Kept<'billingOperation'>): number;
  /** The cents that can be given back: never more than refunds and disputes left of the charge of the invoice. */
  most(purchase: Kept<'billingOperation'>): number;
  /** Takes cents that are given back. */
  take(purchase: Kept<'billingOperation'>, cents: number): void;
}

/** What is left of these purchases. */
export async function leftOf(deps: BookingDeps, purchases: Kept<'billingOperation'>[]): Promise<Left> {
  const invoices = await invoicesOf(deps, purchases);
  const charges = await leftOfCharges(deps, invoices);
  const voided = new Set(invoices.filter(({ doc }) => doc.status === 'void').map(({ id }) => id));
  const given = await givenBack(deps, purchases);
  const ofPurchase = ({ id, doc }: Kept<'billingOperation'>) =>
    voided.has(doc.invoiceId ?? '') ? 0 : centsOf(doc.amount) - (given.get(id) ?? 0);
  return {
    ofPurchase,
    most: (purchase) => {
      const charge = charges.get(purchase.doc.invoiceId ?? '') ?? Number.POSITIVE_INFINITY;
      return Math.max(0, Math.min(ofPurchase(purchase), charge));
    },
    take: ({ id, doc: { invoiceId } }, cents) => {
      given.set(id, (given.get(id) ?? 0) + cents);
      const charge = invoiceId === undefined ? undefined : charges.get(invoiceId);
      if (invoiceId !== undefined && charge !== undefined) charges.set(invoiceId, charge - cents);
    },
  };
}

/** The cents of each purchase that were given back, or will be. */
async function givenBack(
  deps: BookingDeps,
  purchases: Kept<'billingOperation'>[],
): Promise<Map<string, number>> {
  const ids = purchases.map(({ id }) => id);
  const operations = await operationsOf(deps, 'purchaseBillingOperationId', ids);
  const refs = operations.flatMap(({ doc }) => doc.refundId ?? []).map((id) => ({ type: 'refund', id }));
  const refunds = await deps.recorder.within.read(refs);
  const lost = new Set(
    refunds
      .filter(({ doc }) => doc['status'] === 'failed' || doc['status'] === 'canceled')
      .map(({ id }) => id),
  );
  const given = new Map<string, number>();
  for (const { doc } of operations) {
    if (lost.has(doc.refundId ?? '')) continue;
    const id = doc.purchaseBillingOperationId ?? '';
    given.set(id, (given.get(id) ?? 0) + centsOf(doc.amount));
  }
  return given;
}

async function invoicesOf(
  deps: BookingDeps,
  purchases: Kept<'billingOperation'>[],
): Promise<Kept<'invoice'>[]> {
  const ids = new Set(purchases.flatMap(({ doc }) => doc.invoiceId ?? []));
  const invoices = [];
  for (const id of ids) invoices.push(await get(deps, 'invoice', id));
  return invoices;
}

/**
 * "If no invoice was emitted yet, the invoice balance is adjusted, no refund resource is created and `refundId` is
 * absent. If an invoice was emitted, a money transfer is performed, a refund resource is created and `refundId` is
 * filled." The transfer waits for the payment of the invoice.
 */
export async function giveBack(
  deps: BookingDeps,
  purchase: Kept<'billingOperation'>,
  { cents, left, description }: { cents: number; left: Left; description: string | undefined },
): Promise<Kept<'billingOperation'>> {
  const { invoiceId, disputeId: _none, ...bought } = purchase.doc;
  const amount = partOf(cents, left.ofPurchase(purchase), purchase.doc.amount);
  left.take(purchase, cents);
  const operation: BillingOperation = {
    ...bought,
    amount,
    date: seconds(deps.now()),
    description: description ?? `Refund of ${purchase.doc.description ?? purchase.doc.operationType}`,
    purchaseBillingOperationId: purchase.id,
    transactionKind: 'refund',
  };
  if (invoiceId === undefined) return add(deps, 'billingOperation', operation);
  const { doc: invoice } = await get(deps, 'invoice', invoiceId);
  const id = deps.newId('A');
  const status: RefundStatus = invoice.status === 'paid' ? 'waiting' : 'delayed';
  await add(deps, 'refund', { amount, invoiceId, reference: referenceOf('REF', id), status }, id);
  return add(deps, 'billingOperation', { ...operation, refundId: id });
}

/** The bank is asked to transfer the money. */
export async function startTransfer(deps: BookingDeps, refundId: string): Promise<Kept<'refund'>> {
  return moveRefund(deps, await get(deps, 'refund', refundId), 'pending');
}

/** What came of a transfer. One that waits for the payment of its invoice ends with the invoice only. */
export async function endTransfer(
  deps: BookingDeps,
  refundId: string,
  outcome: 'succeeded' | 'failed' | 'canceled',
): Promise<Kept<'refund'>> {
  const refund = await get(deps, 'refund', refundId);
  if (refund.doc.status === 'delayed') {
    throw new ApiError('conflict', 'The refund is delayed until its invoice is paid or void.');
  }
  return moveRefund(deps, refund, outcome);
}

/** Another state of a refund, told of its billing operation, too. */
export async function moveRefund(
  deps: BookingDeps,
  refund: Kept<'refund'>,
  status: RefundStatus,
): Promise<Kept<'refund'>> {
  mustFollow('refund', refund.doc.status, status);
  const operations = await operationsOf(deps, 'refundId', [refund.id]);
  return retelling(deps, operations, () => change(deps, 'refund', refund, { status }));
}

/** A reference for people, made of an id. */
export function referenceOf(prefix: string, id: string): string {
  return `${prefix}-${id.slice(-10).toUpperCase()}`;
}

/**
 * The cents of each invoice, by its id, that can still be given back: its amount less the refunds that are or will be
 * transferred, and less what the billing provider refunds for disputes that are not won or closed.
 */
export async function leftOfCharges(
  deps: BookingDeps,
  invoices: Pick<Kept<'invoice'>, 'id' | 'doc'>[],
): Promise<Map<string, number>> {
  const values = invoices.map(({ id }) => id);
  const disputes = await find(deps, 'dispute', { name: DISPUTES, values });
  const refunds = await find(deps, 'refund', { name: REFUNDS, values });
  const left = new Map(invoices.map(({ id, doc }) => [id, centsOf(doc.amount)]));
  for (const { doc } of [
    ...disputes.filter((one) => !['won', 'warningClosed'].includes(one.doc.status)),
    ...refunds.filter((one) => !['failed', 'canceled'].includes(one.doc.status)),
  ]) {
    left.set(doc.invoiceId, (left.get(doc.invoiceId) ?? 0) - centsOf(doc.amount));
  }
  return left;
}

/** The billing provider finds an issue with the charge of a paid invoice. */
export interface Complaint {
  invoiceId: string;
  /** `warningNeedsResponse` is a warning; every other reason is a dispute at once. */
  reason: (typeof disputeReasons)[number];
  /** Nothing said: what is left of the charge. */
  total?: number;
}

/**
 * "Created when the billing provider detects an issue with an already paid invoice and automatically refunds the
 * charge." The operation is of the invoice's kind and does not appear on the invoice. "`refundId` is filled", though "no
 * refund resource is created": it names the dispute, by which the provider knows its refund.
 */
export async function disputeInvoice(
  deps: BookingDeps,
  { invoiceId, reason, total }: Complaint,
): Promise<{ dispute: Kept<'dispute'>; operation: Kept<'billingOperation'> }> {
  const invoice = await get(deps, 'invoice', invoiceId);
  const cents = await disputed(deps, invoice, total);
  const amount = amountOf(cents, invoice.doc.amount);
  const status: DisputeStatus = reason === 'warningNeedsResponse' ? reason : 'needsResponse';
  const dispute = await add(deps, 'dispute', { amount, invoiceId, reason, status });
  const doc: BillingOperation = {
    amount,
    billingProfileId: invoice.doc.billingProfileId,
    date: seconds(deps.now()),
    description: `Dispute of invoice ${invoice.doc.reference ?? invoiceId}`,
    disputeId: dispute.id,
    operationType: invoice.doc.kind,
    refundId: dispute.id,
    transactionKind: 'dispute',
  };
  return { dispute, operation: await add(deps, 'billingOperation', doc) };
}

/** Another state of a dispute, told of its billing operation, too. */
export async function moveDispute(
  deps: BookingDeps,
  disputeId: string,
  status: DisputeStatus,
): Promise<Kept<'dispute'>> {
  const dispute = await get(deps, 'dispute', disputeId);
  mustFollow('dispute', dispute.doc.status, status);
  const operations = await operationsOf(deps, 'disputeId', [disputeId]);
  return retelling(deps, operations, () => change(deps, 'dispute', dispute, { status }));
}

/** No more than was charged, less what is given back already. */
async function disputed(
  deps: BookingDeps,
  { id, doc }: Kept<'invoice'>,
  total: number | undefined,
): Promise<number> {
  if (doc.status !== 'paid') throw new ApiError('conflict', `The invoice is ${doc.status}, and not paid.`);
  const left = (await leftOfCharges(deps, [{ id, doc }])).get(id) ?? 0;
  const { currency } = doc.amount;
  const cents = total === undefined ? left : centsOf(priced({ currency, total }));
  if (cents <= 0 || cents > left) {
    throw new ApiError('conflict', `Of the charge ${left / 100} ${currency} are left to dispute.`);
  }
  return cents;
}
