import { seconds } from '../collection.ts';
import { notFound } from '../errors.ts';
import { readOne } from '../ports.ts';
import type { BookingSnapshot } from '../resources/booking-snapshot.ts';
import { add, type BookingDeps, type Kept } from './context.ts';
import { personOf } from './orders.ts';
import { type Price, priced } from './prices.ts';
import { billTo, travelersBy } from './travelers.ts';

/** A purchase that is no booking of a traveler. */
export interface Charge {
  billingProfileId: string;
  operationType: 'other' | 'seminar' | 'subscription';
  price: Price;
  description: string;
  costCenterId?: string;
  projectCodeId?: string;
}

/** A booking that support made by telephone or mail, and that becomes known here afterwards. */
export interface OfflineBooking {
  travelerId: string;
  /** Nothing said: the traveler. */
  bookerId?: string;
  kind: 'booking' | 'car' | 'flight' | 'hotel' | 'rail' | 'seminar';
  price: Price;
  description?: string;
  /** Epoch milliseconds; nothing said: now. */
  bookedAt?: number;
  projectCodeId?: string;
  details?: Pick<BookingSnapshot, 'hotel' | 'reference' | 'supplierName' | 'transport'>;
}

/** A subscription, or something that support does by hand. */
export async function charge(deps: BookingDeps, wanted: Charge): Promise<Kept<'billingOperation'>> {
  const { price, ...rest } = wanted;
  await refuseUnknown(deps, wanted);
  return add(deps, 'billingOperation', {
    ...rest,
    amount: priced(price),
    date: seconds(deps.now()),
    transactionKind: 'purchase',
  });
}

/** An operation of the offline channel: it has a snapshot, and no trip project. */
export async function bookOffline(
  deps: BookingDeps,
  booking: OfflineBooking,
): Promise<Kept<'billingOperation'>> {
  const { travelerId, bookerId = travelerId, bookedAt = deps.now(), kind, price, projectCodeId } = booking;
  await refuseUnknown(deps, { projectCodeId });
  const [traveler, booker] = await travelersBy(deps, [travelerId, bookerId]);
  if (!traveler || !booker) throw notFound('user');
  const date = seconds(bookedAt);
  return add(deps, 'billingOperation', {
    ...(await billTo(deps, traveler, { projectCodeId })),
    amount: priced(price),
    bookingSnapshot: {
      ...booking.details,
      ...{ booker: personOf(booker), traveler: personOf(traveler), channel: 'offline', date, kind },
    },
    date,
    description: booking.description ?? `Offline ${kind}`,
    operationType: kind,
    transactionKind: 'purchase',
  });
}

interface Referred {
  billingProfileId?: string | undefined;
  costCenterId?: string | undefined;
  projectCodeId?: string | undefined;
}

async function refuseUnknown({ recorder }: BookingDeps, referred: Referred): Promise<void> {
  const { billingProfileId, costCenterId, projectCodeId } = referred;
  for (const [type, id] of Object.entries({
    billingProfile: billingProfileId,
    costCenter: costCenterId,
    projectCode: projectCodeId,
  })) {
    if (id !== undefined && !(await readOne(recorder.within, type, id))) throw notFound(type);
  }
}
