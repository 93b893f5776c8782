import { z } from 'zod';
import { dateTime, flag, text } from '../fields.ts';
import { amount } from './amount.ts';

function part<T extends string>(type: T) {
  return { id: text, type: z.literal(type), createdAt: dateTime };
}

/** What something of a trip costs. Its kinds are open: `car`, `flight` and `hotel` occur. */
export const rate = z.strictObject({ ...part('rate'), kind: text, price: amount }).meta({ id: 'Rate' });

/** Some travelers give up some segments of a booking, or all of it. */
export const bookingCancellation = z
  .strictObject({
    ...part('bookingCancellation'),
    bookingId: text,
    transportSegmentIds: z.array(text).optional(),
    travelerIds: z.array(text),
    tripProjectId: text,
  })
  .meta({ id: 'BookingCancellation' });

/** Some travelers exchange some segments of a booking for those of another. */
export const bookingModification = z
  .strictObject({
    ...part('bookingModification'),
    bookingId: text,
    selectedBookingId: text,
    transportSegmentExchanges: z.array(
      z.strictObject({
        originalTransportSegmentIds: z.array(text),
        targetTransportSegmentIds: z.array(text),
        travelerIds: z.array(text),
      }),
    ),
    tripProjectId: text,
  })
  .meta({ id: 'BookingModification' });

/** A rate that was booked, or could not be. Its kinds and statuses are open: the specification tells which occur. */
export const booking = z
  .strictObject({
    ...part('booking'),
    canceled: flag,
    cancellations: z.array(bookingCancellation).optional(),
    exchanged: flag,
    kind: text,
    modifications: z.array(bookingModification).optional(),
    rateId: text,
    reference: text.optional(),
    status: text,
    tripProjectId: text,
  })
  .meta({ id: 'Booking' });
