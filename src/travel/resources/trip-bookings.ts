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
  .meta({
    id: 'BookingCancellation',
    examples: [
      {
        id: '66b0c1d2e3f4a5b6c7d8e906',
        type: 'bookingCancellation',
        createdAt: '2026-11-21T09:00:00Z',
        bookingId: '66b0c1d2e3f4a5b6c7d8e901',
        transportSegmentIds: ['66b0c1d2e3f4a5b6c7d8e905'],
        travelerIds: ['7d4e7f0a-52b1-4f53-8a0e-3c1f9f0a6b21'],
        tripProjectId: '0f8b1c52-6d0e-4d7c-9a51-2f7d6e1b3c40',
      },
    ],
  });

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
  .meta({
    id: 'BookingModification',
    examples: [
      {
        id: '66b0c1d2e3f4a5b6c7d8e907',
        type: 'bookingModification',
        createdAt: '2026-11-21T09:00:00Z',
        bookingId: '66b0c1d2e3f4a5b6c7d8e901',
        selectedBookingId: '66b0c1d2e3f4a5b6c7d8e908',
        transportSegmentExchanges: [
          {
            originalTransportSegmentIds: ['66b0c1d2e3f4a5b6c7d8e905'],
            targetTransportSegmentIds: ['66b0c1d2e3f4a5b6c7d8e909'],
            travelerIds: ['7d4e7f0a-52b1-4f53-8a0e-3c1f9f0a6b21'],
          },
        ],
        tripProjectId: '0f8b1c52-6d0e-4d7c-9a51-2f7d6e1b3c40',
      },
    ],
  });

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
