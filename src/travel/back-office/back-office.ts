import type { Surroundings } from '../collection.ts';
import { type Recorder, recorded } from '../record.ts';
import { type Cancellation, cancelBooking } from './cancel.ts';
import { bookOffline, type Charge, charge, type OfflineBooking } from './charges.ts';
import { type Desk, type Kept, OFFICE_TYPES } from './desk.ts';
import { type Complaint, disputeInvoice, moveDispute } from './disputes.ts';
import { type Exchange, modifyBooking } from './exchange.ts';
import { giveUpInvoice, type Invoicing, invoiceProfile, payInvoice, voidInvoice } from './invoices.ts';
import { endTransfer, type ManualRefund, refundable, refundOperation, startTransfer } from './refunds.ts';
import { decideTrip, searchTrip, type TripSearch } from './search.ts';
import type { DisputeStatus } from './transitions.ts';
import { bookTrip, type TripBooking, type TripOutcome } from './trips.ts';

/** The stories of trips and billing. Each throws an ApiError and changes nothing when it cannot be. */
export interface Stories {
  /** A new trip project with what was found; the policies of the travelers say whether somebody must agree. */
  searchTrip(wanted: TripSearch): Promise<Kept<'tripProject'>>;
  /** The approver agrees. */
  approveTrip(tripProjectId: string): Promise<Kept<'tripProject'>>;
  /** The approver does not agree. */
  declineTrip(tripProjectId: string): Promise<Kept<'tripProject'>>;
  /** An admin lets the trip be booked, whatever the approver said. */
  allowBooking(tripProjectId: string): Promise<Kept<'tripProject'>>;
  /** Rates are booked, or fail; each traveler's part of what succeeds is a purchase. */
  bookTrip(wanted: TripBooking): Promise<TripOutcome>;
  /** Segments are exchanged for another booking; the difference is a purchase or a refund. */
  modifyBooking(wanted: Exchange): Promise<TripOutcome>;
  /** A booking, or a part of it, is given up and refunded. */
  cancelBooking(wanted: Cancellation): Promise<TripOutcome>;
  /** A booking that support made; it has no trip project. */
  bookOffline(booking: OfflineBooking): Promise<Kept<'billingOperation'>>;
  /** A subscription, a seminar, or something else that support charges. */
  charge(wanted: Charge): Promise<Kept<'billingOperation'>>;
  /** A purchase, or a part of it, is given back by hand. */
  refundOperation(refund: ManualRefund): Promise<Kept<'billingOperation'>>;
  /** The cents of a purchase that can still be given back. */
  refundable(billingOperationId: string): Promise<number>;
  /** The bank is asked to transfer a refund that waits. */
  startTransfer(refundId: string): Promise<Kept<'refund'>>;
  /** What came of the transfer. */
  endTransfer(refundId: string, outcome: 'succeeded' | 'failed' | 'canceled'): Promise<Kept<'refund'>>;
  /** All that a profile was not asked for yet, on one invoice for each currency. */
  invoiceProfile(invoicing: Invoicing): Promise<Kept<'invoice'>[]>;
  /** The money came. */
  payInvoice(invoiceId: string, paymentReference?: string): Promise<Kept<'invoice'>>;
  /** Nobody owes the money. */
  voidInvoice(invoiceId: string): Promise<Kept<'invoice'>>;
  /** Nobody expects the money any more. */
  giveUpInvoice(invoiceId: string): Promise<Kept<'invoice'>>;
  /** The billing provider disputes the charge of a paid invoice. */
  disputeInvoice(
    complaint: Complaint,
  ): Promise<{ dispute: Kept<'dispute'>; operation: Kept<'billingOperation'> }>;
  /** The dispute goes on, or ends. */
  moveDispute(disputeId: string, status: DisputeStatus): Promise<Kept<'dispute'>>;
}

/** The stories in a transaction that somebody else opened, which has the turns of `OFFICE_TYPES`. */
export function storiesWithin(recorder: Recorder, time: Pick<Surroundings, 'now' | 'newId'>): Stories {
  const desk: Desk = { recorder, ...time };
  return {
    searchTrip: (wanted) => searchTrip(desk, wanted),
    approveTrip: (id) => decideTrip(desk, id, 'approved'),
    declineTrip: (id) => decideTrip(desk, id, 'declined'),
    allowBooking: (id) => decideTrip(desk, id, 'bookingAllowed'),
    bookTrip: (wanted) => bookTrip(desk, wanted),
    modifyBooking: (wanted) => modifyBooking(desk, wanted),
    cancelBooking: (wanted) => cancelBooking(desk, wanted),
    bookOffline: (booking) => bookOffline(desk, booking),
    charge: (wanted) => charge(desk, wanted),
    refundOperation: (refund) => refundOperation(desk, refund),
    refundable: (id) => refundable(desk, id),
    startTransfer: (id) => startTransfer(desk, id),
    endTransfer: (id, outcome) => endTransfer(desk, id, outcome),
    invoiceProfile: (invoicing) => invoiceProfile(desk, invoicing),
    payInvoice: (id, reference) => payInvoice(desk, id, reference),
    voidInvoice: (id) => voidInvoice(desk, id),
    giveUpInvoice: (id) => giveUpInvoice(desk, id),
    disputeInvoice: (complaint) => disputeInvoice(desk, complaint),
    moveDispute: (id, status) => moveDispute(desk, id, status),
  };
}

/** Does stories, any number of them in one transaction, with all their events. */
export type BackOffice = <T>(work: (stories: Stories) => Promise<T>) => Promise<T>;

/** The back office: not part of the HTTP API, for sample data, the admin page and tests. */
export function backOffice(surroundings: Surroundings): BackOffice {
  return (work) =>
    recorded(surroundings, OFFICE_TYPES, (recorder) => work(storiesWithin(recorder, surroundings)));
}
