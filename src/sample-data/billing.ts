import type { StoredDocument } from '../travel/booking/context.ts';
import type { OfflineBooking } from '../travel/booking/invoices.ts';
import type { DisputeRequest } from '../travel/booking/refunds.ts';
import type { DisputeStatus } from '../travel/booking/transitions.ts';
import type { Amount } from '../travel/fields.ts';
import { readResource } from '../travel/ports.ts';
import { REFUND_INVOICE_INDEX } from '../travel/resources/billing.ts';
import type { Branch } from './company.ts';
import { type Context, DAY, type Happening, HOUR, LENGTH } from './context.ts';
import { type City, cities, stopIn } from './places.ts';
import type { Chapter, Traveler } from './simulation.ts';
import { clock, midnight, price } from './trip-plan.ts';

/** One invoice is given up, and one subscription voided: these, or the next after them, so that every company has both. */
const UNCOLLECTIBLE = 5;
const VOID = 8;

/** What became of the invoices so far. */
interface Count {
  emitted: number;
  isVoided: boolean;
  isDisputed: boolean;
}

/** Plans that every branch is billed on the first of each month, and what becomes of the invoices. */
export function planBilling(chapter: Chapter): void {
  const count: Count = { emitted: 0, isVoided: false, isDisputed: false };
  for (
    let month = firstOfNext(chapter.wish.now - LENGTH);
    month < chapter.wish.now;
    month = firstOfNext(month)
  ) {
    for (const [position, branch] of chapter.company.branches.entries())
      chapter.agenda.add(month + 5 * HOUR + position * 60_000, bill(chapter, branch, count));
  }
}

function firstOfNext(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

function bill(chapter: Chapter, branch: Branch, count: Count) {
  return async (context: Context): Promise<void> => {
    await chargeMonth(chapter, context, branch);
    const { billingProfileId } = branch;
    for (const kind of ['subscription', 'other', 'booking'] as const) {
      const invoices = await context.stories.invoiceProfile({ billingProfileId, kind });
      for (const invoice of invoices) planEnd(chapter, invoice, count);
    }
  };
}

/** Most are paid within some weeks. */
function planEnd(chapter: Chapter, { id, doc }: StoredDocument<'invoice'>, count: Count): void {
  const { agenda, dice, now } = chapter;
  count.emitted += 1;
  if (count.emitted === UNCOLLECTIBLE) {
    agenda.add(now() + 90 * DAY, async ({ stories }) => void (await stories.markInvoiceUncollectible(id)));
    return;
  }
  if (count.emitted >= VOID && !count.isVoided && doc.kind === 'subscription') {
    count.isVoided = true;
    agenda.add(now() + 2 * DAY, async ({ stories }) => void (await stories.voidInvoice(id)));
    return;
  }
  // Some pay late, and some never without being asked again.
  if (dice.chance(0.04)) return;
  const days = dice.chance(0.85) ? dice.between(8, 32) : dice.between(33, 70);
  agenda.add(now() + days * DAY + dice.between(8, 17) * HOUR, async ({ stories }) => {
    await stories.payInvoice(id, `TR-${id.slice(-8).toUpperCase()}`);
    releaseRefunds(chapter, id);
    if (doc.kind === 'booking') {
      chapter.examples.invoiceId = id;
      planDispute(chapter, { id, doc }, !count.isDisputed);
      count.isDisputed = true;
    }
  });
}

/** The subscription of a month, and what else support charged a branch in it. */
export async function chargeMonth({ dice }: Chapter, { stories }: Context, branch: Branch): Promise<void> {
  const { billingProfileId, currency, headcount } = branch;
  const charge = { billingProfileId };
  await stories.charge({
    ...charge,
    description: `Subscription, ${headcount} users`,
    operationType: 'subscription',
    price: { currency, total: 49 + 4 * headcount, taxRate: 20 },
  });
  if (dice.chance(0.3)) {
    const { euros, ...extra } = dice.of(extras);
    await stories.charge({ ...charge, ...extra, price: price(euros, { currency, dice }, 20) });
  }
}

const extras = [
  { operationType: 'seminar' as const, description: 'Seminar of two days', euros: 2400 },
  { operationType: 'other' as const, description: 'Visa service', euros: 180 },
  { operationType: 'other' as const, description: 'Airport transfer', euros: 90 },
];

/** Somebody calls support, which books for them and writes it down some hours later. */
export function bookByTelephone(chapter: Chapter, party: Traveler[]): void {
  const { agenda, company, dice, now } = chapter;
  const [traveler] = party;
  const city = cities.find(({ name }) => name === traveler?.city);
  if (!traveler || !city) return;
  const bookedAt = now();
  const { currency } = company.branches[traveler.branch] ?? { currency: 'EUR' };
  const kind = dice.of(['hotel', 'rail', 'flight'] as const);
  const booking: OfflineBooking = {
    ...{ travelerId: traveler.id, kind, bookedAt },
    price: price(210, { currency, dice }, 10),
    details: details(chapter, kind, city),
  };
  agenda.add(bookedAt + dice.between(1, 6) * HOUR, async ({ stories }) => {
    await stories.bookOffline(booking);
  });
}

function details({ dice, now }: Chapter, kind: 'hotel' | 'rail' | 'flight', home: City) {
  const city = dice.of(cities.filter((one) => one !== home));
  const from = midnight(now()) + dice.between(3, 30) * DAY;
  const day = (time: number) => clock(time).slice(0, 10);
  const spot = ({ name, country, airport }: City) => {
    return { city: name, countryCode: country, ...(kind === 'flight' ? { airport: airport.iataCode } : {}) };
  };
  const reference = dice
    .between(36 ** 5, 36 ** 6 - 1)
    .toString(36)
    .toUpperCase();
  if (kind !== 'hotel') {
    const itinerary = { departureLocaleDate: day(from), itineraryType: 'oneWay' };
    return { reference, transport: { departure: spot(home), destination: spot(city), ...itinerary } };
  }
  const nights = { checkinLocaleDate: day(from), checkoutLocaleDate: day(from + 2 * DAY) };
  return {
    hotel: { ...nights, place: spot(city) },
    reference,
    supplierName: `Hotel ${stopIn(city, 'rail').name}`,
  };
}

/** Of all paid invoices for bookings so many are disputed. */
const DISPUTED = 0.12;

/** How disputes go, from their first state on. */
const lives: { reason: DisputeRequest['reason']; states: DisputeStatus[] }[] = [
  { reason: 'fraudulent', states: ['underReview', 'won'] },
  { reason: 'duplicate', states: ['underReview', 'lost', 'solved'] },
  { reason: 'productNotReceived', states: ['underReview', 'chargeRefunded', 'solved'] },
  { reason: 'unrecognized', states: ['underReview', 'won'] },
  { reason: 'creditNotProcessed', states: ['solved'] },
  { reason: 'insufficientFunds', states: ['underReview'] },
  { reason: 'general', states: [] },
  { reason: 'warningNeedsResponse', states: ['warningUnderReview', 'warningClosed'] },
  { reason: 'warningNeedsResponse', states: ['needsResponse', 'underReview', 'lost'] },
];

/** Plans that a paid invoice is disputed: perhaps, or for certain. */
export function planDispute(
  chapter: Chapter,
  invoice: Pick<StoredDocument<'invoice'>, 'id' | 'doc'>,
  isCertain: boolean,
): void {
  const { agenda, dice, now } = chapter;
  if (!isCertain && !dice.chance(DISPUTED)) return;
  const { reason, states } = dice.of(lives);
  agenda.add(now() + dice.between(6, 25) * DAY, async (context) => {
    const total = await disputable(chapter, context, invoice);
    if (total === undefined) return;
    const { dispute } = await context.stories.disputeInvoice({ invoiceId: invoice.id, reason, total });
    planStates(chapter, dispute.id, states);
  });
}

/** A part of what refunds have left of the charge, if that is worth it. */
async function disputable(
  { dice }: Chapter,
  { recorder }: Context,
  { id, doc }: Pick<StoredDocument<'invoice'>, 'id' | 'doc'>,
): Promise<number | undefined> {
  const refunds = await recorder.transaction.find({
    type: 'refund',
    name: REFUND_INVOICE_INDEX,
    values: [id],
  });
  const given = refunds.reduce((sum, one) => sum + Number((one.doc['amount'] as Amount).total), 0);
  const total = Math.floor((doc.amount.total - given) * dice.between(10, 90)) / 100;
  return total < 1 ? undefined : total;
}

function planStates(
  chapter: Pick<Chapter, 'agenda' | 'dice' | 'now'>,
  id: string,
  [next, ...others]: DisputeStatus[],
): void {
  const { agenda, dice, now } = chapter;
  if (next === undefined) return;
  agenda.add(now() + dice.between(3, 14) * DAY, async ({ stories }) => {
    await stories.setDisputeStatus(id, next);
    planStates(chapter, id, others);
  });
}

/** Sees to it that the money of refunds is transferred, as soon as their invoices are paid. */
export async function followRefunds(
  chapter: Chapter,
  { recorder }: Context,
  operations: StoredDocument<'billingOperation'>[],
): Promise<void> {
  for (const { doc } of operations) {
    if (doc.refundId === undefined) continue;
    const refund = await readResource(recorder.transaction, 'refund', doc.refundId);
    if (refund?.doc['status'] === 'waiting') transfer(chapter, doc.refundId);
    const invoiceId = String(refund?.doc['invoiceId']);
    if (refund?.doc['status'] === 'delayed')
      chapter.delayed.set(invoiceId, [...(chapter.delayed.get(invoiceId) ?? []), doc.refundId]);
  }
}

/** The invoice is paid: the refunds that waited for that go their way. */
export function releaseRefunds(chapter: Chapter, invoiceId: string): void {
  for (const refundId of chapter.delayed.get(invoiceId) ?? []) transfer(chapter, refundId);
  chapter.delayed.delete(invoiceId);
}

function transfer(chapter: Chapter, refundId: string): void {
  const { agenda, dice, now } = chapter;
  const end: Happening = async ({ stories }) => {
    const outcome = dice.weighted([
      { status: 'succeeded' as const, weight: 90 },
      { status: 'failed' as const, weight: 6 },
      { status: 'canceled' as const, weight: 4 },
    ]);
    await stories.endTransfer(refundId, outcome.status);
  };
  agenda.add(now() + dice.between(1, 4) * DAY, async ({ stories }) => {
    await stories.startTransfer(refundId);
    agenda.add(now() + dice.between(1, 5) * DAY, end);
  });
}
