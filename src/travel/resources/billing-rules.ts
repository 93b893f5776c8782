import { amountOf, centsOf, partialAmount, sumAmounts } from './amounts.ts';
import type {
  BillingOperation,
  Dispute,
  disputeReasons,
  disputeStatuses,
  Invoice,
  invoiceStatuses,
  Refund,
  refundStatuses,
} from './billing.ts';

/** The status of an invoice. */
export type InvoiceStatus = (typeof invoiceStatuses)[number];
/** The status of a refund. */
export type RefundStatus = (typeof refundStatuses)[number];
/** The status of a dispute. */
export type DisputeStatus = (typeof disputeStatuses)[number];
/** The reason of a dispute; `warningNeedsResponse` opens a warning. */
export type DisputeReason = (typeof disputeReasons)[number];

/** A document under its id. */
interface Identified<Doc> {
  id: string;
  doc: Doc;
}

/** The statuses that can follow each status. The specification lists the statuses, but not their order. */
const transitions: {
  invoice: Record<InvoiceStatus, InvoiceStatus[]>;
  refund: Record<RefundStatus, RefundStatus[]>;
  dispute: Record<DisputeStatus, DisputeStatus[]>;
} = {
  invoice: {
    open: ['paid', 'void', 'uncollectible'],
    // An uncollectible invoice may still be paid late.
    uncollectible: ['paid'],
    paid: [],
    void: [],
  },
  refund: {
    // A refund stays `delayed` until the invoice is paid or void, because before that there is no money to send back.
    delayed: ['waiting', 'canceled'],
    waiting: ['pending', 'canceled'],
    pending: ['succeeded', 'failed', 'canceled'],
    succeeded: [],
    failed: [],
    canceled: [],
  },
  dispute: {
    warningNeedsResponse: ['warningUnderReview', 'warningClosed', 'needsResponse'],
    warningUnderReview: ['warningClosed', 'needsResponse'],
    warningClosed: [],
    needsResponse: ['underReview', 'chargeRefunded', 'won', 'lost', 'solved'],
    underReview: ['chargeRefunded', 'won', 'lost', 'solved'],
    // A dispute in this status "must be regularized with support" (specification).
    chargeRefunded: ['solved'],
    lost: ['solved'],
    won: [],
    solved: [],
  },
};

/** Throws unless the status `to` can follow `from`. */
export function requireTransition(type: keyof typeof transitions, from: string, to: string): void {
  const next = new Map<string, string[]>(Object.entries(transitions[type])).get(from) ?? [];
  if (!next.includes(to)) throw new Error(`the ${type} is ${from}: it cannot become ${to}`);
}

/**
 * "An invoice aggregates one or several purchase and refund billing operations": purchases of one billing profile, kind
 * and currency that are on no invoice yet, minus their refunds.
 */
export function invoiceOf(
  operations: BillingOperation[],
  heading: Pick<Invoice, 'billingProfileId' | 'description' | 'kind' | 'reference'>,
): Invoice {
  const amounts = (kind: 'purchase' | 'refund') =>
    operations.filter(({ transactionKind }) => transactionKind === kind).map(({ amount }) => amount);
  return {
    ...heading,
    amount: sumAmounts(amounts('purchase'), amounts('refund')),
    billingOperationsCount: operations.length,
    status: 'open',
  };
}

/** A refund to make: `leftCents` of the purchase are not refunded yet, and `refundId` is the id of the refund resource. */
export interface RefundRequest {
  cents: number;
  leftCents: number;
  date: string;
  description: string;
  refundId: string;
  reference: string;
}

/**
 * Refunds a part of a purchase: "If no invoice was emitted yet, the invoice balance is adjusted, no refund resource is
 * created and `refundId` is absent. If an invoice was emitted, a money transfer is performed, a refund resource is created
 * and `refundId` is filled." Such an operation is not on the invoice, and the transfer is delayed until the invoice is paid.
 */
export function refundOf(
  purchase: Identified<BillingOperation>,
  invoice: Identified<Pick<Invoice, 'status'>> | undefined,
  { cents, leftCents, date, description, refundId, reference }: RefundRequest,
): { operation: BillingOperation; refund?: Refund } {
  if (invoice?.doc.status === 'void') throw new Error('a void invoice has no refunds');
  if (cents <= 0 || cents > leftCents) throw new Error(`${leftCents} hundredths of the purchase are left`);
  const { invoiceId: _isOnInvoice, ...bought } = purchase.doc;
  const amount = partialAmount(cents, leftCents, bought.amount);
  const operation: BillingOperation = {
    ...{ ...bought, amount, date, description },
    purchaseBillingOperationId: purchase.id,
    transactionKind: 'refund',
  };
  if (!invoice) return { operation };
  const status = invoice.doc.status === 'paid' ? 'waiting' : 'delayed';
  return {
    operation: { ...operation, refundId },
    refund: { amount, invoiceId: invoice.id, reference, status },
  };
}

/**
 * A dispute: "Created when the billing provider detects an issue with an already paid invoice and automatically refunds
 * the charge. The dispute does not appear on the invoice and no refund resource is created", though "`refundId` is filled":
 * it is the id of the dispute.
 */
export function disputeOf(
  { id: invoiceId, doc: invoice }: Identified<Invoice>,
  { cents, leftCents, date, reason, disputeId }: DisputeRequest,
): { dispute: Dispute; operation: BillingOperation } {
  if (invoice.status !== 'paid') throw new Error(`the invoice is ${invoice.status}, and not paid`);
  if (cents <= 0 || cents > leftCents) throw new Error(`${leftCents} hundredths of the charge are left`);
  const amount = amountOf(cents, invoice.amount);
  return {
    dispute: {
      amount,
      invoiceId,
      reason,
      status: reason === 'warningNeedsResponse' ? reason : 'needsResponse',
    },
    operation: {
      ...{ amount, date, disputeId, refundId: disputeId },
      billingProfileId: invoice.billingProfileId,
      description: `Dispute of invoice ${invoice.reference ?? invoiceId}`,
      operationType: invoice.kind,
      transactionKind: 'dispute',
    },
  };
}

/** A dispute to open: `leftCents` of the charge are not refunded yet, and `disputeId` is the id of the dispute resource. */
export interface DisputeRequest {
  cents: number;
  leftCents: number;
  date: string;
  reason: DisputeReason;
  disputeId: string;
}

/** The statuses in which a refund or a dispute has taken nothing, or has given it back. */
const ENDED: string[] = ['failed', 'canceled', 'won', 'warningClosed'] satisfies (
  | RefundStatus
  | DisputeStatus
)[];

/** Returns the cents of a purchase, or of the charge of an invoice, that its refunds and disputes leave. */
export function remainingCents(
  { amount }: Pick<Invoice, 'amount'>,
  taken: Pick<Refund | Dispute, 'amount' | 'status'>[],
): number {
  return taken
    .filter(({ status }) => !ENDED.includes(status))
    .reduce((left, one) => left - centsOf(one.amount), centsOf(amount));
}
