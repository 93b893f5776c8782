import { formatTimestamp } from '../collection.ts';
import { ApiError } from '../errors.ts';
import { type BillingOperation, type disputeReasons, INVOICE_INDEX } from '../resources/billing.ts';
import {
  type BookingDeps,
  emitDerivedEvents,
  findDocuments,
  findOperations,
  insertDocument,
  requireDocument,
  type StoredDispute,
  type StoredInvoice,
  type StoredOperation,
  type StoredRefund,
  updateDocument,
} from './context.ts';
import { amountOf, centsOf, partialAmount, toAmount } from './prices.ts';
import { type DisputeStatus, type RefundStatus, requireTransition } from './transitions.ts';

/** A request to refund a purchase or a part of it. */
export interface ManualRefund {
  billingOperationId: string;
  /** The amount to refund; by default everything that has not been refunded. */
  total?: number;
  description?: string;
}

/** Refunds a purchase on request, independently of its booking. */
export async function refundOperation(deps: BookingDeps, refund: ManualRefund): Promise<StoredOperation> {
  const { billingOperationId, total, description } = refund;
  const purchase = await requireDocument(deps, 'billingOperation', billingOperationId);
  if (purchase.doc.transactionKind !== 'purchase') {
    throw new ApiError('conflict', `The billing operation ${billingOperationId} is no purchase.`);
  }
  const left = await remainingAmounts(deps, [purchase]);
  const most = left.refundable(purchase);
  const { currency } = purchase.doc.amount;
  const cents = total === undefined ? most : centsOf(toAmount({ currency, total }));
  if (cents <= 0 || cents > most) {
    throw new ApiError('conflict', `Of the purchase ${purchase.id} ${most / 100} ${currency} are left.`);
  }
  return createRefund(deps, purchase, { cents, left, description });
}

/** Returns the cents of a purchase that can still be refunded. */
export async function refundableCents(deps: BookingDeps, billingOperationId: string): Promise<number> {
  const purchase = await requireDocument(deps, 'billingOperation', billingOperationId);
  return (await remainingAmounts(deps, [purchase])).refundable(purchase);
}

/**
 * The amounts of purchases and of charged invoices that have not been refunded. They are reduced during a transaction
 * by each refund.
 */
export interface RemainingAmounts {
  /** Returns the cents of a purchase that have not been refunded; 0 if its invoice is void. */
  ofPurchase(purchase: StoredOperation): number;
  /**
   * Returns the cents of a purchase that can still be refunded. Other refunds and disputes of the same invoice may
   * leave less than the purchase.
   */
  refundable(purchase: StoredOperation): number;
  /** Subtracts refunded cents. */
  subtract(purchase: StoredOperation, cents: number): void;
}

/** Reads how much of each of these purchases can still be refunded. */
export async function remainingAmounts(
  deps: BookingDeps,
  purchases: StoredOperation[],
): Promise<RemainingAmounts> {
  const invoices = await invoicesOf(deps, purchases);
  const charges = await remainingCharges(deps, invoices);
  const voided = new Set(invoices.filter(({ doc }) => doc.status === 'void').map(({ id }) => id));
  const given = await refundedCents(deps, purchases);
  const ofPurchase = ({ id, doc }: StoredOperation) =>
    voided.has(doc.invoiceId ?? '') ? 0 : centsOf(doc.amount) - (given.get(id) ?? 0);
  return {
    ofPurchase,
    refundable: (purchase) => {
      const charge = charges.get(purchase.doc.invoiceId ?? '') ?? Number.POSITIVE_INFINITY;
      return Math.max(0, Math.min(ofPurchase(purchase), charge));
    },
    subtract: ({ id, doc: { invoiceId } }, cents) => {
      given.set(id, (given.get(id) ?? 0) + cents);
      const charge = invoiceId === undefined ? undefined : charges.get(invoiceId);
      if (invoiceId !== undefined && charge !== undefined) charges.set(invoiceId, charge - cents);
    },
  };
}

/** Returns for each purchase the cents that have been refunded or will be. */
async function refundedCents(deps: BookingDeps, purchases: StoredOperation[]): Promise<Map<string, number>> {
  const ids = purchases.map(({ id }) => id);
  const operations = await findOperations(deps, 'purchaseBillingOperationId', ids);
  const refs = operations.flatMap(({ doc }) => doc.refundId ?? []).map((id) => ({ type: 'refund', id }));
  const refunds = await deps.recorder.transaction.read(refs);
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

async function invoicesOf(deps: BookingDeps, purchases: StoredOperation[]): Promise<StoredInvoice[]> {
  const ids = new Set(purchases.flatMap(({ doc }) => doc.invoiceId ?? []));
  const invoices = [];
  for (const id of ids) invoices.push(await requireDocument(deps, 'invoice', id));
  return invoices;
}

/**
 * Creates a refund: "If no invoice was emitted yet, the invoice balance is adjusted, no refund resource is created and
 * `refundId` is absent. If an invoice was emitted, a money transfer is performed, a refund resource is created and
 * `refundId` is filled." The transfer is delayed until the invoice is paid.
 */
export async function createRefund(
  deps: BookingDeps,
  purchase: StoredOperation,
  { cents, left, description }: { cents: number; left: RemainingAmounts; description: string | undefined },
): Promise<StoredOperation> {
  const { invoiceId, disputeId: _none, ...bought } = purchase.doc;
  const amount = partialAmount(cents, left.ofPurchase(purchase), purchase.doc.amount);
  left.subtract(purchase, cents);
  const operation: BillingOperation = {
    ...bought,
    amount,
    date: formatTimestamp(deps.now()),
    description: description ?? `Refund of ${purchase.doc.description ?? purchase.doc.operationType}`,
    purchaseBillingOperationId: purchase.id,
    transactionKind: 'refund',
  };
  if (invoiceId === undefined) return insertDocument(deps, 'billingOperation', operation);
  const { doc: invoice } = await requireDocument(deps, 'invoice', invoiceId);
  const id = deps.newId('A');
  const status: RefundStatus = invoice.status === 'paid' ? 'waiting' : 'delayed';
  await insertDocument(deps, 'refund', { amount, invoiceId, reference: referenceOf('REF', id), status }, id);
  return insertDocument(deps, 'billingOperation', { ...operation, refundId: id });
}

/** Starts the bank transfer of a waiting refund. */
export async function startTransfer(deps: BookingDeps, refundId: string): Promise<StoredRefund> {
  return setRefundStatus(deps, await requireDocument(deps, 'refund', refundId), 'pending');
}

/** The result of a bank transfer. */
export type TransferOutcome = 'succeeded' | 'failed' | 'canceled';

/** Records the result of a transfer. Throws `conflict` for a refund that still waits for its invoice to be paid. */
export async function endTransfer(
  deps: BookingDeps,
  refundId: string,
  outcome: TransferOutcome,
): Promise<StoredRefund> {
  const refund = await requireDocument(deps, 'refund', refundId);
  if (refund.doc.status === 'delayed') {
    throw new ApiError('conflict', 'The refund is delayed until its invoice is paid or void.');
  }
  return setRefundStatus(deps, refund, outcome);
}

/** Moves a refund to another status; its billing operation changes its status, too. */
export async function setRefundStatus(
  deps: BookingDeps,
  refund: StoredRefund,
  status: RefundStatus,
): Promise<StoredRefund> {
  requireTransition('refund', refund.doc.status, status);
  const operations = await findOperations(deps, 'refundId', [refund.id]);
  return emitDerivedEvents(deps, operations, () => updateDocument(deps, 'refund', refund, { status }));
}

/** Derives a readable reference from an id. */
export function referenceOf(prefix: string, id: string): string {
  return `${prefix}-${id.slice(-10).toUpperCase()}`;
}

/**
 * Returns by id the cents of each invoice that can still be refunded: its amount minus refunds that are not failed or
 * canceled, and minus disputes that are not won or closed.
 */
export async function remainingCharges(
  deps: BookingDeps,
  invoices: Pick<StoredInvoice, 'id' | 'doc'>[],
): Promise<Map<string, number>> {
  const values = invoices.map(({ id }) => id);
  const disputes = await findDocuments(deps, 'dispute', { name: INVOICE_INDEX, values });
  const refunds = await findDocuments(deps, 'refund', { name: INVOICE_INDEX, values });
  const left = new Map(invoices.map(({ id, doc }) => [id, centsOf(doc.amount)]));
  for (const { doc } of [
    ...disputes.filter((one) => !['won', 'warningClosed'].includes(one.doc.status)),
    ...refunds.filter((one) => !['failed', 'canceled'].includes(one.doc.status)),
  ]) {
    left.set(doc.invoiceId, (left.get(doc.invoiceId) ?? 0) - centsOf(doc.amount));
  }
  return left;
}

/** A dispute that the billing provider opens about a paid invoice. */
export interface DisputeRequest {
  invoiceId: string;
  /** `warningNeedsResponse` opens a warning; every other reason opens a dispute. */
  reason: (typeof disputeReasons)[number];
  /** The disputed amount; by default the charge minus earlier refunds. */
  total?: number;
}

/**
 * "Created when the billing provider detects an issue with an already paid invoice and automatically refunds the
 * charge." The operation has the invoice's kind and does not appear on the invoice. "`refundId` is filled", but "no
 * refund resource is created", so it holds the id of the dispute.
 */
export async function disputeInvoice(
  deps: BookingDeps,
  { invoiceId, reason, total }: DisputeRequest,
): Promise<{ dispute: StoredDispute; operation: StoredOperation }> {
  const invoice = await requireDocument(deps, 'invoice', invoiceId);
  const cents = await disputedCents(deps, invoice, total);
  const amount = amountOf(cents, invoice.doc.amount);
  const status: DisputeStatus = reason === 'warningNeedsResponse' ? reason : 'needsResponse';
  const dispute = await insertDocument(deps, 'dispute', { amount, invoiceId, reason, status });
  const doc: BillingOperation = {
    amount,
    billingProfileId: invoice.doc.billingProfileId,
    date: formatTimestamp(deps.now()),
    description: `Dispute of invoice ${invoice.doc.reference ?? invoiceId}`,
    disputeId: dispute.id,
    operationType: invoice.doc.kind,
    refundId: dispute.id,
    transactionKind: 'dispute',
  };
  return { dispute, operation: await insertDocument(deps, 'billingOperation', doc) };
}

/** Moves a dispute to another status; its billing operation changes its status, too. */
export async function setDisputeStatus(
  deps: BookingDeps,
  disputeId: string,
  status: DisputeStatus,
): Promise<StoredDispute> {
  const dispute = await requireDocument(deps, 'dispute', disputeId);
  requireTransition('dispute', dispute.doc.status, status);
  const operations = await findOperations(deps, 'disputeId', [disputeId]);
  return emitDerivedEvents(deps, operations, () => updateDocument(deps, 'dispute', dispute, { status }));
}

/** The disputed cents: at most the charge minus what is already refunded. Throws `conflict` if nothing is left. */
async function disputedCents(
  deps: BookingDeps,
  { id, doc }: StoredInvoice,
  total: number | undefined,
): Promise<number> {
  if (doc.status !== 'paid') throw new ApiError('conflict', `The invoice is ${doc.status}, and not paid.`);
  const left = (await remainingCharges(deps, [{ id, doc }])).get(id) ?? 0;
  const { currency } = doc.amount;
  const cents = total === undefined ? left : centsOf(toAmount({ currency, total }));
  if (cents <= 0 || cents > left) {
    throw new ApiError('conflict', `Of the charge ${left / 100} ${currency} are left to dispute.`);
  }
  return cents;
}
