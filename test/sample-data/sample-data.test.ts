import { createSampleData } from '../../src/sample-data/sample-data.ts';
import type { JsonObject } from '../../src/travel/json.ts';
import { type BookingFixture, openBookingFixture } from './fixture.ts';
import { type Answered, checkEvents, checkView, type View } from './invariants.ts';

let at: BookingFixture;
let view: View;
beforeAll(async () => {
  at = await openBookingFixture();
  await createSampleData(
    { store: at.fixture.runtime.store, pause: async () => 2000, progress: () => {} },
    { users: 30, trips: 100, seed: 1, now: Date.UTC(2026, 10, 20) },
  );
  const [trips, operations, invoices, refunds, disputes] = await Promise.all(
    ['/trip-projects', '/billing-operations', '/invoices', '/refunds', '/disputes'].map(at.all),
  );
  // The invariants check that the resources have these fields.
  view = { trips, operations, invoices, refunds, disputes } as unknown as View;
});
afterAll(() => at.fixture.close());

test('sums, statuses and references follow the rules of trips and billing', () => {
  checkView(view);
});

test('the events of each resource lead to its state', async () => {
  checkEvents(view, await at.all('/events'));
});

test('trips are booked once they are approved, or allowed by their policy or an admin', () => {
  const isBooked = (trip: Answered) => ((trip['bookings'] ?? []) as JsonObject[]).length > 0;
  const statuses = new Set(view.trips.filter(isBooked).map(({ approvalStatus }) => approvalStatus));
  expect(statuses).toEqual(new Set(['approved', 'bookingAllowed']));
  expect(view.trips.some(({ approvalStatus }) => approvalStatus === 'declined')).toBe(true);
});
