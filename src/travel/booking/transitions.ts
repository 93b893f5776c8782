import { ApiError } from '../errors.ts';
import type { disputeStatuses, invoiceStatuses, refundStatuses } from '../resources/billing.ts';

/** The status of an invoice. */
export type InvoiceStatus = (typeof invoiceStatuses)[number];
/** The status of a refund. */
export type RefundStatus = (typeof refundStatuses)[number];
/** The status of a dispute. */
export type DisputeStatus = (typeof disputeStatuses)[number];
/** The approval status of a trip project. */
export type ApprovalStatus = 'approved' | 'awaitApproval' | 'bookingAllowed' | 'declined';

const invoice: Record<InvoiceStatus, InvoiceStatus[]> = {
  open: ['paid', 'void', 'uncollectible'],
  // An uncollectible invoice may still be paid late.
  uncollectible: ['paid'],
  paid: [],
  void: [],
};

const refund: Record<RefundStatus, RefundStatus[]> = {
  // A refund stays `delayed` until the invoice is paid or void, because before that there is no money to send back.
  delayed: ['waiting', 'canceled'],
  waiting: ['pending', 'canceled'],
  pending: ['succeeded', 'failed', 'canceled'],
  succeeded: [],
  failed: [],
  canceled: [],
};

const dispute: Record<DisputeStatus, DisputeStatus[]> = {
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
};

const approval: Record<ApprovalStatus, ApprovalStatus[]> = {
  awaitApproval: ['approved', 'declined', 'bookingAllowed'],
  declined: ['bookingAllowed'],
  approved: [],
  bookingAllowed: [],
};

/** The allowed transitions. The specification lists the statuses but not their order. */
const transitions = { invoice, refund, dispute, approval };

/** Throws `conflict` unless the status `to` can follow `from`. */
export function requireTransition(
  what: keyof typeof transitions,
  from: string | undefined,
  to: string,
): void {
  const next: string[] = new Map<string, string[]>(Object.entries(transitions[what])).get(from ?? '') ?? [];
  if (!next.includes(to)) {
    throw new ApiError('conflict', `The ${what} is ${from ?? 'not there'}: it cannot become ${to}.`);
  }
}
