import fc from 'fast-check';
import type { BookingService } from '../../../src/travel/booking/booking-service.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { car, flight, hotel, rail, roundTrip } from './quotes.ts';
import { type Billed, objectsIn, type View } from './view.ts';

/** The ids of the people of a random history. */
export interface People {
  travelers: string[];
  profiles: string[];
}

/** A random action. */
export interface Action {
  name: string;
  /** Undefined if there is no resource that the action could apply to. */
  run(service: BookingService, view: View, people: People): Promise<unknown> | undefined;
}

/** An action with a readable name for failed histories. */
function namedAction<Params>(
  name: string,
  params: fc.Arbitrary<Params>,
  make: (params: Params) => Action['run'],
): fc.Arbitrary<Action> {
  return params.map((given) => ({
    name,
    run: make(given),
    [fc.toStringMethod]: () => `${name} ${JSON.stringify(given)}`,
  }));
}

const euros = fc.integer({ min: 0, max: 99_999 }).map((cents) => cents / 100);
const currency = fc.constantFrom('EUR', 'EUR', 'USD');
const which = fc.nat(1000);

const offer = fc
  .tuple(euros, fc.constantFrom(flight, roundTrip, rail, hotel, car), currency)
  .map(([total, make, code]) => {
    const made = make(total);
    return { ...made, price: { ...made.price, currency: code } };
  });

const search = namedAction(
  'search',
  fc.record({
    offers: fc.array(offer, { minLength: 1, maxLength: 3 }),
    count: fc.integer({ min: 1, max: 3 }),
  }),
  ({ offers, count }) =>
    (service, _view, { travelers }) =>
      service.searchTrip({
        travelerIds: travelers.slice(0, count),
        search: { kind: 'history' },
        quotes: offers,
      }),
);

/** Books all unbooked rates of a trip; some bookings fail. */
const book = namedAction(
  'book',
  fc.record({ which, fails: fc.nat(7) }),
  ({ which: number, fails }) =>
    (service, view) => {
      const trip = oneOf(view.trips, (one) => !objectsIn(one, 'bookings').some(isHeld), number);
      const held = objectsIn(trip ?? {}, 'bookings').filter(({ status }) => status === 'succeeded');
      const open = objectsIn(trip ?? {}, 'rates').filter(
        ({ id }) => !held.some(({ rateId }) => rateId === id),
      );
      if (!trip || open.length === 0) return undefined;
      const fail = (position: number) => ((fails >> position) & 1) === 1;
      const orders = open.map(({ id }, position) => ({ rateId: String(id), fails: fail(position) }));
      return service.bookTrip({ tripProjectId: trip.id, orders });
    },
);

/** A booking of a trip with all or some of its travelers and segments. */
const giving = fc.record({ which, part: fc.constantFrom('all', 'all', 'travelers', 'segments') });

function given(
  view: View,
  { which: number, part }: { which: number; part: string },
  isLikely: (booking: JsonObject) => boolean,
) {
  const trip = oneOf(view.trips, (one) => objectsIn(one, 'bookings').some(isLikely), number);
  const booking = trip && oneOf(objectsIn(trip, 'bookings'), isLikely, number);
  if (!trip || !booking) return undefined;
  const segments = objectsIn(trip, 'transportLegs').flatMap((leg) => objectsIn(leg, 'segments'));
  const own = segments.filter(({ bookingId }) => bookingId === booking['id']);
  const traveler = at((trip['travelerIds'] ?? []) as string[], number);
  const segment = at(own, number)?.['id'];
  return {
    ...{ tripProjectId: trip.id, bookingId: String(booking['id']) },
    ...(part === 'travelers' && traveler !== undefined ? { travelerIds: [traveler] } : {}),
    ...(part === 'segments' && segment !== undefined ? { transportSegmentIds: [String(segment)] } : {}),
  };
}

const cancel = namedAction(
  'cancel',
  fc.record({ giving, refundPercentage: fc.constantFrom(0, 50, 100, 100) }),
  ({ giving: part, refundPercentage }) =>
    (service, view) => {
      const found = given(view, part, isHeld);
      return found && service.cancelBooking({ ...found, refundPercentage });
    },
);

const exchange = namedAction(
  'exchange',
  fc.record({ giving, total: euros, round: fc.boolean() }),
  ({ giving: part, total, round }) =>
    (service, view) => {
      const found = given(view, part, (one) => isHeld(one) && one['kind'] === 'flight');
      if (!found) return undefined;
      return service.modifyBooking({ ...found, quote: round ? roundTrip(total) : flight(total) });
    },
);

const charge = namedAction(
  'charge',
  fc.record({ total: euros, which, currency, type: fc.constantFrom('other', 'seminar', 'subscription') }),
  ({ total, which: number, currency: code, type }) =>
    (service, _view, { profiles }) =>
      service.charge({
        billingProfileId: at(profiles, number) ?? '',
        operationType: type,
        price: { currency: code, total },
        description: 'By hand',
      }),
);

const offline = namedAction(
  'offline',
  fc.record({ total: euros, which }),
  ({ total, which: number }) =>
    (service, _view, { travelers }) =>
      service.bookOffline({
        travelerId: at(travelers, number) ?? '',
        kind: 'hotel',
        price: { currency: 'EUR', total, taxRate: 5.5 },
      }),
);

const refund = namedAction(
  'refund',
  fc.record({ which, total: fc.constantFrom(0.01, 1, 12.5, 5000, undefined) }),
  ({ which: number, total }) =>
    (service, view) => {
      const operation = oneOf(view.operations, (one) => one['transactionKind'] === 'purchase', number);
      const part = total === undefined ? {} : { total };
      return operation && service.refundOperation({ billingOperationId: operation.id, ...part });
    },
);

/** The profile and kind of an uninvoiced operation. */
const invoice = namedAction('invoice', which, (number) => (service, { operations }) => {
  const isOpen = (one: Billed) => one['invoiceId'] === undefined && one['transactionKind'] === 'purchase';
  const found = oneOf(operations, isOpen, number);
  const type = found?.['operationType'];
  const kind = type === 'other' || type === 'subscription' ? type : 'booking';
  return found && service.invoiceProfile({ billingProfileId: String(found['billingProfileId']), kind });
});

const settle = namedAction(
  'settle',
  fc.record({
    which,
    how: fc.constantFrom('payInvoice', 'payInvoice', 'voidInvoice', 'markInvoiceUncollectible'),
  }),
  ({ which: number, how }) =>
    (service, view) => {
      const found = oneOf(view.invoices, ({ status }) => status === 'open', number);
      return found && service[how](found.id);
    },
);

const transfer = namedAction(
  'transfer',
  fc.record({ which, outcome: fc.constantFrom('start', 'start', 'succeeded', 'failed', 'canceled') }),
  ({ which: number, outcome }) =>
    (service, view) => {
      const next = outcome === 'start' ? 'waiting' : 'pending';
      const found = oneOf(view.refunds, ({ status }) => status === next, number);
      if (!found) return undefined;
      return outcome === 'start' ? service.startTransfer(found.id) : service.endTransfer(found.id, outcome);
    },
);

const dispute = namedAction(
  'dispute',
  fc.record({ which, reason: fc.constantFrom('warningNeedsResponse', 'fraudulent'), small: fc.boolean() }),
  ({ which: number, reason, small }) =>
    (service, view) => {
      const found = oneOf(view.invoices, ({ status }) => status === 'paid', number);
      return found && service.disputeInvoice({ invoiceId: found.id, reason, ...(small ? { total: 1 } : {}) });
    },
);

const move = namedAction(
  'move',
  fc.record({ which, status: fc.constantFrom('needsResponse', 'underReview', 'won', 'lost', 'solved') }),
  ({ which: number, status }) =>
    (service, view) => {
      const found = oneOf(view.disputes, (one) => !['won', 'solved'].includes(one.status), number);
      return found && service.setDisputeStatus(found.id, status);
    },
);

/** All actions, weighted by how many resources they can usually apply to. */
export const action: fc.Arbitrary<Action> = fc.oneof(
  { arbitrary: search, weight: 3 },
  { arbitrary: book, weight: 4 },
  { arbitrary: cancel, weight: 2 },
  { arbitrary: exchange, weight: 2 },
  { arbitrary: charge, weight: 1 },
  { arbitrary: offline, weight: 1 },
  { arbitrary: refund, weight: 5 },
  { arbitrary: invoice, weight: 4 },
  { arbitrary: settle, weight: 6 },
  { arbitrary: transfer, weight: 6 },
  { arbitrary: dispute, weight: 2 },
  { arbitrary: move, weight: 5 },
);

function at<T>(all: readonly T[], number: number): T | undefined {
  return all[number % Math.max(all.length, 1)];
}

/** Usually picks an element that the action can apply to, sometimes any, so that refusals are tested too. */
function oneOf<T>(all: readonly T[], isLikely: (one: T) => boolean, number: number): T | undefined {
  const likely = all.filter(isLikely);
  return at(number % 8 === 0 || likely.length === 0 ? all : likely, number);
}

function isHeld(booking: JsonObject): boolean {
  const { status, canceled, exchanged } = booking;
  return status === 'succeeded' && canceled !== true && exchanged !== true;
}
