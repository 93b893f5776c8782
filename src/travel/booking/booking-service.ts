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

/** The operations of trips and billing. Each throws an ApiError if it is not possible; its transaction then changes nothing. */
export interface BookingService {
  /** Creates a trip project with the given quotes. The travel policies of the travelers decide whether it needs approval. */
  searchTrip(wanted: TripSearch): Promise<StoredDocument<'tripProject'>>;
  /** Sets the approval status to `approved`. */
  approveTrip(tripProjectId: string): Promise<StoredDocument<'tripProject'>>;
  /** Sets the approval status to `declined`. */
  declineTrip(tripProjectId: string): Promise<StoredDocument<'tripProject'>>;
  /** Lets an admin override the approver: the trip can be booked. */
  allowBooking(tripProjectId: string): Promise<StoredDocument<'tripProject'>>;
  /** Books rates; each traveler's share of a successful booking becomes a purchase. */
  bookTrip(wanted: TripBooking): Promise<TripOutcome>;
  /** Exchanges segments for those of a new booking; the difference becomes a purchase or a refund. */
  modifyBooking(wanted: ExchangeRequest): Promise<TripOutcome>;
  /** Cancels a booking or a part of it, with a refund. */
  cancelBooking(wanted: CancellationRequest): Promise<TripOutcome>;
  /** Records a booking that support made; it has no trip project. */
  bookOffline(booking: OfflineBooking): Promise<StoredDocument<'billingOperation'>>;
  /** Charges a subscription, a seminar or another service of support. */
  charge(wanted: Charge): Promise<StoredDocument<'billingOperation'>>;
  /** Refunds a purchase or a part of it. */
  refundOperation(refund: ManualRefund): Promise<StoredDocument<'billingOperation'>>;
  /** Returns the cents of a purchase that can still be refunded. */
  refundableCents(billingOperationId: string): Promise<number>;
  /** Starts the bank transfer of a waiting refund. */
  startTransfer(refundId: string): Promise<StoredDocument<'refund'>>;
  /** Records the result of a transfer. */
  endTransfer(
    refundId: string,
    outcome: 'succeeded' | 'failed' | 'canceled',
  ): Promise<StoredDocument<'refund'>>;
  /** Invoices all uninvoiced operations of a billing profile, with one invoice per currency. */
  invoiceProfile(invoicing: InvoiceRequest): Promise<StoredDocument<'invoice'>[]>;
  /** Records the payment of an invoice. */
  payInvoice(invoiceId: string, paymentReference?: string): Promise<StoredDocument<'invoice'>>;
  /** Voids an invoice: the customer owes nothing. */
  voidInvoice(invoiceId: string): Promise<StoredDocument<'invoice'>>;
  /** Marks an invoice as uncollectible: the money is not expected any more. */
  markInvoiceUncollectible(invoiceId: string): Promise<StoredDocument<'invoice'>>;
  /** Records a dispute of the charge of a paid invoice. */
  disputeInvoice(
    complaint: DisputeRequest,
  ): Promise<{ dispute: StoredDocument<'dispute'>; operation: StoredDocument<'billingOperation'> }>;
  /** Moves a dispute to another status. */
  setDisputeStatus(disputeId: string, status: DisputeStatus): Promise<StoredDocument<'dispute'>>;
}

/** Creates the service inside an open transaction, which must have been opened for `BOOKING_TYPES`. */
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

/** Runs any number of booking operations, with their events, in one transaction. */
export type BookingTransaction = <T>(work: (service: BookingService) => Promise<T>) => Promise<T>;

/**
 * Creates the runner of booking transactions. They are not part of the HTTP API: sample data, the admin page and tests
 * use them.
 */
export function bookingTransactions(deps: TravelDeps): BookingTransaction {
  return (work) =>
    withRecorder(deps, BOOKING_TYPES, (recorder) => work(createBookingService(recorder, deps)));
}
