import { type Recorder, withRecorder } from '../changes.ts';
import type { TravelDeps } from '../collection.ts';
import { bookTrip, type TripBooking } from './book-trip.ts';
import { type CancellationRequest, cancelBooking } from './cancellation.ts';
import { BOOKING_TYPES, type BookingDeps } from './context.ts';
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
  type TransferOutcome,
} from './refunds.ts';
import { searchTrip, setApprovalStatus, type TripSearch } from './search.ts';
import type { DisputeStatus } from './transitions.ts';

/**
 * Creates the operations of trips and billing inside an open transaction, which must have been opened for `BOOKING_TYPES`. Each throws an
 * ApiError if it is not possible; the transaction then changes nothing.
 */
export function createBookingService(recorder: Recorder, time: Pick<TravelDeps, 'now' | 'newId'>) {
  const deps: BookingDeps = { recorder, ...time };
  return {
    searchTrip: (wanted: TripSearch) => searchTrip(deps, wanted),
    approveTrip: (tripProjectId: string) => setApprovalStatus(deps, tripProjectId, 'approved'),
    declineTrip: (tripProjectId: string) => setApprovalStatus(deps, tripProjectId, 'declined'),
    /** Lets an admin override the approver: the trip can be booked. */
    allowBooking: (tripProjectId: string) => setApprovalStatus(deps, tripProjectId, 'bookingAllowed'),
    bookTrip: (wanted: TripBooking) => bookTrip(deps, wanted),
    modifyBooking: (wanted: ExchangeRequest) => modifyBooking(deps, wanted),
    cancelBooking: (wanted: CancellationRequest) => cancelBooking(deps, wanted),
    bookOffline: (booking: OfflineBooking) => bookOffline(deps, booking),
    charge: (wanted: Charge) => charge(deps, wanted),
    refundOperation: (refund: ManualRefund) => refundOperation(deps, refund),
    refundableCents: (billingOperationId: string) => refundableCents(deps, billingOperationId),
    startTransfer: (refundId: string) => startTransfer(deps, refundId),
    endTransfer: (refundId: string, outcome: TransferOutcome) => endTransfer(deps, refundId, outcome),
    invoiceProfile: (invoicing: InvoiceRequest) => invoiceProfile(deps, invoicing),
    payInvoice: (invoiceId: string, reference?: string) => payInvoice(deps, invoiceId, reference),
    voidInvoice: (invoiceId: string) => voidInvoice(deps, invoiceId),
    markInvoiceUncollectible: (invoiceId: string) => markInvoiceUncollectible(deps, invoiceId),
    disputeInvoice: (complaint: DisputeRequest) => disputeInvoice(deps, complaint),
    setDisputeStatus: (disputeId: string, status: DisputeStatus) => setDisputeStatus(deps, disputeId, status),
  };
}

/** The operations of trips and billing inside an open transaction. */
export type BookingService = ReturnType<typeof createBookingService>;

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
