import { ApiError } from '../errors.ts';
import type { disputeStatuses, invoiceStatuses, refundStatuses } from '../resources/billing.ts';

/** A state of an invoice. */
export type InvoiceStatus = (typeof invoiceStatuses)[number];
/** A state of a refund. */
export type RefundStatus = (typeof refundStatuses)[number];
/** A state of a dispute. */
export type DisputeStatus = (typeof disputeStatuses)[number];
/** A state of a trip project's approval. */
export type ApprovalStatus = 'approved' | 'awaitApproval' | 'bookingAllowed' | 'declined';

const invoice: Record<InvoiceStatus, InvoiceStatus[]> = {
  open: ['paid', 'void', 'uncollectible'],
  // Somebody pays after all.
  uncollectible: ['paid'],
  paid: [],
  void: [],
};

const refund: Record<RefundStatus, RefundStatus[]> = {
  // Until its invoice is paid or void: there is no money to send back before.
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
  // "It must be regularized with support."
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

/** The states that follow each state; the specification shows the states, and not what follows what. */
const transitions = { invoice, refund, dispute, approval };

/** Refuses to go from one state to another that does not follow it. */
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
