import type { Recorder } from '../changes.ts';
import type { TravelDeps } from '../collection.ts';
import { bookTrip } from './book-trip.ts';
import { cancelBooking } from './cancellation.ts';
import type { BookingDeps } from './context.ts';
import { modifyBooking } from './exchange.ts';
import {
  bookOffline,
  charge,
  invoiceProfile,
  markInvoiceUncollectible,
  payInvoice,
  voidInvoice,
} from './invoices.ts';
import {
  disputeInvoice,
  endTransfer,
  refundableCents,
  refundOperation,
  setDisputeStatus,
  startTransfer,
} from './refunds.ts';
import { searchTrip, setApprovalStatus } from './search.ts';

/**
 * Creates the operations of trips and billing inside an open transaction, which must have been opened for `BOOKING_TYPES`. Each throws an
 * ApiError if it is not possible; the transaction then changes nothing. They are not part of the HTTP API: sample data and tests use them.
 */
export function createBookingService(recorder: Recorder, time: Pick<TravelDeps, 'now' | 'newId'>) {
  const deps: BookingDeps = { recorder, ...time };
  const bind =
    <Rest extends unknown[], Result>(operation: (deps: BookingDeps, ...rest: Rest) => Result) =>
    (...rest: Rest): Result =>
      operation(deps, ...rest);
  return {
    searchTrip: bind(searchTrip),
    approveTrip: (tripProjectId: string) => setApprovalStatus(deps, tripProjectId, 'approved'),
    declineTrip: (tripProjectId: string) => setApprovalStatus(deps, tripProjectId, 'declined'),
    /** Lets an admin override the approver: the trip can be booked. */
    allowBooking: (tripProjectId: string) => setApprovalStatus(deps, tripProjectId, 'bookingAllowed'),
    bookTrip: bind(bookTrip),
    modifyBooking: bind(modifyBooking),
    cancelBooking: bind(cancelBooking),
    bookOffline: bind(bookOffline),
    charge: bind(charge),
    refundOperation: bind(refundOperation),
    refundableCents: bind(refundableCents),
    startTransfer: bind(startTransfer),
    endTransfer: bind(endTransfer),
    invoiceProfile: bind(invoiceProfile),
    payInvoice: bind(payInvoice),
    voidInvoice: bind(voidInvoice),
    markInvoiceUncollectible: bind(markInvoiceUncollectible),
    disputeInvoice: bind(disputeInvoice),
    setDisputeStatus: bind(setDisputeStatus),
  };
}

/** The operations of trips and billing inside an open transaction. */
export type BookingService = ReturnType<typeof createBookingService>;
