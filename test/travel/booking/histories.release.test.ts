import fc from 'fast-check';
import { ApiError } from '../../../src/travel/errors.ts';
import { type Action, action, type People } from './actions.ts';
import { type BookingFixture, openBookingFixture } from './fixture.ts';
import { checkEvents, checkView } from './invariants.ts';
import { flight, hotel, roundTrip } from './quotes.ts';
import { readView, type View } from './view.ts';

let at: BookingFixture;
/** The number of successful runs of each action. */
const done = new Map<string, number>();

/** Runs one action. Whether it succeeds or is refused, the invariants must hold. */
async function step({ name, run: happens }: Action, before: View, people: People): Promise<View> {
  at.fixture.advanceClock(1000);
  const outcome = await at
    .transact(async (service) =>
      (await happens(service, before, people)) === undefined ? 'nothing' : 'done',
    )
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'conflict') return 'refused';
      throw error;
    });
  if (outcome === 'nothing') return before;
  const after = await readView(at);
  if (outcome === 'done') done.set(name, (done.get(name) ?? 0) + 1);
  else expect(after).toEqual(before);
  checkEvents(before, after, await at.newEvents());
  checkView(after);
  return after;
}

/** Creates people and some trips, so that every kind of action is possible from the start. */
async function begin(): Promise<People> {
  const profiles = [await at.profile(), await at.profile()];
  const travelers: string[] = [];
  for (const billingProfileId of [...profiles, profiles[0] ?? '']) {
    travelers.push(await at.traveler({ billingProfileId }));
  }
  for (const reason of ['fraudulent', 'warningNeedsResponse'] as const) {
    const { operations } = await at.bookTrip([roundTrip(100), hotel(50)], travelers.slice(0, 1));
    await at.transact(async (service) => {
      const billed = { billingProfileId: profiles[0] ?? '', kind: 'booking' as const };
      const [invoice = { id: '' }] = await service.invoiceProfile(billed);
      for (const { id } of operations) await service.refundOperation({ billingOperationId: id, total: 10 });
      await service.payInvoice(invoice.id);
      await service.disputeInvoice({ invoiceId: invoice.id, reason, total: 20 });
    });
  }
  await at.bookTrip([roundTrip(100), flight(50)], travelers);
  await at.newEvents();
  return { profiles, travelers };
}

async function checkReachable({ operations, trips, invoices }: View): Promise<void> {
  const under = async (path: string, field: string, owners: { id: string }[]) => {
    for (const { id } of owners) {
      const listed = await at.all(`/${path}/${id}/billing-operations`);
      expect(listed).toEqual(operations.filter((one) => one[field] === id));
    }
  };
  await under('trip-projects', 'tripProjectId', trips);
  await under('invoices', 'invoiceId', invoices);
}

test('sums, statuses and events are right after any sequence of operations', async () => {
  const histories = fc.noBias(fc.array(action, { minLength: 30, maxLength: 30 }));
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      at = await openBookingFixture();
      try {
        const people = await begin();
        let view = await readView(at);
        checkView(view);
        for (const one of history) view = await step(one, view, people);
        await checkReachable(view);
      } finally {
        await at.fixture.close();
      }
    }),
    { numRuns: Number(process.env['HISTORIES'] ?? 6) },
  );
  // Histories in which almost every action is refused would prove little.
  expect([...done.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(50);
});
