import { type Recorder, withRecorder } from '../changes.ts';
import type { TravelDeps } from '../collection.ts';
import { bookTrip, type TripBooking, type TripOutcome } from './book-trip.ts';
import { type CancellationRequest, cancelBooking } from './cancellation.ts';
import { BOOKING_TYPES, type BookingDeps, type StoredDocument } from './context.ts';
import { type ExchangeRequest, modifyBooking } from './exchange.ts';
import {
  bookOffline,
  type Charge,
  charge,
  type InvoiceRequest,
  invoiceProfile,
  markInvoiceUncollectible,
  type OfflineBooking,
  payInvoice,
  voidInvoice,
} from './invoices.ts';
import {
  type DisputeRequest,
  disputeInvoice,
  endTransfer,
  type ManualRefund,
  refundableCents,
  refundOperation,
  setDisputeStatus,
  startTransfer,
} from './refunds.ts';
import { searchTrip, setApprovalStatus, type TripSearch } from './search.ts';
import type { DisputeStatus } from './transitions.ts';

/** The stories of trips and billing. Each throws an ApiError and changes nothing when it cannot be. */
export interface BookingService {
  /** A new trip project with what was found; the policies of the travelers say whether somebody must agree. */
  searchTrip(wanted: TripSearch): Promise<StoredDocument<'tripProject'>>;
  /** The approver agrees. */
  approveTrip(tripProjectId: string): Promise<StoredDocument<'tripProject'>>;
  /** The approver does not agree. */
  declineTrip(tripProjectId: string): Promise<StoredDocument<'tripProject'>>;
  /** An admin lets the trip be booked, whatever the approver said. */
  allowBooking(tripProjectId: string): Promise<StoredDocument<'tripProject'>>;
  /** Rates are booked, or fail; each traveler's part of what succeeds is a purchase. */
  bookTrip(wanted: TripBooking): Promise<TripOutcome>;
  /** Segments are exchanged for another booking; the difference is a purchase or a refund. */
  modifyBooking(wanted: ExchangeRequest): Promise<TripOutcome>;
  /** A booking, or a part of it, is given up and refunded. */
  cancelBooking(wanted: CancellationRequest): Promise<TripOutcome>;
  /** A booking that support made; it has no trip project. */
  bookOffline(booking: OfflineBooking): Promise<StoredDocument<'billingOperation'>>;
  /** A subscription, a seminar, or something else that support charges. */
  charge(wanted: Charge): Promise<StoredDocument<'billingOperation'>>;
  /** A purchase, or a part of it, is given back by hand. */
  refundOperation(refund: ManualRefund): Promise<StoredDocument<'billingOperation'>>;
  /** The cents of a purchase that can still be given back. */
  refundableCents(billingOperationId: string): Promise<number>;
  /** The bank is asked to transfer a refund that waits. */
  startTransfer(refundId: string): Promise<StoredDocument<'refund'>>;
  /** What came of the transfer. */
  endTransfer(
    refundId: string,
    outcome: 'succeeded' | 'failed' | 'canceled',
  ): Promise<StoredDocument<'refund'>>;
  /** All that a profile was not asked for yet, on one invoice for each currency. */
  invoiceProfile(invoicing: InvoiceRequest): Promise<StoredDocument<'invoice'>[]>;
  /** The money came. */
  payInvoice(invoiceId: string, paymentReference?: string): Promise<StoredDocument<'invoice'>>;
  /** Nobody owes the money. */
  voidInvoice(invoiceId: string): Promise<StoredDocument<'invoice'>>;
  /** Nobody expects the money any more. */
  markInvoiceUncollectible(invoiceId: string): Promise<StoredDocument<'invoice'>>;
  /** The billing provider disputes the charge of a paid invoice. */
  disputeInvoice(
    complaint: DisputeRequest,
  ): Promise<{ dispute: StoredDocument<'dispute'>; operation: StoredDocument<'billingOperation'> }>;
  /** The dispute goes on, or ends. */
  setDisputeStatus(disputeId: string, status: DisputeStatus): Promise<StoredDocument<'dispute'>>;
}

/** The stories in a transaction that somebody else opened, which has the turns of `OFFICE_TYPES`. */
export function createBookingService(
  recorder: Recorder,
  time: Pick<TravelDeps, 'now' | 'newId'>,
): BookingService {
  const deps: BookingDeps = { recorder, ...time };
  return {
    searchTrip: (wanted) => searchTrip(deps, wanted),
    approveTrip: (id) => setApprovalStatus(deps, id, 'approved'),
    declineTrip: (id) => setApprovalStatus(deps, id, 'declined'),
    allowBooking: (id) => setApprovalStatus(deps, id, 'bookingAllowed'),
    bookTrip: (wanted) => bookTrip(deps, wanted),
    modifyBooking: (wanted) => modifyBooking(deps, wanted),
    cancelBooking: (wanted) => cancelBooking(deps, wanted),
    bookOffline: (booking) => bookOffline(deps, booking),
    charge: (wanted) => charge(deps, wanted),
    refundOperation: (refund) => refundOperation(deps, refund),
    refundableCents: (id) => refundableCents(deps, id),
    startTransfer: (id) => startTransfer(deps, id),
    endTransfer: (id, outcome) => endTransfer(deps, id, outcome),
    invoiceProfile: (invoicing) => invoiceProfile(deps, invoicing),
    payInvoice: (id, reference) => payInvoice(deps, id, reference),
    voidInvoice: (id) => voidInvoice(deps, id),
    markInvoiceUncollectible: (id) => markInvoiceUncollectible(deps, id),
    disputeInvoice: (complaint) => disputeInvoice(deps, complaint),
    setDisputeStatus: (id, status) => setDisputeStatus(deps, id, status),
  };
}

/** Does stories, any number of them in one transaction, with all their events. */
export type BookingTransaction = <T>(work: (stories: BookingService) => Promise<T>) => Promise<T>;

/** The back office: not part of the HTTP API, for sample data, the admin page and tests. */
export function bookingTransactions(deps: TravelDeps): BookingTransaction {
  return (work) =>
    withRecorder(deps, BOOKING_TYPES, (recorder) => work(createBookingService(recorder, deps)));
}
