import { type Recorder, recorded } from '../changes.ts';
import type { Runtime } from '../collection.ts';
import { type Cancellation, cancelBooking } from './cancellation.ts';
import { type BookingDeps, type Kept, OFFICE_TYPES } from './context.ts';
import { type Exchange, modifyBooking } from './exchange.ts';
import {
  bookOffline,
  type Charge,
  charge,
  giveUpInvoice,
  type Invoicing,
  invoiceProfile,
  type OfflineBooking,
  payInvoice,
  voidInvoice,
} from './invoices.ts';
import {
  type Complaint,
  disputeInvoice,
  endTransfer,
  type ManualRefund,
  moveDispute,
  refundable,
  refundOperation,
  startTransfer,
} from './refunds.ts';
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
export function storiesWithin(recorder: Recorder, time: Pick<Runtime, 'now' | 'newId'>): Stories {
  const deps: BookingDeps = { recorder, ...time };
  return {
    searchTrip: (wanted) => searchTrip(deps, wanted),
    approveTrip: (id) => decideTrip(deps, id, 'approved'),
    declineTrip: (id) => decideTrip(deps, id, 'declined'),
    allowBooking: (id) => decideTrip(deps, id, 'bookingAllowed'),
    bookTrip: (wanted) => bookTrip(deps, wanted),
    modifyBooking: (wanted) => modifyBooking(deps, wanted),
    cancelBooking: (wanted) => cancelBooking(deps, wanted),
    bookOffline: (booking) => bookOffline(deps, booking),
    charge: (wanted) => charge(deps, wanted),
    refundOperation: (refund) => refundOperation(deps, refund),
    refundable: (id) => refundable(deps, id),
    startTransfer: (id) => startTransfer(deps, id),
    endTransfer: (id, outcome) => endTransfer(deps, id, outcome),
    invoiceProfile: (invoicing) => invoiceProfile(deps, invoicing),
    payInvoice: (id, reference) => payInvoice(deps, id, reference),
    voidInvoice: (id) => voidInvoice(deps, id),
    giveUpInvoice: (id) => giveUpInvoice(deps, id),
    disputeInvoice: (complaint) => disputeInvoice(deps, complaint),
    moveDispute: (id, status) => moveDispute(deps, id, status),
  };
}

/** Does stories, any number of them in one transaction, with all their events. */
export type BackOffice = <T>(work: (stories: Stories) => Promise<T>) => Promise<T>;

/** The back office: not part of the HTTP API, for sample data, the admin page and tests. */
export function backOffice(runtime: Runtime): BackOffice {
  return (work) => recorded(runtime, OFFICE_TYPES, (recorder) => work(storiesWithin(recorder, runtime)));
}
