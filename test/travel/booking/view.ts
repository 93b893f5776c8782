import type { JsonObject } from '../../../src/travel/json.ts';
import type { BookingFixture } from './fixture.ts';

/** A resource in response form, with the fields that the invariants need. */
export interface Answered extends JsonObject {
  id: string;
  type: string;
}

/** A billing operation, invoice, refund or dispute in response form. */
export interface Billed extends Answered {
  status: string;
  amount: { currency: string; total: number; tax?: number; base?: number };
}

/** Everything that the API returns about trips and billing. */
export interface View {
  trips: Answered[];
  operations: Billed[];
  invoices: Billed[];
  refunds: Billed[];
  disputes: Billed[];
}

export async function readView(at: BookingFixture): Promise<View> {
  const [trips, operations, invoices, refunds, disputes] = await Promise.all([
    at.all('/trip-projects'),
    at.all('/billing-operations'),
    at.all('/invoices'),
    at.all('/refunds'),
    at.all('/disputes'),
  ]);
  // The invariants check that responses have these fields.
  return {
    trips: trips as Answered[],
    operations: operations as Billed[],
    invoices: invoices as Billed[],
    refunds: refunds as Billed[],
    disputes: disputes as Billed[],
  };
}

/** All resources of a view by type and id, with bookings, cancellations and modifications. */
export function resourcesOf({ trips, ...billed }: View): Map<string, JsonObject> {
  const bookings = trips.flatMap((trip) => objectsIn(trip, 'bookings'));
  const changes = bookings.flatMap((booking) => [
    ...objectsIn(booking, 'cancellations'),
    ...objectsIn(booking, 'modifications'),
  ]);
  const all = [...trips, ...bookings, ...changes, ...Object.values(billed).flat()];
  return new Map(all.map((one) => [`${one['type']} ${one['id']}`, one]));
}

/** The objects in a field. */
export function objectsIn(object: JsonObject, field: string): JsonObject[] {
  return (object[field] ?? []) as JsonObject[];
}

/** An amount in hundredths. */
export function cents({ amount }: Pick<Billed, 'amount'>): number {
  return Math.round(amount.total * 100);
}
