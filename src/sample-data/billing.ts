import type { StoredInvoice, StoredOperation } from '../travel/booking/context.ts';
import type { OfflineBooking } from '../travel/booking/invoices.ts';
import type { DisputeRequest } from '../travel/booking/refunds.ts';
import type { DisputeStatus } from '../travel/booking/transitions.ts';
import type { Amount } from '../travel/fields.ts';
import { readResource } from '../travel/ports.ts';
import { INVOICE_INDEX } from '../travel/resources/billing.ts';
import type { Branch } from './company.ts';
import type { SimulationContext, Traveler } from './context.ts';
import { type City, cities, stationOf } from './reference-data.ts';
import { DAY, HOUR, LENGTH, randomTime, type ScheduledAction, type Transaction } from './simulation.ts';
import { formatLocal, price, startOfDay } from './trip-plan.ts';

/**
 * The numbers of the invoices that become uncollectible and void. If one cannot, the next that can is used, so that
 * every company has an example of both.
 */
const UNCOLLECTIBLE = 5;
const VOID = 8;

interface InvoiceProgress {
  issued: number;
  isVoided: boolean;
  isDisputed: boolean;
}

/** Schedules the invoices that each branch receives on the first of every month, and their payment. */
export function scheduleBilling(simulation: SimulationContext): void {
  const { company, options, schedule } = simulation;
  const progress: InvoiceProgress = { issued: 0, isVoided: false, isDisputed: false };
  let month = startOfNextMonth(options.now - LENGTH);
  for (; month < options.now; month = startOfNextMonth(month)) {
    for (const [position, branch] of company.branches.entries())
      schedule.add(month + 5 * HOUR + position * 60_000, billBranch(simulation, branch, progress));
  }
}

function startOfNextMonth(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

function billBranch(
  simulation: SimulationContext,
  branch: Branch,
  progress: InvoiceProgress,
): ScheduledAction {
  return async (transaction) => {
    await chargeMonth(simulation, transaction, branch);
    const { billingProfileId } = branch;
    for (const kind of ['subscription', 'other', 'booking'] as const) {
      const invoices = await transaction.booking.invoiceProfile({ billingProfileId, kind });
      for (const invoice of invoices) scheduleInvoiceEnd(simulation, invoice, progress);
    }
  };
}

/** Charges a branch for the month's subscription, and sometimes for another service. */
async function chargeMonth(
  { random }: SimulationContext,
  { booking }: Transaction,
  branch: Branch,
): Promise<void> {
  const { billingProfileId, currency, headcount } = branch;
  await booking.charge({
    billingProfileId,
    description: `Subscription, ${headcount} users`,
    operationType: 'subscription',
    price: { currency, total: 49 + 4 * headcount, taxRate: 20 },
  });
  if (!random.datatype.boolean(0.3)) return;
  const { euros, ...service } = random.helpers.arrayElement(services);
  await booking.charge({ billingProfileId, ...service, price: price(euros, { currency, random }, 20) });
}

const services = [
  { operationType: 'seminar' as const, description: 'Seminar of two days', euros: 2400 },
  { operationType: 'other' as const, description: 'Visa service', euros: 180 },
  { operationType: 'other' as const, description: 'Airport transfer', euros: 90 },
];

/** Determines when an invoice is paid: most are paid within some weeks, some later, and some stay open. */
function scheduleInvoiceEnd(
  simulation: SimulationContext,
  { id, doc }: StoredInvoice,
  progress: InvoiceProgress,
): void {
  const { schedule, random, now } = simulation;
  progress.issued += 1;
  if (progress.issued === UNCOLLECTIBLE) {
    schedule.add(now() + 90 * DAY, async ({ booking }) => void (await booking.markInvoiceUncollectible(id)));
    return;
  }
  if (progress.issued >= VOID && !progress.isVoided && doc.kind === 'subscription') {
    progress.isVoided = true;
    schedule.add(now() + 2 * DAY, async ({ booking }) => void (await booking.voidInvoice(id)));
    return;
  }
  if (random.datatype.boolean(0.04)) return;
  const [from, to] = random.datatype.boolean(0.85) ? [8, 32] : [33, 70];
  schedule.add(randomTime(random, now() + from * DAY, now() + to * DAY), async ({ booking }) => {
    await booking.payInvoice(id, `TR-${id.slice(-8).toUpperCase()}`);
    releaseRefunds(simulation, id);
    if (doc.kind !== 'booking') return;
    simulation.examples.invoiceId = id;
    scheduleDispute(simulation, { id, doc }, !progress.isDisputed);
    progress.isDisputed = true;
  });
}

/** Schedules a booking that a traveler makes by telephone: support records it some hours later. */
export function scheduleTelephoneBooking(simulation: SimulationContext, party: Traveler[]): void {
  const { company, now, random, schedule } = simulation;
  const [traveler] = party;
  const city = cities.find(({ name }) => name === traveler?.city);
  if (!traveler || !city) return;
  const bookedAt = now();
  const { currency } = company.branches[traveler.branch] ?? { currency: 'EUR' };
  const kind = random.helpers.arrayElement(['hotel', 'rail', 'flight'] as const);
  const offlineBooking: OfflineBooking = {
    ...{ travelerId: traveler.id, kind, bookedAt },
    price: price(210, { currency, random }, 10),
    details: bookingDetails(simulation, kind, city),
  };
  schedule.add(randomTime(random, bookedAt + HOUR, bookedAt + 6 * HOUR), async ({ booking }) => {
    await booking.bookOffline(offlineBooking);
  });
}

function bookingDetails({ random, now }: SimulationContext, kind: 'hotel' | 'rail' | 'flight', home: City) {
  const city = random.helpers.arrayElement(cities.filter((candidate) => candidate !== home));
  const from = startOfDay(now()) + random.number.int({ min: 3, max: 30 }) * DAY;
  const date = (time: number) => formatLocal(time).slice(0, 10);
  const place = ({ name, country, airport }: City) => {
    return { city: name, countryCode: country, ...(kind === 'flight' ? { airport: airport.iataCode } : {}) };
  };
  const reference = random.string.alphanumeric({ length: 6, casing: 'upper' });
  if (kind !== 'hotel') {
    const itinerary = { departureLocaleDate: date(from), itineraryType: 'oneWay' };
    return { reference, transport: { departure: place(home), destination: place(city), ...itinerary } };
  }
  const nights = { checkinLocaleDate: date(from), checkoutLocaleDate: date(from + 2 * DAY) };
  return {
    hotel: { ...nights, place: place(city) },
    reference,
    supplierName: `Hotel ${stationOf(city, 'rail').name}`,
  };
}

/** The share of the paid invoices for bookings that are disputed. */
const DISPUTED_SHARE = 0.12;

/** The further statuses of a dispute after its first one, by the reason of the dispute. */
const disputeCourses: { reason: DisputeRequest['reason']; states: DisputeStatus[] }[] = [
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

type PaidInvoice = Pick<StoredInvoice, 'id' | 'doc'>;

/** Opens disputes: for the first paid invoice always (`isCertain`), for the others with the probability above. */
function scheduleDispute(simulation: SimulationContext, invoice: PaidInvoice, isCertain: boolean): void {
  const { now, random, schedule } = simulation;
  if (!isCertain && !random.datatype.boolean(DISPUTED_SHARE)) return;
  const { reason, states } = random.helpers.arrayElement(disputeCourses);
  schedule.add(randomTime(random, now() + 6 * DAY, now() + 25 * DAY), async (transaction) => {
    const total = await disputedTotal(simulation, transaction, invoice);
    if (total === undefined) return;
    const { dispute } = await transaction.booking.disputeInvoice({ invoiceId: invoice.id, reason, total });
    scheduleDisputeStates(simulation, dispute.id, states);
  });
}

/** A random part of the charge that is not refunded yet; undefined if the part is below 1. */
async function disputedTotal(
  { random }: SimulationContext,
  { recorder }: Transaction,
  { id, doc }: PaidInvoice,
): Promise<number | undefined> {
  const refunds = await recorder.transaction.find({
    type: 'refund',
    name: INVOICE_INDEX,
    values: [id],
  });
  const refunded = refunds.reduce((sum, refund) => sum + Number((refund.doc['amount'] as Amount).total), 0);
  const part = random.number.float({ min: 0.1, max: 0.9 });
  const total = Math.floor((doc.amount.total - refunded) * part * 100) / 100;
  return total < 1 ? undefined : total;
}

function scheduleDisputeStates(
  simulation: SimulationContext,
  id: string,
  [next, ...others]: DisputeStatus[],
): void {
  const { now, random, schedule } = simulation;
  if (next === undefined) return;
  schedule.add(randomTime(random, now() + 3 * DAY, now() + 14 * DAY), async ({ booking }) => {
    await booking.setDisputeStatus(id, next);
    scheduleDisputeStates(simulation, id, others);
  });
}

/** Schedules the transfer of the refunds among these operations; a delayed refund waits until its invoice is paid. */
export async function scheduleRefunds(
  simulation: SimulationContext,
  { recorder }: Transaction,
  operations: StoredOperation[],
): Promise<void> {
  const { delayedRefunds } = simulation;
  for (const { doc } of operations) {
    if (doc.refundId === undefined) continue;
    const refund = await readResource(recorder.transaction, 'refund', doc.refundId);
    if (refund?.doc['status'] === 'waiting') scheduleTransfer(simulation, doc.refundId);
    const invoiceId = String(refund?.doc['invoiceId']);
    if (refund?.doc['status'] === 'delayed')
      delayedRefunds.set(invoiceId, [...(delayedRefunds.get(invoiceId) ?? []), doc.refundId]);
  }
}

/** Now that the invoice is paid, transfer the refunds that waited for it. */
function releaseRefunds(simulation: SimulationContext, invoiceId: string): void {
  for (const refundId of simulation.delayedRefunds.get(invoiceId) ?? [])
    scheduleTransfer(simulation, refundId);
  simulation.delayedRefunds.delete(invoiceId);
}

function scheduleTransfer(simulation: SimulationContext, refundId: string): void {
  const { now, random, schedule } = simulation;
  const endTransfer: ScheduledAction = async ({ booking }) => {
    const status = random.helpers.weightedArrayElement([
      { value: 'succeeded' as const, weight: 90 },
      { value: 'failed' as const, weight: 6 },
      { value: 'canceled' as const, weight: 4 },
    ]);
    await booking.endTransfer(refundId, status);
  };
  schedule.add(randomTime(random, now() + DAY, now() + 4 * DAY), async ({ booking }) => {
    await booking.startTransfer(refundId);
    schedule.add(randomTime(random, now() + DAY, now() + 5 * DAY), endTransfer);
  });
}
